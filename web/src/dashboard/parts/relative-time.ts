// How long ago, or how long until: one unit, the largest that fits.

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Longer ago, a date says more than a number of days. */
const daysMax = 30;

/** A new event may lie ahead of a clock that is read seldom or goes slow. */
const clockLeewayMs = 2_000;

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ["day", day],
  ["hour", hour],
  ["minute", minute],
];

const spans = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export function toRelativeTime(at: string, now: number): string {
  const ms = Date.parse(at) - now;
  const distance = Math.abs(ms);
  if (distance >= daysMax * day) return dates.format(new Date(at));
  const [unit, size] = units.find(([, each]) => distance >= each) ?? ["minute", minute];
  // Rounded towards now: nothing seems older, or further off, than it is.
  const count = Math.trunc(ms / size);
  if (count === 0) return ms > clockLeewayMs ? "in less than a minute" : "just now";
  return spans.format(count, unit);
}
