// The second step: repeats the request and what will happen, takes the note, and decides after a tick and a press in
// two different places. Neither pressing on one place nor clicking every button gets through it.

import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { resolutionNoteCharactersMax } from "../../../server/src/domain/shown/field-limits.ts";
import type { JsonChange } from "../../../server/src/domain/shown/json-diff.ts";
import type { ReviewVoting } from "../../../server/src/wire/review-contract.ts";
import { Quote } from "../look/quote.tsx";
import { signingWords } from "../look/signing-words.ts";
import { Visible } from "../look/visible-text.tsx";
import { words } from "../look/words.ts";
import { ChangeList, changesAtFirst } from "./parts/change-list.tsx";
import { LeadingValueList } from "./parts/leading-value-list.tsx";
import { useReadySince } from "./parts/ready.ts";
import type { Verdict } from "./service/calls.ts";
import type { Sending } from "./use-deciding.ts";
import { isCounted } from "./voting/rights.ts";
import { approvalSaid, type Said } from "./voting/said.ts";
import { SaidText } from "./voting/said-text.tsx";

type DecisionDialogProps = {
  verdict: Verdict;
  summary: string;
  /** The payload as it will be executed; null if there is none. */
  payload: string | null;
  changes: readonly JsonChange[];
  /** The changes of earlier approvers to the agent's payload. */
  earlierChanges: readonly JsonChange[];
  /** How far several people are; undefined where one of them decides. */
  voting: ReviewVoting | undefined;
  /** Somebody changed the payload since: nothing can be decided about this text. */
  isOutdated: boolean;
  /** The warnings that still deserve attention; null if none do. */
  warnings: ReactNode;
  note: string;
  onNote: (note: string) => void;
  problem: string | null;
  sending: Sending;
  /** Whether the decision is signed with the reader's passkey: it must be, it may be, or it can't be. */
  signing: "needed" | "offered" | "impossible";
  onBack: () => void;
  onDecide: (isSigned: boolean) => void;
};

export function DecisionDialog(props: DecisionDialogProps) {
  const { verdict, changes, earlierChanges, note, onNote, sending, onBack, onDecide } = props;
  const problem = props.isOutdated ? words.voting.newText.first : props.problem;
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const box = useRef<HTMLInputElement>(null);
  const [titleId, sentenceId, noteId, whyId] = [useId(), useId(), useId(), useId()];
  const [isTicked, setTicked] = useState(false);
  const [isOffered, setOffered] = useState(false);
  const isSigned = props.signing === "needed" || (props.signing === "offered" && isOffered);
  const isReady = useReadySince(isTicked);
  const [isWhole, setWhole] = useState(false);
  const [isEarlierWhole, setEarlierWhole] = useState(false);
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
  const isListed =
    verdict === "reject" ||
    ((changes.length <= changesAtFirst || isWhole) &&
      (earlierChanges.length <= changesAtFirst || isEarlierWhole));
  const isSending = sending === "sending";
  const isPossible = sending === "idle" && over <= 0 && isListed && !props.isOutdated;
  const canDecide = isTicked && isReady && isPossible;
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
        <p id={sentenceId}>
          <SaidText said={sentenceOf(props)} />
        </p>
        <Repeated
          {...props}
          onAllShown={() => setWhole(true)}
          onAllEarlierShown={() => setEarlierWhole(true)}
        />
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
        {props.signing === "offered" && (
          <label className="sign-offer">
            <input
              type="checkbox"
              checked={isOffered}
              onChange={(event) => setOffered(event.currentTarget.checked)}
            />
            <span>{signingWords.offer}</span>
          </label>
        )}
        {isSigned && <p className="quiet small sign-what">{signingWords.what[verdict]}</p>}
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
            if (canDecide && dialog.current?.open) onDecide(isSigned);
            // Out of sight, it may seem that nothing can be done.
            else if (!isTicked) box.current?.focus();
          }}
        >
          {labelOf(sending, (isSigned ? signingWords : words.confirm).yes[kind])}
        </button>
        <span className="sr-only" id={whyId}>
          {whyNot({ isTicked, isListed })}
        </span>
      </div>
    </dialog>
  );
}

type RepeatedProps = DecisionDialogProps & {
  onAllShown: () => void;
  onAllEarlierShown: () => void;
};

/** The subject of the decision once more: the agent's words in their frame, then the values that will be executed. */
function Repeated(props: RepeatedProps) {
  const { verdict, summary, payload, changes, earlierChanges, warnings } = props;
  const { confirm } = words;
  const isApproval = verdict === "approve";
  return (
    <>
      <Quote label={words.agentWrote}>
        <Visible text={summary} isMultiLine />
      </Quote>
      {isApproval && payload !== null && <LeadingValueList text={payload} />}
      {isApproval && earlierChanges.length > 0 && (
        <>
          <h3>{words.voting.earlierChanges}</h3>
          <ChangeList
            changes={earlierChanges}
            label={words.voting.earlierChanges}
            onAllShown={props.onAllEarlierShown}
          />
        </>
      )}
      {isApproval && changes.length > 0 && (
        <>
          <h3>{confirm.changes}</h3>
          <ChangeList changes={changes} onAllShown={props.onAllShown} />
        </>
      )}
      {!isApproval && changes.length > 0 && (
        <p className="quiet">{confirm.rejectDropsChanges(changes.length)}</p>
      )}
      {isApproval && warnings}
    </>
  );
}

function sentenceOf({ verdict, payload, changes, voting }: DecisionDialogProps): Said {
  const { confirm } = words;
  const isChanged = changes.length > 0;
  if (voting !== undefined && isCounted(voting)) {
    if (verdict === "reject") return [words.voting.confirm.reject];
    return approvalSaid(voting, {
      changes: isChanged ? words.changeCount(changes.length) : null,
      hasPayload: payload !== null,
    });
  }
  if (verdict === "reject") return [confirm.reject];
  if (payload === null) return [confirm.approveNoPayload];
  return [isChanged ? confirm.approveChanged(changes.length) : confirm.approve];
}

function labelOf(sending: Sending, label: string): string {
  if (sending === "idle") return label;
  if (sending === "signing") return signingWords.waiting;
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
