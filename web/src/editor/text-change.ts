// Turns one text into another with the smallest change, so that the cursor stays in place.

export type TextChange = { from: number; to: number; insert: string };

/** The one stretch in which two texts differ. */
export function changeBetween(before: string, after: string): TextChange {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start += 1;
  let same = 0;
  while (
    same < shorter - start &&
    before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)
  ) {
    same += 1;
  }
  return {
    from: start,
    to: before.length - same,
    insert: after.slice(start, after.length - same),
  };
}

/**
 * Maps an offset of a JSON text to the formatted text: behind the same character. Null if the texts differ in more than
 * white space, which formatting must never do.
 */
export function offsetAfterFormatting(
  before: string,
  after: string,
  offset: number,
): number | null {
  let found = 0;
  let at = 0;
  let atAfter = 0;
  while (at < before.length || atAfter < after.length) {
    // Inside strings both texts are the same, so they differ only in white space between tokens.
    if (at < before.length && before.charCodeAt(at) === after.charCodeAt(atAfter)) {
      at += 1;
      atAfter += 1;
      if (at <= offset) found = atAfter;
    } else if (isSpace(before.charCodeAt(at))) at += 1;
    else if (isSpace(after.charCodeAt(atAfter))) atAfter += 1;
    else return null;
  }
  return found;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
