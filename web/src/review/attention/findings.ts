// Finds what deserves a second look in an agent's words: invisible characters, misleading letters and addresses, white
// space that matters. Everything is counted; the first of each kind are listed with their place.

import {
  comma,
  decodeString,
  isClosing,
  isOpening,
  type JsonPath,
  openBrace,
  stringEnd,
} from "../../../../server/src/domain/shown/json-tree.ts";
import {
  elementIdOf,
  type ShownName,
  type ShownTextName,
  shownAdditionsOf,
} from "../../../../server/src/domain/shown/submitted-fields.ts";
import {
  type Imitation,
  imitationIn,
} from "../../../../server/src/domain/shown/text/imitated-names.ts";
import type { Mark, Marked } from "../../../../server/src/domain/shown/text/marks.ts";
import { twinKeys } from "../../../../server/src/domain/shown/text/twin-keys.ts";
import { type Segment, segmentsOf } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Review } from "../../../../server/src/wire/review-contract.ts";
import { words } from "../../look/words.ts";

/** In a payload, it is the value or its name. */
export type Place =
  | { kind: "field"; id: string; name: string }
  | { kind: "payload"; path: JsonPath; isKey: boolean };

/** The gravest first. */
export const findingKinds = [
  "direction",
  "hidden",
  "address",
  "number",
  "lookAlike",
  "twin",
  "imitation",
  "pile",
  "space",
] as const;
export type FindingKind = (typeof findingKinds)[number];

export type Flaw =
  | { kind: "direction" | "hidden"; count: number }
  /** The first such piece of a text, and how many more it holds. */
  | { kind: "address" | "number" | "lookAlike" | "pile"; marked: Marked; more: number }
  | { kind: "space"; count: number; isAtEdge: boolean }
  | { kind: "twin"; names: readonly [string, string] }
  | { kind: "imitation"; imitation: Imitation };

export type Finding = Flaw & { place: Place };

/** All findings of one kind. */
export type FindingGroup = {
  kind: FindingKind;
  /** The number of places, listed or not. */
  total: number;
  listed: Finding[];
  /** The first place that isn't listed. */
  firstMore: Place | null;
};

export type ReviewedWords = Pick<Review, ShownName> &
  Partial<Pick<Review, "workspaceName" | "groupName" | "reviewerEmail">>;

/** Takes a finding down. */
type Note = (flaw: Flaw, place: () => Place) => void;

/** Nobody reads more of one kind; further ones are counted. */
const listedMax = 500;

export function findingsOf(review: ReviewedWords): FindingGroup[] {
  const groups = new Map<FindingKind, FindingGroup>();
  // Only listed findings get a place: naming each value of a payload would take far longer than reading it.
  const note: Note = (flaw, place) => {
    const group = groups.get(flaw.kind) ?? startGroup(flaw.kind);
    groups.set(flaw.kind, group);
    group.total += 1;
    if (group.listed.length < listedMax) group.listed.push({ ...flaw, place: place() });
    else group.firstMore ??= place();
  };
  for (const { text, isName, ...field } of fieldsOf(review)) {
    // A name is one line, where a line break is a hidden character.
    for (const flaw of flawsIn(text, !isName)) note(flaw, () => ({ kind: "field", ...field }));
  }
  const imitation = imitationIn(review.agentName ?? "", review);
  if (imitation !== null) note({ kind: "imitation", imitation }, agentNamePlace);
  if (review.payload !== null) readPayload(review.payload, note);
  return findingKinds.flatMap((kind) => groups.get(kind) ?? []);
}

function startGroup(kind: FindingKind): FindingGroup {
  return { kind, total: 0, listed: [], firstMore: null };
}

function agentNamePlace(): Place {
  return { kind: "field", id: "agent-name", name: words.places.texts.agentName };
}

function fieldsOf(review: ReviewedWords) {
  const { places } = words;
  const texts = Object.entries(places.texts) as [ShownTextName, string][];
  const additions = shownAdditionsOf(review);
  return [
    ...texts.map(([field, name]) => ({
      id: elementIdOf(field),
      name,
      text: review[field] ?? "",
      isName: field === "agentName",
    })),
    ...additions
      .filter(({ isList }) => !isList)
      .map(({ id, place, texts: [text = ""] }) => ({ id, name: place, text, isName: false })),
    ...review.recentActions.map((text, at) => ({
      id: `action-${at}`,
      name: places.recentAction(at + 1),
      text,
      isName: false,
    })),
    ...additions
      .filter(({ isList }) => isList)
      .flatMap(({ id, place, texts: names }) =>
        names.map((text, at) => ({ id, name: places.nameOf(at + 1, place), text, isName: true })),
      ),
  ];
}

/** An open container, the step of its child that is being read, and its keys so far. */
type Open = { step: string | number; keys: string[] | null };

const quote = 0x22;

