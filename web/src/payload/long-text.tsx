// A text of many screens, in pieces: layout skips those out of sight.

import { memo } from "react";
import { Visible } from "../look/visible-text.tsx";
import type { TextPiece } from "./text-pieces.ts";

type LongTextProps = {
  pieces: readonly TextPiece[];
  isMultiLine?: boolean;
};

export function LongText({ pieces, isMultiLine = false }: LongTextProps) {
  return pieces.map((piece, at) => <Piece key={at} piece={piece} isMultiLine={isMultiLine} />);
}

type PieceProps = { piece: TextPiece; isMultiLine: boolean };

/** The text grows piece by piece. */
const Piece = memo(
  ({ piece: { text, isCut }, isMultiLine }: PieceProps) => (
    <span className={isCut ? "piece piece-cut" : "piece"}>
      <Visible text={text} isMultiLine={isMultiLine} isValue />
    </span>
  ),
  (one, other) => one.piece === other.piece,
);
