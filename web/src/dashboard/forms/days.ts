// Days of a date input and the moments that they begin and end at, in the reader's own zone.

/** The first moment of a day in the reader's zone, from a date input. */
export function startOfDay(day: string): string | undefined {
  const at = new Date(`${day}T00:00:00`);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** The first moment after the day; days need not have 24 hours. */
export function endOfDay(day: string): string | undefined {
  const at = new Date(`${day}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + 1);
  return at.toISOString();
}

/** The day of a moment, in the reader's own zone. */
export function dayOf(at: string): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The last day of a range that ends before `at`. */
export function lastDayBefore(at: string): string {
  return dayOf(new Date(Date.parse(at) - 1).toISOString());
}
