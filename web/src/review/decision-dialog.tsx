// The second step: repeats the request and what will happen, takes the note, and decides after a tick and a press in
// two different places. Neither pressing on one place nor clicking every button gets through it.

import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { resolutionNoteCharactersMax } from "../../../server/src/domain/shown/field-limits.ts";
import type { JsonChange } from "../../../server/src/domain/shown/json-diff.ts";
import { Quote } from "../look/quote.tsx";
import { Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import type { Verdict } from "./calls.ts";
import { ChangeList, changesAtFirst } from "./parts/change-list.tsx";
import { LeadingValueList } from "./parts/leading-value-list.tsx";
import { useReadySince } from "./ready.ts";
import type { Sending } from "./use-deciding.ts";

type DecisionDialogProps = {
  verdict: Verdict;
  summary: string;
  /** The payload as it will be executed; null if there is none. */
  payload: string | null;
  changes: readonly JsonChange[];
  /** The warnings that still deserve attention; null if none do. */
  warnings: ReactNode;
  note: string;
  onNote: (note: string) => void;
  problem: string | null;
  sending: Sending;
  onBack: () => void;
  onDecide: () => void;
};

export function DecisionDialog(props: DecisionDialogProps) {
  const { verdict, changes, note, onNote, problem, sending, onBack, onDecide } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const box = useRef<HTMLInputElement>(null);
  const [titleId, sentenceId, noteId, whyId] = [useId(), useId(), useId(), useId()];
  const [isTicked, setTicked] = useState(false);
  const isReady = useReadySince(isTicked);
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    // Not a button: Enter alone must decide nothing.
    heading.current?.focus();
  }, []);
  // The browser closes it before it disappears, which returns the focus.
  const goBack = () => {
    setTicked(false);
    dialog.current?.close();
  };
  const over = [...note].length - resolutionNoteCharactersMax;
  const isListed = verdict === "reject" || changes.length <= changesAtFirst || isWhole;
  const isSending = sending === "sending";
  const canDecide = isTicked && isReady && sending === "idle" && over <= 0 && isListed;
  const kind = verdict === "approve" && changes.length > 0 ? "approveChanged" : verdict;
  return (
    <dialog
      className="dialog dialog-decision"
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
        <p id={sentenceId}>{sentenceOf(props)}</p>
        <Repeated {...props} onAllShown={() => setWhole(true)} />
        <label htmlFor={noteId}>{words.confirm.note}</label>
        <textarea
          id={noteId}
          className="field"
          rows={1}
          dir="auto"
          value={note}
          aria-describedby={`${noteId}-hint`}
          aria-invalid={over > 0}
          onChange={(event) => onNote(event.currentTarget.value)}
        />
        <p className={over > 0 ? "field-error" : "quiet small"} id={`${noteId}-hint`} role="status">
          {noteHint(over)}
        </p>
      </div>
      <div className="dialog-buttons">
        {problem !== null && (
          <p className="field-error dialog-problem" role="alert">
            {problem}
          </p>
        )}
        <label className="tick">
          <input
            ref={box}
            type="checkbox"
            checked={isTicked}
            onChange={(event) => setTicked(event.currentTarget.checked)}
          />
          <span>{words.confirm.tick[kind]}</span>
        </label>
        <button
          type="button"
          className="button button-back"
          aria-disabled={isSending}
          onClick={() => {
            if (!isSending) goBack();
          }}
        >
          {words.confirm.back}
        </button>
        <button
          type="button"
          className={`button button-yes ${verdict === "approve" ? "button-primary" : "button-danger"}`}
          aria-disabled={!canDecide}
          aria-describedby={whyId}
          onClick={() => {
            if (canDecide && dialog.current?.open) onDecide();
            // Out of sight, it may seem that nothing can be done.
            else if (!isTicked) box.current?.focus();
          }}
        >
          {labelOf(sending, words.confirm.yes[kind])}
        </button>
        <span className="sr-only" id={whyId}>
          {whyNot({ isTicked, isListed })}
        </span>
      </div>
    </dialog>
  );
}

type RepeatedProps = DecisionDialogProps & { onAllShown: () => void };

/** The subject of the decision once more: the agent's words in their frame, then the values that will be executed. */
function Repeated({ verdict, summary, payload, changes, warnings, onAllShown }: RepeatedProps) {
  const { confirm } = words;
  const isApproval = verdict === "approve";
  return (
    <>
      <Quote label={words.agentWrote}>
        <Visible text={summary} isMultiLine />
      </Quote>
      {isApproval && payload !== null && <LeadingValueList text={payload} />}
      {isApproval && changes.length > 0 && (
        <>
          <h3>{confirm.changes}</h3>
          <ChangeList changes={changes} onAllShown={onAllShown} />
        </>
      )}
      {!isApproval && changes.length > 0 && (
        <p className="quiet">{confirm.rejectDropsChanges(changes.length)}</p>
      )}
      {isApproval && warnings}
    </>
  );
}

function sentenceOf({ verdict, payload, changes }: DecisionDialogProps): string {
  const { confirm } = words;
  if (verdict === "reject") return confirm.reject;
  if (payload === null) return confirm.approveNoPayload;
  return changes.length > 0 ? confirm.approveChanged(changes.length) : confirm.approve;
}

function labelOf(sending: Sending, label: string): string {
  if (sending === "idle") return label;
  return sending === "sending" ? words.confirm.sending : words.confirm.asking;
}

function whyNot({ isTicked, isListed }: { isTicked: boolean; isListed: boolean }): string {
  if (!isListed) return words.confirm.listFirst;
  return isTicked ? "" : words.confirm.tickFirst;
}

function noteHint(over: number): string {
  if (over > 0) return words.confirm.noteTooLong(over);
  return over > -200 ? words.confirm.noteLeft(-over) : words.confirm.noteHint;
}
