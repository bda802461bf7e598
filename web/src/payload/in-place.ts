// Edits one simple value in place: a number stays a number, a text a text, and nothing else in the document changes by
// a byte. Typed text becomes a JSON token here.

import {
  type JsonNode,
  type JsonPath,
  nodeAt,
  replaceNode,
  stringOf,
  textOf,
} from "../../../server/src/domain/shown/json-tree.ts";
import { segmentsOf } from "../../../server/src/domain/shown/text/visible-text.ts";

const numberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The first content of a value's field, or null if the value can't be edited in place. */
export function typedOf(text: string, node: JsonNode): string | null {
  switch (node.kind) {
    case "number":
    case "boolean":
      return textOf(text, node);
    case "string": {
      const value = stringOf(text, node);
      return isPlain(value) ? value : null;
    }
    default:
      return null;
  }
}

/** The token for the typed text, or null if it isn't valid for this kind of value. */
export function tokenOf(kind: JsonNode["kind"], typed: string): string | null {
  switch (kind) {
    case "string":
      return JSON.stringify(typed);
    case "number": {
      const trimmed = typed.trim();
      return numberPattern.test(trimmed) ? trimmed : null;
    }
    case "boolean":
      return typed === "true" || typed === "false" ? typed : null;
    default:
      return null;
  }
}

/**
 * The document with one value replaced. A value that is typed back to the agent's gets the agent's own token again: it
 * may have been spelled with escapes.
 */
export function withValue(
  { text, original }: { text: string; original: string },
  path: JsonPath,
  token: string,
): string {
  const node = nodeAt(text, path);
  if (node === null) return text;
  if (isSameScalar(textOf(text, node), token)) return text;
  const before = nodeAt(original, path);
  const sent = before === null ? null : textOf(original, before);
  return replaceNode(text, node, sent !== null && isSameScalar(sent, token) ? sent : token);
}

/** The document with the agent's own value at a path restored. */
export function withRestored(
  { text, original }: { text: string; original: string },
  path: JsonPath,
): string {
  const node = nodeAt(text, path);
  const before = nodeAt(original, path);
  return node === null || before === null
    ? text
    : replaceNode(text, node, textOf(original, before));
}

function isSameScalar(one: string, other: string): boolean {
  if (one === other) return true;
  if (!one.startsWith('"') || !other.startsWith('"')) return false;
  return JSON.parse(one) === JSON.parse(other);
}

/** A plain field would hide some characters and change others: Windows line breaks become Unix ones. */
function isPlain(value: string): boolean {
  return segmentsOf(value, { isMultiLine: true }).every(
    (segment) =>
      segment.kind !== "hidden" && !(segment.kind === "marked" && segment.mark.kind === "harmless"),
  );
}
