// The field for a date and a time speaks the reader's own time, without a zone; the service speaks UTC.

/** To the minute below, so that what happened at this moment is not left out. */
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
