// Parses JSON without rounding. Clients execute approved payloads from here, and JSON.parse would turn 9007199254740993
// into its neighbour. Numbers that a double can't hold stay as written, and so does -0, which JSON.stringify would
// write as 0.

type RawJson = { rawJSON(text: string): unknown };

/** As `JSON.parse`. On a Node without `JSON.rawJSON` (before 22) it is just that. */
export function parseExactly(text: string): unknown {
  if (!("rawJSON" in JSON)) return JSON.parse(text);
  const mark = `${crypto.randomUUID()}:`;
  const marked = markInexact(text, mark);
  // JSON.parse decides whether it is JSON at all.
  const parsed: unknown = JSON.parse(marked);
  return marked === text ? parsed : withoutMarks(parsed, mark, JSON as unknown as RawJson);
}

/** A number in a JSON text that `JSON.parse` would change; null if there is none. */
export function roundedIn(text: string): string | null {
  const mark = `${crypto.randomUUID()}:`;
  const marked = markInexact(text, mark);
  const at = marked.indexOf(mark);
  return at < 0 ? null : marked.slice(at + mark.length, marked.indexOf('"', at));
}

/** Turns each such number into a string that begins with the mark, in one pass. */
function markInexact(text: string, mark: string): string {
  let marked = "";
  let taken = 0;
  for (let at = 0; at < text.length; ) {
    const character = text.charCodeAt(at);
    if (character === quote) at = endOfString(text, at);
    else if (!isInNumber(character)) at += 1;
    else {
      const end = endOfNumber(text, at);
      if (!isExact(text, at, end)) {
        marked += `${text.slice(taken, at)}"${mark}${text.slice(at, end)}"`;
        taken = end;
      }
      at = end;
    }
  }
  return taken === 0 ? text : marked + text.slice(taken);
}

const quote = 0x22;
const backslash = 0x5c;

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) {
    at += text.charCodeAt(at) === backslash ? 2 : 1;
  }
  return at + 1;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isNumberPart(text.charCodeAt(end))) end += 1;
  return end;
}

/** A minus or a digit, the start of a number. */
function isInNumber(character: number): boolean {
  return character === 0x2d || (character >= 0x30 && character <= 0x39);
}

/** Or a point, a plus or an e. */
function isNumberPart(character: number): boolean {
  if (isInNumber(character)) return true;
  return character === 0x2e || character === 0x2b || character === 0x65 || character === 0x45;
}

/** Fifteen digits always survive. */
const safeCharactersMax = 15;

function isExact(text: string, start: number, end: number): boolean {
  if (end - start === 1) return true;
  const number = text.slice(start, end);
  if (Object.is(Number(number), -0)) return false;
  if (number.length <= safeCharactersMax && !/[eE]/.test(number)) return true;
  const wanted = canonical(number);
  return wanted === null || wanted === canonical(String(Number(number)));
}

/** The digits and the place of the point, in any spelling; null for anything that is no JSON number. */
function canonical(number: string): string | null {
  const parts = /^-?(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(number);
  if (parts === null) return null;
  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = withoutTrailingZeros(digits);
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

/** Puts the numbers back, as values that `JSON.stringify` writes unchanged. */
function withoutMarks(parsed: unknown, mark: string, { rawJSON }: RawJson): unknown {
  const root = { value: parsed };
  const open: object[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const values = at as Record<string | number, unknown>;
    const look = (key: string | number) => {
      const value = values[key];
      if (typeof value === "string" && value.startsWith(mark)) {
        // Defined, not assigned: a key may be named __proto__.
        Object.defineProperty(values, key, { value: rawJSON(value.slice(mark.length)) });
      } else if (typeof value === "object" && value !== null) {
        open.push(value);
      }
    };
    if (Array.isArray(at)) for (let index = 0; index < at.length; index += 1) look(index);
    else Object.keys(at).forEach(look);
  }
  return root.value;
}
