// From the first step to the service's answer. An answer may get lost while the decision counts: then the page says
// that it can't tell, and asks until it knows.

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { isSameJson } from "../../../server/src/domain/shown/json-diff.ts";
import type {
  Review,
  ReviewOutcome,
  ReviewSigning,
  ReviewStatus,
  ReviewVoting,
} from "../../../server/src/wire/review-contract.ts";
import { words } from "../look/words.ts";
import type { ReviewAccess } from "./service/access.ts";
import {
  type Decision,
  type Failure,
  isFailure,
  readStatus,
  decide as send,
  type Verdict,
} from "./service/calls.ts";
import type { OpenReview } from "./service/open-review.ts";
import { sign } from "./signing/passkey.ts";
import type { DraftKeeping } from "./use-draft.ts";
import { isRecorded, ownVoteIn } from "./voting/recorded.ts";
import { currentPayload } from "./voting/revision.ts";

/** The waits between questions about a decision whose answer was lost; the last one repeats. */
const askAgainMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** After this many questions without an answer, the decision can be sent again. */
const patientQuestions = 4;

type DecidingOptions = {
  review: OpenReview;
  access: ReviewAccess;
  /** What the reader can sign with; undefined if they can't. */
  signing: ReviewSigning | undefined;
  draft: DraftKeeping;
  update: (status: ReviewStatus) => void;
};

type Sent = Decision & {
  /** How things stood when it was sent. */
  voting: ReviewVoting | undefined;
};

/** The progress of a decision: not sent, waiting for the reader's passkey, on its way, or sent without an answer. */
export type Sending = "idle" | "signing" | "sending" | "asking";

export function useDeciding({ review, access, signing, draft, update }: DecidingOptions) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [sending, setSending] = useState<Sending>("idle");
  const [problem, setProblem] = useState<string | null>(null);
  /** The words about a decision that didn't count; null if there is none. */
  const [tooLate, setTooLate] = useState<string | null>(null);
  /** The typing is part of the decision that counted, perhaps before a reload of this page. */
  const [isCounted, setCounted] = useState(() => isDraftOf(review, draft));
  /** A decision was sent, and its result is unknown. */
  const [isUntold, setUntold] = useState(false);
  const everySent = useRef<Sent[]>([]);
  /** Ends the wait for a passkey. */
  const asking = useRef<AbortController | null>(null);
  const { outcome, voting } = review;
  /** The vote counts, and others still have to approve. */
  const record = () => {
    everySent.current = [];
    setUntold(false);
    setSending("idle");
    setVerdict(null);
    setProblem(null);
    setCounted(true);
    draft.forget();
  };
  // Before the browser draws: a sent decision must not be called unsent, not even for a moment.
  useLayoutEffect(() => {
    const last = everySent.current.at(-1);
    if (last === undefined) return;
    if (outcome === null) {
      if (isRecorded(last.voting, voting)) record();
      return;
    }
    setUntold(false);
    setSending("idle");
    // Any of them may be the one that counted.
    const isOwn = (sent: Sent) => isOutcomeOf(review, outcome, sent) || isOneOf(review, sent);
    const isAnyOwn = everySent.current.some(isOwn);
    if (isAnyOwn) {
      setCounted(true);
      draft.forget();
    }
    if (isOwn(last)) setTooLate(null);
    else setTooLate(isAnyOwn ? words.earlierCounted : words.tooLate);
  }, [outcome, voting]);
  useEffect(() => {
    if (isDraftOf(review, draft)) draft.forget();
  }, []);
  const latest = useRef({ update, access });
  latest.current = { update, access };
  useEffect(() => {
    if (!isUntold) return;
    return askUntilTold(() => readStatus(latest.current.access), {
      onTold: (status) => {
        setUntold(false);
        setSending("idle");
        const sent = everySent.current.at(-1);
        const isCounted = isRecorded(sent?.voting, status.voting);
        if (status.outcome === null && !isCounted) setProblem(words.problem.notArrived);
        latest.current.update(status);
      },
      onSilence: () => {
        setSending("idle");
        setProblem(words.problem.stillUntold);
      },
    });
  }, [isUntold]);
  const choose = (chosen: Verdict) => {
    if (!isUntold) setProblem(null);
    setVerdict(chosen);
  };
  const back = () => {
    asking.current?.abort();
    setVerdict(null);
  };
  useEffect(() => () => asking.current?.abort(), []);
  /** What the passkey made of it; null if nothing is to be sent. */
  const signed = async (chosen: Pick<Decision, "verdict" | "edit">) => {
    if (signing === undefined) return null;
    setSending("signing");
    asking.current = new AbortController();
    const { signal } = asking.current;
    const answer = await sign(review, signing, chosen, signal);
    asking.current = null;
    if (!("problem" in answer) && !signal.aborted) return answer;
    setSending("idle");
    if ("problem" in answer) setProblem(answer.problem);
    return null;
  };
  const decide = async (isSigned: boolean) => {
    // A browser asks for one passkey at a time.
    if (verdict === null || asking.current !== null) return;
    setProblem(null);
    const isEdit = verdict === "approve" && draft.state.kind === "changed";
    const edit = isEdit ? draft.text : null;
    const signature = isSigned ? await signed({ verdict, edit }) : null;
    // Nothing was sent, so what is known about an earlier try stays.
    if (isSigned && signature === null) return;
    setSending("sending");
    setUntold(false);
    const decision: Decision = { verdict, note: draft.note, edit, signed: signature };
    const sent: Sent = { ...decision, voting: review.voting };
    everySent.current.push(sent);
    const answer = await send(access, review, sent);
    if (isFailure(answer) && answer.isUntold) {
      setSending("asking");
      setUntold(true);
      setProblem(words.problem.untold);
      return;
    }
    setSending("idle");
    const status = isFailure(answer) ? answer.status : answer;
    // A refusal while the request is still open means that it can't count later.
    if (isFailure(answer) && !status?.outcome) everySent.current.pop();
    // By the rules of votes: the page says in its place how things stand.
    if (isFailure(answer) && isRuleOfVotes(answer)) setVerdict(null);
    if (isFailure(answer)) setProblem(answer.message);
    else if (answer.outcome === null) record();
    if (status !== null) update(status);
  };
  const hasSent = everySent.current.length > 0;
  return { verdict, sending, problem, tooLate, isCounted, hasSent, choose, back, decide };
}

