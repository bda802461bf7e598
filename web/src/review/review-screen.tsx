// One request from top to bottom, in the order of the decision, and the events while the page is open.

import { useEffect, useMemo, useRef, useState } from "react";
import type { Review } from "../../../server/src/wire/review-contract.ts";
import { Brand } from "../look/brand.tsx";
import { lead } from "../look/lead.ts";
import { StatusMark } from "../look/status-mark.tsx";
import { isExpiringSoon } from "../look/time/clock.ts";
import { useTimeLeft } from "../look/time/countdown.tsx";
import { words } from "../look/words.ts";
import type { DraftState } from "../payload/draft-state.ts";
import { type Opening, useOpening } from "../payload/opening.ts";
import { Attention, type AttentionItem } from "./attention/attention.tsx";
import { attentionItems } from "./attention/attention-items.ts";
import { OpenWarnings } from "./attention/open-warnings.tsx";
import { DecisionBar } from "./decision-bar.tsx";
import { DecisionDialog } from "./decision-dialog.tsx";
import { leadToEnd, useEndSeen } from "./end-seen.ts";
import { Ask } from "./parts/ask.tsx";
import { Deadline } from "./parts/deadline.tsx";
import { Details } from "./parts/details.tsx";
import { Outcome } from "./parts/outcome.tsx";
import { Timeline } from "./parts/timeline.tsx";
import { TypedBefore } from "./parts/typed-before.tsx";
import { PayloadSection, type PayloadView } from "./payload-section.tsx";
import { useDeciding } from "./use-deciding.ts";
import { useDraft } from "./use-draft.ts";
import { useReview } from "./use-review.ts";

type ReviewScreenProps = { first: Review; readAt: number; code: string | null };

export function ReviewScreen({ first, readAt, code }: ReviewScreenProps) {
  const { review, reading, isGone, update, refresh } = useReview(first, readAt, code);
  const { payload, outcome } = review;
  const isOpen = outcome === null && !isGone;
  const draft = useDraft(review);
  const deciding = useDeciding({ review, code, draft, update });
  // Text that isn't JSON yet has no readable view, and the person who fixes it must stay in the editor.
  const [view, setView] = useState<PayloadView>(
    draft.state.kind === "refused" ? "edit" : "readable",
  );
  const outcomeElement = useRef<HTMLElement>(null);
  // After a decision, the page shows the decided document, or rather the executed one.
  const shown = outcome === null ? draft.text : (outcome.edit ?? payload);
  const readable = draft.state.kind === "refused" && outcome === null ? null : shown;
  const state = outcome === null || shown === null ? draft.state : draft.stateOf(shown);
  const opening = useOpening({ text: readable, original: payload, state });
  const isSoon = isExpiringSoon(useTimeLeft(reading, review.expiresAt));
  const changes = draft.state.kind === "changed" ? draft.state.changes : [];
  const isDrawn = opening.isComplete && view !== "edit";
  const isEndSeen = useEndSeen(isDrawn) || payload === null;
  const readOn = () => {
    if (view === "edit") setView("readable");
    // After the view is drawn.
    setTimeout(leadToEnd, 0);
  };
  const wasPending = useRef(outcome === null);
  useEffect(() => {
    // The field for the code is gone, and the focus would be lost.
    if (code !== null) lead("summary");
  }, []);
  useEffect(() => {
    document.title = words.pageTitle(outcome?.status ?? null);
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
        // Text that isn't JSON yet isn't examined; the warnings are those of the agent's document.
        payload: readable ?? payload,
        state: draft.state,
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
    [review, readable, draft.state, draft.openFields, draft.isKept, opening.unseen, isSoon],
  );
  return (
    <>
      {isOpen && (
        <a className="skip" href="#decision">
          {words.skip}
        </a>
      )}
      <main className="page">
        <header className="masthead">
          <Brand />
          {outcome === null && <StatusMark status="PENDING" />}
        </header>
        <h1 className="heading">{words.heading(outcome?.status ?? null)}</h1>
        {isGone && (
          <p className="banner" role="alert">
            {deciding.hasSent ? words.problem.goneUntold : words.problem.gone}
          </p>
        )}
        {outcome !== null && (
          <Outcome
            outcome={outcome}
            payload={payload}
            tooLate={deciding.tooLate}
            focus={outcomeElement}
          />
        )}
        {outcome !== null && review.othersWaiting > 0 && (
          <p className="others">{words.othersWait(review.othersWaiting)}</p>
        )}
        {(outcome !== null || isGone) && !deciding.isCounted && (
          <TypedBefore
            isDecided={outcome !== null}
            note={draft.note}
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
            original={payload}
            draft={shown}
            state={state}
            isEditable={isOpen}
            view={view}
            onView={setView}
            opening={opening}
            onDraft={draft.setText}
            fields={draft.fields}
            onField={draft.setField}
            onFieldDone={draft.dropField}
          />
        )}
        {isOpen && <Attention items={items} />}
        <Timeline actions={review.recentActions} />
        <Details {...review} />
        <p className="sr-only" role="status">
          {outcome === null && isSoon && words.expiringSoon}
        </p>
      </main>
      {isOpen && (
        <DecisionBar
          hasChanges={changes.length > 0}
          blockedBy={blockedBy({
            state: draft.state,
            opening,
            editing: draft.openFields.length,
          })}
          onRead={isEndSeen ? null : readOn}
          impossible={isSecureContext ? null : words.approveBlocked.insecure}
          problem={deciding.verdict === null ? deciding.problem : null}
          attention={{
            count: countPlaces(items),
            onGo: () => lead("attention"),
          }}
          onChoose={deciding.choose}
        />
      )}
      {isOpen && deciding.verdict !== null && (
        <DecisionDialog
          key={deciding.verdict}
          verdict={deciding.verdict}
          summary={review.summary}
          payload={draft.text}
          changes={changes}
          warnings={<OpenWarnings items={items} />}
          note={draft.note}
          onNote={draft.setNote}
          problem={deciding.problem}
          sending={deciding.sending}
          onBack={deciding.back}
          onDecide={deciding.decide}
        />
      )}
    </>
  );
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
