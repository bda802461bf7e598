// A stranger's words as text nodes, with a named chip for everything invisible. Isolated, so that their letters can't
// move ours.

import { Fragment, type ReactNode } from "react";
import { isSaid, type Marked, wordsOf } from "../../../server/src/domain/shown/text/marks.ts";
import { type Segment, segmentsOf } from "../../../server/src/domain/shown/text/visible-text.ts";
import {
  isMainlyRightToLeft,
  mayReorder,
  mixesDirections,
  piecesInOrder,
} from "../../../server/src/domain/shown/text/writing-order.ts";
import { jsonSegmentsOf } from "./json-escapes.ts";
import { markTitle } from "./mark-title.ts";
import { type ProsePart, prosePartsOf } from "./prose-parts.ts";
import { words } from "./words.ts";

type VisibleProps = {
  text: string;
  isMultiLine?: boolean;
  /** The text will be executed: its pieces stand from left to right in their stored order. */
  isValue?: boolean;
  /** The text is JSON, which is a value as well. */
  isJson?: boolean;
};

export function Visible({
  text,
  isMultiLine = false,
  isValue = false,
  isJson = false,
}: VisibleProps) {
  const segments = isJson ? jsonSegmentsOf(text) : segmentsOf(text, { isMultiLine });
  if (!mayReorder(text)) return <Foreign direction="ltr">{showAll(segments)}</Foreign>;
  if (isValue || isJson || !isMainlyRightToLeft(text)) {
    return <Foreign direction="ltr">{inStoredOrder(segments)}</Foreign>;
  }
  return <Foreign direction="rtl">{prosePartsOf(segments).map(showProsePart)}</Foreign>;
}

/** Others' words that were made visible before, such as a path, in their stored order. */
export function InOrder({ text }: { text: string }) {
  return <Foreign direction="ltr">{inStoredOrder([{ kind: "text", text }])}</Foreign>;
}

function Foreign({ direction, children }: { direction: "ltr" | "rtl"; children: ReactNode }) {
  return (
    <bdi dir={direction} className="visible" translate="no">
      {children}
    </bdi>
  );
}

/** Says, behind a value and outside of its quotes, that it holds right-to-left text. */
export function OrderNote({ text }: { text: string }) {
  if (!mixesDirections(text)) return null;
  return (
    <span className="chip chip-quiet" title={words.order.title}>
      {words.order.note}
    </span>
  );
}

function showAll(segments: readonly Segment[]): ReactNode[] {
  return segments.map((segment, at) => <Fragment key={at}>{showSegment(segment)}</Fragment>);
}

/** Right-to-left words stand in frames of their own, each at its stored place. */
function inStoredOrder(segments: readonly Segment[]): ReactNode[] {
  const shown: ReactNode[] = [];
  let frame: ReactNode[] = [];
  const close = () => {
    if (frame.length > 0) {
      shown.push(
        <bdi key={shown.length} dir="rtl">
          {frame}
        </bdi>,
      );
    }
    frame = [];
  };
  segments.forEach((segment, at) => {
    // A character that joins two letters, or separates two words, belongs to both.
    if (isJoint(segment) && frame.length > 0 && startsRightToLeft(segments[at + 1])) {
      frame.push(<Fragment key={frame.length}>{showSegment(segment)}</Fragment>);
      return;
    }
    if (segment.kind !== "text") {
      close();
      // Some that join nothing would turn the following text; here they turn nothing.
      shown.push(
        isJoint(segment) ? (
          <bdi key={shown.length}>{showSegment(segment)}</bdi>
        ) : (
          <Fragment key={shown.length}>{showSegment(segment)}</Fragment>
        ),
      );
      return;
    }
    for (const { text, direction } of piecesInOrder(segment.text)) {
      if (direction === "rtl") frame.push(<Fragment key={frame.length}>{text}</Fragment>);
      else {
        close();
        shown.push(<Fragment key={shown.length}>{showPiece(text, direction)}</Fragment>);
      }
    }
  });
  close();
  return shown;
}

function showPiece(text: string, direction: "ltr" | null): ReactNode {
  return direction === null ? text : <bdi dir="ltr">{text}</bdi>;
}

function isJoint(segment: Segment): boolean {
  return segment.kind === "marked" && segment.mark.kind === "harmless";
}

function startsRightToLeft(segment: Segment | undefined): boolean {
  return segment?.kind === "text" && piecesInOrder(segment.text)[0]?.direction === "rtl";
}

/** In such prose, a number, path or address is a value: nothing around it moves it, and nothing in it moves. */
function showProsePart({ segments, isToken }: ProsePart, at: number): ReactNode {
  if (!isToken) return <Fragment key={at}>{showAll(segments)}</Fragment>;
  return (
    <bdi key={at} dir="ltr">
      {inStoredOrder(segments)}
    </bdi>
  );
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
  const { text, mark, isQuiet } = marked;
  const title = markTitle(marked);
  if (mark.kind === "harmless") {
    const isBlank = /\s/.test(text);
    return (
      <span
        className={isBlank ? "faint faint-blank" : "faint"}
        role="img"
        aria-label={title}
        title={title}
      >
        {text}
      </span>
    );
  }
  const said = wordsOf(marked);
  return (
    <>
      <span className={classOf(marked)} title={title}>
        {mayReorder(text) ? inStoredOrder([{ kind: "text", text }]) : text}
      </span>
      {isSaid(marked) && <Chip label={said} title={title} text={said} isQuiet={isQuiet} />}
    </>
  );
}

function classOf({ text, mark, isQuiet }: Marked): string {
  // However many marks a letter has, they don't reach another line.
  const isTall = mark.kind === "pile" || /[\p{Mn}\p{Me}]{3}/u.test(text);
  return `${isQuiet ? "faint-word" : "suspect"}${isTall ? " clipped" : ""}`;
}

type ChipProps = { label: string; text: string; title?: string; isQuiet?: boolean };

export function Chip({ label, text, title = label, isQuiet = false }: ChipProps) {
  return (
    <span
      className={isQuiet ? "chip chip-quiet" : "chip"}
      role="img"
      aria-label={label}
      title={title}
      dir="ltr"
    >
      {text}
    </span>
  );
}
