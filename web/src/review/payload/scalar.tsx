// A simple value, exactly: numbers digit by digit as they were sent, texts with everything hidden in them visible.

import { useState } from "react";
import { type JsonPath, rootOf, stringOf } from "../../../../server/src/domain/json-tree.ts";
import { Visible } from "../visible-text.tsx";
import { words } from "../words.ts";
import { keyOf, splitLongText } from "./folding.ts";
import { useTree } from "./tree-context.ts";

type ScalarProps = { text: string; path: JsonPath };

export function Scalar({ text, path }: ScalarProps) {
  const node = rootOf(text);
  if (node.kind === "string") return <TextValue value={stringOf(text, node)} path={path} />;
  return <span className={`scalar scalar-${node.kind}`}>{text}</span>;
}

function TextValue({ value, path }: { value: string; path: JsonPath }) {
  const tree = useTree();
  const key = keyOf(path);
  const [, redraw] = useState(0);
  const { start, rest } = splitLongText(value);
  const isWhole = rest === "" || tree.seen().has(key);
  const open = () => {
    tree.onSeen(key, 1);
    redraw((times) => times + 1);
  };
  return (
    <>
      <span className="scalar scalar-string">
        <Visible text={isWhole ? value : start} isMultiLine />
        {!isWhole && <span aria-hidden="true">…</span>}
      </span>
      {value === "" && <span className="quiet"> {words.emptyString}</span>}
      {looksLikeAnother(value) && <span className="sr-only"> {words.text}</span>}
      {!isWhole && (
        <button type="button" className="button button-inline" onClick={open}>
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
