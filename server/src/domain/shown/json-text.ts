// Reads JSON without changing it: checks the whole grammar, finds the exact text of each member of
// the outermost object, and notes duplicate keys and excessive nesting on the way.
// JSON.parse cannot serve here: it rounds numbers, keeps the last of two keys and reorders others.

import { jsonDepthMax } from "./field-limits.ts";

declare const jsonTextBrand: unique symbol;

/** A text that is known to be one valid JSON value, exactly as somebody sent it. */
export type JsonText = string & { readonly [jsonTextBrand]: true };

export type JsonFlaw = { kind: "duplicate_key" | "too_deep"; path: string };

export type JsonMember = { name: string; text: JsonText; flaw: JsonFlaw | null };

export type ScannedJson =
  | { kind: "object"; members: JsonMember[] }
  | { kind: "other"; flaw: JsonFlaw | null }
  | MalformedText;

/** `at` is the offset of the mistake, which is the length of the text when that ends too early. */
export type MalformedText = { kind: "malformed"; message: string; at: number };

/** `at` is the offset of the repeated key, or of the bracket that opens the container that is too deep. */
export type PlacedFlaw = JsonFlaw & { at: number };

export type ScannedValue = { kind: "valid"; flaw: PlacedFlaw | null } | MalformedText;

/** Scans one JSON document. Time is linear in its length and the stack does not grow with its depth. */
export function scanJson(text: string): ScannedJson {
  return resultOf(new Scanner(text, { isBody: true, depthMax: jsonDepthMax }));
}

/** Scans one value, by default with the bounds of a member of a body: nesting is counted from the value itself. */
export function scanJsonValue(text: string, depthMax = jsonDepthMax): ScannedValue {
  const scanner = new Scanner(text, { isBody: false, depthMax });
  const scanned = resultOf(scanner);
  return scanned.kind === "malformed" ? scanned : { kind: "valid", flaw: scanner.placedFlaw() };
}

/** Says what is wrong at the flaw's path. */
export function describeFlaw({ kind }: JsonFlaw, depthMax = jsonDepthMax): string {
  return kind === "too_deep"
    ? `is nested deeper than ${depthMax} levels`
    : "appears more than once. Send each key once, so that every reader sees one value";
}

/** One step of a path, such as `.id`, `[3]` or `["odd key"]`. A path does not begin with a dot. */
export function formatStep(step: string | number, isFirst: boolean): string {
  if (typeof step === "number") return `[${step}]`;
  if (!simpleKeyPattern.test(step)) return `[${JSON.stringify(step)}]`;
  return isFirst ? step : `.${step}`;
}

/** The JSON text of a value that we made ourselves. */
export function toJsonText(
  value: string | number | boolean | null | readonly string[] | Readonly<Record<string, string>>,
): JsonText {
  return JSON.stringify(value) as JsonText;
}

function resultOf(scanner: Scanner): ScannedJson {
  try {
    return scanner.scan();
  } catch (error) {
    if (error instanceof MalformedJson) return error.result;
    if (error instanceof HopelesslyDeep) return scanner.conclude();
    throw error;
  }
}

class MalformedJson extends Error {
  readonly result: MalformedText;

  constructor(message: string, at: number) {
    super(message);
    this.result = { kind: "malformed", message, at };
  }
}

/** So deep that nobody means well: whether the rest is JSON doesn't matter any more. */
class HopelesslyDeep extends Error {}
const hopelessDepth = 100_000;

type Container = {
  isObject: boolean;
  comparesKeys: boolean;
  key: string;
  /** Keys seen so far, once there are two: most objects of a hostile text would be small and many. */
  firstKey: string | null;
  keys: Set<string> | null;
  index: number;
};

function newContainer(isObject: boolean, comparesKeys: boolean): Container {
  return { isObject, comparesKeys, key: "", firstKey: null, keys: null, index: 0 };
}

