// A container of the readable view: how much of it is open, the button that folds it, and the rows inside.

import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { JsonChange } from "../../../../server/src/domain/json-diff.ts";
import { childrenOf } from "../../../../server/src/domain/json-outline.ts";
import {
  entriesOf,
  type JsonEntry,
  type JsonPath,
  rootOf,
  textOf,
} from "../../../../server/src/domain/json-tree.ts";
import { lead } from "../lead.ts";
import { Visible } from "../visible-text.tsx";
import { words } from "../words.ts";
import { noChanges } from "./draft-state.ts";
import { unseenFrom, unseenInside } from "./drawn.ts";
import { entriesPerStep, keyOf, openValuesAtFirst } from "./folding.ts";
import { Key } from "./key.tsx";
import { isAround } from "./opening.ts";
import { nameOf, type Tree, useTree } from "./tree-context.ts";

/** So many rows appear at a time, so that a long list never holds up the page. */
const rowsPerChunk = 50;
const rowsPerStepMax = 400;
/** A step of growing should take no longer than this. */
const stepMs = 40;
/** Rows out of sight are left out of layout in lists longer than this. */
const manyRows = 60;

export type Container = {
  text: string;
  /** Its number in the document's outline. */
  value: number;
  entries: NumberedEntry[];
  isOpen: boolean;
  /** How many entries are shown while it is open. */
  count: number;
  toggle: () => void;
  show: (count: number) => void;
};

type NumberedEntry = JsonEntry & { value: number };

/** `text` is the container's own JSON. */
export function useContainer(path: JsonPath, text: string, value: number): Container {
  const tree = useTree();
  const key = keyOf(path);
  const entries = useMemo(() => numberedEntries(tree, text, value), [text, value]);
  const [, setDrawings] = useState(0);
  useLayoutEffect(
    () => tree.register(key, () => setDrawings((drawings) => drawings + 1)),
    [tree, key],
  );
  const wanted = tree.countAt(key, value);
  const show = (count: number) => tree.open(key, count < entries.length ? count : Infinity);
  const toggle = () => (wanted > 0 ? tree.fold(key) : show(entriesPerStep));
  const count = Math.min(wanted, entries.length);
  return { text, value, entries, isOpen: wanted > 0, count, toggle, show };
}

function numberedEntries(tree: Tree, text: string, container: number): NumberedEntry[] {
  const values = childrenOf(tree.drawn().outline, container);
  return entriesOf(text, rootOf(text)).map((entry, at) => ({ ...entry, value: values[at] ?? 0 }));
}

type ToggleProps = { container: Container; name: string };

export function ContainerToggle({ container, name }: ToggleProps) {
  const { text, value, entries, isOpen, toggle } = container;
  const tree = useTree();
  const isObject = text.startsWith("{");
  if (entries.length === 0) {
    return (
      <span className="container-empty">
        <span className="code">{isObject ? "{ }" : "[ ]"}</span>{" "}
        <span className="quiet">{isObject ? words.emptyObject : words.emptyArray}</span>
      </span>
    );
  }
  const what = isObject ? words.object(entries.length) : words.array(entries.length);
  const unseen = isOpen ? 0 : unseenInside(tree.drawn(), value);
  const folded = unseen > 0 ? words.foldedPart(unseen) : "";
  return (
    <button
      type="button"
      className="toggle"
      aria-expanded={isOpen}
      aria-label={`${name}, ${what} ${folded}`.trim()}
      onClick={toggle}
    >
      <span className="code" aria-hidden="true">
        {isObject ? "{ }" : "[ ]"}
      </span>
      <span className="quiet">{what}</span>{" "}
      {folded !== "" && <span className="unopened">{folded}</span>}
    </button>
  );
}

type BodyProps = {
  path: JsonPath;
  container: Container;
  /** Those at and below this container. */
  changes: readonly JsonChange[];
  isIndented: boolean;
  /** How a value inside looks: the rows know containers, so containers cannot know the rows. */
  row: (props: RowProps) => ReactNode;
};

/** A value, its own JSON, its place in the document, and what of it was changed. */
export type RowProps = {
  path: JsonPath;
  text: string;
  /** Its number in the document's outline. */
  value: number;
  changes: readonly JsonChange[];
};

export function ContainerBody({ path, container, changes, isIndented, row }: BodyProps) {
  const { value, entries, isOpen, count, show } = container;
  const tree = useTree();
  const inSight = useGrowing(isOpen ? count : 0);
  const body = useRef<HTMLDivElement>(null);
  useArrival({ path, entries, body });
  const { removed, inside } = useMemo(() => changesByStep(changes, path.length), [changes]);
  if (!isOpen) return null;
  const left = entries.length - count;
  const unseenRest = left > 0 ? unseenFrom(tree.drawn(), value, entries[count]?.value ?? 0) : 0;
  const isMany = entries.length > manyRows;
  return (
    <div className={namesOf({ isIndented, isMany, isDeep: path.length >= 2 })} ref={body}>
      {startsOf(inSight).map((from) => (
        <Chunk
          key={from}
          container={container}
          from={from}
          to={Math.min(from + rowsPerChunk, inSight)}
          path={path}
          inside={inside}
          row={row}
        />
      ))}
      {removed.length > 0 && (
        <ul>
          {removed.map((change) => (
            <RemovedRow key={keyOf(change.path)} change={change} />
          ))}
        </ul>
      )}
      {left > 0 && (
        <div className="row-more">
          {unseenRest > 0 && <span className="unopened">{words.foldedPart(unseenRest)}</span>}
          {left > entriesPerStep && (
            <button type="button" className="button" onClick={() => show(count + entriesPerStep)}>
              {words.showMore(entriesPerStep)}
            </button>
          )}
          <button
            type="button"
            className="button"
            onClick={(event) => {
              // It goes when nothing remains; the focus stays with the list.
              lead(event.currentTarget.closest("li"));
              show(entries.length);
            }}
          >
            {words.showRest(left)}
          </button>
        </div>
      )}
    </div>
  );
}

