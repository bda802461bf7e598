// Lengths of time in words: how long somebody has waited, and how long a call took.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

export function describeWait(ms: number): string {
  if (ms < minute) return "less than a minute";
  if (ms < hour) return count(ms / minute, "minute");
  if (ms < 2 * day) return count(ms / hour, "hour");
  return count(ms / day, "day");
}

export function describeDuration(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  return ms < minute ? `${(ms / second).toFixed(1)} s` : `${Math.round(ms / second)} s`;
}

function count(amount: number, unit: string): string {
  const whole = Math.floor(amount);
  return `${whole} ${unit}${whole === 1 ? "" : "s"}`;
}
