// JSON for a script element. Nothing in it can end the element or pass for the end of a line.

import { setImmediate as nextRound } from "node:timers/promises";

const special = /[<>&\u2028\u2029]/;
/** Large texts are escaped in slices of this many bytes, so that other calls run in between. */
const sliceBytes = 128 * 1024;
const escapeBytes = 6;
const [lessThan, greaterThan, ampersand] = [0x3c, 0x3e, 0x26];
const hexDigits = Buffer.from("0123456789abcdef");

/** Works on bytes: replacing characters of a string one by one takes twenty times as long. */
export async function dataBlock(data: unknown): Promise<Buffer> {
  const text = JSON.stringify(data);
  const source = Buffer.from(text);
  if (!special.test(text)) return source;
  const scratch = Buffer.allocUnsafe(Math.min(sliceBytes + 3, source.length) * escapeBytes);
  const slices: Buffer[] = [];
  for (let start = 0; start < source.length; ) {
    const end = characterStart(source, start + sliceBytes);
    slices.push(
      Buffer.from(scratch.subarray(0, escapeSlice(source.subarray(start, end), scratch))),
    );
    if (end < source.length) await nextRound();
    start = end;
  }
  return Buffer.concat(slices);
}

/** The next start of a character: no slice ends within one. */
function characterStart(source: Buffer, from: number): number {
  let at = Math.min(from, source.length);
  while (((source[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

/** Answers with the number of bytes written. */
function escapeSlice(source: Buffer, target: Buffer): number {
  let to = 0;
  for (let at = 0; at < source.length; at += 1) {
    const byte = source[at] ?? 0;
    if (byte === lessThan || byte === greaterThan || byte === ampersand) {
      writeEscape(target, to, byte);
      to += escapeBytes;
    } else if (byte === 0xe2 && isLineEnd(source, at)) {
      writeEscape(target, to, 0x2000 | ((source[at + 2] ?? 0) & 0x3f));
      to += escapeBytes;
      at += 2;
    } else {
      target[to] = byte;
      to += 1;
    }
  }
  return to;
}

/** U+2028 and U+2029, line ends that JSON allows in texts. */
function isLineEnd(source: Buffer, at: number): boolean {
  return source[at + 1] === 0x80 && ((source[at + 2] ?? 0) & 0xfe) === 0xa8;
}

/** A backslash, a u and four hexadecimal digits. Written out, because a loop takes several times as long. */
function writeEscape(target: Buffer, at: number, code: number): void {
  target[at] = 0x5c;
  target[at + 1] = 0x75;
  target[at + 2] = hexDigits[code >> 12] ?? 0;
  target[at + 3] = hexDigits[(code >> 8) & 15] ?? 0;
  target[at + 4] = hexDigits[(code >> 4) & 15] ?? 0;
  target[at + 5] = hexDigits[code & 15] ?? 0;
}
