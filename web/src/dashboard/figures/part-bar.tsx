// One horizontal bar, divided into parts, from zero to `of`. It stands beside its number and adds nothing, so it is
// hidden from screen readers.

import type { BarPart } from "./series.ts";
import { seriesOf } from "./series.ts";
import { TonePatterns, ToneRect, usePatternName } from "./tone-pattern.tsx";

const height = 12;

type PartBarProps = {
  parts: BarPart[];
  /** The value of the whole width. */
  of: number;
  /** Values with a line across the bar. */
  marks?: number[];
  isTrackShown?: boolean;
};

export function PartBar({ parts, of, marks = [], isTrackShown = false }: PartBarProps) {
  const name = usePatternName();
  const series = seriesOf([{ label: "", parts }]);
  const share = (value: number) => (of <= 0 ? 0 : (Math.min(value, of) / of) * 100);
  let before = 0;
  return (
    <svg className="part-bar" width="100%" height={height} aria-hidden="true">
      <TonePatterns name={name} looks={series.map(({ look }) => look)} />
      {isTrackShown && <rect className="part-bar-track" width="100%" height={height} rx={2} />}
      {series.map(({ name: part, look, total }) => {
        const x = share(before);
        before += total;
        const width = share(before) - x;
        if (total <= 0) return null;
        return (
          <ToneRect
            key={part}
            name={name}
            look={look}
            x={`${x}%`}
            y={0.5}
            width={`${Math.max(width, 0.6)}%`}
            height={height - 1}
          />
        );
      })}
      {marks.map((mark) => (
        <line
          key={mark}
          className="part-bar-mark"
          x1={`${share(mark)}%`}
          x2={`${share(mark)}%`}
          y1={0}
          y2={height}
        />
      ))}
    </svg>
  );
}
