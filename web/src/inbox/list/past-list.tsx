// What the reader decided before, and what others decided in their place: newest first, a page at a time.

import { useEffect, useState } from "react";
import type { InboxPastRow } from "../../../../server/src/wire/inbox-contract.ts";
import { inboxWords } from "../frame/inbox-words.ts";
import type { Route } from "../frame/route.ts";
import { addressOf } from "../frame/use-route.ts";
import { isFailure, readPast } from "../service/inbox-calls.ts";
import { Empty } from "./empty.tsx";
import { Row, RowOutcome, When } from "./row.tsx";

type PastListProps = {
  openId: string | null;
  onOpen: (route: Route) => void;
  onSignedOut: () => void;
};

type Loaded = { rows: readonly InboxPastRow[]; next: string | null };

export function PastList({ openId, onOpen, onSignedOut }: PastListProps) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [problem, setProblem] = useState<string | null>(null);
  const load = async (before: Loaded | null) => {
    setLoading(true);
    setProblem(null);
    const answer = await readPast(before?.next ?? null);
    setLoading(false);
    if (!isFailure(answer)) {
      const rows = [...(before?.rows ?? []), ...answer.past];
      return setLoaded({ rows, next: answer.next });
    }
    if (answer.code === "signed_out") onSignedOut();
    setProblem(answer.message);
  };
  useEffect(() => {
    load(null);
  }, []);
  const isEmpty = loaded !== null && loaded.rows.length === 0;
  return (
    <>
      {isEmpty && <Empty {...inboxWords.emptyPast} />}
      {loaded !== null && !isEmpty && (
        <ol className="list-rows" aria-label={inboxWords.past}>
          {loaded.rows.map((row) => {
            const { id, requestId } = row;
            const route: Route = { kind: "request", requestId, list: "past", id };
            return (
              <Row
                key={id}
                row={row}
                progress={null}
                address={addressOf(route)}
                isOpen={id === openId}
                isNew={false}
                isEnded={false}
                state={<When at={row.outcome?.at ?? row.createdAt} />}
                why={<RowOutcome outcome={row.outcome} />}
                onOpen={() => onOpen(route)}
              />
            );
          })}
        </ol>
      )}
      <div className="list-foot" role="status">
        {isLoading && inboxWords.loading}
        {problem}
        {!isLoading && (problem !== null || loaded?.next) && (
          <button type="button" className="button" onClick={() => load(loaded)}>
            {problem === null ? inboxWords.more : inboxWords.tryAgain}
          </button>
        )}
      </div>
    </>
  );
}
