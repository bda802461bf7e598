// Finds keys of one object that a reader would take for the same: they differ by white space, case, hidden characters
// or letters that look alike only. What of a single key cannot be seen is visible-text.ts's business.

import { once } from "./once.ts";
import { withoutHidden } from "./visible-text.ts";

/** Pairs of different keys that look alike, each with the first of its kind. */
export function twinKeys(keys: readonly string[]): [string, string][] {
  // Keys that are their own skeleton differ for the eye, and mostly all of an object do.
  if (keys.every(isPlain)) return [];
  const firsts = new Map<string, string>();
  const twins: [string, string][] = [];
  for (const key of keys) {
    const skeleton = skeletonOf(key);
    const first = firsts.get(skeleton);
    if (first === undefined) firsts.set(skeleton, key);
    else if (first !== key) twins.push([first, key]);
  }
  return twins;
}

/** What remains of a key for a hasty eye. Digits stay digits: too many honest keys differ by 0 and o, or 1 and l. */
export function skeletonOf(key: string): string {
  if (isPlain(key)) return key;
  return /^[ -~]*$/.test(key) ? folded(key) : foreignSkeletonOf(key);
}

function isPlain(key: string): boolean {
  return /^[!-@[-~]*$/.test(key);
}

// Compatible forms come first, because most other white space becomes the usual one then, and once more at the end,
// because a letter may have found its accent.
function foreignSkeletonOf(key: string): string {
  const seen = withoutHidden(key.normalize("NFKC").replace(whiteSpace(), " "));
  const replaced = seen.replace(lookalike(), (letter) => lookalikes().get(letter) ?? letter);
  return folded(replaced).normalize("NFKC");
}

function folded(text: string): string {
  return text.trim().replace(/ {2,}/g, " ").toLowerCase();
}

const whiteSpace = once(() => /[^\P{White_Space} ]/gu);
/** Letters of either case, because the small one of a letter often looks like another than the capital does. */
const lookalikePairs = [
  // Cyrillic
  "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw кk мm тt вb нh ѵv ӏl ԍg",
  "АA ЕE ОO РP СC УY ХX ІI ЈJ ЅS ҺH ԚQ ԜW КK МM ТT ВB НH ѴV ӀI",
  // Greek
  "αa οo ρp νv τt υu ιi κk εe χx ηn ωw βb ϲc ϳj",
  "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϹC ͿJ",
  // Latin, and the dashes
  "ıi ɑa ɡg ɩi ‐- ‒- –- —- −-",
];
const lookalikes = once(
  () => new Map(lookalikePairs.flatMap((line) => line.split(" ").map(([from, to]) => [from, to]))),
);
const lookalike = once(() => new RegExp(`[${[...lookalikes().keys()].join("")}]`, "gu"));
