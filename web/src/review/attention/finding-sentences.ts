// Describes findings in words that need no knowledge of characters. The agent's words stand quoted within them.

import type { JsonPath } from "../../../../server/src/domain/shown/json-tree.ts";
import type { Mark, Marked } from "../../../../server/src/domain/shown/text/marks.ts";
import { words } from "../../look/words.ts";
import { cutMiddle, pathName, visibleCut } from "../../payload/path-name.ts";
import { type Finding, type Place, trimmed } from "./findings.ts";

/** Our own words, and between them the agent's. */
export type Sentence = readonly (string | { quoted: readonly Quoted[] })[];
export type Quoted = { text: string } | { chip: string };

export function describeFinding(finding: Finding): Sentence {
  const place = describePlace(finding.place);
  const { found } = words;
  switch (finding.kind) {
    case "direction":
      return [found.direction(finding.count), ...place];
    case "hidden":
      return [words.hidden(finding.count), ...place];
    case "address":
    case "number":
    case "lookAlike":
    case "pile":
      return [...describeMark(finding.marked), found.and(finding.more), ...place];
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
    case "imitation":
      return [found.imitation[finding.imitation.of], quoted(finding.imitation.name)];
    default:
      return finding satisfies never;
  }
}

/** Without its end, which names the place. */
function describeMark({ text, mark }: Marked): Sentence {
  const { found } = words;
  const piece = quoted(text);
  switch (mark.kind) {
    case "lookAlike":
      if (mark.reads === null) return [piece, found.mixes(mark.scripts)];
      return [piece, found.looksLike, quoted(mark.reads), found.because(mark.scripts, mark.count)];
    case "digits":
      return [piece, found.means, quoted(mark.reads), found.digits(mark.script)];
    case "letterDigits":
      return [piece, found.letterDigits(mark.letters), quoted(mark.reads)];
    case "styled":
      return [piece, found.looksLike, quoted(mark.reads), found.styled];
    case "host":
      return describeHost(text, mark);
    case "leads":
      return [...leadsBefore(piece, mark.by), quoted(mark.to)];
    case "separator":
      if (text === "\\") return [found.backslash];
      return [piece, found.looksLike, quoted(mark.reads)];
    case "pile":
      return [found.pile(mark.count, mark.names)];
    case "overlay":
      return [quoted(withoutMarks(text)), mark.isStrike ? found.struck : found.enclosed];
    case "harmless":
      return [piece];
    default:
      return mark satisfies never;
  }
}

function describeHost(text: string, { ascii, reads }: Extract<Mark, { kind: "host" }>): Sentence {
  const { found } = words;
  if (text === ascii) return [quoted(text), found.imitates, quoted(reads ?? "")];
  const goes = [found.goesTo, quoted(ascii)];
  if (reads === null || reads === ascii) return [quoted(text), found.foreignHost, ...goes];
  return [quoted(text), found.looksLike, quoted(reads), ...goes];
}

function leadsBefore(
  piece: Sentence[number],
  by: "userInfo" | "slashes" | "number" | "break",
): Sentence {
  const { leads } = words.found;
  return by === "slashes" || by === "break" ? [leads[by]] : [piece, leads[by]];
}

function describePlace(place: Place): Sentence {
  if (place.kind === "field") return [place.name];
  const { path, isKey } = place;
  if (path.length === 0) return [words.places.payload];
  return [...(isKey ? [words.places.key] : []), quotedPath(path)];
}

/** The object of the names need not be named if it is the whole payload. */
function describeParent(place: Place): Sentence {
  const parent = place.kind === "payload" ? place.path.slice(0, -1) : [];
  return parent.length === 0 ? [] : [words.twins.in, quotedPath(parent)];
}

function quotedPath(path: JsonPath): Sentence[number] {
  return { quoted: [{ text: pathName(path) }] };
}

const quotedCharactersMax = 40;

/** A marked piece holds nothing hidden. */
function quoted(text: string): Sentence[number] {
  return { quoted: [{ text: cutMiddle(text, quotedCharactersMax) }] };
}

/** Marks would reach out of the quotation. */
function withoutMarks(text: string): string {
  return text.replaceAll(/[\p{Mn}\p{Me}]/gu, "");
}

function quotedName(key: string): Sentence[number] {
  if (key === "") return { quoted: [{ chip: words.emptyKey }] };
  const { inner, before, after } = trimmed(key);
  return {
    quoted: [
      ...(before === 0 ? [] : [{ chip: words.chip.spaces(before) }]),
      ...(inner === "" ? [] : [{ text: visibleCut(inner, quotedCharactersMax) }]),
      ...(after === 0 ? [] : [{ chip: words.chip.spaces(after) }]),
    ],
  };
}
