// From the first step to the service's answer. An answer may get lost while the decision counts: then the page says
// that it can't tell, and asks until it knows.

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type {
  Review,
  ReviewOutcome,
  ReviewStatus,
} from "../../../server/src/wire/review-contract.ts";
import { words } from "../look/words.ts";
import {
  type Decision,
  type Failure,
  isFailure,
  readStatus,
  decide as send,
  type Verdict,
} from "./calls.ts";
import type { DraftKeeping } from "./use-draft.ts";

/** The waits between questions about a decision whose answer was lost; the last one repeats. */
const askAgainMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** After this many questions without an answer, the decision can be sent again. */
const patientQuestions = 4;

type DecidingOptions = {
  review: Review;
  code: string | null;
  draft: DraftKeeping;
  update: (status: ReviewStatus) => void;
};

type Sent = Omit<Decision, "code">;

/** The progress of a decision: not sent, on its way, or sent without an answer. */
export type Sending = "idle" | "sending" | "asking";

export function useDeciding({ review, code, draft, update }: DecidingOptions) {
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
  const { outcome } = review;
  // Before the browser draws: a sent decision must not be called unsent, not even for a moment.
  useLayoutEffect(() => {
    const last = everySent.current.at(-1);
    if (outcome === null || last === undefined) return;
    setUntold(false);
    setSending("idle");
    // Any of them may be the one that counted.
    const isAnyOwn = everySent.current.some((sent) => isOwn(outcome, sent));
    if (isAnyOwn) {
      setCounted(true);
      draft.forget();
    }
    if (isOwn(outcome, last)) setTooLate(null);
    else setTooLate(isAnyOwn ? words.earlierCounted : words.tooLate);
  }, [outcome]);
  useEffect(() => {
    if (isDraftOf(review, draft)) draft.forget();
  }, []);
  const latest = useRef({ update, code });
  latest.current = { update, code };
  useEffect(() => {
    if (!isUntold) return;
    return askUntilTold(() => readStatus(latest.current.code), {
      onTold: (status) => {
        setUntold(false);
        setSending("idle");
        if (status.outcome === null) setProblem(words.problem.notArrived);
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
  const back = () => setVerdict(null);
  const decide = async () => {
    if (verdict === null) return;
    setSending("sending");
    setUntold(false);
    setProblem(null);
    const isEdit = verdict === "approve" && draft.state.kind === "changed";
    const sent: Sent = { verdict, note: draft.note, edit: isEdit ? draft.text : null };
    everySent.current.push(sent);
    const answer = await send(review, { ...sent, code });
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
    if (isFailure(answer)) setProblem(answer.message);
    if (status !== null) update(status);
  };
  const hasSent = everySent.current.length > 0;
  return { verdict, sending, problem, tooLate, isCounted, hasSent, choose, back, decide };
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
function isDraftOf({ outcome }: Review, draft: DraftKeeping): boolean {
  if (outcome === null) return false;
  const verdict = outcome.status === "APPROVED" ? "approve" : "reject";
  const edit = draft.state.kind === "changed" ? draft.text : null;
  return isOwn(outcome, { verdict, note: draft.note, edit });
}

/** Whether the decision that counted is exactly the one that was sent. */
function isOwn(outcome: ReviewOutcome, sent: Sent): boolean {
  return (
    outcome.isYours &&
    outcome.status === (sent.verdict === "approve" ? "APPROVED" : "REJECTED") &&
    (outcome.note ?? "") === (sent.note.trim() === "" ? "" : sent.note) &&
    outcome.edit === (sent.edit === null ? null : sent.edit.trim())
  );
}
