// Bytes and their encodings, as proofs write them. Decoding is strict: one text for the same bytes, so that a receipt
// has no second spelling.

export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
/** Keeps a byte order mark, which is part of the text. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** The character code of each digit, and the value of each character code. */
type Alphabet = { codes: Uint8Array; values: Uint8Array };

const noDigit = 255;
const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const standard = alphabetOf(`${lettersAndDigits}+/`);
const urlSafe = alphabetOf(`${lettersAndDigits}-_`);

export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** Null if the bytes are no UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** A text that isn't well formed has no bytes of its own. */
export function isWellFormed(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text) || decoder.decode(encoder.encode(text)) === text;
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

export function toBase64Url(bytes: Uint8Array): string {
  return encode(bytes, urlSafe);
}

export function toBase64(bytes: Uint8Array): string {
  const text = encode(bytes, standard);
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

/** Without padding. Null unless it is the one text of these bytes. */
export function fromBase64Url(text: string): Bytes | null {
  return decode(text, urlSafe);
}

/** With padding. Null unless it is the one text of these bytes. */
export function fromBase64(text: string): Bytes | null {
  const bare = text.replace(/={1,2}$/, "");
  const bytes = text.length % 4 === 0 ? decode(bare, standard) : null;
  return bytes !== null && toBase64(bytes) === text ? bytes : null;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function encode(bytes: Uint8Array, { codes }: Alphabet): string {
  // Written as bytes first: a text that grows by single characters stays in pieces, a kilobyte of them for a hash.
  const digits = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  const codeOf = (value: number) => codes[value & 63] as number;
  for (let at = 0, digit = 0; at < bytes.length; at += 3, digit += 4) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    // What would stand behind the end is dropped.
    digits[digit] = codeOf(group >> 18);
    digits[digit + 1] = codeOf(group >> 12);
    digits[digit + 2] = codeOf(group >> 6);
    digits[digit + 3] = codeOf(group);
  }
  return decoder.decode(digits);
}

function decode(text: string, { values }: Alphabet): Bytes | null {
  const left = text.length % 4;
  if (left === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [all, group, at] = [0, 0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // More than 63 if it is no digit, also beyond the table.
    const value = (values[code & 255] as number) | (code & 0xff00);
    all |= value;
    group = (group << 6) | value;
    if ((index & 3) !== 3) continue;
    bytes[at] = group >> 16;
    bytes[at + 1] = group >> 8;
    bytes[at + 2] = group;
    at += 3;
  }
  if (all > 63) return null;
  if (left === 0) return bytes;
  // The last digit's spare bits must be zero: otherwise several texts would stand for the same bytes.
  const spareBits = left === 2 ? 4 : 2;
  if ((group & ((1 << spareBits) - 1)) !== 0) return null;
  group >>= spareBits;
  bytes[bytes.length - 1] = group;
  if (left === 3) bytes[bytes.length - 2] = group >> 8;
  return bytes;
}

function alphabetOf(digits: string): Alphabet {
  const values = new Uint8Array(256).fill(noDigit);
  for (let at = 0; at < 64; at += 1) values[digits.charCodeAt(at)] = at;
  return { codes: encoder.encode(digits), values };
}
