// The legend of a picture: the name and the number of each part.

import type { Look, Series } from "./series.ts";
import { TonePatterns, ToneRect, usePatternName } from "./tone-pattern.tsx";

type LegendProps = {
  series: readonly Series[];
  /** The subject of the numbers: the whole period, or the bar that is pointed at. */
  of: string;
  partValue: (name: string) => number;
  format: (value: number) => string;
};

export function Legend({ series, of, partValue, format }: LegendProps) {
  return (
    <div className="legend">
      <ul>
        {series.map(({ name, look }) => (
          <li key={name}>
            <Swatch look={look} />
            <span>{name}</span> <strong>{format(partValue(name))}</strong>
          </li>
        ))}
      </ul>
      <span className="legend-of">{of}</span>
    </div>
  );
}

/** A small piece of a part's look, to stand before its name. */
export function Swatch({ look }: { look: Look }) {
  const name = usePatternName();
  return (
    <svg className="swatch" width="14" height="14" aria-hidden="true">
      <TonePatterns name={name} looks={[look]} />
      <ToneRect name={name} look={look} x={0.5} y={0.5} width={13} height={13} />
    </svg>
  );
}
