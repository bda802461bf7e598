// Moments in the reader's own language and zone, which is named. A part of its own, which the browser runs while the rest of the page
// is still on its way: the first use of Intl takes as long as drawing half the page.

const format = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
format.format(0);

export function toLocalTime(at: string): string {
  return format.format(new Date(at));
}
