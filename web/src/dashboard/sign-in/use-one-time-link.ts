// Follows a one-time link. Its owner is known only after its use, so a signed-in person is asked first: another's link
// would otherwise make them work in that person's name without knowing.

import { useMutation } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { ApiError, call } from "../service/api.ts";

/** A signed-in person, and the link that they have opened but not used. */
type Question = { me: Me; token: string };

export type OneTimeLink = {
  question: { me: Me; goOn: () => void } | null;
  /** True from opening the link until the question, the sign-in or a failure. */
  isUnderWay: boolean;
  error: Error | null;
};

export function useOneTimeLink(onSignedIn: (me: Me) => void): OneTimeLink {
  const { hash } = useLocation();
  const [question, setQuestion] = useState<Question | null>(null);
  const using = useMutation({
    mutationFn: (token: string) => call("POST /sign-in/link", { body: { token } }),
    onSuccess: onSignedIn,
  });
  const { mutate: use } = using;
  const meeting = useMutation({
    mutationFn: (_token: string) => whoIsSignedIn(),
    onSuccess: (me, token) => (me === null ? use(token) : setQuestion({ me, token })),
  });
  const { mutate: meet } = meeting;
  useEffect(() => {
    const token = takeLinkToken();
    if (token !== null) meet(token);
  }, [hash, meet]);
  const goOn = (token: string) => {
    setQuestion(null);
    use(token);
  };
  return {
    question: question === null ? null : { me: question.me, goOn: () => goOn(question.token) },
    isUnderWay: meeting.isPending || using.isPending || using.isSuccess,
    error: meeting.error ?? using.error,
  };
}

async function whoIsSignedIn(): Promise<Me | null> {
  try {
    return await call("GET /me");
  } catch (error) {
    if (error instanceof ApiError && error.code === "signed_out") return null;
    throw error;
  }
}

/**
 * The token stands in the fragment, which browsers send to nobody, and is removed at once: histories keep addresses,
 * and people look over shoulders.
 */
function takeLinkToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null || token === "") return null;
  history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}
