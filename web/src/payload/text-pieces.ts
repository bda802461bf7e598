// Cuts a long text into pieces with a layout of their own: a browser takes seconds for megabytes in one piece.

/** Some screens full, and a few milliseconds of layout. */
export const charactersPerPiece = 8_000;

export type TextPiece = {
  text: string;
  /** The line continues in the next piece: the break between them is ours. */
  isCut: boolean;
};

/** The pieces joined are the text. They end with a line or between two words, if there is such a place. */
export function piecesOf(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  for (let from = 0; from < text.length; ) {
    const end = pieceEnd(text, from);
    const piece = text.slice(from, end);
    pieces.push({ text: piece, isCut: end < text.length && !piece.endsWith("\n") });
    from = end;
  }
  return pieces;
}

function pieceEnd(text: string, from: number): number {
  const end = from + charactersPerPiece;
  if (end >= text.length) return text.length;
  const half = from + charactersPerPiece / 2;
  // The search is bounded: a text of megabytes may have neither.
  const secondHalf = text.slice(half, end);
  for (const separator of ["\n", " "]) {
    const at = secondHalf.lastIndexOf(separator);
    if (at >= 0) return half + at + 1;
  }
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
