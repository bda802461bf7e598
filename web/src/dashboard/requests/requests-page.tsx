// All requests of the workspace, newest first unless another order is chosen. New ones appear by themselves. The filter is in the address.

import { useEffect, useMemo } from "react";
import { Button } from "../parts/button.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { useMembership } from "../session/membership.ts";
import { usePageSearch } from "../shell/page-search.ts";
import { Empty } from "../states/empty.tsx";
import { Loading } from "../states/loading.tsx";
import { Problem } from "../states/problem.tsx";
import { CancelMany } from "./cancelling/cancel-many.tsx";
import { SelectButton } from "./cancelling/select-button.tsx";
import { useSelecting } from "./cancelling/use-selecting.ts";
import { countChosen, filterOf, rememberFilter } from "./filters/filter-state.ts";
import { Filters } from "./filters/filters.tsx";
import { FirstRequest } from "./first-request.tsx";
import { PendingNote } from "./pending-note.tsx";
import { RequestList } from "./request-list.tsx";
import { useRequests } from "./use-requests.ts";
import "./requests.css";

const nothingChosen = {
  status: undefined,
  agent: undefined,
  approver: undefined,
  from: undefined,
  to: undefined,
  decidedBy: undefined,
  decidedFrom: undefined,
  decidedTo: undefined,
  waitingFor: undefined,
  escalated: undefined,
  unreachable: undefined,
  search: undefined,
  sort: undefined,
};

export function RequestsPage() {
  const { workspaceId } = useMembership();
  const [search, change] = usePageSearch();
  const listKey = JSON.stringify(filterOf(search));
  const filter = useMemo(() => filterOf(search), [listKey]);
  const list = useRequests(workspaceId, filter);
  const selecting = useSelecting(list.rows, filter);
  const reset = () => change(nothingChosen, true);
  useEffect(() => rememberFilter(workspaceId, filter), [workspaceId, filter]);
  const isFiltered = countChosen(filter) > 0;
  const isEmpty = !list.isLoading && list.rows.length === 0;
  if (isEmpty && !isFiltered && list.error === null && !list.isOutdated) {
    return (
      <>
        <PageHead title="Requests" />
        <FirstRequest />
      </>
    );
  }
  return (
    <div className="requests">
      <PageHead
        title="Requests"
        actions={
          <PendingNote
            pending={list.pending}
            reading={list.reading}
            isChosen={filter.status === "PENDING"}
            onChoose={() =>
              change({ status: filter.status === "PENDING" ? undefined : "PENDING" }, true)
            }
          />
        }
      />
      <Filters
        filter={filter}
        rows={list.rows}
        tools={<SelectButton selecting={selecting} />}
        onChange={change}
        onReset={reset}
      />
      {!list.isFetchNextPageError && <Problem error={list.error} onRetry={list.retry} />}
      {list.isLoading && list.error === null && <Loading label="Loading requests" lines={8} />}
      {isEmpty && list.error === null && (
        <Empty title="No request matches" actions={<Button onClick={reset}>Reset filters</Button>}>
          <p>
            No request fits all of the filters. The search finds whole words and their beginnings in
            summaries, payloads, metadata, names and addresses, and ids.
          </p>
        </Empty>
      )}
      {list.isIndexing && (
        <p className="quiet small">
          Some requests are still being indexed. The search doesn’t find all of them yet.
        </p>
      )}
      {list.rows.length > 0 && (
        <CancelMany selecting={selecting} filter={filter}>
          <RequestList workspaceId={workspaceId} list={list} sort={filter.sort ?? "newest"} />
        </CancelMany>
      )}
    </div>
  );
}
