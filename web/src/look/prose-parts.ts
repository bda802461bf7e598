// Cuts right-to-left prose into words, which keep their reading order, and into numbers, paths and addresses, each of
// which must keep its own.

import type { Segment } from "../../../server/src/domain/shown/text/visible-text.ts";
import { isPath, numbersIn } from "../../../server/src/domain/shown/text/writing-order.ts";

export type ProsePart = { segments: Segment[]; isToken: boolean };

/** Text without spaces is examined as a whole, because an address may span several segments. */
export function prosePartsOf(segments: readonly Segment[]): ProsePart[] {
  const parts: ProsePart[] = [];
  let together: Segment[] = [];
  const close = () => {
    if (together.length > 0) parts.push(...partsOf(together));
    together = [];
  };
  for (const segment of segments) {
    if (segment.kind !== "text") {
      together.push(segment);
      continue;
    }
    for (const text of segment.text.split(/(\s+)/)) {
      if (text === "") continue;
      if (/^\s/.test(text)) {
        close();
        parts.push({ segments: [{ kind: "text", text }], isToken: false });
      } else together.push({ kind: "text", text });
    }
  }
  close();
  return parts;
}

function partsOf(segments: Segment[]): ProsePart[] {
  const isMarked = segments.some(
    (segment) => segment.kind === "marked" && segment.mark.kind !== "harmless",
  );
  const whole = segments.map((segment) => ("text" in segment ? segment.text : "")).join("");
  if (isMarked || isPath(whole)) return [{ segments, isToken: true }];
  return segments.flatMap((segment): ProsePart[] => {
    if (segment.kind !== "text") return [{ segments: [segment], isToken: false }];
    return numbersIn(segment.text).map(({ text, isToken }) => ({
      segments: [{ kind: "text", text }],
      isToken,
    }));
  });
}
