// Stacked bars with their numbers: a legend with the totals, the picture, and the table behind it. Pointing at a bar
// turns the legend's numbers into that bar's.

import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import { describeCount } from "../../look/shares.ts";
import { BarPlot } from "./bar-plot.tsx";
import { BarTable } from "./bar-table.tsx";
import { Legend } from "./legend.tsx";
import { countTicks } from "./scale.ts";
import { type BarRow, groupRows, groupSize, partValue, seriesOf, totalOf } from "./series.ts";
import "./tone-pattern.css";
import "./bars.css";

/** A bar narrower than this shows neither its pattern nor its place. */
const pitchMin = 7;
/** Roughly the width of the axis. */
const axisWidth = 40;

type BarsProps = {
  label: string;
  /** One for each day, oldest first. */
  rows: BarRow[];
  format?: (value: number) => string;
  /** Round marks for values up to this one. */
  ticks?: (max: number) => number[];
  /** False if values can't be added up, such as medians: then there is no total, and every row keeps its bar. */
  isAdditive?: boolean;
};

export function Bars(props: BarsProps) {
  const { label, rows, format = describeCount, ticks = countTicks } = props;
  const { isAdditive = true } = props;
  const [place, width] = useWidth<HTMLDivElement>();
  const [isTable, setTable] = useState(false);
  const [pointedAt, setPointedAt] = useState<number | null>(null);
  const series = useMemo(() => seriesOf(rows), [rows]);

  const barsMax = width === null ? rows.length : Math.floor((width - axisWidth) / pitchMin);
  const size = isAdditive ? groupSize(rows.length, barsMax) : 1;
  const bars = useMemo(() => groupRows(rows, size), [rows, size]);
  const pointed = pointedAt === null ? undefined : bars[pointedAt];
  const highest = bars.reduce<BarRow | undefined>(
    (most, bar) => (totalOf(bar) > (most === undefined ? 0 : totalOf(most)) ? bar : most),
    undefined,
  );
  const most =
    highest === undefined ? "nothing" : `highest: ${format(totalOf(highest))}, ${highest.label}`;
  const hasLegend = isAdditive || pointed !== undefined;

  return (
    <figure className="bars">
      <figcaption className="bars-head">
        <span className="bars-label">{label}</span>
        <button type="button" className="bars-switch" onClick={() => setTable(!isTable)}>
          {isTable ? "Show as picture" : "Show as table"}
          <span className="sr-only">: {label}</span>
        </button>
      </figcaption>
      {hasLegend ? (
        <Legend
          series={series}
          of={pointed?.label ?? (size === 1 ? "in total" : `in total, ${size} days a bar`)}
          partValue={(name) =>
            pointed === undefined
              ? (series.find((each) => each.name === name)?.total ?? 0)
              : partValue(pointed, name)
          }
          format={format}
        />
      ) : (
        <p className="legend legend-of">{most}</p>
      )}
      <div className={isTable ? "bars-picture bars-hidden" : "bars-picture"} ref={place}>
        {width !== null && width > 0 && !isTable && (
          <BarPlot
            rows={bars}
            series={series}
            ticks={ticks(highest === undefined ? 0 : totalOf(highest))}
            format={format}
            width={width}
            description={`${label}: bars, ${most}. The table after it has every number.`}
            pointedAt={pointedAt}
            onPoint={setPointedAt}
          />
        )}
      </div>
      <BarTable
        {...{ label, rows, series }}
        // A day without a median has none; it isn't zero.
        format={(value) => (value === 0 && !isAdditive ? "–" : format(value))}
        isShown={isTable}
      />
    </figure>
  );
}

/** The width now and whenever it changes. Pictures are drawn in real pixels: scaling a picture would scale its words. */
function useWidth<Place extends Element>(): [RefObject<Place | null>, number | null] {
  const place = useRef<Place>(null);
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    setWidth(Math.floor(element.getBoundingClientRect().width));
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}
