// A simple value, exactly: numbers digit by digit as sent, texts with everything hidden in them visible.

import { useLayoutEffect, useMemo, useState } from "react";
import {
  type JsonNode,
  type JsonPath,
  rootOf,
  stringOf,
} from "../../../server/src/domain/shown/json-tree.ts";
import { OrderNote, Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import { keyOf, splitLongText } from "./folding.ts";
import { LongText } from "./long-text.tsx";
import { notesOn } from "./look.ts";
import { piecesOf, type TextPiece } from "./text-pieces.ts";
import { useDrawn, useTree } from "./tree-context.ts";

type ScalarProps = { text: string; path: JsonPath; value: number };

export function Scalar({ text, path, value }: ScalarProps) {
  const { kind } = rootOf(text);
  const { start, rest } = useMemo(() => foldedText(text), [text]);
  return rest === "" ? (
    <ShortValue kind={kind} text={start} value={value} />
  ) : (
    <LongValue text={start + rest} start={start} path={path} value={value} />
  );
}

/** Only texts are folded. */
function foldedText(text: string): { start: string; rest: string } {
  const isText = text.startsWith('"');
  return isText ? splitLongText(valueToCopy(text)) : { start: text, rest: "" };
}

type ShortValueProps = { kind: JsonNode["kind"]; text: string; value: number };

function ShortValue({ kind, text, value }: ShortValueProps) {
  useDrawn(value, text);
  const { shown, spoken, grouped } = notesOn(kind, text);
  return (
    <>
      <span className={`scalar scalar-${kind}`}>
        {kind === "string" ? <Visible text={text} isMultiLine isValue /> : text}
      </span>
      {kind === "string" && <OrderNote text={text} />}
      {grouped !== null && <span className="grouped" data-grouped={grouped} aria-hidden="true" />}
      {shown !== null && <span className="quiet"> {shown}</span>}
      {spoken !== null && <span className="sr-only"> {spoken}</span>}
    </>
  );
}

type LongValueProps = { text: string; start: string; path: JsonPath; value: number };

/** A long text. The reader first sees its start. Once opened, it appears in steps. */
function LongValue({ text, start, path, value }: LongValueProps) {
  const tree = useTree();
  const key = keyOf(path);
  const pieces = useMemo(() => piecesOf(text), [text]);
  const [reached, setReached] = useState(0);
  const [, setDrawings] = useState(0);
  useLayoutEffect(
    () => tree.register(key, () => setDrawings((drawings) => drawings + 1)),
    [tree, key],
  );
  const isWhole = reached >= pieces.length;
  const isGrowing = !isWhole && tree.isTextOpen(key, value);
  useLayoutEffect(() => {
    if (!isGrowing) return;
    return tree.grow({
      step: () => setReached((count) => count + 1),
      stop: () => tree.closeText(key),
    });
  }, [isGrowing]);
  useDrawn(value, isWhole ? text : null);
  const shown = pieces.slice(0, reached);
  const shownLength = reached === 0 ? start.length : sumOf(shown);
  return (
    <>
      <span className={`scalar scalar-string${shown.length > 1 ? " scalar-long" : ""}`}>
        {reached === 0 && <Visible text={start} isMultiLine isValue />}
        {pieces.length === 1 && isWhole && <Visible text={text} isMultiLine isValue />}
        {pieces.length > 1 && <LongText pieces={shown} isMultiLine />}
        {!isWhole && <span aria-hidden="true">…</span>}
      </span>
      <OrderNote text={text} />
      {!isWhole && !isGrowing && (
        <button type="button" className="button button-inline" onClick={() => tree.openText(key)}>
          {words.showText(text.length - shownLength)}
        </button>
      )}
    </>
  );
}

function sumOf(pieces: readonly TextPiece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}

/** A text without its quotes, anything else unchanged. */
export function valueToCopy(text: string): string {
  const node = rootOf(text);
  return node.kind === "string" ? stringOf(text, node) : text;
}
