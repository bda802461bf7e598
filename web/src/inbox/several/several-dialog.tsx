// The second step for several requests: lists each one, and decides after a tick and a press in two different places. Then
// it shows what became of each.

import { useEffect, useId, useRef, useState } from "react";
import { resolutionNoteCharactersMax } from "../../../../server/src/domain/shown/field-limits.ts";
import type { ClockReading } from "../../look/time/clock.ts";
import { Visible } from "../../look/visible-text.tsx";
import { words } from "../../look/words.ts";
import { useReadySince } from "../../review/parts/ready.ts";
import { inboxWords } from "../frame/inbox-words.ts";
import { TimeLeft } from "../list/time-left.tsx";
import type { Result } from "./result.ts";
import type { Chosen, SecondStep } from "./use-several.ts";

type SeveralDialogProps = {
  step: SecondStep;
  reading: ClockReading;
  /** Whether one still waits for the reader. */
  isWaiting: (id: string) => boolean;
  onSend: (note: string) => void;
  onClose: () => void;
};

export function SeveralDialog({ step, reading, isWaiting, onSend, onClose }: SeveralDialogProps) {
  const { verdict, chosen, results, isSending, problem } = step;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const [titleId, noteId] = [useId(), useId()];
  const [note, setNote] = useState("");
  const { several } = inboxWords;
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    // Not a button: Enter alone must decide nothing.
    heading.current?.focus();
  }, [results === null]);
  const over = [...note].length - resolutionNoteCharactersMax;
  const isApproval = verdict === "approve";
  const title = isApproval ? several.approveTitle : several.rejectTitle;
  const recorded = [...(results?.values() ?? [])].filter(({ kind }) => kind === "recorded").length;
  return (
    <dialog
      className="dialog dialog-decision dialog-several"
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={(event) => {
        if (isSending) event.preventDefault();
      }}
      onClose={onClose}
    >
      <div className="dialog-body">
        <h2 id={titleId} tabIndex={-1} ref={heading}>
          {results === null ? title(chosen.length) : several.resultTitle}
        </h2>
        <p role="status">
          {results === null
            ? isApproval
              ? several.approve
              : several.reject
            : several.counted(recorded, chosen.length)}
        </p>
        <ol className="several-list">
          {chosen.map((one) => (
            <Item
              key={one.row.id}
              chosen={one}
              reading={reading}
              result={results?.get(one.row.id) ?? null}
              isWaiting={results !== null || isWaiting(one.row.id)}
            />
          ))}
        </ol>
        {results === null && (
          <>
            <label htmlFor={noteId}>{several.note}</label>
            <textarea
              id={noteId}
              className="field"
              rows={1}
              dir="auto"
              value={note}
              aria-describedby={`${noteId}-hint`}
              aria-invalid={over > 0}
              onChange={(event) => setNote(event.currentTarget.value)}
            />
            <p
              className={over > 0 ? "field-error" : "quiet small"}
              id={`${noteId}-hint`}
              role="status"
            >
              {over > 0 ? words.confirm.noteTooLong(over) : words.confirm.noteHint}
            </p>
          </>
        )}
      </div>
      {results === null ? (
        <Buttons
          step={step}
          problem={problem}
          isPossible={over <= 0}
          onBack={() => dialog.current?.close()}
          onSend={() => {
            if (dialog.current?.open) onSend(note);
          }}
        />
      ) : (
        <div className="dialog-buttons">
          <button
            type="button"
            className="button button-back"
            onClick={() => dialog.current?.close()}
          >
            {several.done}
          </button>
        </div>
      )}
    </dialog>
  );
}

type ItemProps = {
  chosen: Chosen;
  reading: ClockReading;
  result: Result | null;
  isWaiting: boolean;
};

/** The agent's words in their frame; the deadline, warnings and the result outside of it. */
function Item({ chosen: { row, warnings }, reading, result, isWaiting }: ItemProps) {
  const { several } = inboxWords;
  return (
    <li>
      <blockquote className="row-summary">
        <Visible text={row.summary} isMultiLine />
      </blockquote>
      {result === null ? (
        <p className="several-facts">
          <TimeLeft reading={reading} expiresAt={row.expiresAt} />
          {warnings > 0 && <span className="several-warning">{several.warnings(warnings)}</span>}
          {!isWaiting && <span className="several-warning">{several.left}</span>}
        </p>
      ) : (
        <p className={`several-result several-${result.kind}`}>
          <ResultMark kind={result.kind} />
          {result.kind === "unknown" ? several.unknown : <Visible text={result.text} />}
        </p>
      )}
    </li>
  );
}

const shapes: Record<Result["kind"], string> = {
  recorded: "M2.8 8.6l3.4 3.4l7-7.6",
  refused: "M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4",
  unknown: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M8 5v3.2l2.2 1.4",
};

function ResultMark({ kind }: { kind: Result["kind"] }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={shapes[kind]} />
    </svg>
  );
}

type ButtonsProps = {
  step: SecondStep;
  problem: string | null;
  isPossible: boolean;
  onBack: () => void;
  onSend: () => void;
};

/** As in the second step for one request: docs/decisions/0029. */
function Buttons({ step, problem, isPossible, onBack, onSend }: ButtonsProps) {
  const { verdict, chosen, isSending } = step;
  const box = useRef<HTMLInputElement>(null);
  const whyId = useId();
  const [isTicked, setTicked] = useState(false);
  const isReady = useReadySince(isTicked);
  const canDecide = isTicked && isReady && isPossible && !isSending;
  const { several } = inboxWords;
  return (
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
        <span>{several.tick[verdict](chosen.length)}</span>
      </label>
      <button
        type="button"
        className="button button-back"
        aria-disabled={isSending}
        onClick={() => {
          if (!isSending) onBack();
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
          if (canDecide) onSend();
          // Out of sight, it may seem that nothing can be done.
          else if (!isTicked) box.current?.focus();
        }}
      >
        {isSending ? words.confirm.sending : several.yes[verdict](chosen.length)}
      </button>
      <span className="sr-only" id={whyId}>
        {isTicked ? "" : words.confirm.tickFirst}
      </span>
    </div>
  );
}
