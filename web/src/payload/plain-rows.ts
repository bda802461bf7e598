// Rows as plain text, for parts of a payload that are out of sight: the same words in the same places as in
// value-row.tsx, but without tools. Only a text with something hidden gets a component.

import { createElement, type ReactElement } from "react";
import { createRoot } from "react-dom/client";
import {
  kindOf,
  type Outline,
  stepsOf,
  textAt,
} from "../../../server/src/domain/shown/json-outline.ts";
import {
  decodeString,
  type JsonNode,
  type JsonPath,
} from "../../../server/src/domain/shown/json-tree.ts";
import { mixesDirections } from "../../../server/src/domain/shown/text/writing-order.ts";
import { Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import { type Chunk, type ChunkList, entriesIn } from "./chunks.ts";
import { unseenInside } from "./drawn.ts";
import { keyOf } from "./folding.ts";
import { Key } from "./key.tsx";
import { containerWords, indentedLevelsMax, lineName, notesOn, rowsName } from "./look.ts";
import type { OpeningRows } from "./opening.ts";

export type PlainRows = {
  rows: DocumentFragment;
  /** The numbers of the values that stand in it with all of their text. */
  values: number[];
  /** Whether it holds values that aren't shown. */
  hasFolded: boolean;
};

type Drawing = Omit<PlainRows, "rows"> & { outline: Outline; opening: OpeningRows };

/** The first entries of a chunk. */
export function plainRowsOf(
  list: ChunkList,
  chunk: Chunk,
  { count, path, opening }: { count: number; path: JsonPath; opening: OpeningRows },
): PlainRows {
  const drawing: Drawing = { outline: list.outline, opening, values: [], hasFolded: false };
  const rows = document.createDocumentFragment();
  for (const { step, value } of entriesIn(list, chunk, count)) {
    rows.append(rowOf(drawing, [...path, step], value));
  }
  const { values, hasFolded } = drawing;
  return { rows, values, hasFolded };
}

function rowOf(drawing: Drawing, path: JsonPath, value: number): HTMLLIElement {
  const kind = kindOf(drawing.outline, value);
  drawing.values.push(value);
  if (kind === "object" || kind === "array") return containerRow(drawing, path, value);
  return scalarRow(path, kind, textAt(drawing.outline, value));
}

function scalarRow(path: JsonPath, kind: JsonNode["kind"], token: string): HTMLLIElement {
  const step = path.at(-1);
  const rowName = `row ${lineName(token, step)}`;
  // One text per number is enough in a list of numbers, and there may be millions.
  if (kind === "number" && typeof step === "number") {
    return element("li", rowName, [`${step} ${token}`]);
  }
  const text = kind === "string" ? decodeString(token, 0, token.length) : token;
  const shown = kind === "string" ? textOf(text) : text;
  const notes = notesOn(kind, text);
  const value = element("span", "value", [element("span", `scalar scalar-${kind}`, [shown])]);
  if (notes.grouped !== null) value.append(groupedNote(notes.grouped));
  if (kind === "string" && mixesDirections(text)) {
    value.append(element("span", "chip chip-quiet", [words.order.note]));
  }
  if (notes.shown !== null) value.append(element("span", "quiet", [` ${notes.shown}`]));
  if (notes.spoken !== null) value.append(element("span", "sr-only", [` ${notes.spoken}`]));
  return element("li", rowName, [keyOfRow(path), value]);
}

/** The style sheet makes its text, so it is neither copied nor read aloud with the value. */
function groupedNote(grouped: string): HTMLElement {
  const note = element("span", "grouped", []);
  note.dataset.grouped = grouped;
  note.ariaHidden = "true";
  return note;
}

function keyOfRow(path: JsonPath): Node {
  const step = path.at(-1);
  if (typeof step === "number") return element("span", "key key-index", [String(step)]);
  const isPlain = step !== undefined && step !== "" && plain.test(step);
  return isPlain ? element("span", "key", [step]) : component(createElement(Key, { path }));
}

/** Letters that need no isolation from their neighbours, and no care for lines, spaces or hidden characters. */
const plain = /^(?! )(?!.* {2})[ -~]*(?<! )$/;

function textOf(text: string): Node | string {
  if (plain.test(text)) return text;
  return component(createElement(Visible, { text, isMultiLine: true, isValue: true }));
}

/** It has no effects, so it may disappear with its row. */
function component(made: ReactElement): Node {
  const host = element("span", "host", []);
  createRoot(host).render(made);
  return host;
}

function containerRow(drawing: Drawing, path: JsonPath, container: number): HTMLLIElement {
  const { outline, opening } = drawing;
  const isObject = kindOf(outline, container) === "object";
  const wanted = opening.countAt(keyOf(path), container);
  const rows = document.createElement("ul");
  let count = 0;
  for (const [step, value] of stepsOf(outline, container)) {
    count += 1;
    if (count > wanted) continue;
    rows.append(rowOf(drawing, [...path, step], value));
  }
  const { signs, said } = containerWords(isObject, count);
  const value = element("span", "value", [element("span", "code", [signs]), ` ${said}`]);
  const line = element("div", "line line-inline line-container", [keyOfRow(path), value]);
  const row = element("li", "row", [line]);
  if (path.length > indentedLevelsMax) {
    value.append(element("span", "level", [words.level(path.length)]));
  }
  if (count > wanted) drawing.hasFolded = true;
  const unseen = count > wanted ? unseenInside(opening.drawn(), container) : 0;
  if (unseen > 0) value.append(" ", element("span", "unopened", [words.foldedPart(unseen)]));
  if (wanted > 0 && count > 0) row.append(element("div", rowsName(path.length), [rows]));
  return row;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  inside: (Node | string)[],
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.className = className;
  made.append(...inside);
  return made;
}
