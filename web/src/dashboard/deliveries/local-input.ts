// Converts between the date and time field, which has the reader's time without a zone, and the service's UTC.

/** Rounded down to the minute, so that an event of this minute is not left out. */
export function toLocalInput(iso: string): string {
  const at = new Date(iso);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Null when the field is empty or holds no time. */
export function fromLocalInput(text: string): string | null {
  const at = new Date(text);
  return text === "" || Number.isNaN(at.getTime()) ? null : at.toISOString();
}
