// A stranger's words as text nodes, with a named chip for everything that cannot be seen. Isolated, so that no letter
// of theirs can move one of ours.

import { Fragment } from "react";
import { isSaid, type Marked, wordsOf } from "../../../server/src/domain/marks.ts";
import { type Segment, segmentsOf } from "../../../server/src/domain/visible-text.ts";
import { type JsonPiece, jsonPartsOf, jsonSegmentsOf } from "../json-escapes.ts";
import { words } from "./words.ts";

type VisibleProps = {
  text: string;
  isMultiLine?: boolean;
  /** Then the text will be executed: its pieces stand from left to right in the order in which they are stored. */
  isValue?: boolean;
  /** Then the text is JSON: it runs from left to right, and each string in it stands for itself. */
  isJson?: boolean;
};

export function Visible({
  text,
  isMultiLine = false,
  isValue = false,
  isJson = false,
}: VisibleProps) {
  if (isJson) return <VisibleJson text={text} />;
  const segments = segmentsOf(text, { isMultiLine });
  return (
    <bdi dir={isValue ? "ltr" : "auto"} className="visible" translate="no">
      {segments.map((segment, at) => (
        <Fragment key={at}>{showSegment(segment)}</Fragment>
      ))}
    </bdi>
  );
}

/** Without isolation two names in Hebrew would swap places around the number between them. */
function VisibleJson({ text }: { text: string }) {
  return (
    <bdi dir="ltr" className="visible" translate="no">
      {jsonPartsOf(text).map((part, at) => (
        <JsonPart key={at} {...part} />
      ))}
    </bdi>
  );
}

function JsonPart({ text, isForeign }: JsonPiece) {
  const segments = jsonSegmentsOf(text).map((segment, at) => (
    <Fragment key={at}>{showSegment(segment)}</Fragment>
  ));
  return isForeign ? <bdi dir="ltr">{segments}</bdi> : segments;
}

function showSegment(segment: Segment) {
  switch (segment.kind) {
    case "text":
      return segment.text;
    case "hidden": {
      const code = `U+${segment.codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
      const times = segment.count === 1 ? "" : ` ×${segment.count}`;
      const label = words.chip.hidden(code, segment.name, segment.count);
      return (
        <Chip
          label={label}
          text={`${code}${segment.name === null ? "" : ` ${segment.name}`}${times}`}
        />
      );
    }
    case "space":
      return (
        <Chip label={words.chip.blanks(segment.count)} text={words.chip.spaces(segment.count)} />
      );
    case "marked":
      return <MarkedText marked={segment} />;
    default:
      return segment satisfies never;
  }
}

function MarkedText({ marked }: { marked: Marked }) {
  const said = wordsOf(marked);
  return (
    <>
      <span className={marked.isQuiet ? "faint" : "suspect"}>{marked.text}</span>
      {isSaid(marked) && <Chip label={said} text={said} isQuiet={marked.isQuiet} />}
    </>
  );
}

type ChipProps = { label: string; text: string; isQuiet?: boolean };

export function Chip({ label, text, isQuiet = false }: ChipProps) {
  return (
    <span
      className={isQuiet ? "chip chip-quiet" : "chip"}
      role="img"
      aria-label={label}
      title={label}
      dir="ltr"
    >
      {text}
    </span>
  );
}
