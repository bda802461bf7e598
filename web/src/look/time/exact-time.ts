// A time exactly as the service recorded it: in UTC, to the millisecond.

export function toExactTime(at: string): string {
  return `${at.replace("T", " ").replace("Z", "")} UTC`;
}
