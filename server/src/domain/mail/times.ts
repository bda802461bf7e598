// Instants and spans in words, the same on every machine: a resent mail must be the same to the byte, so neither the
// locale nor the time of sending matters.

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Such as "Monday, 16 November 2026, 16:11 UTC". Seconds are cut off, so that a deadline never reads too late. */
export function instantInWords(at: Date): string {
  const date = `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
  const clock = [at.getUTCHours(), at.getUTCMinutes()].map((part) => String(part).padStart(2, "0"));
  return `${weekdays[at.getUTCDay()]}, ${date}, ${clock.join(":")} UTC`;
}

/** Such as "24 hours", "7 days" or "1 hour 40 minutes", to the minute. */
export function spanInWords(from: Date, until: Date): string {
  return minutesInWords(Math.round((until.getTime() - from.getTime()) / 60_000));
}

export function minutesInWords(minutes: number): string {
  // Up to two days people think in hours.
  const days = minutes >= 48 * 60 ? Math.floor(minutes / (24 * 60)) : 0;
  const hours = Math.floor((minutes - days * 24 * 60) / 60);
  const parts = [counted(days, "day"), counted(hours, "hour"), counted(minutes % 60, "minute")];
  return parts.filter((part) => part !== null).join(" ") || "less than a minute";
}

function counted(count: number, unit: string): string | null {
  if (count === 0) return null;
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}
