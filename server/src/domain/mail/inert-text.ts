// A stranger's words, fit for our mails: nothing in them is hidden, and no mail program can make a link of them. Both
// parts of a mail, and its subject, are made from these pieces, so they always agree.

import { isSaid } from "../shown/text/marks.ts";
import {
  chipOf,
  type Segment,
  segmentsOf,
  type VisibleTextOptions,
} from "../shown/text/visible-text.ts";
import { unlink } from "./unlinked-text.ts";

/** A chip names something invisible, or stands behind a lookalike. Its brackets keep it from joining its neighbours. */
export type Piece = { kind: "text" | "chip"; text: string };

/** Stands for a chip while links are taken out. No text has it: as a private character it becomes a chip itself. */
const placeholder = "\uE000";

export function inertPieces(text: string, options: VisibleTextOptions = {}): Piece[] {
  const segments = segmentsOf(text, options);
  // The chip behind a foreign host names a host itself.
  const chips = segments.flatMap((segment) => (isText(segment) ? [] : unlink(chipOf(segment))));
  // The whole text at once, because an address can be broken by a hidden character and still be one.
  const words = unlink(segments.map(withPlaceholder).join("")).split(placeholder);
  return words
    .flatMap((word, index): Piece[] => {
      const chip = chips[index];
      const text: Piece = { kind: "text", text: word };
      return chip === undefined ? [text] : [text, { kind: "chip", text: chip }];
    })
    .filter((piece) => piece.text !== "");
}

/** Text alone, or text with something in it that need not be mentioned. */
function isText(segment: Segment): segment is Extract<Segment, { text: string }> {
  return segment.kind === "text" || (segment.kind === "marked" && !isSaid(segment));
}

function withPlaceholder(segment: Segment): string {
  if (isText(segment)) return segment.text;
  return "text" in segment ? segment.text + placeholder : placeholder;
}

export function toInertText(text: string, options: VisibleTextOptions = {}): string {
  return inertPieces(text, options)
    .map((piece) => piece.text)
    .join("");
}

/** Line by line: the pieces of a text in which people may break lines. Each kind of line break is one. */
export function inertLines(text: string): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const piece of inertPieces(text.replaceAll(/\r\n?/g, "\n"), { isMultiLine: true })) {
    const [first = "", ...others] = piece.text.split("\n");
    lines.at(-1)?.push({ ...piece, text: first });
    for (const other of others) lines.push([{ ...piece, text: other }]);
  }
  return lines.map((line) => line.filter(({ text }) => text !== ""));
}
