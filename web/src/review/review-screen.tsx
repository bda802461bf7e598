// One request from top to bottom, in the order of the decision, and the events while the page is open.

import { useEffect, useMemo, useRef, useState } from "react";
import { diffJson } from "../../../server/src/domain/shown/json-diff.ts";
import type { Review, ReviewPage, ReviewVoting } from "../../../server/src/wire/review-contract.ts";
import { lead } from "../look/lead.ts";
import { signingWords } from "../look/signing-words.ts";
import { StatusMark } from "../look/status-mark.tsx";
import { isExpiringSoon } from "../look/time/clock.ts";
import { useTimeLeft } from "../look/time/countdown.tsx";
import { words } from "../look/words.ts";
import type { Draft } from "../payload/draft.ts";
import { type DraftState, noChanges } from "../payload/draft-state.ts";
import { type Opening, useOpening } from "../payload/opening.ts";
import { Attention, type AttentionItem } from "./attention/attention.tsx";
import { attentionItems } from "./attention/attention-items.ts";
import { OpenWarnings } from "./attention/open-warnings.tsx";
import { DecisionBar } from "./decision-bar.tsx";
import { DecisionDialog } from "./decision-dialog.tsx";
import { leadToEnd, useEndSeen } from "./end-seen.ts";
import { HandOverDialog } from "./hand-over/hand-over-dialog.tsx";
import { useHandOver } from "./hand-over/use-hand-over.ts";
import { Ask } from "./parts/ask.tsx";
import { Deadline } from "./parts/deadline.tsx";
import { Details } from "./parts/details.tsx";
import { Outcome } from "./parts/outcome.tsx";
import { Timeline } from "./parts/timeline.tsx";
import { TypedBefore } from "./parts/typed-before.tsx";
import { PayloadSection, type PayloadView } from "./payload-section.tsx";
import type { ReviewFrame } from "./review-frame.tsx";
import type { ReviewAccess } from "./service/access.ts";
import type { Verdict } from "./service/calls.ts";
import { NeedsPasskey } from "./signing/needs-passkey.tsx";
import { canSign } from "./signing/passkey.ts";
import { useSigning } from "./signing/use-signing.ts";
import { useDeciding } from "./use-deciding.ts";
import { type DraftKeeping, useDraft } from "./use-draft.ts";
import { useNewText } from "./use-new-text.ts";
import { useReview } from "./use-review.ts";
import { NewText } from "./voting/new-text.tsx";
import { currentPayload, decidedPayload } from "./voting/revision.ts";
import { RevisionNote, revisionNoteId } from "./voting/revision-note.tsx";
import { isCounted, mayApprove, mayHandOver, mayReject, openStageOf } from "./voting/rights.ts";
import { countedIn, countOf, headingOf } from "./voting/said.ts";
import { StageList } from "./voting/stage-list.tsx";
import { Standing, standingId } from "./voting/standing.tsx";

type ReviewScreenProps = {
  first: Review;
  readAt: number;
  access: ReviewAccess;
  frame: ReviewFrame;
  /** What was typed here before somebody changed the payload; null if this is the first text. */
  carried: Draft | null;
  onOpen: (page: ReviewPage, typed: Draft) => void;
};