type ArrivalProps = {
  path: JsonPath;
  entries: JsonEntry[];
  body: { current: HTMLDivElement | null };
};

/** Once the row is there to which the reader is to be led, leads there. */
function useArrival({ path, entries, body }: ArrivalProps): void {
  const tree = useTree();
  useEffect(() => {
    const target = tree.target();
    if (!isAround(path, target)) return;
    const at = entries.findIndex(({ step }) => step === target.at(-1));
    const row = body.current?.querySelectorAll<HTMLElement>(":scope > ul > li")[at];
    if (row === undefined) return;
    tree.onArrived();
    row.scrollIntoView({ block: "center" });
    lead(row);
  });
}

type StepChanges = {
  removed: (JsonChange & { kind: "removed" })[];
  inside: ReadonlyMap<string | number, readonly JsonChange[]>;
};

function changesByStep(changes: readonly JsonChange[], depth: number): StepChanges {
  const removed: StepChanges["removed"] = [];
  const inside = new Map<string | number, JsonChange[]>();
  for (const change of changes) {
    const step = change.path[depth];
    if (step === undefined) continue;
    if (change.kind === "removed" && change.path.length === depth + 1) removed.push(change);
    else inside.set(step, [...(inside.get(step) ?? []), change]);
  }
  return { removed, inside };
}

function namesOf(traits: { isIndented: boolean; isMany: boolean; isDeep: boolean }): string {
  const { isIndented, isMany, isDeep } = traits;
  return `rows${isIndented ? " rows-indented" : ""}${isMany ? " rows-many" : ""}${isDeep ? " rows-deep" : ""}`;
}

type ChunkProps = Pick<BodyProps, "path" | "row" | "container"> & {
  from: number;
  to: number;
  inside: StepChanges["inside"];
};

/** A long list is several: it is compared chunk by chunk when it grows, and chunks out of sight cost nothing. */
const Chunk = memo(
  ({ container: { text, entries }, from, to, path, inside, row }: ChunkProps) => (
    <ul>
      {entries.slice(from, to).map(({ step, node, value }) =>
        row({
          path: [...path, step],
          text: textOf(text, node),
          value,
          changes: inside.get(step) ?? noChanges,
        }),
      )}
    </ul>
  ),
  (one, other) =>
    one.container.entries === other.container.entries &&
    one.inside === other.inside &&
    one.to === other.to &&
    keyOf(one.path) === keyOf(other.path),
);

function startsOf(count: number): number[] {
  return Array.from({ length: Math.ceil(count / rowsPerChunk) }, (_, at) => at * rowsPerChunk);
}

function RemovedRow({ change }: { change: JsonChange & { kind: "removed" } }) {
  return (
    <li className="row row-changed">
      <div className="line">
        <Key path={change.path} />
        <div className="value">
          <div className="was">
            <span className="badge-edited">{words.removed}</span>
            <del>
              <span className="sr-only">{nameOf(change.path)} </span>
              <Visible text={change.before} isJson />
            </del>
          </div>
        </div>
      </div>
    </li>
  );
}

/**
 * Grows to the wanted number in steps that take a moment each, so that there is room in between for whoever scrolls,
 * and shrinks at once.
 */
function useGrowing(wanted: number): number {
  const { onGrowing } = useTree();
  // What is open at first is there at once, so that nothing moves under the reader's finger.
  const [reached, setReached] = useState(wanted > openValuesAtFirst ? rowsPerChunk : wanted);
  const pace = useRef({ rows: rowsPerChunk, startedAt: 0 });
  const isGrowing = reached < wanted;
  // Before the browser draws, which takes its own time however few the rows are.
  useLayoutEffect(() => {
    pace.current.rows = nextPace(pace.current, performance.now());
  }, [reached]);
  useEffect(() => {
    if (!isGrowing) return;
    const timer = setTimeout(() => {
      pace.current.startedAt = performance.now();
      setReached(Math.min(wanted, reached + pace.current.rows));
    }, 0);
    return () => clearTimeout(timer);
  }, [reached, wanted]);
  useEffect(() => {
    if (!isGrowing) return;
    onGrowing(1);
    return () => onGrowing(-1);
  }, [isGrowing]);
  return Math.min(wanted, reached);
}

/** More rows at a time while that is quick, fewer when each of them holds many others. */
function nextPace({ rows, startedAt }: { rows: number; startedAt: number }, now: number): number {
  if (startedAt === 0) return rows;
  return now - startedAt > stepMs ? Math.max(5, rows >> 1) : Math.min(rowsPerStepMax, rows * 2);
}
