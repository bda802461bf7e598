// What of an agent's words deserves a second look: characters that cannot be seen, letters and names that look like
// others, white space that matters. Each finding knows its place, so that the page can lead there.

import type { Review } from "../../../../sdk/src/review-contract.ts";
import {
  comma,
  decodeString,
  isClosing,
  isOpening,
  type JsonPath,
  openBrace,
  stringEnd,
} from "../../../../server/src/domain/json-tree.ts";
import type { Mark } from "../../../../server/src/domain/marks.ts";
import { twinKeys } from "../../../../server/src/domain/twin-keys.ts";
import { segmentsOf } from "../../../../server/src/domain/visible-text.ts";
import { words } from "../words.ts";
import { pathName, visibleCut } from "./path-name.ts";

/** Of a payload it is the value, or its name. */
export type Place =
  | { kind: "field"; id: string; name: string }
  | { kind: "payload"; path: JsonPath; isKey: boolean };

type Flaw =
  | { kind: "hidden" | "mixed" | "host"; count: number }
  | { kind: "space"; count: number; isAtEdge: boolean }
  | { kind: "twin"; names: readonly [string, string] };

export type Finding = Flaw & { place: Place };

/** Those that are listed, how many more there are at least, and where the first of the others is. */
export type Findings = {
  listed: Finding[];
  more: number;
  /** Whether the counting came to the end of the payload. */
  isAll: boolean;
  firstMore: Place | null;
};

/** Our own words, and between them what the agent wrote. */
export type Sentence = readonly (string | { quoted: readonly Quoted[] })[];
export type Quoted = { text: string } | { chip: string };

type Words = Pick<Review, "summary" | "agentName" | "reasoning" | "recentActions" | "payload">;

/** Takes a finding down; false when that was enough. */
type Note = (flaw: Flaw, place: () => Place) => boolean;

/** Nobody reads more; others are counted. */
const listedMax = 1_000;
/** To find a million would keep the page waiting for seconds, and tell no more than so many do. */
const countedMax = 20_000;

export function findingsOf(review: Words): Findings {
  const findings: Findings = { listed: [], more: 0, isAll: true, firstMore: null };
  // A place is made for what is listed only: to name each value of a payload would take far longer than to read it.
  const note: Note = (flaw, place) => {
    if (findings.listed.length < listedMax) findings.listed.push({ ...flaw, place: place() });
    else {
      findings.more += 1;
      findings.firstMore ??= place();
    }
    return findings.listed.length + findings.more < countedMax;
  };
  for (const { text, ...field } of fieldsOf(review)) {
    for (const flaw of flawsIn(text, true)) note(flaw, () => ({ kind: "field", ...field }));
  }
  if (review.payload !== null) findings.isAll = readPayload(review.payload, note);
  return findings;
}

function fieldsOf({ summary, agentName, reasoning, recentActions }: Words) {
  const { places } = words;
  return [
    { id: "summary", name: places.summary, text: summary },
    { id: "agent-name", name: places.agentName, text: agentName ?? "" },
    { id: "reasoning", name: places.reasoning, text: reasoning ?? "" },
    ...recentActions.map((text, at) => ({
      id: `action-${at}`,
      name: places.recentAction(at + 1),
      text,
    })),
  ];
}

/** A container that is open, the step of its child that is being read, and the keys it had so far. */
type Open = { step: string | number; keys: string[] | null };

const quote = 0x22;

/**
 * Reads the text once, whatever its depth, and knows its path by the containers that are open. False when there was
 * enough before the end.
 */
function readPayload(text: string, note: Note): boolean {
  const open: Open[] = [];
  let container: Open | undefined;
  let isKeyNext = false;
  const path = () => open.map(({ step }) => step);
  const take = (string: string): boolean => {
    if (!isKeyNext || !container?.keys) {
      const place = (): Place => ({ kind: "payload", path: path(), isKey: false });
      return flawsIn(string, true).every((flaw) => note(flaw, place));
    }
    isKeyNext = false;
    container.step = string;
    container.keys.push(string);
    return flawsInKey(string).every((flaw) => note(flaw, () => keyPlace(path())));
  };
  const takeTwins = (keys: string[]): boolean =>
    twinKeys(keys).every((names) =>
      note({ kind: "twin", names }, () => keyPlace([...path(), names[1]])),
    );
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(text, at);
      if (!take(decodeString(text, at, end))) return false;
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
      if (container?.keys && !takeTwins(container.keys)) return false;
      container = open.at(-1);
    }
  }
  return true;
}

