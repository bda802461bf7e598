// What the parts of a picture are called and how much each is: the numbers beside the picture.

import type { Series } from "./series.ts";
import { Swatch } from "./swatch.tsx";

type LegendProps = {
  series: readonly Series[];
  /** What the numbers are of: everything, or the bar that is pointed at. */
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
