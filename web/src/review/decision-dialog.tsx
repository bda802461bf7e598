// The second step: repeats in one sentence what will happen, shows every change, and takes the note.

import { useEffect, useId, useRef, useState } from "react";
import type { JsonChange } from "../../../server/src/domain/json-diff.ts";
import { resolutionNoteCharactersMax } from "../../../server/src/domain/limits.ts";
import type { Verdict } from "./calls.ts";
import { ChangeList, changesAtFirst } from "./change-list.tsx";
import { useReady } from "./ready.ts";
import { Visible } from "./visible-text.tsx";
import { words } from "./words.ts";

type DecisionDialogProps = {
  verdict: Verdict;
  agentName: string | null;
  hasPayload: boolean;
  changes: readonly JsonChange[];
  note: string;
  onNote: (note: string) => void;
  problem: string | null;
  isSending: boolean;
  onBack: () => void;
  onDecide: () => void;
};

export function DecisionDialog(props: DecisionDialogProps) {
  const { verdict, changes, note, onNote, problem, isSending, onBack, onDecide } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [titleId, sentenceId, noteId] = [useId(), useId(), useId()];
  const isReady = useReady();
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    // Not a button: Enter alone must decide nothing.
    heading.current?.focus();
  }, []);
  // Closed by the browser before it goes, it gives the focus back to where it was.
  const goBack = () => dialog.current?.close();
  const over = [...note].length - resolutionNoteCharactersMax;
  const isListed = verdict === "reject" || changes.length <= changesAtFirst || isWhole;
  const canDecide = isReady && !isSending && over <= 0 && isListed;
  return (
    <dialog
      className="dialog"
      ref={dialog}
      aria-labelledby={titleId}
      aria-describedby={sentenceId}
      onCancel={(event) => {
        if (isSending) event.preventDefault();
      }}
      onClose={onBack}
    >
      <div className="dialog-body">
        <h2 id={titleId} tabIndex={-1} ref={heading}>
          {verdict === "approve" ? words.confirm.approveTitle : words.confirm.rejectTitle}
        </h2>
        <p id={sentenceId} className="dialog-sentence">
          <Sentence {...props} />
        </p>
        {verdict === "approve" && changes.length > 0 && (
          <ChangeList changes={changes} onAllShown={() => setWhole(true)} />
        )}
        {verdict === "reject" && changes.length > 0 && (
          <p className="quiet">{words.confirm.rejectDropsChanges(changes.length)}</p>
        )}
        <label htmlFor={noteId}>{words.confirm.note}</label>
        <textarea
          id={noteId}
          className="field"
          rows={3}
          dir="auto"
          value={note}
          aria-describedby={`${noteId}-hint`}
          aria-invalid={over > 0}
          onChange={(event) => onNote(event.currentTarget.value)}
        />
        <p className={over > 0 ? "field-error" : "quiet small"} id={`${noteId}-hint`} role="status">
          {noteHint(over)}
        </p>
        {problem !== null && (
          <p className="field-error" role="alert">
            {problem}
          </p>
        )}
      </div>
      <div className="dialog-buttons">
        <button
          type="button"
          className="button"
          aria-disabled={isSending}
          onClick={() => {
            if (!isSending) goBack();
          }}
        >
          {words.confirm.back}
        </button>
        <button
          type="button"
          className={`button button-wide ${verdict === "approve" ? "button-primary" : "button-danger"}`}
          aria-disabled={!canDecide}
          onClick={() => {
            if (canDecide) onDecide();
          }}
        >
          {isSending ? words.confirm.sending : labelOf(verdict, changes.length)}
        </button>
      </div>
    </dialog>
  );
}

function Sentence({ verdict, agentName, hasPayload, changes }: DecisionDialogProps) {
  const { confirm } = words;
  const agent =
    agentName === null ? (
      confirm.agent
    ) : (
      <q className="quoted">
        <Visible text={agentName} />
      </q>
    );
  if (verdict === "reject") {
    return (
      <>
        {confirm.rejectBefore}
        {agent}
        {confirm.rejectAfter} {confirm.final}
      </>
    );
  }
  const what = hasPayload ? confirm.approveAfter : confirm.approveNoPayloadAfter;
  return (
    <>
      {confirm.approveBefore}
      {agent}
      {changes.length > 0 ? confirm.approveChangedAfter(changes.length) : what} {confirm.final}
    </>
  );
}

function labelOf(verdict: Verdict, changes: number): string {
  if (verdict === "reject") return words.confirm.reject;
  return changes > 0 ? words.confirm.approveChanged : words.confirm.approve;
}

function noteHint(over: number): string {
  if (over > 0) return words.confirm.noteTooLong(over);
  return over > -200 ? words.confirm.noteLeft(-over) : words.confirm.noteHint;
}
