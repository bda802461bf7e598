// Finds letters under a pile of marks, and letters that marks strike through or enclose. Such marks reach over other
// lines, or make text look deleted that will still be executed.

import type { Marked } from "./marks.ts";
import { once } from "./once.ts";

type Placed = Marked & { at: number };

/** No language puts so many of the marks that all scripts share on one letter. */
const sharedMarksMax = 3;
/** Tibetan, Burmese and Hebrew with points have many of their own. */
const marksMax = 7;

const strikes = String.raw`\u0334-\u0338\u20D2\u20D3\u20D8-\u20DA\u20E5\u20E6\u20EA\u20EB`;
const enclosures = String.raw`\u0488\u0489\u20DD-\u20E0\u20E2-\u20E4\uA670-\uA672\u1ABE`;
const candidate = once(
  () =>
    new RegExp(
      `[\\p{Mn}\\p{Me}]{4}|[${strikes}${enclosures}\\u20E3]|(?<=\\n)[\\p{Mn}\\p{Me}]`,
      "gu",
    ),
);
const overlay = new RegExp(`[${strikes}${enclosures}\\u20E3]`, "u");
const strike = new RegExp(`[${strikes}]`, "u");
const anyMark = once(() => /^[\p{Mn}\p{Me}]$/u);
const sharedMark = once(() => /^\p{Script=Inherited}$/u);

/** In text order, each with its place. */
export function* pilesIn(text: string): Generator<Placed> {
  const search = candidate();
  for (let at = 0; ; ) {
    search.lastIndex = at;
    const found = search.exec(text);
    if (found === null) return;
    const cluster = clusterAt(text, startOf(text, found.index, at));
    const marked = judge(cluster);
    at = cluster.end;
    if (marked === null) continue;
    if (marked.mark.kind !== "overlay") yield marked;
    else {
      const run = overlayRun(text, cluster);
      at = run.end;
      yield { ...marked, text: run.text, mark: { ...marked.mark, count: run.count } };
    }
  }
}

/** A mark without a letter stands on the text before it, which is not the writer's. */
export function strayMarkAt(text: string): Placed | null {
  if (text.charCodeAt(0) < 0x300) return null;
  const cluster = clusterAt(text, 0);
  return cluster.base === "" && text !== "" ? judge(cluster) : null;
}

type Cluster = { at: number; end: number; base: string; marks: string[]; text: string };

/** The letter that a mark stands on, or the mark itself when there is none. */
function startOf(text: string, mark: number, from: number): number {
  let start = mark;
  while (start > from) {
    start -= isLowSurrogate(text.charCodeAt(start - 1)) && start - 1 > from ? 2 : 1;
    const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
    if (!anyMark().test(character)) return /\s/.test(character) ? mark : start;
  }
  return start;
}

function clusterAt(text: string, at: number): Cluster {
  const first = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const base = anyMark().test(first) ? "" : first;
  const marks: string[] = [];
  let end = at + base.length;
  while (end < text.length) {
    const next = String.fromCodePoint(text.codePointAt(end) ?? 0);
    if (!anyMark().test(next)) break;
    marks.push(next);
    end += next.length;
  }
  return { at, end, base, marks, text: text.slice(at, end) };
}

function judge({ at, base, marks, text }: Cluster): Placed | null {
  const over = overlaysOf(base, marks);
  if (over.length > 0) {
    const isStrike = over.some((mark) => strike.test(mark));
    const mark = { kind: "overlay", isStrike, count: 1, names: namesOf(over) } as const;
    return { at, kind: "marked", text, mark, isQuiet: false };
  }
  const shared = marks.filter((mark) => sharedMark().test(mark)).length;
  const isPile = shared > sharedMarksMax || marks.length > marksMax;
  if (!isPile && base !== "") return null;
  const mark = { kind: "pile", count: marks.length, names: namesOf(marks) } as const;
  return { at, kind: "marked", text, mark, isQuiet: false };
}

/** Not the stroke of ≠, which is one character when it is composed, nor the frame of a key on a telephone. */
function overlaysOf(base: string, marks: readonly string[]): string[] {
  return marks.filter((mark) => {
    if (!overlay.test(mark)) return false;
    if (mark === "\u20E3") return !/^[0-9#*]$/.test(base);
    const composed = (base + mark).normalize("NFC");
    return base === "" || composed === base + mark;
  });
}

/** Neighbours that are struck through as well belong to one stroke, and so do the spaces between them. */
function overlayRun(text: string, first: Cluster): { text: string; end: number; count: number } {
  let { end } = first;
  let count = 1;
  while (end < text.length) {
    const next = clusterAt(text, end);
    if (overlaysOf(next.base, next.marks).length === 0) break;
    end = next.end;
    count += 1;
  }
  return { text: text.slice(first.at, end), end, count };
}

const namesMax = 4;

function namesOf(marks: readonly string[]): string {
  const different = [...new Set(marks)].map(nameOf);
  const more = different.length - namesMax;
  return different.slice(0, namesMax).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const names = new Map(
  Object.entries({
    "\u0300": "grave accent",
    "\u0301": "acute accent",
    "\u0302": "circumflex",
    "\u0303": "tilde",
    "\u0304": "macron",
    "\u0305": "line above",
    "\u0306": "breve",
    "\u0307": "dot above",
    "\u0308": "two dots",
    "\u030A": "ring",
    "\u030C": "caron",
    "\u0323": "dot below",
    "\u0332": "line below",
    "\u0334": "tilde through it",
    "\u0335": "short stroke",
    "\u0336": "long stroke",
    "\u0337": "short slash",
    "\u0338": "long slash",
    "\u20D2": "vertical line",
    "\u20DD": "circle",
    "\u20DE": "square",
    "\u20E0": "prohibition sign",
    "\u20E3": "key",
  }),
);

function nameOf(mark: string): string {
  const code = (mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return names.get(mark) ?? `U+${code}`;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
