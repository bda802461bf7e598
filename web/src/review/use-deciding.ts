// From the first step to the answer of the service.

import { useState } from "react";
import type { Review, ReviewStatus } from "../../../sdk/src/review-contract.ts";
import { type Decision, isFailure, decide as send, type Verdict } from "./calls.ts";
import type { DraftKeeping } from "./use-draft.ts";

type DecidingOptions = {
  review: Review;
  code: string | null;
  draft: DraftKeeping;
  update: (status: ReviewStatus) => void;
};

export function useDeciding({ review, code, draft, update }: DecidingOptions) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isTooLate, setTooLate] = useState(false);
  const [isCounted, setCounted] = useState(false);
  const choose = (chosen: Verdict) => {
    setProblem(null);
    setVerdict(chosen);
  };
  const back = () => setVerdict(null);
  const decide = async () => {
    if (verdict === null) return;
    setSending(true);
    setProblem(null);
    const isEdit = verdict === "approve" && draft.state.kind === "changed";
    const edit = isEdit ? draft.text : null;
    const answer = await send(review, { verdict, note: draft.note, edit, code });
    setSending(false);
    const isLost = isFailure(answer) && !isOwn(answer.status, { verdict, note: draft.note, edit });
    if (!isLost) {
      setCounted(true);
      draft.forget();
    }
    const status = isFailure(answer) ? answer.status : answer;
    if (status !== null) update(status);
    if (!isFailure(answer)) return;
    setTooLate(isLost && answer.code === "already_resolved");
    setProblem(answer.message);
  };
  return { verdict, isSending, problem, isTooLate, isCounted, choose, back, decide };
}

/** The answer to the first sending may have been lost on its way: then it is this very decision that was counted. */
function isOwn(status: ReviewStatus | null, sent: Omit<Decision, "code">): boolean {
  const outcome = status?.outcome ?? null;
  if (outcome === null || !outcome.isYours) return false;
  return (
    outcome.status === (sent.verdict === "approve" ? "APPROVED" : "REJECTED") &&
    (outcome.note ?? "") === (sent.note.trim() === "" ? "" : sent.note) &&
    outcome.edit === (sent.edit === null ? null : sent.edit.trim())
  );
}
