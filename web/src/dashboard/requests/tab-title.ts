// The title of a tab: the first words of the summary, in quotation marks because they aren't ours.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";

const charactersMax = 60;

export function tabTitle(summary: string): string {
  const words = toVisibleText(summary.trim().replaceAll(/[ \t\r\n]+/g, " "));
  const letters = [...words];
  // Two for the quotation marks.
  const room = charactersMax - 2;
  if (letters.length <= room) return `“${words}”`;
  const cut = letters.slice(0, room - 1).join("");
  // Not in the middle of a word, unless it is a very long one.
  const whole = cut.replace(/ \S{0,20}$/, "");
  return `“${whole}…”`;
}
