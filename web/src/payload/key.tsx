// The name of a value, or its place in a list. Invisible spaces at its edges are counted.

import { useMemo } from "react";
import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import { Chip, Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import { LongText } from "./long-text.tsx";
import { piecesOf } from "./text-pieces.ts";

export function Key({ path }: { path: JsonPath }) {
  const step = path.at(-1);
  if (step === undefined) return null;
  if (typeof step === "number") return <span className="key key-index">{step}</span>;
  const [, before = "", name = "", after = ""] = /^( *)(.*?)( *)$/s.exec(step) ?? [];
  return (
    <span className="key">
      {step === "" && <em className="ours">{words.emptyKey}</em>}
      <EdgeSpaces count={before.length} />
      {name !== "" && <Name text={name} />}
      <EdgeSpaces count={after.length} />
    </span>
  );
}

/** Names are never folded, however long. */
function Name({ text }: { text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text]);
  return pieces.length === 1 ? <Visible text={text} isValue /> : <LongText pieces={pieces} />;
}

function EdgeSpaces({ count }: { count: number }) {
  if (count === 0) return null;
  return <Chip label={words.chip.blanks(count)} text={words.chip.spaces(count)} />;
}
