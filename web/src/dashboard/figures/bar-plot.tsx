// The picture itself: upright bars from zero, stacked, with round marks at the side and names beneath. Pointing at a
// bar selects it, and the legend then shows its numbers.

import { labelledAt, numberedAt } from "./scale.ts";
import { type BarRow, partValue, type Series, totalOf } from "./series.ts";
import { TonePatterns, ToneRect, usePatternName } from "./tone-pattern.tsx";

const height = 208;
const above = 20;
const below = 24;
const plotHeight = height - above - below;
/** Approximate: fonts differ, and numbers are bold. Rather too much, so that nothing at an edge is cut off. */
const letterWidth = 8;
const barWidthMax = 36;
/** Between two numbers above the bars. */
const numberGap = 6;

type BarPlotProps = {
  rows: readonly BarRow[];
  series: readonly Series[];
  ticks: readonly number[];
  format: (value: number) => string;
  width: number;
  /** Screen readers read this instead of the picture. */
  description: string;
  pointedAt: number | null;
  onPoint: (at: number | null) => void;
};

export function BarPlot(props: BarPlotProps) {
  const { rows, series, ticks, format, width, description, pointedAt, onPoint } = props;
  const name = usePatternName();
  const top = ticks.at(-1) ?? 1;
  const left = Math.max(...ticks.map((tick) => format(tick).length)) * letterWidth + 10;
  const pitch = (width - left) / Math.max(1, rows.length);
  const barWidth = Math.max(1, Math.min(barWidthMax, pitch - Math.max(1, pitch * 0.28)));
  const toY = (value: number) => above + plotHeight * (1 - value / top);
  const totals = rows.map(totalOf);
  const highest = Math.max(0, ...totals);
  const isEmpty = highest === 0;
  const numbers = totals.map(format);
  const middles = numbers.map((number, at) =>
    inside(left + pitch * (at + 0.5), number, left, width),
  );
  const widths = numbers.map((number) => number.length * letterWidth + numberGap);

  return (
    <svg
      className="bar-plot"
      width={width}
      height={height}
      role="img"
      aria-label={description}
      // A finger leaves as soon as it is lifted; its bar stays selected until the next touch.
      onPointerLeave={({ pointerType }) => {
        if (pointerType === "mouse") onPoint(null);
      }}
    >
      <TonePatterns name={name} looks={series.map(({ look }) => look)} />
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? "bar-plot-zero" : "bar-plot-line"}
            x1={left}
            x2={width}
            y1={Math.round(toY(tick)) + 0.5}
            y2={Math.round(toY(tick)) + 0.5}
          />
          {(tick === 0 || !isEmpty) && (
            <text x={left - 8} y={toY(tick) + 4} textAnchor="end">
              {format(tick)}
            </text>
          )}
        </g>
      ))}
      {rows.map((row, at) => {
        const x = left + pitch * at;
        return (
          <g key={row.label}>
            <rect
              className={at === pointedAt ? "bar-plot-place bar-plot-pointed" : "bar-plot-place"}
              x={x}
              y={above}
              width={pitch}
              height={plotHeight}
              onPointerEnter={() => onPoint(at)}
              onPointerDown={() => onPoint(at)}
            />
            <Stack
              {...{ row, series, name, toY }}
              x={x + (pitch - barWidth) / 2}
              width={barWidth}
            />
          </g>
        );
      })}
      {numberedAt(totals, middles, widths).map((at) => (
        <text
          key={at}
          className="bar-plot-number"
          y={toY(totals[at] ?? 0) - 6}
          {...placeOf(middles[at] ?? 0, numbers[at] ?? "", left, width)}
        >
          {numbers[at]}
        </text>
      ))}
      {axisNames(rows, left, width).map(({ at, name, middle }) => (
        <text key={at} y={height - 6} {...placeOf(middle, name, left, width)}>
          {name}
        </text>
      ))}
      {isEmpty && (
        <text
          className="bar-plot-nothing"
          x={left + (width - left) / 2}
          y={above + plotHeight / 2}
          textAnchor="middle"
        >
          Nothing in this period
        </text>
      )}
    </svg>
  );
}

type StackProps = {
  row: BarRow;
  series: readonly Series[];
  name: string;
  toY: (value: number) => number;
  x: number;
  width: number;
};

function Stack({ row, series, name, toY, x, width }: StackProps) {
  let below = 0;
  return series.map(({ name: part, look }) => {
    const value = partValue(row, part);
    const bottom = toY(below);
    below += value;
    if (value <= 0) return null;
    // The outline takes half a pixel and the part beneath one. An existing part is never invisible.
    const height = Math.max(1, bottom - toY(below) - 1);
    return (
      <ToneRect
        key={part}
        name={name}
        look={look}
        x={x + 0.5}
        y={bottom - 0.5 - height}
        width={Math.max(0.5, width - 1)}
        height={height}
      />
    );
  });
}

type AxisName = { at: number; name: string; middle: number };

/** The axis names the first day of a bar that stands for a week. */
function axisNames(rows: readonly BarRow[], left: number, width: number): AxisName[] {
  const pitch = (width - left) / Math.max(1, rows.length);
  const names = rows.map(({ label }) => label.split(" – ")[0] ?? label);
  const middles = names.map((name, at) => inside(left + pitch * (at + 0.5), name, left, width));
  const widths = names.map((name) => name.length * letterWidth + 14);
  return labelledAt(middles, widths).map((at) => ({
    at,
    name: names[at] ?? "",
    middle: middles[at] ?? 0,
  }));
}

/** The middle of a word, moved so that it doesn't cross the edge. */
function inside(middle: number, text: string, left: number, right: number): number {
  const half = (text.length * letterWidth) / 2;
  return Math.max(left + half, Math.min(right - half, middle));
}

/** Centred, or aligned with the edge that the word would cross. */
function placeOf(middle: number, text: string, left: number, right: number) {
  const half = (text.length * letterWidth) / 2;
  if (middle + half >= right) return { x: right, textAnchor: "end" } as const;
  if (middle - half <= left) return { x: left, textAnchor: "start" } as const;
  return { x: middle, textAnchor: "middle" } as const;
}
