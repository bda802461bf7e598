// Passing one's vote to a colleague, from the list of colleagues to the service's answer. If an answer gets lost, the
// page asks how things stand.

import { useState } from "react";
import type {
  Review,
  ReviewColleagues,
  ReviewStatus,
  ReviewVoting,
} from "../../../../server/src/wire/review-contract.ts";
import { words } from "../../look/words.ts";
import type { ReviewAccess } from "../service/access.ts";
import { handOver, isFailure, listColleagues, readStatus } from "../service/calls.ts";

type HandOverOptions = {
  review: Review;
  access: ReviewAccess;
  update: (status: ReviewStatus) => void;
};

export type HandingOver = {
  isOpen: boolean;
  /** Null while they are loaded, or couldn't be. */
  colleagues: ReviewColleagues | null;
  /** For whom the reader decides what they pass on; null for themselves. */
  forWhom: string | null;
  isSending: boolean;
  problem: string | null;
  open: () => void;
  close: () => void;
  load: () => void;
  give: (to: string) => void;
};

export function useHandOver({ review, access, update }: HandOverOptions): HandingOver {
  const [isOpen, setOpen] = useState(false);
  /** As the reader saw it last: the page behind the dialog may change unseen. */
  const [seen, setSeen] = useState<ReviewVoting | undefined>(undefined);
  const [colleagues, setColleagues] = useState<ReviewColleagues | null>(null);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const load = async () => {
    setProblem(null);
    const answer = await listColleagues(access);
    if (isFailure(answer)) setProblem(answer.message);
    else setColleagues(answer);
  };
  /** The answer was lost: whether it counted is seen from how things stand. */
  const check = async () => {
    setProblem(words.voting.handOver.untold);
    const status = await readStatus(access);
    if (isFailure(status)) return setProblem(status.message);
    if (status.voting?.you.kind !== "handed_over") setProblem(words.voting.handOver.notArrived);
    update(status);
  };
  const give = async (to: string) => {
    setSending(true);
    setProblem(null);
    const answer = await handOver(access, { ticket: review.ticket, voting: seen }, to);
    if (!isFailure(answer)) update(answer);
    else if (answer.isUntold) await check();
    else {
      setProblem(answer.message);
      if (answer.status !== null) {
        // The answer's message tells it.
        setSeen(answer.status.voting);
        update(answer.status);
      }
    }
    setSending(false);
  };
  const open = () => {
    setOpen(true);
    setSeen(review.voting);
    load();
  };
  const close = () => {
    setOpen(false);
    setProblem(null);
  };
  const forWhom = forWhomIn(seen);
  return { isOpen, colleagues, forWhom, isSending, problem, open, close, load, give };
}

function forWhomIn(voting: ReviewVoting | undefined): string | null {
  const { you } = voting ?? {};
  return you?.kind === "asked" || you?.kind === "needed_later" ? you.for : null;
}