/** Notes the current key of an object, and says whether the object had it before. */
function isRepeatedKey(container: Container): boolean {
  const { key, firstKey } = container;
  if (firstKey === null) {
    container.firstKey = key;
    return false;
  }
  container.keys ??= new Set([firstKey]);
  if (container.keys.has(key)) return true;
  container.keys.add(key);
  return false;
}

/** The scanner's next token: a value, a separator or end of values, or the end of the document. */
type Expected = "value" | "separator" | "end";

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const simpleKeyPattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const pathCharactersMax = 200;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

class Scanner {
  readonly #text: string;
  #at = 0;
  /** Containers that are open here, outermost first. */
  readonly #open: Container[] = [];
  /** Too deep to be described: all of them are one of these two, because a hostile text may hold millions. */
  readonly #deepObject = newContainer(true, false);
  readonly #deepArray = newContainer(false, false);
  readonly #members: JsonMember[] = [];
  #memberStart = 0;
  #flaw: JsonFlaw | null = null;
  #flawAt = 0;
  /** A body that is an object is read by its members, and is itself no level of nesting. */
  readonly #isBody: boolean;
  readonly #depthMax: number;
  #hasMembers = false;

  constructor(text: string, { isBody, depthMax }: { isBody: boolean; depthMax: number }) {
    this.#text = text;
    this.#isBody = isBody;
    this.#depthMax = depthMax;
  }

