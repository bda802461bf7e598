// The rows of the list, the button for new ones above them, and the button for more.

import { useEffect, useRef } from "react";
import { LoadMore } from "../states/load-more.tsx";
import { type Sort, sorts } from "./filters/filter-state.ts";
import { RequestRow } from "./request-row.tsx";
import { useArrivals } from "./use-arrivals.ts";
import type { LiveRequests } from "./use-requests.ts";

type RequestListProps = { workspaceId: string; list: LiveRequests; sort: Sort };

export function RequestList({ workspaceId, list, sort }: RequestListProps) {
  const { rows, listKey, isOutdated } = list;
  const arrivals = useArrivals(rows, listKey);
  const rowsElement = useRef<HTMLOListElement>(null);
  const isLettingIn = useRef(false);
  useEffect(() => {
    // The button is gone once it has let rows in; the focus moves to the first of them.
    if (arrivals.waiting > 0 || !isLettingIn.current) return;
    isLettingIn.current = false;
    rowsElement.current?.querySelector("a")?.focus({ preventScroll: true });
  }, [arrivals.waiting]);
  const letIn = () => {
    isLettingIn.current = true;
    arrivals.letIn();
  };
  return (
    <div className="requests-list" aria-busy={isOutdated}>
      <div className="requests-top" ref={arrivals.top} />
      <div className="requests-arrivals" role="status">
        {arrivals.waiting > 0 && (
          <button type="button" className="button button-strong" onClick={letIn}>
            <span aria-hidden="true">↑</span> {newRequests(arrivals.waiting)}
          </button>
        )}
      </div>
      <div className="requests-columns" aria-hidden="true">
        <span>Status</span>
        <span>Request</span>
        <span>Agent</span>
        <span>Approver</span>
        <span>Decided</span>
        <span>Created</span>
      </div>
      <ol className="requests-rows" ref={rowsElement} aria-label={`Requests, ${orderOf(sort)}`}>
        {arrivals.shown.map((row) => (
          <RequestRow
            key={row.id}
            workspaceId={workspaceId}
            row={row}
            isNew={arrivals.isNew(row.id)}
          />
        ))}
      </ol>
      <LoadMore list={list} end="No more requests." />
    </div>
  );
}

function orderOf(sort: Sort): string {
  return sorts.find(({ value }) => value === sort)?.order ?? "";
}

function newRequests(count: number): string {
  return `${count} new ${count === 1 ? "request" : "requests"}`;
}
