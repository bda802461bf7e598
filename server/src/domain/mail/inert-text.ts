// A stranger's words, fit to stand in a mail of ours: nothing in them is hidden, and no mail program can make a link
// of them. Both parts of a mail, and its subject, are made from these pieces, so they always agree.

import { unlink } from "../unlinked-text.ts";
import { chipOf, segmentsOf, type VisibleTextOptions } from "../visible-text.ts";

/** A chip stands for what cannot be seen. Its text is in brackets, so that it joins nothing around it. */
export type Piece = { kind: "text" | "chip"; text: string };

/** Stands for a chip while links are taken out. No text has it: as a private character it becomes a chip itself. */
const placeholder = "\uE000";

export function inertPieces(text: string, options: VisibleTextOptions = {}): Piece[] {
  const segments = segmentsOf(text, options);
  const chips = segments.flatMap((segment) => (segment.kind === "text" ? [] : chipOf(segment)));
  // The whole text at once, because an address can be broken by a hidden character and still be one.
  const words = unlink(
    segments.map((segment) => (segment.kind === "text" ? segment.text : placeholder)).join(""),
  ).split(placeholder);
  return words
    .flatMap((word, index): Piece[] => {
      const chip = chips[index];
      const text: Piece = { kind: "text", text: word };
      return chip === undefined ? [text] : [text, { kind: "chip", text: chip }];
    })
    .filter((piece) => piece.text !== "");
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
