// Shows the answer of a call: a placeholder until it arrives, and any error above it. An older answer stays while it
// can't be read again.

import type { ReactNode } from "react";
import { Loading } from "./loading.tsx";
import { Problem } from "./problem.tsx";

type AnsweredProps<Answer> = {
  query: {
    data: Answer | undefined;
    error: unknown;
    refetch: () => unknown;
    /** The end of the list shows this error. */
    isFetchNextPageError?: boolean;
  };
  /** Names what is loading: "Loading the keys". */
  label: string;
  lines?: number;
  children: (answer: Answer) => ReactNode;
};

export function Answered<Answer>({ query, label, lines = 4, children }: AnsweredProps<Answer>) {
  const { data, refetch, isFetchNextPageError = false } = query;
  const error = isFetchNextPageError ? null : query.error;
  return (
    <>
      <Problem error={error} onRetry={() => void refetch()} />
      {data !== undefined && children(data)}
      {data === undefined && error === null && <Loading label={label} lines={lines} />}
    </>
  );
}
