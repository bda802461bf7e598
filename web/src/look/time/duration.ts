// Durations in words that are read at a glance: at most two units, and no false precision.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export function describeDuration(ms: number): string {
  if (ms <= 0) return count(0, "s");
  // Rounded before the unit is chosen, so that 59.6 seconds become a minute and never 60 seconds.
  const whole = Math.max(1, Math.round(ms));
  if (whole < second) return count(whole, "ms");
  const tenths = Math.round(ms / 100) / 10;
  if (tenths < 10) return count(tenths, "s");
  const seconds = Math.round(ms / second);
  if (seconds < 60) return count(seconds, "s");
  const minutes = Math.round(ms / minute);
  if (minutes < 60) return count(minutes, "min");
  if (minutes < 24 * 60) return join(count(Math.floor(minutes / 60), "h"), minutes % 60, "min");
  const hours = Math.round(ms / hour);
  if (hours < 48) return join(count(1, "day"), hours - 24, "h");
  return count(Math.round(hours / 24), "days");
}

function join(first: string, rest: number, unit: string): string {
  return rest === 0 ? first : `${first} ${count(rest, unit)}`;
}

/** No line break between a number and its unit. */
function count(amount: number, unit: string): string {
  return `${amount}\u00a0${unit}`;
}
