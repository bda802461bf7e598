// The payload: readable first, as JSON one press away, and in an editor while it can be decided.

import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { type JsonPath, rootOf, textOf } from "../../../server/src/domain/shown/json-tree.ts";
import { CopyButton } from "../look/copy-button.tsx";
import { lead } from "../look/lead.ts";
import { words } from "../look/words.ts";
import type { FieldDraft } from "../payload/draft.ts";
import { type DraftState, noChanges } from "../payload/draft-state.ts";
import { withRestored, withValue } from "../payload/in-place.ts";
import type { Opening } from "../payload/opening.ts";
import { OpeningFoot, OpeningProgress } from "../payload/opening-foot.tsx";
import { RawJson } from "../payload/raw-json.tsx";
import { rowsAtOnce, type Tree, TreeContext } from "../payload/tree-context.ts";
import { ValueRow } from "../payload/value-row.tsx";
import { WholeOnPaper } from "../payload/whole-on-paper.tsx";
import { JsonEditing } from "./json-editing.tsx";

export type PayloadView = "readable" | "raw" | "edit";

type PayloadSectionProps = {
  title: string;
  /** The text that an edit starts from. */
  original: string;
  /** What an earlier approver changed; null if the text is the agent's own. */
  revision: ReactNode;
  draft: string;
  state: DraftState;
  isEditable: boolean;
  view: PayloadView;
  onView: (view: PayloadView) => void;
  opening: Opening;
  onDraft: (text: string) => void;
  fields: ReadonlyMap<string, FieldDraft>;
  onField: (field: FieldDraft) => void;
  onFieldDone: (key: string) => void;
};

/** Tells the page whether the reader has reached the end. */
const payloadEnd = <div id="payload-end" className="payload-end" aria-hidden="true" />;

export function PayloadSection(props: PayloadSectionProps) {
  const { title, original, draft, state, isEditable, view, onView, opening, onDraft } = props;
  const headingId = useId();
  const isBroken = state.kind === "refused";
  // A document that isn't JSON has no readable view; its author keeps seeing what they typed.
  const chosen = view === "edit" && !isEditable ? "readable" : view;
  const shown: PayloadView = isBroken && isEditable ? "edit" : chosen;
  return (
    <section className="payload" aria-labelledby={headingId} id="payload" tabIndex={-1}>
      <div className="payload-head">
        <h2 id={headingId}>{title}</h2>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be read as a form */}
        <div className="views" role="group" aria-label={words.views}>
          {viewsOf(isEditable).map(([name, label]) => (
            <button
              type="button"
              key={name}
              data-view={name}
              aria-pressed={shown === name}
              aria-disabled={isBroken && name !== "edit"}
              onClick={() => {
                if (!isBroken) onView(name);
              }}
            >
              {label}
            </button>
          ))}
        </div>
        <CopyButton label={words.copyPayload} text={() => draft} isWide />
      </div>
      {props.revision}
      {shown === "readable" && <OpeningProgress opening={opening} />}
      {shown === "readable" && <Readable {...props} />}
      {shown === "raw" && (
        <RawJson
          text={draft}
          label={words.editor.label}
          onDrawn={opening.onAllDrawn}
          end={payloadEnd}
        />
      )}
      {shown === "edit" && <JsonEditing text={draft} original={original} onChange={onDraft} />}
      {shown !== "raw" && payloadEnd}
      {shown === "readable" && <OpeningFoot opening={opening} onOpenAll={() => lead("payload")} />}
    </section>
  );
}

function viewsOf(isEditable: boolean): [PayloadView, string][] {
  const views: [PayloadView, string][] = [
    ["readable", words.readable],
    ["raw", words.raw],
  ];
  return isEditable ? [...views, ["edit", words.edit]] : views;
}

function Readable(props: PayloadSectionProps) {
  const { draft, state, isEditable, opening, fields } = props;
  // Rows call back long after they were made, and must change the document as it is then.
  const latest = useRef(props);
  latest.current = props;
  const [atOnce] = useState(rowsAtOnce);
  const tree = useMemo<Tree>(() => {
    const change = (make: (texts: { text: string; original: string }) => string) => {
      const { original, draft, onDraft } = latest.current;
      onDraft(make({ text: draft, original }));
    };
    return {
      ...opening.rows,
      ...atOnce,
      isEditable,
      onReplace: (path, token) => change((texts) => withValue(texts, path, token)),
      onRestore: (path) => change((texts) => withRestored(texts, path)),
      restoreLabel: (path) =>
        latest.current.revision === null
          ? words.restoreValue(path)
          : words.voting.restoreValue(path),
      fields,
      onField: (field) => latest.current.onField(field),
      onFieldDone: (key) => latest.current.onFieldDone(key),
    };
  }, [isEditable, opening.rows, fields]);
  const changes = state.kind === "changed" ? state.changes : noChanges;
  return (
    <TreeContext.Provider value={tree}>
      <ul className="rows rows-root" translate="no">
        <ValueRow path={rootPath} text={textOf(draft, rootOf(draft))} value={0} changes={changes} />
      </ul>
      <WholeOnPaper text={draft} isInstead={changes.length === 0} />
    </TreeContext.Provider>
  );
}

const rootPath: JsonPath = [];
