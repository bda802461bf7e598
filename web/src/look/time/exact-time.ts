// A moment as the service wrote it down: to the millisecond and in UTC, wherever the reader is.

export function toExactTime(at: string): string {
  return `${at.replace("T", " ").replace("Z", "")} UTC`;
}
