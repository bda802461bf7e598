// One request, from top to bottom: what was asked, the outcome, and the deliveries.

import { Link, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { Deliveries } from "../deliveries/deliveries.tsx";
import { Icon } from "../parts/icon.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Status } from "../parts/status.tsx";
import { isNotFound } from "../service/api.ts";
import { useMembership } from "../session/membership.ts";
import { NotFound } from "../shell/not-found.tsx";
import { Loading } from "../states/loading.tsx";
import { Problem } from "../states/problem.tsx";
import { lastFilter } from "./filters/filter-state.ts";
import { History } from "./history.tsx";
import { ProofSection } from "./proof/proof-section.tsx";
import { RequestActions } from "./request-actions.tsx";
import { RequestStory } from "./request-story.tsx";
import { tabTitle } from "./tab-title.ts";
import { useRequest } from "./use-requests.ts";
import "../parts/story.css";
import "./request.css";
import "./history.css";

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
          <span className="story-state">
            {request === undefined ? "…" : <Status status={request.status} />}
          </span>
        }
        actions={
          canChange && request?.status === "PENDING" ? (
            <RequestActions
              workspaceId={workspaceId}
              requestId={requestId}
              isVoted={request.voting !== undefined}
            />
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
          <ProofSection workspaceId={workspaceId} request={request} />
          <Deliveries request={request} />
        </div>
      )}
    </>
  );
}
