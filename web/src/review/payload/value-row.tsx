// One value of the readable view with its key: a simple value in place, or a container with its rows beneath.

import { memo, useEffect, useRef, useState } from "react";
import { type JsonNode, type JsonPath, textOf } from "../../../../server/src/domain/json-tree.ts";
import { lead } from "../lead.ts";
import { Visible } from "../visible-text.tsx";
import { words } from "../words.ts";
import { ContainerBody, ContainerToggle, useContainer } from "./container.tsx";
import { CopyButton } from "./copy-button.tsx";
import { isContainer, keyOf } from "./folding.ts";
import { typedOf } from "./in-place.ts";
import { Key } from "./key.tsx";
import { Scalar, valueToCopy } from "./scalar.tsx";
import { nameOf, type Tree, useTree } from "./tree-context.ts";
import { ValueField } from "./value-field.tsx";

export type RowProps = { path: JsonPath; node: JsonNode };

/** Deeper levels are not indented any further; on a phone nothing would be left of the line. */
const indentedLevelsMax = 8;
const longCharacters = 48;

/** A long list grows row by row; those that are there already need not be made again. */
export const ValueRow = memo(Row, isSameRow);

function isSameRow(one: RowProps, other: RowProps): boolean {
  return (
    one.node.start === other.node.start &&
    one.node.end === other.node.end &&
    one.path.length === other.path.length &&
    one.path.every((step, at) => step === other.path[at])
  );
}

function Row({ path, node }: RowProps) {
  const tree = useTree();
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (tree.reveal !== null && keyOf(tree.reveal.path) === keyOf(path)) reveal(row.current);
  }, [tree.reveal, path]);
  const change = tree.changes.get(keyOf(path));
  return (
    <li className={change === undefined ? "row" : "row row-changed"} ref={row}>
      {isContainer(node) ? (
        <ContainerRow path={path} node={node} />
      ) : (
        <ScalarRow path={path} node={node} />
      )}
    </li>
  );
}

function ScalarRow({ path, node }: RowProps) {
  const tree = useTree();
  const key = keyOf(path);
  const token = textOf(tree.text, node);
  const field = tree.fields.get(key);
  const [isEditing, setEditing] = useState(field !== undefined && field.token === token);
  const change = tree.changes.get(key);
  const typed = tree.isEditable ? typedOf(tree.text, node) : null;
  const name = nameOf(path);
  const pencil = useRef<HTMLButtonElement>(null);
  const close = () => {
    setEditing(false);
    tree.onFieldDone(key);
    requestAnimationFrame(() => pencil.current?.focus());
  };
  return (
    <div className={isLong(node) || isEditing ? "line line-long" : "line"}>
      <Key path={path} />
      <div className="value">
        {isEditing && typed !== null ? (
          <ValueField
            kind={node.kind}
            name={name}
            before={typed}
            typed={field?.token === token ? field.typed : typed}
            onTyped={(text) => tree.onField({ path, token, typed: text })}
            onKeep={(token) => {
              close();
              tree.onReplace(path, token);
            }}
            onCancel={close}
          />
        ) : (
          <Scalar text={tree.text} node={node} path={path} />
        )}
        {change !== undefined && (
          <Was change={change} onRestore={tree.isEditable ? () => tree.onRestore(path) : null} />
        )}
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
          <CopyButton label={words.copyValue(name)} text={() => valueToCopy(tree.text, node)} />
        </div>
      )}
    </div>
  );
}

function ContainerRow({ path, node }: RowProps) {
  const tree = useTree();
  const container = useContainer(path, node);
  const change = tree.changes.get(keyOf(path));
  const name = nameOf(path);
  return (
    <>
      <div className="line line-container">
        <Key path={path} />
        <div className="value">
          <ContainerToggle container={container} name={name} node={node} />
          {path.length > indentedLevelsMax && (
            <span className="level">{words.level(path.length)}</span>
          )}
          {change !== undefined && (
            <Was change={change} onRestore={tree.isEditable ? () => tree.onRestore(path) : null} />
          )}
        </div>
        <div className="tools">
          <CopyButton label={words.copyValue(name)} text={() => textOf(tree.text, node)} />
        </div>
      </div>
      <ContainerBody
        path={path}
        container={container}
        isIndented={path.length <= indentedLevelsMax}
        row={(props) => <ValueRow key={keyOf(props.path)} {...props} />}
      />
    </>
  );
}

/** On a phone it gets a line of its own. */
function isLong({ start, end }: JsonNode): boolean {
  return end - start > longCharacters;
}

/** What stood here before the edit, struck through. */
function Was({
  change,
  onRestore,
}: {
  change: NonNullable<ReturnType<Tree["changes"]["get"]>>;
  /** Null when nothing can be changed any more. */
  onRestore: (() => void) | null;
}) {
  const isAdded = change.kind === "added";
  return (
    <div className="was">
      <span className="badge-edited">{isAdded ? words.added : words.edited}</span>
      {change.kind === "changed" && (
        <>
          <del>
            <span className="sr-only">{words.was} </span>
            <Visible text={change.before} isJson />
          </del>
          {onRestore !== null && (
            <button
              type="button"
              className="link-button"
              aria-label={words.restoreValue(nameOf(change.path))}
              onClick={(event) => {
                // It goes with what it restores; the focus stays with the row.
                lead(event.currentTarget.closest("li"));
                onRestore();
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

function reveal(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "center" });
  lead(element);
}
