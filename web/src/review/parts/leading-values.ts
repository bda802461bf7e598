// The first simple values of a payload, in the order of its text, for the second step.

import {
  countValues,
  entriesOf,
  isClosing,
  isOpening,
  type JsonNode,
  type JsonPath,
  rootOf,
  skipSpace,
  stringEnd,
  textOf,
} from "../../../../server/src/domain/shown/json-tree.ts";

export type LeadingValue = { path: JsonPath; text: string };
export type LeadingValues = {
  values: LeadingValue[];
  /** The number of other simple values. */
  more: number;
};

export function leadingValues(text: string, valuesMax: number): LeadingValues {
  const values: LeadingValue[] = [];
  const visit = (path: JsonPath, node: JsonNode) => {
    if (values.length > valuesMax) return;
    const entries = node.kind === "object" || node.kind === "array" ? entriesOf(text, node) : [];
    if (entries.length === 0) values.push({ path, text: textOf(text, node) });
    for (const { step, node: child } of entries) {
      if (values.length > valuesMax) return;
      visit([...path, step], child);
    }
  };
  visit([], rootOf(text));
  // One more than asked for shows that there are more; only then all are counted.
  if (values.length <= valuesMax) return { values, more: 0 };
  return { values: values.slice(0, valuesMax), more: countSimple(text) - valuesMax };
}

/** Values that hold no others: everything but containers with content. */
function countSimple(text: string): number {
  const root = rootOf(text);
  let containers = 0;
  for (let at = root.start; at < root.end; ) {
    const code = text.charCodeAt(at);
    if (isOpening(code) && !isClosing(text.charCodeAt(skipSpace(text, at + 1)))) containers += 1;
    at = code === quote ? stringEnd(text, at) : at + 1;
  }
  return 1 + countValues(text, root) - containers;
}

const quote = 0x22;

/** The start of a value and the length of the rest. Never cuts a surrogate pair. */
export function beginningOf(text: string, charactersMax: number): { start: string; left: number } {
  if (text.length <= charactersMax) return { start: text, left: 0 };
  const code = text.charCodeAt(charactersMax - 1);
  const end = code >= 0xd800 && code <= 0xdbff ? charactersMax - 1 : charactersMax;
  return { start: text.slice(0, end), left: text.length - end };
}