function keyPlace(path: JsonPath): Place {
  return { kind: "payload", path, isKey: true };
}

/** White space at the edge of a key is easily overlooked, however short. What is no plain space is hidden anyway. */
function flawsInKey(key: string): Flaw[] {
  const { inner, before, after } = trimmed(key);
  const flaws = flawsIn(inner, false);
  const count = before + after;
  return count === 0 ? flaws : [{ kind: "space", count, isAtEdge: true }, ...flaws];
}

function flawsIn(text: string, isMultiLine: boolean): Flaw[] {
  const segments = segmentsOf(text, { isMultiLine });
  if (segments.every(({ kind }) => kind === "text")) return [];
  const counts = new Map<"hidden" | "mixed" | "host" | "space", number>();
  for (const segment of segments) {
    if (segment.kind === "text") continue;
    if (segment.kind === "marked" && segment.isQuiet) continue;
    const kind = segment.kind === "marked" ? kindOf(segment.mark) : segment.kind;
    const count = segment.kind === "hidden" ? segment.count : 1;
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts].map(([kind, count]) =>
    kind === "space" ? { kind, count, isAtEdge: false } : { kind, count },
  );
}

function kindOf(mark: Mark): "mixed" | "host" {
  return mark.kind === "host" || mark.kind === "leads" ? "host" : "mixed";
}

export function describeFinding(finding: Finding): Sentence {
  const place = describePlace(finding.place);
  switch (finding.kind) {
    case "hidden":
      return [words.hidden(finding.count), ...place];
    case "mixed":
      return [words.mixed, ...place];
    case "host":
      return [words.host, ...place];
    case "space": {
      if (!finding.isAtEdge) return [words.longSpace, ...place];
      const { before, after } = words.edgeSpace;
      return [before, ...place, after(words.chip.spaces(finding.count))];
    }
    case "twin": {
      const [first, second] = finding.names.map(quotedName);
      const { before, colon, and } = words.twins;
      return [before, ...describeParent(finding.place), colon, first ?? "", and, second ?? ""];
    }
    default:
      return finding satisfies never;
  }
}

function describePlace(place: Place): Sentence {
  if (place.kind === "field") return [place.name];
  const { path, isKey } = place;
  if (path.length === 0) return [words.places.payload];
  return [...(isKey ? [words.places.key] : []), quotedPath(path)];
}

/** Names stand in an object that need not be named when it is the whole payload. */
function describeParent(place: Place): Sentence {
  const parent = place.kind === "payload" ? place.path.slice(0, -1) : [];
  return parent.length === 0 ? [] : [words.twins.in, quotedPath(parent)];
}

function quotedPath(path: JsonPath): Sentence[number] {
  return { quoted: [{ text: pathName(path) }] };
}

const nameCharactersMax = 40;

function quotedName(key: string): Sentence[number] {
  if (key === "") return { quoted: [{ chip: words.emptyKey }] };
  const { inner, before, after } = trimmed(key);
  return {
    quoted: [
      ...(before === 0 ? [] : [{ chip: words.chip.spaces(before) }]),
      ...(inner === "" ? [] : [{ text: visibleCut(inner, nameCharactersMax) }]),
      ...(after === 0 ? [] : [{ chip: words.chip.spaces(after) }]),
    ],
  };
}

function trimmed(key: string): { inner: string; before: number; after: number } {
  let start = 0;
  let end = key.length;
  while (start < end && key[start] === " ") start += 1;
  while (end > start && key[end - 1] === " ") end -= 1;
  return { inner: key.slice(start, end), before: start, after: key.length - end };
}