/** Reads the text once, at any depth, and knows its path from the open containers. */
function readPayload(text: string, note: Note): void {
  const open: Open[] = [];
  let container: Open | undefined;
  let isKeyNext = false;
  const path = () => open.map(({ step }) => step);
  const inValue = remembering((value) => flawsIn(value, true));
  const inKey = remembering(flawsInKey);
  const valuePlace = (): Place => ({ kind: "payload", path: path(), isKey: false });
  const take = (string: string): void => {
    if (!isKeyNext || !container?.keys) {
      for (const flaw of inValue(string)) note(flaw, valuePlace);
      return;
    }
    isKeyNext = false;
    container.step = string;
    container.keys.push(string);
    for (const flaw of inKey(string)) note(flaw, () => keyPlace(path()));
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(text, at);
      take(decodeString(text, at, end));
      at = end - 1;
    } else if (code === comma) {
      isKeyNext = container?.keys != null;
      if (typeof container?.step === "number") container.step += 1;
    } else if (isOpening(code)) {
      isKeyNext = code === openBrace;
      container = { step: 0, keys: isKeyNext ? [] : null };
      open.push(container);
    } else if (isClosing(code)) {
      open.pop();
      isKeyNext = false;
      for (const names of twinKeys(container?.keys ?? [])) {
        note({ kind: "twin", names }, () => keyPlace([...path(), names[1]]));
      }
      container = open.at(-1);
    }
  }
}

function keyPlace(path: JsonPath): Place {
  return { kind: "payload", path, isKey: true };
}

const rememberedMax = 1_000;
const rememberedCharactersMax = 64;

/** Large payloads repeat the same texts. */
function remembering(find: (text: string) => Flaw[]): (text: string) => Flaw[] {
  const known = new Map<string, Flaw[]>();
  return (text) => {
    if (text.length > rememberedCharactersMax) return find(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = find(text);
    if (known.size < rememberedMax) known.set(text, found);
    return found;
  };
}

/** White space at the edge of a key is easily overlooked, however short. Other white space is hidden anyway. */
function flawsInKey(key: string): Flaw[] {
  const { inner, before, after } = trimmed(key);
  const flaws = flawsIn(inner, false);
  const count = before + after;
  return count === 0 ? flaws : [{ kind: "space", count, isAtEdge: true }, ...flaws];
}

/** One for each kind. */
function flawsIn(text: string, isMultiLine: boolean): Flaw[] {
  const segments = segmentsOf(text, { isMultiLine });
  if (segments.every(({ kind }) => kind === "text")) return [];
  const flaws = new Map<FindingKind, Flaw>();
  for (const segment of segments) {
    const flaw = flawOf(segment);
    if (flaw === null) continue;
    const before = flaws.get(flaw.kind);
    flaws.set(flaw.kind, before === undefined ? flaw : withMore(before, flaw));
  }
  return [...flaws.values()];
}

function flawOf(segment: Segment): Flaw | null {
  switch (segment.kind) {
    case "text":
      return null;
    case "hidden": {
      const isTurn = turnsDirection(segment.codePoint);
      return { kind: isTurn ? "direction" : "hidden", count: segment.count };
    }
    case "space":
      return { kind: "space", count: 1, isAtEdge: false };
    case "marked":
      if (segment.isQuiet) return null;
      return { kind: kindOf(segment.mark), marked: segment, more: 0 };
    default:
      return segment satisfies never;
  }
}

function withMore(flaw: Flaw, next: Flaw): Flaw {
  if ("marked" in flaw) return { ...flaw, more: flaw.more + 1 };
  return "count" in flaw && "count" in next ? { ...flaw, count: flaw.count + next.count } : flaw;
}

/** The marks, embeddings, overrides and isolates that set the direction of text. */
function turnsDirection(codePoint: number): boolean {
  const isMark = codePoint === 0x200e || codePoint === 0x200f || codePoint === 0x061c;
  const isOverride = codePoint >= 0x202a && codePoint <= 0x202e;
  return isMark || isOverride || (codePoint >= 0x2066 && codePoint <= 0x2069);
}

function kindOf(mark: Mark): "address" | "number" | "lookAlike" | "pile" {
  switch (mark.kind) {
    case "host":
    case "leads":
      return "address";
    case "separator":
      return mark.reads === "," ? "number" : "address";
    case "digits":
    case "letterDigits":
      return "number";
    case "lookAlike":
    case "styled":
      return /^[0-9][0-9.,:'/-]*$/.test(mark.reads ?? "") ? "number" : "lookAlike";
    case "pile":
    case "overlay":
      return "pile";
    case "harmless":
      return "lookAlike";
    default:
      return mark satisfies never;
  }
}

/** A key without the spaces at its edges, and their number. */
export function trimmed(key: string): { inner: string; before: number; after: number } {
  let start = 0;
  let end = key.length;
  while (start < end && key[start] === " ") start += 1;
  while (end > start && key[end - 1] === " ") end -= 1;
  return { inner: key.slice(start, end), before: start, after: key.length - end };
}
