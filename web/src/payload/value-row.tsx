// One value of the readable view with its key: a simple value in place, or a container with its rows beneath.

import { memo, useRef, useState } from "react";
import type { JsonChange } from "../../../server/src/domain/shown/json-diff.ts";
import { type JsonPath, rootOf } from "../../../server/src/domain/shown/json-tree.ts";
import { CopyButton } from "../look/copy-button.tsx";
import { lead } from "../look/lead.ts";
import { Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import { ContainerBody, ContainerToggle, type RowProps, useContainer } from "./container.tsx";
import { isContainer, keyOf } from "./folding.ts";
import { typedOf } from "./in-place.ts";
import { Key } from "./key.tsx";
import { indentedLevelsMax, lineName } from "./look.ts";
import { Scalar, valueToCopy } from "./scalar.tsx";
import { nameOf, useDrawn, useTree } from "./tree-context.ts";
import { ValueField } from "./value-field.tsx";

/** Redrawn only when its own text, place or changes differ. */
export const ValueRow = memo(Row, isSameRow);

function isSameRow(one: RowProps, other: RowProps): boolean {
  return (
    one.text === other.text &&
    one.value === other.value &&
    keyOf(one.path) === keyOf(other.path) &&
    one.changes.length === other.changes.length &&
    one.changes.every((change, at) => isSameChange(change, other.changes[at]))
  );
}

function isSameChange(one: JsonChange, other: JsonChange | undefined): boolean {
  return (
    one.kind === other?.kind &&
    beforeOf(one) === beforeOf(other) &&
    keyOf(one.path) === keyOf(other.path)
  );
}

function beforeOf(change: JsonChange): string {
  return "before" in change ? change.before : "";
}

function Row(props: RowProps) {
  const { path, text, value, changes } = props;
  const change = changes.find(
    ({ kind, path: at }) => at.length === path.length && kind !== "removed",
  );
  return (
    <li className={change === undefined ? "row" : "row row-changed"} data-value={value}>
      {isContainer(rootOf(text)) ? (
        <ContainerRow {...props} change={change} />
      ) : (
        <ScalarRow {...props} change={change} />
      )}
    </li>
  );
}

type ChangedRowProps = RowProps & { change: JsonChange | undefined };

function ScalarRow({ path, text, value, change }: ChangedRowProps) {
  const tree = useTree();
  const key = keyOf(path);
  const node = rootOf(text);
  const field = tree.fields.get(key);
  const [isEditing, setEditing] = useState(field?.token === text);
  const typed = tree.isEditable ? typedOf(text, node) : null;
  const name = nameOf(path);
  const pencil = useRef<HTMLButtonElement>(null);
  const close = () => {
    setEditing(false);
    tree.onFieldDone(key);
    requestAnimationFrame(() => pencil.current?.focus());
  };
  return (
    <div className={isEditing ? "line" : lineName(text, path.at(-1))}>
      <Key path={path} />
      <div className="value">
        {isEditing && typed !== null ? (
          <ValueField
            kind={node.kind}
            name={name}
            before={typed}
            typed={field?.token === text ? field.typed : typed}
            onTyped={(now) => tree.onField({ path, token: text, typed: now })}
            onKeep={(token) => {
              close();
              tree.onReplace(path, token);
            }}
            onCancel={close}
          />
        ) : (
          <Scalar text={text} path={path} value={value} />
        )}
        <Was change={change} path={path} />
      </div>
      {!isEditing && (
        <div className="tools">
          {typed !== null && (
            // biome-ignore lint/a11y/useButtonType: there is no form here, and attributes count in twenty thousand rows
            <button
              className="tool tool-edit"
              ref={pencil}
              aria-label={words.editValue(name)}
              onClick={() => setEditing(true)}
            />
          )}
          <CopyButton label={words.copyValue(name)} text={() => valueToCopy(text)} />
        </div>
      )}
    </div>
  );
}

function ContainerRow({ path, text, value, changes, change }: ChangedRowProps) {
  const container = useContainer(path, text, value);
  // Its entries have rows of their own.
  useDrawn(value, text);
  const name = nameOf(path);
  return (
    <>
      <div className="line line-inline line-container">
        <Key path={path} />
        <div className="value">
          <ContainerToggle container={container} name={name} />
          {path.length > indentedLevelsMax && (
            <span className="level">{words.level(path.length)}</span>
          )}
          <Was change={change} path={path} />
        </div>
        <div className="tools">
          <CopyButton label={words.copyValue(name)} text={() => text} />
        </div>
      </div>
      <ContainerBody path={path} container={container} changes={changes} row={showRow} />
    </>
  );
}

function showRow(props: RowProps) {
  return <ValueRow key={keyOf(props.path)} {...props} />;
}

/** The value before the edit, struck through. */
function Was({ change, path }: { change: JsonChange | undefined; path: JsonPath }) {
  const tree = useTree();
  if (change === undefined) return null;
  return (
    <div className="was">
      <span className="badge-edited">{words.marks[change.kind]}</span>
      {change.kind === "changed" && (
        <>
          <del>
            <span className="sr-only">{words.was} </span>
            <Visible text={change.before} isJson />
          </del>
          {tree.isEditable && (
            <button
              type="button"
              className="link-button"
              aria-label={tree.restoreLabel(nameOf(path))}
              onClick={(event) => {
                // The button disappears with the change it restores; the focus stays with the row.
                lead(event.currentTarget.closest("li"));
                tree.onRestore(path);
              }}
            >
              {words.restore}
            </button>
          )}
        </>
      )}
    </div>
  );
}
