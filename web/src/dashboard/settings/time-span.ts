// A number of minutes as people say it: 1440 is 24 hours, 10080 is 7 days.

const minutesPerHour = 60;
const minutesPerDay = 24 * minutesPerHour;
/** Below this people count in hours: "36 hours" says more than "1 day 12 hours". */
const daysFromMinutes = 2 * minutesPerDay;

export function describeMinutes(minutes: number): string {
  const hasDays = minutes >= daysFromMinutes;
  const days = hasDays ? Math.floor(minutes / minutesPerDay) : 0;
  const rest = minutes - days * minutesPerDay;
  const parts = [
    count(days, "day"),
    count(Math.floor(rest / minutesPerHour), "hour"),
    count(rest % minutesPerHour, "minute"),
  ].filter((part) => part !== null);
  return parts.length === 0 ? "0 minutes" : parts.join(" ");
}

function count(amount: number, unit: string): string | null {
  if (amount === 0) return null;
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}
