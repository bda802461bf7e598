// Finds keys of one object that a reader would take for the same: they differ only by white space, case, hidden
// characters, word separators, or look-alike letters. visible-text.ts shows what is hidden in a single key.

import { readingOf } from "./confusables.ts";
import { once } from "./once.ts";
import { withoutHidden } from "./visible-text.ts";

/** Pairs of different keys that look alike, each with the first of its kind. */
export function twinKeys(keys: readonly string[]): [string, string][] {
  // Keys that are their own skeleton look different, and usually all of an object do.
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

/** A key as a hasty eye sees it. Digits stay digits: too many honest keys differ by 0 and o, or 1 and l. */
export function skeletonOf(key: string): string {
  if (isPlain(key)) return key;
  return /^[ -~]*$/.test(key) ? folded(key) : foreignSkeletonOf(key);
}

function isPlain(key: string): boolean {
  return /^[!-,.-@[-^`-~]*$/.test(key);
}

// White space comes first, because most other white space becomes the usual one then. Compatible forms come once more
// at the end, because a letter may have found its accent.
function foreignSkeletonOf(key: string): string {
  const seen = withoutHidden(key.normalize("NFKC").replace(whiteSpace(), " "));
  const replaced = seen.replace(almostAlike(), (letter) => almostPlain().get(letter) ?? letter);
  return folded(readingOf(replaced)).normalize("NFKC");
}

/** A space, an underscore and a hyphen separate words alike. Not at the edge: _id is another name than id. */
function folded(text: string): string {
  return text.trim().replace(/ {2,}/g, " ").replace(/[ -]/g, "_").toLowerCase();
}

const whiteSpace = once(() => /[^\P{White_Space} ]/gu);
/** Unicode's list holds indistinguishable characters. Between two keys of one object a hasty eye misses more. */
const almostPlain = once(
  () =>
    new Map(
      "кk мm тt вb нh ԍg τt κk εe χx ηn ωw βb ıi —-"
        .split(" ")
        .map(([from = "", to = ""]) => [from, to]),
    ),
);
const almostAlike = once(() => new RegExp(`[${[...almostPlain().keys()].join("")}]`, "gu"));
