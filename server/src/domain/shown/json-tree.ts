// Reads a JSON text piece by piece, without turning it into values: each piece is a range of the text, so that
// everything shown, compared or edited is exactly the sent text. The text must be known to be valid JSON.

import { formatStep } from "./json-text.ts";

export type JsonNode = {
  kind: "object" | "array" | "string" | "number" | "boolean" | "null";
  start: number;
  end: number;
};

/** In an object `step` is the decoded key and the key's range has its quotes; in an array `step` is the index. */
export type JsonEntry = {
  step: string | number;
  keyStart: number;
  keyEnd: number;
  node: JsonNode;
};

export type JsonPath = readonly (string | number)[];

const quote = 0x22;
const backslash = 0x5c;
export const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
export const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Finds the end from behind, so that not even a long text must be read for it. */
export function rootOf(text: string): JsonNode {
  const start = skipSpace(text, 0);
  let end = text.length;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return { kind: kindAt(text, start), start, end };
}

/** The direct children in the order of the text; a scalar has none. Reads only the node's own range. */
export function entriesOf(text: string, node: JsonNode): JsonEntry[] {
  const entries: JsonEntry[] = [];
  let entry = nextEntry(text, node, null);
  while (entry !== null) {
    entries.push(entry);
    entry = nextEntry(text, node, entry);
  }
  return entries;
}

/** The number of values in a node, at any depth. */
export function countValues(text: string, node: JsonNode): number {
  if (!isContainer(node)) return 0;
  // A container has one value more than it has commas, unless it is empty.
  let count = 0;
  for (let at = node.start; at < node.end; ) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else {
      if (code === comma || (isOpening(code) && !isEmptyAt(text, at))) count += 1;
      at += 1;
    }
  }
  return count;
}

/** The decoded string. */
export function stringOf(text: string, node: JsonNode): string {
  return decodeString(text, node.start, node.end);
}

export function textOf(text: string, node: JsonNode): string {
  return text.slice(node.start, node.end);
}

export function nodeAt(text: string, path: JsonPath): JsonNode | null {
  let node: JsonNode | null = rootOf(text);
  for (const step of path) {
    if (node === null) return null;
    node = childAt(text, node, step);
  }
  return node;
}

/** The text with another token in a node's place; nothing else changes by a byte. */
export function replaceNode(text: string, node: JsonNode, token: string): string {
  return text.slice(0, node.start) + token + text.slice(node.end);
}

/** Such as `items[3].id` or `["odd key"].x`: the scanner's form, but never cut. */
export function formatPath(path: JsonPath): string {
  return path.map((step, index) => formatStep(step, index === 0)).join("");
}

/** Deeper levels are indented no further: otherwise a few megabytes of brackets would grow to hundreds. */
const indentedLevelsMax = 32;

/** The same tokens in the same order, one value to a line. Only the white space between them changes. */
export function formatJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const code = text.charCodeAt(at);
    const isEmpty = isOpening(code) && isEmptyAt(text, at);
    const isOpen = isOpening(code) && !isEmpty;
    const end = isEmpty ? skipSpace(text, at + 1) + 1 : tokenEnd(text, at);
    if (isOpen) depth += 1;
    if (isClosing(code)) parts.push(lineBreakAt(--depth));
    parts.push(isEmpty ? emptyContainer(code) : text.slice(at, end));
    if (isOpen || code === comma) parts.push(lineBreakAt(depth));
    if (code === colon) parts.push(" ");
    at = end;
  }
  return parts.join("");
}

/** The offset behind the string that begins here. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end + 1;
}

/** The offset behind the value that begins here, which is always further on. */
export function valueEnd(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === quote) return stringEnd(text, start);
  return isOpening(code) ? containerEnd(text, start) : scalarEnd(text, start);
}

export function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** The decoded string of a token. Most have no escape, and then it is the text between the quotes. */
export function decodeString(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end - 1);
  return inside.includes("\\") ? JSON.parse(text.slice(start, end)) : inside;
}

export function isOpening(code: number): boolean {
  return code === openBracket || code === openBrace;
}

export function isClosing(code: number): boolean {
  return code === closeBracket || code === closeBrace;
}

export function kindAt(text: string, start: number): JsonNode["kind"] {
  switch (text.charCodeAt(start)) {
    case openBrace:
      return "object";
    case openBracket:
      return "array";
    case quote:
      return "string";
    case 0x74:
    case 0x66:
      return "boolean";
    case 0x6e:
      return "null";
    default:
      return "number";
  }
}

function isContainer({ kind }: JsonNode): boolean {
  return kind === "object" || kind === "array";
}

function nextEntry(text: string, node: JsonNode, last: JsonEntry | null): JsonEntry | null {
  if (!isContainer(node)) return null;
  let at = skipSpace(text, last === null ? node.start + 1 : last.node.end);
  if (last !== null && text.charCodeAt(at) === comma) at = skipSpace(text, at + 1);
  if (at >= node.end - 1) return null;
  if (node.kind === "object") return memberAt(text, at);
  const step = last === null ? 0 : Number(last.step) + 1;
  return { step, keyStart: at, keyEnd: at, node: readNode(text, at) };
}

function memberAt(text: string, keyStart: number): JsonEntry {
  const keyEnd = stringEnd(text, keyStart);
  const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
  return {
    step: decodeString(text, keyStart, keyEnd),
    keyStart,
    keyEnd,
    node: readNode(text, start),
  };
}

function readNode(text: string, start: number): JsonNode {
  return { kind: kindAt(text, start), start, end: valueEnd(text, start) };
}

function childAt(text: string, node: JsonNode, step: string | number): JsonNode | null {
  let entry = nextEntry(text, node, null);
  while (entry !== null && entry.step !== step) entry = nextEntry(text, node, entry);
  return entry?.node ?? null;
}

const lineBreaks = Array.from(
  { length: indentedLevelsMax + 1 },
  (_, depth) => `\n${"  ".repeat(depth)}`,
);

function lineBreakAt(depth: number): string {
  return lineBreaks[Math.min(depth, indentedLevelsMax)] ?? "\n";
}

function tokenEnd(text: string, start: number): number {
  const code = text.charCodeAt(start);
  if (code === quote) return stringEnd(text, start);
  return isPunctuation(code) ? start + 1 : scalarEnd(text, start);
}

function emptyContainer(opening: number): string {
  return opening === openBrace ? "{}" : "[]";
}

/** A quote is part of the string when an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text.charCodeAt(start - 1) === backslash) start -= 1;
  return (at - start) % 2 === 1;
}

function containerEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else {
      if (isOpening(code)) depth += 1;
      else if (isClosing(code)) depth -= 1;
      at += 1;
      if (depth === 0) return at;
    }
  }
  return text.length;
}

function scalarEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !isEndOfScalar(text.charCodeAt(at))) at += 1;
  return at;
}

function isEndOfScalar(code: number): boolean {
  return isSpace(code) || isPunctuation(code);
}

function isPunctuation(code: number): boolean {
  return code === comma || code === colon || isOpening(code) || isClosing(code);
}

function isEmptyAt(text: string, start: number): boolean {
  return isClosing(text.charCodeAt(skipSpace(text, start + 1)));
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
