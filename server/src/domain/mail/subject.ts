// The subject of a mail: our words first, then as much of others' words as fits, on one line.

import { countCharacters } from "../workspace/plain-text.ts";
import { toInertText } from "./inert-text.ts";

const theirsCharactersMax = 70;

/** Such as "Review requested: Pay invoice 4711 to Müller & Söhne". It has no line breaks and no controls. */
export function subjectOf(ours: string, theirs: string, joint = ": "): string {
  return `${ours}${joint}${cut(toInertText(theirs.replaceAll(/[\r\n\t]+/g, " ").trim()))}`;
}

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Never between the parts of one visible character, unless that alone is too long. */
function cut(text: string): string {
  if (countCharacters(text) <= theirsCharactersMax) return text;
  let kept = "";
  let count = 0;
  for (const { segment } of characters.segment(text)) {
    count += countCharacters(segment);
    if (count >= theirsCharactersMax) break;
    kept += segment;
  }
  return `${(kept || [...text].slice(0, theirsCharactersMax - 1).join("")).trimEnd()}…`;
}
