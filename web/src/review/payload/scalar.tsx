// A simple value, exactly: numbers digit by digit as they were sent, texts with everything hidden in them visible.

import { useLayoutEffect, useState } from "react";
import {
  type JsonNode,
  type JsonPath,
  rootOf,
  stringOf,
} from "../../../../server/src/domain/json-tree.ts";
import { OrderNote, Visible } from "../visible-text.tsx";
import { words } from "../words.ts";
import { keyOf, splitLongText } from "./folding.ts";
import { useDrawn, useTree } from "./tree-context.ts";

type ScalarProps = { text: string; path: JsonPath; value: number };

export function Scalar({ text, path, value }: ScalarProps) {
  const node = rootOf(text);
  const isText = node.kind === "string";
  if (isText) return <TextValue text={stringOf(text, node)} path={path} value={value} />;
  return <OtherValue text={text} kind={node.kind} value={value} />;
}

type OtherValueProps = { text: string; kind: JsonNode["kind"]; value: number };

function OtherValue({ text, kind, value }: OtherValueProps) {
  useDrawn(value, text);
  return <span className={`scalar scalar-${kind}`}>{text}</span>;
}

function TextValue({ text, path, value }: ScalarProps) {
  const tree = useTree();
  const key = keyOf(path);
  const [, setDrawings] = useState(0);
  const { start, rest } = splitLongText(text);
  const isWhole = rest === "" || tree.isTextOpen(key, value);
  useLayoutEffect(
    () => tree.register(key, () => setDrawings((drawings) => drawings + 1)),
    [tree, key],
  );
  useDrawn(value, isWhole ? text : null);
  return (
    <>
      <span className="scalar scalar-string">
        <Visible text={isWhole ? text : start} isMultiLine isValue />
        {!isWhole && <span aria-hidden="true">…</span>}
      </span>
      <OrderNote text={text} />
      {text === "" && <span className="quiet"> {words.emptyString}</span>}
      {looksLikeAnother(text) && <span className="sr-only"> {words.text}</span>}
      {!isWhole && (
        <button type="button" className="button button-inline" onClick={() => tree.openText(key)}>
          {words.showText(rest.length)}
        </button>
      )}
    </>
  );
}

/** Screen readers do not say the quotes that tell a text from a number. */
function looksLikeAnother(value: string): boolean {
  return /^(?:-?[0-9.eE+]+|true|false|null)$/.test(value);
}

/** A text without its quotes, anything else as it stands. */
export function valueToCopy(text: string): string {
  const node = rootOf(text);
  return node.kind === "string" ? stringOf(text, node) : text;
}
