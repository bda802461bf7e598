// The changes of an edit, each with its path, the old and the new value.

import { useState } from "react";
import type { JsonChange } from "../../../../server/src/domain/shown/json-diff.ts";
import { InOrder, Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { nameOf } from "../../payload/tree-context.ts";

/** Longer lists are opened by hand, and until then there is no second step. */
export const changesAtFirst = 50;

type ChangeListProps = {
  changes: readonly JsonChange[];
  label?: string;
  /** Called when there is nothing left to show. */
  onAllShown?: () => void;
};

export function ChangeList(props: ChangeListProps) {
  const { changes, label = words.changeList.label, onAllShown } = props;
  const [count, setCount] = useState(changesAtFirst);
  const left = changes.length - count;
  const showMore = () => {
    setCount(changes.length);
    onAllShown?.();
  };
  return (
    <>
      <ul className="changes" aria-label={label}>
        {changes.slice(0, count).map((change) => (
          <li key={`${change.kind} ${JSON.stringify(change.path)}`}>
            <ChangeItem change={change} />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <button type="button" className="button" onClick={showMore}>
          {words.changeList.more(left)}
        </button>
      )}
    </>
  );
}

function ChangeItem({ change }: { change: JsonChange }) {
  const path = (
    <code className="change-path">
      <InOrder text={nameOf(change.path)} />
    </code>
  );
  switch (change.kind) {
    case "changed":
      return (
        <>
          {path}
          <Before text={change.before} />
          <span className="arrow" role="img" aria-label={words.changeList.to}>
            →
          </span>
          <After text={change.after} />
        </>
      );
    case "added":
      return (
        <>
          {path} <span className="badge-edited">{words.added}</span>
          <After text={change.after} />
        </>
      );
    case "removed":
      return (
        <>
          {path} <span className="badge-edited">{words.removed}</span>
          <Before text={change.before} />
        </>
      );
    case "reordered":
      return (
        <code className="change-path">
          <InOrder text={words.changeList.reordered(nameOf(change.path))} />
        </code>
      );
    default:
      return change satisfies never;
  }
}

function Before({ text }: { text: string }) {
  return (
    <del className="change-value">
      <span className="sr-only">{words.changeList.before} </span>
      <Visible text={text} isJson />
    </del>
  );
}

function After({ text }: { text: string }) {
  return (
    <ins className="change-value">
      <span className="sr-only">{words.changeList.after} </span>
      <Visible text={text} isJson />
    </ins>
  );
}
