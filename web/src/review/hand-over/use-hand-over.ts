// Passing one's vote to a colleague, from the list of colleagues to the service's answer. If an answer gets lost, the
// page asks how things stand.

import { useState } from "react";
import type {
  Review,
  ReviewColleagues,
  ReviewStatus,
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
  isSending: boolean;
  problem: string | null;
  open: () => void;
  close: () => void;
  load: () => void;
  give: (to: string) => void;
};

export function useHandOver({ review, access, update }: HandOverOptions): HandingOver {
  const [isOpen, setOpen] = useState(false);
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
    const answer = await handOver(access, review, to);
    if (!isFailure(answer)) update(answer);
    else if (answer.isUntold) await check();
    else {
      setProblem(answer.message);
      if (answer.status !== null) update(answer.status);
    }
    setSending(false);
  };
  const open = () => {
    setOpen(true);
    load();
  };
  const close = () => {
    setOpen(false);
    setProblem(null);
  };
  return { isOpen, colleagues, isSending, problem, open, close, load, give };
}
