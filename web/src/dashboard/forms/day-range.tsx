// Two days that bound a stretch of time, the last one included. The address has moments, in the reader's own zone.

import { useId } from "react";
import { dayOf, endOfDay, lastDayBefore, startOfDay } from "./days.ts";

/** At or after `from`, and before `to`. */
export type Range = { from?: string | undefined; to?: string | undefined };

type DayRangeProps = {
  labels: readonly [from: string, to: string];
  range: Range;
  /** Only the end that was changed. */
  onRange: (changes: Range) => void;
};

export function DayRange({ labels, range: { from, to }, onRange }: DayRangeProps) {
  return (
    <>
      <DayField
        label={labels[0]}
        value={from === undefined ? "" : dayOf(from)}
        max={to === undefined ? undefined : lastDayBefore(to)}
        onDay={(day) => onRange({ from: startOfDay(day) })}
      />
      <DayField
        label={labels[1]}
        value={to === undefined ? "" : lastDayBefore(to)}
        min={from === undefined ? undefined : dayOf(from)}
        onDay={(day) => onRange({ to: endOfDay(day) })}
      />
    </>
  );
}

type DayFieldProps = {
  label: string;
  value: string;
  min?: string | undefined;
  max?: string | undefined;
  onDay: (day: string) => void;
};

function DayField({ label, value, min, max, onDay }: DayFieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field"
        type="date"
        value={value}
        min={min}
        max={max}
        onChange={(event) => onDay(event.currentTarget.value)}
      />
    </div>
  );
}
