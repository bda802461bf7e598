// The rows of what waits. Rows that ended stay in their place, marked, while the list is in sight.

import type { ReactNode } from "react";
import { inboxWords } from "../frame/inbox-words.ts";
import type { Route } from "../frame/route.ts";
import { addressOf } from "../frame/use-route.ts";
import { Empty } from "./empty.tsx";
import type { ListedRow } from "./listing.ts";
import { Row, RowOutcome } from "./row.tsx";
import { TimeLeft } from "./time-left.tsx";
import { unreachedWords } from "./unreached-words.ts";
import type { LiveList } from "./use-list.ts";

type WaitingListProps = {
  list: LiveList;
  openId: string | null;
  onOpen: (route: Route) => void;
  /** Before a row's words, and below them, while rows are selected. */
  select: ((listed: ListedRow) => { box: ReactNode; why: ReactNode }) | null;
};

export function WaitingList({ list, openId, onOpen, select }: WaitingListProps) {
  const { listing, told } = list;
  if (told === null) {
    return (
      <p className="list-loading" role="status">
        {list.isTrying ? unreachedWords() : inboxWords.loading}
      </p>
    );
  }
  if (listing.rows.length === 0) {
    return (
      <Empty title={inboxWords.empty.title} what={inboxWords.empty.what}>
        <a href={addressOf({ kind: "settings" })}>{inboxWords.empty.how}</a>
      </Empty>
    );
  }
  return (
    <>
      <ol className="list-rows" aria-label={inboxWords.waiting}>
        {listing.rows.map((listed) => {
          const { row, end, isNew } = listed;
          const { id, requestId } = row;
          const route: Route = { kind: "request", requestId, list: "waiting", id };
          const selecting = select?.(listed);
          return (
            <Row
              key={id}
              row={row}
              progress={row.progress}
              address={addressOf(route)}
              isOpen={id === openId}
              isNew={isNew}
              isEnded={end !== null}
              state={
                end === null ? (
                  <TimeLeft
                    reading={told.reading}
                    expiresAt={row.expiresAt}
                    onOver={list.refresh}
                  />
                ) : (
                  <RowOutcome outcome={end.outcome} />
                )
              }
              select={selecting?.box}
              why={selecting?.why}
              onOpen={() => onOpen(route)}
            />
          );
        })}
      </ol>
      {told.isMore && <p className="list-foot">{inboxWords.notListed}</p>}
    </>
  );
}