export function ReviewScreen(props: ReviewScreenProps) {
  const { first, readAt, access, frame, carried, onOpen } = props;
  const { review, reading, isGone, isOutdated, isOtherText, update, refresh } = useReview(
    first,
    readAt,
    access,
  );
  const { payload, outcome, voting, change } = review;
  const isOpen = outcome === null && !isGone;
  const canDecide = isOpen && mayReject(voting);
  const isAsked = outcome === null && mayApprove(voting);
  /** The text that an edit starts from, and that the reader's changes are told against. */
  const current = currentPayload(review);
  const draft = useDraft(review, carried);
  const typing = isAsked ? draft.state : unchanged;
  const signing = useSigning(review, access);
  const deciding = useDeciding({ review, access, signing, draft, update });
  const handing = useHandOver({ review, access, update });
  const newText = useNewText({
    isOutdated,
    voting,
    access,
    onOpen: (page) => onOpen(page, draft.all()),
  });
  // Text that isn't JSON yet has no readable view, and the person who fixes it must stay in the editor.
  const [view, setView] = useState<PayloadView>(
    draft.state.kind === "refused" ? "edit" : "readable",
  );
  const outcomeElement = useRef<HTMLElement>(null);
  const decided = decidedPayload(review);
  const shown = decided ?? (isAsked ? draft.text : current);
  const readable = typing.kind === "refused" ? null : shown;
  const state = decided === null ? typing : draft.stateOf(decided);
  const original = outcome === null ? current : payload;
  const opening = useOpening({ text: readable, original, state });
  const isSoon = isExpiringSoon(useTimeLeft(reading, review.expiresAt));
  const changes = typing.kind === "changed" ? typing.changes : noChanges;
  const differences = useMemo(
    () => (change === undefined ? noChanges : diffJson(payload ?? "null", change.payload)),
    [change, payload],
  );
  const hasTyped = draft.state.kind !== "unchanged" || draft.note !== "" || draft.fields.size > 0;
  const isDrawn = opening.isComplete && view !== "edit";
  const isEndSeen = useEndSeen(isDrawn) || payload === null;
  const readOn = () => {
    if (view === "edit") setView("readable");
    // After the view is drawn.
    setTimeout(leadToEnd, 0);
  };
  const canHandOver = isOpen && !isOutdated && isSecureContext && mayHandOver(voting);
  const wasPending = useRef(outcome === null);
  useEffect(() => {
    // The field for the code, the row of the list or the button to the new text is gone or left.
    if (carried !== null) leadToChange(voting);
    else if (access.kind === "inbox" || access.code !== null) lead("summary");
  }, []);
  useDone(voting);
  useEffect(() => {
    frame.onStatus(outcome?.status ?? null);
  }, [outcome]);
  useEffect(() => {
    if (outcome !== null && wasPending.current) {
      outcomeElement.current?.focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
    wasPending.current = outcome === null;
  }, [outcome]);
  const items = useMemo(
    () =>
      attentionItems({
        review,
        // Text that isn't JSON yet isn't examined; the warnings are those of the document before.
        payload: readable ?? current,
        state: typing,
        unseen: opening.unseen,
        openFields: draft.openFields,
        isKept: draft.isKept,
        isSoon,
        goTo: (path) => {
          setView("readable");
          // After the view is drawn.
          setTimeout(() => opening.revealAt(path), 0);
        },
        openAll: () => {
          setView("readable");
          opening.openAll();
        },
        edit: () => setView("edit"),
      }),
    [review, readable, typing, draft.openFields, draft.isKept, opening.unseen, isSoon],
  );
  const isNeeded = signing?.needed === true;
  const isUnable = isAsked && isNeeded && !canSign(signing);
  const waits = isUnable
    ? signingWords.blocked
    : blockedBy({ state: typing, opening, editing: draft.openFields.length });
  const isRead = canDecide && isAsked && !isOutdated && !hasTyped && isEndSeen && waits === null;
  const warnings = countPlaces(items);
  useEffect(() => {
    frame.onRead(isRead ? { review, warnings } : null);
  }, [isRead, review, warnings]);
  const skip = canDecide && (
    <a className="skip" href="#decision">
      {words.skip}
    </a>
  );
  // Beside the inbox's list it isn't the first thing on the page, so it belongs to the request.
  const isInside = access.kind === "inbox";
  return (
    <>
      {!isInside && skip}
      <main className="page">
        {isInside && skip}
        <header className="masthead">
          {frame.start}
          {outcome === null && <StatusMark status="PENDING" {...pendingWord(voting)} />}
        </header>
        <h1 className="heading">
          {(outcome === null && voting !== undefined ? headingOf(voting) : null) ??
            words.heading(outcome?.status ?? null)}
        </h1>
        {isGone && (
          <p className="banner" role="alert">
            {deciding.hasSent
              ? words.problem.goneUntold[access.kind]
              : words.problem.gone[access.kind]}
          </p>
        )}
        {outcome !== null && (
          <Outcome
            outcome={outcome}
            payload={payload}
            isPartly={voting?.stages.some(({ approvals }) => approvals.length > 0) ?? false}
            tooLate={deciding.tooLate}
            focus={outcomeElement}
          />
        )}
        {!canDecide && frame.afterwards(review)}
        {isOpen && isOutdated && voting !== undefined && (
          <NewText
            voting={voting}
            hasTyped={hasTyped}
            isLoading={newText.isLoading || deciding.sending !== "idle"}
            problem={newText.problem}
            onShow={newText.load}
          />
        )}
        {isOpen && !isOutdated && voting !== undefined && (
          <Standing voting={voting} change={change} hasPayload={payload !== null} />
        )}
        {isOpen && isUnable && <NeedsPasskey access={access} />}
        {(!isAsked || isGone) && !deciding.isCounted && (
          <TypedBefore
            why={outcome === null ? null : words.outcome.typedApart}
            note={canDecide ? "" : draft.note}
            text={draft.state.kind === "unchanged" ? null : draft.text}
            fields={[...draft.fields.values()]}
          />
        )}
        <div className="brief">
          <Ask {...review} />
          <Deadline review={review} reading={reading} onOver={refresh} />
        </div>
        {payload === null || shown === null ? (
          <section className="said" aria-labelledby="payload-title">
            <h2 id="payload-title">{words.payload}</h2>
            <p className="quiet">{words.noPayload}</p>
          </section>
        ) : (
          <PayloadSection
            title={titleOf(outcome)}
            original={original ?? payload}
            revision={
              change === undefined || outcome?.status === "APPROVED" ? null : (
                <RevisionNote change={change} differences={differences} />
              )
            }
            draft={shown}
            state={state}
            isEditable={isOpen && isAsked}
            view={view}
            onView={setView}
            opening={opening}
            onDraft={draft.setText}
            fields={draft.fields}
            onField={draft.setField}
            onFieldDone={draft.dropField}
          />
        )}
        <TypedEarlier draft={draft} isUsable={isAsked && !isGone} />
        {canDecide && <Attention items={items} />}
        {voting !== undefined && (!isOtherText || outcome?.status === "APPROVED") && (
          <StageList voting={voting} isDecided={outcome !== null} />
        )}
        <Timeline actions={review.recentActions} />
        <Details review={review} onHandOver={canHandOver ? handing.open : null} />
        <p className="sr-only" role="status">
          {isOutdated && words.voting.newText.first}{" "}
          {outcome === null && isSoon && words.expiringSoon}
        </p>
      </main>
      {canDecide && (
        <DecisionBar
          hasChanges={changes.length > 0}
          soFar={soFar(voting, isOutdated)}
          nextStep={isNeeded && isAsked ? signingWords.nextStep : words.twoSteps}
          blockedBy={isAsked ? waits : words.voting.onlyReject}
          onRead={isEndSeen ? null : readOn}
          impossible={impossible(isOutdated)}
          onNewText={isOutdated && !newText.isLoading ? newText.load : null}
          // That the payload changed is said already.
          problem={deciding.verdict === null && !isOutdated ? deciding.problem : null}
          attention={{
            count: warnings,
            onGo: () => lead("attention"),
          }}
          onChoose={deciding.choose}
        />
      )}
      {canDecide && deciding.verdict !== null && (isAsked || deciding.verdict === "reject") && (
        <DecisionDialog
          key={deciding.verdict}
          verdict={deciding.verdict}
          summary={review.summary}
          payload={draft.text}
          changes={changes}
          earlierChanges={differences}
          voting={voting}
          isOutdated={isOutdated}
          warnings={<OpenWarnings items={items} />}
          note={draft.note}
          onNote={draft.setNote}
          problem={deciding.problem}
          sending={deciding.sending}
          signing={signingFor(deciding.verdict, signing)}
          onBack={deciding.back}
          onDecide={deciding.decide}
        />
      )}
      {canHandOver && handing.isOpen && <HandOverDialog handing={handing} hasTyped={hasTyped} />}
    </>
  );
}

function signingFor(verdict: Verdict, signing: Review["signing"]) {
  if (!canSign(signing)) return "impossible";
  return signing.needed && verdict === "approve" ? "needed" : "offered";
}

const unchanged: DraftState = { kind: "unchanged" };

/** After a vote or a hand-over the controls are gone, and what became of it stands at the top. */
function useDone(voting: ReviewVoting | undefined): void {
  const place = voting?.you.kind ?? null;
  const before = useRef(place);
  useEffect(() => {
    const isDone = place === "voted" || place === "handed_over";
    if (isDone && before.current !== place) {
      document.getElementById(standingId)?.focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
    before.current = place;
  }, [place]);
}

/** To the reader's own vote, or to what somebody changed. */
function leadToChange(voting: ReviewVoting | undefined): void {
  if (voting?.you.kind === "voted") lead(standingId);
  else lead(document.getElementById(revisionNoteId) ?? "payload");
}

function TypedEarlier({ draft, isUsable }: { draft: DraftKeeping; isUsable: boolean }) {
  const { earlier, takeEarlier, dropEarlier } = draft;
  if (earlier === null) return null;
  return (
    <TypedBefore
      why={words.voting.earlier.hint}
      note=""
      text={earlier.text}
      fields={earlier.fields}
    >
      <div className="typed-tools">
        {isUsable && earlier.text !== null && (
          <button type="button" className="button" onClick={takeEarlier}>
            {words.voting.earlier.use}
          </button>
        )}
        <button type="button" className="button" onClick={dropEarlier}>
          {words.voting.earlier.discard}
        </button>
      </div>
    </TypedBefore>
  );
}

function pendingWord(voting: ReviewVoting | undefined): { pendingWord?: string } {
  return mayApprove(voting) ? {} : { pendingWord: words.voting.waitingForOthers };
}

function soFar(voting: ReviewVoting | undefined, isOutdated: boolean): string | null {
  if (voting === undefined || isOutdated || !isCounted(voting)) return null;
  const open = openStageOf(voting);
  return open === null ? null : words.voting.soFar(countOf(open), countedIn(voting));
}

/** Why nothing can be decided here at all; null if it can. */
function impossible(isOutdated: boolean): string | null {
  if (!isSecureContext) return words.approveBlocked.insecure;
  return isOutdated ? words.voting.newText.first : null;
}

type Waiting = { state: DraftState; opening: Opening; editing: number };

function blockedBy({ state, opening, editing }: Waiting): string | null {
  const { approveBlocked } = words;
  if (state.kind === "refused") {
    return state.mistake.isNull === true ? approveBlocked.isNull : approveBlocked.broken;
  }
  if (editing > 0) return approveBlocked.editing;
  if (opening.isComplete) return null;
  return opening.progress === null ? approveBlocked.unopened : words.opening(opening.progress);
}

/** The approver's own changes are no reason to warn them. */
function countPlaces(items: AttentionItem[]): number {
  return items.reduce((sum, { isOwn, places }) => (isOwn ? sum : sum + places), 0);
}

function titleOf(outcome: Review["outcome"]): string {
  if (outcome === null) return words.payload;
  return outcome.status === "APPROVED" ? words.payloadWas : words.payloadWasAsked;
}
