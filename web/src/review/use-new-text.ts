// Loads the payload as somebody else left it. It happens on demand, because the reader may be in the middle of a
// sentence; and by itself where the new text is the reader's own.

import { useEffect, useState } from "react";
import type { ReviewPage, ReviewVoting } from "../../../server/src/wire/review-contract.ts";
import type { ReviewAccess } from "./service/access.ts";
import { isFailure, open } from "./service/calls.ts";

type NewTextOptions = {
  isOutdated: boolean;
  voting: ReviewVoting | undefined;
  access: ReviewAccess;
  onOpen: (page: ReviewPage) => void;
};

export function useNewText({ isOutdated, voting, access, onOpen }: NewTextOptions) {
  const [isLoading, setLoading] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const load = async () => {
    setLoading(true);
    setProblem(null);
    const answer = await open(access);
    setLoading(false);
    if (isFailure(answer)) setProblem(answer.message);
    else onOpen(answer);
  };
  // Nobody approves a text that they weren't shown, except the one they wrote.
  const isOwn = isOutdated && voting?.you.kind === "voted";
  useEffect(() => {
    if (isOwn) load();
  }, [isOwn]);
  return { isLoading, problem, load };
}
