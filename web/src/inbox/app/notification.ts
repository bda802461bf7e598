// The words of a notification: how many requests wait, and nothing about them.

/** More than this aren't counted. */
const countMax = 100;

/** `message` is what the service sent, or whatever else arrived. */
export function notificationTitle(message: unknown): string {
  const count = countOf(message);
  if (count === null) return "Requests are waiting";
  if (count >= countMax) return `${countMax} or more requests are waiting`;
  return count === 1 ? "1 request is waiting" : `${count} requests are waiting`;
}

function countOf(message: unknown): number | null {
  if (typeof message !== "object" || message === null || !("waiting" in message)) return null;
  const { waiting } = message;
  return typeof waiting === "number" && Number.isInteger(waiting) && waiting > 0 ? waiting : null;
}
