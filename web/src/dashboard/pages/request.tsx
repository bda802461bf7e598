// One request, read from top to bottom like a story: what was asked, what became of it, and what was sent because of it.

import { Link, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { useMembership } from "../membership.ts";
import { NotFound } from "../not-found.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loading } from "../parts/loading.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Deliveries } from "../requests/deliveries.tsx";
import { History } from "../requests/history.tsx";
import { isNotFound } from "../requests/is-not-found.ts";
import { lastFilter } from "../requests/last-filter.ts";
import { RequestActions } from "../requests/request-actions.tsx";
import { RequestStory } from "../requests/request-story.tsx";
import { tabTitle } from "../requests/tab-title.ts";
import { useRequest } from "../requests/use-request.ts";
import "./request.css";

export function RequestPage() {
  const { workspaceId, canChange } = useMembership();
  const { requestId = "" } = useParams({ strict: false });
  const { data: request, error, refetch } = useRequest(workspaceId, requestId);
  // Time left is counted from the service's clock, with our own stopwatch.
  const reading = useMemo(
    () => ({ now: request?.now ?? "", stopwatchMs: performance.now() }),
    [request?.now],
  );
  if (request === undefined && isNotFound(error)) return <NotFound />;
  const again = () => void refetch();
  return (
    <>
      <PageHead
        title="Request"
        documentTitle={request === undefined ? "Request" : tabTitle(request.summary)}
        back={
          <Link
            to="/app/w/$workspaceId/requests"
            params={{ workspaceId }}
            search={lastFilter(workspaceId)}
          >
            <Icon name="back" />
            Requests
          </Link>
        }
        subtitle={
          <span className="request-state">
            {request === undefined ? "…" : <Status status={request.status} />}
          </span>
        }
        actions={
          canChange && request?.status === "PENDING" ? (
            <RequestActions workspaceId={workspaceId} requestId={requestId} />
          ) : undefined
        }
      />
      <Problem error={error} onRetry={again} />
      {request === undefined ? (
        error === null && <Loading label="Loading the request" lines={10} />
      ) : (
        <div className="request">
          <RequestStory request={request} reading={reading} onOver={again} />
          <History workspaceId={workspaceId} request={request} />
          <Deliveries request={request} />
        </div>
      )}
    </>
  );
}
