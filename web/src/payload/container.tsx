// A container of the readable view: its fold button, how much of it is open, and its rows.

import { type ReactNode, useLayoutEffect, useMemo, useState } from "react";
import type { JsonChange } from "../../../server/src/domain/shown/json-diff.ts";
import type { JsonPath } from "../../../server/src/domain/shown/json-tree.ts";
import { lead } from "../look/lead.ts";
import { Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import { type ChunkList, chunksOf, entryValue, isSmall } from "./chunks.ts";
import { noChanges } from "./draft-state.ts";
import { unseenFrom, unseenInside } from "./drawn.ts";
import { entriesPerStep, keyOf } from "./folding.ts";
import { Key } from "./key.tsx";
import { containerWords, rowsName } from "./look.ts";
import { LongRows, type RowsOf, ShortRows } from "./rows.tsx";
import { nameOf, useTree } from "./tree-context.ts";

export type Container = {
  key: string;
  /** Its number in the document's outline. */
  value: number;
  list: ChunkList;
  isOpen: boolean;
  /** How many entries are shown while it is open. */
  count: number;
  toggle: () => void;
  show: (count: number) => void;
};

/** `text` is the container's own JSON. */
export function useContainer(path: JsonPath, text: string, value: number): Container {
  const tree = useTree();
  const key = keyOf(path);
  const list = useMemo(() => chunksOf(tree.drawn().outline, value), [text, value]);
  const [, setDrawings] = useState(0);
  useLayoutEffect(
    () => tree.register(key, () => setDrawings((drawings) => drawings + 1)),
    [tree, key],
  );
  const wanted = tree.countAt(key, value);
  const show = (count: number) => tree.open(key, count < list.count ? count : Infinity);
  const toggle = () => (wanted > 0 ? tree.fold(key) : show(entriesPerStep));
  const count = Math.min(wanted, list.count);
  return { key, value, list, isOpen: wanted > 0, count, toggle, show };
}

type ToggleProps = { container: Container; name: string };

export function ContainerToggle({ container, name }: ToggleProps) {
  const { value, list, isOpen, toggle } = container;
  const tree = useTree();
  const { signs, said } = containerWords(list.isObject, list.count);
  if (list.count === 0) {
    return (
      <span className="container-empty">
        <span className="code">{signs}</span> <span className="quiet">{said}</span>
      </span>
    );
  }
  const unseen = isOpen ? 0 : unseenInside(tree.drawn(), value);
  const folded = unseen > 0 ? words.foldedPart(unseen) : "";
  return (
    <button
      type="button"
      className="toggle"
      aria-expanded={isOpen}
      aria-label={`${name}, ${said} ${folded}`.trim()}
      onClick={toggle}
    >
      <span className="code" aria-hidden="true">
        {signs}
      </span>
      <span className="quiet">{said}</span>{" "}
      {folded !== "" && <span className="unopened">{folded}</span>}
    </button>
  );
}

type BodyProps = {
  path: JsonPath;
  container: Container;
  /** The changes at and below this container. */
  changes: readonly JsonChange[];
  /** Draws a value inside. Passed in, because rows import containers, so containers can't import rows. */
  row: (props: RowProps) => ReactNode;
};

/** A value, its own JSON, its place in the document, and its changes. */
export type RowProps = {
  path: JsonPath;
  text: string;
  /** Its number in the document's outline. */
  value: number;
  changes: readonly JsonChange[];
};

export function ContainerBody({ path, container, changes, row }: BodyProps) {
  const { key, value, list, isOpen, count } = container;
  const { removed, inside } = useMemo(() => changesByStep(changes, path.length), [changes]);
  if (!isOpen) return null;
  const rows: RowsOf = {
    key,
    list,
    row: ({ step, ...entry }) =>
      row({ ...entry, path: [...path, step], changes: inside.get(step) ?? noChanges }),
    path,
    inside,
  };
  return (
    <div className={rowsName(path.length)}>
      {isSmall(list.outline, value) ? (
        <ShortRows of={rows} count={count} />
      ) : (
        <LongRows of={rows} count={count} from={0} end={list.chunks.length} />
      )}
      {removed.length > 0 && (
        <ul>
          {removed.map((change) => (
            <RemovedRow key={keyOf(change.path)} change={change} />
          ))}
        </ul>
      )}
      {count < list.count && <Rest container={container} />}
    </div>
  );
}

/** The folded rest of a container, and the button that shows it. */
function Rest({ container: { value, list, count, show } }: { container: Container }) {
  const tree = useTree();
  const left = list.count - count;
  const unseen = unseenFrom(tree.drawn(), value, entryValue(list, count));
  return (
    <div className="row-more">
      {unseen > 0 && <span className="unopened">{words.foldedPart(unseen)}</span>}
      {left > entriesPerStep && (
        <button type="button" className="button" onClick={() => show(count + entriesPerStep)}>
          {words.showMore(entriesPerStep)}
        </button>
      )}
      <button
        type="button"
        className="button"
        onClick={(event) => {
          // The button disappears when nothing remains; the focus stays with the list.
          lead(event.currentTarget.closest("li"));
          show(list.count);
        }}
      >
        {words.showRest(left)}
      </button>
    </div>
  );
}

export type StepChanges = {
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