  scan(): ScannedJson {
    this.#skipSpace();
    this.#hasMembers = this.#isBody && this.#text.charCodeAt(this.#at) === openBrace;
    let expected = this.#value();
    while (expected !== "end") expected = expected === "value" ? this.#value() : this.#next();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("unexpected text after the end of the value");
    return this.#hasMembers
      ? { kind: "object", members: this.#members }
      : { kind: "other", flaw: this.#flaw };
  }

  /** The result for a document that was given up in the middle: the current member is flawed. */
  conclude(): ScannedJson {
    const [outermost] = this.#open;
    if (outermost === undefined || !this.#hasMembers) return { kind: "other", flaw: this.#flaw };
    const flawed: JsonMember = { name: outermost.key, text: toJsonText(null), flaw: this.#flaw };
    return { kind: "object", members: [...this.#members, flawed] };
  }

  placedFlaw(): PlacedFlaw | null {
    return this.#flaw === null ? null : { ...this.#flaw, at: this.#flawAt };
  }

  /** Reads a scalar, an empty container, or the opening of a container. */
  #value(): Expected {
    const code = this.#text.charCodeAt(this.#at);
    if (code === openBrace) return this.#openContainer(true);
    if (code === openBracket) return this.#openContainer(false);
    if (code === quote) this.#string();
    else if (code === 0x74) this.#literal("true");
    else if (code === 0x66) this.#literal("false");
    else if (code === 0x6e) this.#literal("null");
    else this.#number();
    return this.#endValue();
  }

  /** Continues after a value inside a container: to its next value, or past its end. */
  #next(): Expected {
    const container = this.#open[this.#open.length - 1];
    if (container === undefined) return "end";
    this.#skipSpace();
    const code = this.#text.charCodeAt(this.#at);
    if (code === (container.isObject ? closeBrace : closeBracket)) return this.#closeContainer();
    if (code !== comma) {
      this.#fail(container.isObject ? "expected , or } here" : "expected , or ] here");
    }
    this.#at += 1;
    container.index += 1;
    return this.#startValue(container);
  }

  #openContainer(isObject: boolean): Expected {
    const level = this.#open.length + (this.#hasMembers ? 0 : 1);
    const isTooDeep = level > this.#depthMax;
    if (isTooDeep && this.#flaw === null) this.#note("too_deep", this.#path(1), this.#at);
    if (this.#open.length >= hopelessDepth) throw new HopelesslyDeep();
    const deep = isObject ? this.#deepObject : this.#deepArray;
    const container = isTooDeep ? deep : newContainer(isObject, isObject);
    this.#open.push(container);
    this.#at += 1;
    this.#skipSpace();
    const close = isObject ? closeBrace : closeBracket;
    if (this.#text.charCodeAt(this.#at) === close) return this.#closeContainer();
    return this.#startValue(container);
  }

  #closeContainer(): Expected {
    this.#at += 1;
    this.#open.pop();
    return this.#endValue();
  }

  #startValue(container: Container): Expected {
    if (container.isObject) this.#key(container);
    this.#skipSpace();
    if (this.#open.length === 1) this.#memberStart = this.#at;
    return "value";
  }

  #endValue(): Expected {
    const [outermost] = this.#open;
    if (outermost === undefined) return "end";
    if (this.#open.length === 1 && this.#hasMembers) {
      const text = this.#text.slice(this.#memberStart, this.#at) as JsonText;
      this.#members.push({ name: outermost.key, text, flaw: this.#flaw });
      this.#flaw = null;
    }
    return "separator";
  }

  #key(container: Container): void {
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#at) !== quote)
      this.#fail("expected a key in double quotes here");
    const start = this.#at;
    const hasEscape = this.#string();
    container.key = hasEscape
      ? (JSON.parse(this.#text.slice(start, this.#at)) as string)
      : this.#text.slice(start + 1, this.#at - 1);
    if (container.comparesKeys && isRepeatedKey(container) && this.#flaw === null) {
      this.#note("duplicate_key", this.#path(this.#open.length), start);
    }
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#at) !== colon) this.#fail("expected : after the key here");
    this.#at += 1;
  }

  /** Reads a string and says whether it holds an escape. */
  #string(): boolean {
    // A local name: this loop sees most characters of most texts.
    const text = this.#text;
    let hasEscape = false;
    let at = this.#at + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code >= 0x20 && code !== quote && code !== backslash) {
        at += 1;
      } else if (code === quote) {
        break;
      } else if (code === backslash) {
        hasEscape = true;
        at += this.#escapeLength(at);
      } else if (Number.isNaN(code)) {
        this.#fail("this string has no end");
      } else {
        this.#at = at;
        this.#fail("a control character inside a string must be escaped");
      }
    }
    this.#at = at + 1;
    return hasEscape;
  }

  #escapeLength(at: number): number {
    const code = this.#text[at + 1];
    if (code === "u" && /^[0-9a-fA-F]{4}$/.test(this.#text.slice(at + 2, at + 6))) return 6;
    if (code !== undefined && code !== "u" && '"\\/bfnrt'.includes(code)) return 2;
    this.#at = at;
    return this.#fail("this is not an escape that JSON knows");
  }

  #number(): void {
    numberPattern.lastIndex = this.#at;
    if (!numberPattern.test(this.#text)) this.#fail("expected a value here");
    this.#at = numberPattern.lastIndex;
  }

  #literal(word: string): void {
    if (!this.#text.startsWith(word, this.#at)) this.#fail("expected a value here");
    this.#at += word.length;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  /** The path of the current key of the first `levels` open containers, such as `payload.items[3].id`. */
  #path(levels: number): string {
    let path = "";
    for (const container of this.#open.slice(0, levels)) {
      path += formatStep(container.isObject ? container.key : container.index, path === "");
    }
    return path.length > pathCharactersMax ? `${path.slice(0, pathCharactersMax)}…` : path;
  }

  #note(kind: JsonFlaw["kind"], path: string, at: number): void {
    this.#flaw = { kind, path };
    this.#flawAt = at;
  }

  #fail(what: string): never {
    if (this.#at >= this.#text.length) {
      throw new MalformedJson("the text ends too early", this.#text.length);
    }
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = this.#at - before.lastIndexOf("\n");
    throw new MalformedJson(`line ${line}, column ${column}: ${what}`, this.#at);
  }
}