function isRuleOfVotes({ code }: Failure): boolean {
  return code === "vote_refused" || code === "needed_later";
}

type Listener = { onTold: (status: ReviewStatus) => void; onSilence: () => void };

/** Asks until there is an answer, and says once when that takes long. Returns the way to stop it. */
function askUntilTold(ask: () => Promise<ReviewStatus | Failure>, listener: Listener): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = (count: number) => {
    timer = setTimeout(
      async () => {
        const status = await ask();
        if (isStopped) return;
        if (!isFailure(status)) return listener.onTold(status);
        if (count + 1 === patientQuestions) listener.onSilence();
        next(count + 1);
      },
      askAgainMs[Math.min(count, askAgainMs.length - 1)],
    );
  };
  next(0);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Whether the kept typing is what counted: the page was reloaded before it heard the answer. */
function isDraftOf(review: Review, draft: DraftKeeping): boolean {
  const { outcome, voting } = review;
  const edit = draft.state.kind === "changed" ? draft.text : null;
  const { note } = draft;
  if (outcome === null) {
    const own = voting?.you.kind === "voted" ? ownVoteIn(voting) : null;
    return own !== null && edit === null && isSameNote(own.note, note);
  }
  const verdict = outcome.status === "APPROVED" ? "approve" : "reject";
  return isOutcomeOf(review, outcome, { verdict, note, edit, voting, signed: null });
}

/** Whether the decision that counted is exactly the one that was sent. */
function isOutcomeOf(review: Review, outcome: ReviewOutcome, sent: Sent): boolean {
  return (
    outcome.isYours &&
    outcome.status === (sent.verdict === "approve" ? "APPROVED" : "REJECTED") &&
    isSameNote(outcome.note, sent.note) &&
    outcome.edit === executedBy(review, sent)
  );
}

/** What a decision makes of the agent's payload; null if nothing. */
function executedBy(review: Review, { verdict, edit }: Sent): string | null {
  if (verdict === "reject" || review.change === undefined) return edit?.trim() ?? null;
  const text = edit?.trim() ?? currentPayload(review) ?? "null";
  // Somebody may have changed it back.
  return isSameJson(review.payload ?? "null", text) ? null : text;
}

/** Whether it is one of the approvals that count, though somebody else's came last. */
function isOneOf({ voting }: Review, { verdict, note }: Sent): boolean {
  const own = ownVoteIn(voting);
  return own !== null && verdict === "approve" && isSameNote(own.note, note);
}

function isSameNote(recorded: string | null, typed: string): boolean {
  return (recorded ?? "") === (typed.trim() === "" ? "" : typed);
}
