// How long something took, in words that are read at a glance: never more than two units, never a false exactness.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

export function describeDuration(ms: number): string {
  if (ms < second) return ms <= 0 ? "0 s" : "under 1 s";
  // Rounded before the unit is chosen, so that 59.6 seconds are a minute and never 60 seconds.
  const seconds = Math.round(ms / second);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(ms / minute);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return join(`${Math.floor(minutes / 60)} h`, minutes % 60, "min");
  const hours = Math.round(ms / hour);
  if (hours < 48) return join("1 day", hours - 24, "h");
  return `${Math.round(hours / 24)} days`;
}

function join(first: string, rest: number, unit: string): string {
  return rest === 0 ? first : `${first} ${rest} ${unit}`;
}
