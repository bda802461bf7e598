// What a call answered, once it has: its place is held until then, and what went wrong stands above. An answer that is
// there stays while it cannot be read again, because it is more than an error.

import type { ReactNode } from "react";
import { Loading } from "./loading.tsx";
import { Problem } from "./problem.tsx";

type AnsweredProps<Answer> = {
  query: {
    data: Answer | undefined;
    error: unknown;
    refetch: () => unknown;
    /** Said at the end of the list, where it was asked for. */
    isFetchNextPageError?: boolean;
  };
  /** What is loading: "Loading the keys". */
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
