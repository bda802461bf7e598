// The overview of a workspace at a glance. Before its first decision, a workspace shows the first steps.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { AttentionStrip } from "../attention/attention-strip.tsx";
import { LimitAdvice } from "../attention/limit-advice.tsx";
import { useAttention } from "../attention/use-attention.ts";
import { FirstSteps } from "../first-steps/first-steps.tsx";
import { useHiddenSteps } from "../first-steps/hidden-steps.ts";
import { usePlace } from "../first-steps/use-place.ts";
import { PageHead } from "../parts/page-head.tsx";
import { queryFor, useCall } from "../service/queries.ts";
import { useMembership } from "../session/membership.ts";
import { usePageSearch } from "../shell/page-search.ts";
import { Problem } from "../states/problem.tsx";
import { OverviewFigures } from "./overview-figures.tsx";
import { type Period, PeriodSwitch, periodOf } from "./period-switch.tsx";
import "./overview.css";

/** People look at figures, they don't watch them. */
const lookAgainMs = 30_000;

export function OverviewPage() {
  const { workspaceId } = useMembership();
  const [search] = usePageSearch();
  const period = periodOf(search.days);
  const workspace = useCall("GET /workspaces/:workspaceId", { params: { workspaceId } });
  const overview = useOverview(workspaceId, period);
  const attention = useAttention(workspaceId);
  const { place, error, retry } = usePlace(workspaceId);
  const [isHidden, hide] = useHiddenSteps(workspaceId);

  const isEmpty = workspace.data?.isEmpty === true;
  const isGuided = place !== null && place.kind !== "over" && (isEmpty || !isHidden);
  const hasFigures = place !== null && (!isGuided || place.kind === "done");
  const problem =
    (workspace.data === undefined ? workspace.error : null) ??
    error ??
    (hasFigures && overview.data === undefined ? overview.error : null);
  const tryAgain = () => {
    retry();
    void workspace.refetch();
    void overview.refetch();
    void attention.refetch();
  };
  // The strip stands above everything else, which must not jump when it comes.
  const isPending = place === null || workspace.data === undefined || attention.isPending;
  return (
    <>
      <PageHead
        title="Overview"
        {...(hasFigures || place === null ? { actions: <PeriodSwitch period={period} /> } : {})}
      />
      {problem !== null ? (
        <Problem error={problem} onRetry={tryAgain} />
      ) : isPending ? (
        <OverviewPending />
      ) : (
        <div className="figure-stack" aria-busy={overview.isPlaceholderData}>
          {attention.data === undefined ? (
            <Problem error={attention.error} onRetry={() => void attention.refetch()} />
          ) : (
            <AttentionStrip workspaceId={workspaceId} attention={attention.data} />
          )}
          {isGuided && (
            <FirstSteps workspace={workspace.data} place={place} onHide={isEmpty ? null : hide} />
          )}
          {hasFigures && <LimitAdvice workspace={workspace.data} />}
          {hasFigures &&
            (overview.data === undefined ? (
              <OverviewPending />
            ) : (
              <OverviewFigures workspaceId={workspaceId} overview={overview.data} />
            ))}
        </div>
      )}
    </>
  );
}

/** Placeholders for the figures while they load, in their size. */
function OverviewPending() {
  return (
    <div className="figure-stack" role="status">
      <span className="sr-only">Loading the figures …</span>
      <div className="figure-tiles" aria-hidden="true">
        <div className="figure-card figure-pending-tile" />
        <div className="figure-card figure-pending-tile" />
        <div className="figure-card figure-pending-tile" />
      </div>
      <div className="figure-card figure-pending-shares" aria-hidden="true" />
      <div className="figure-card figure-pending-block" aria-hidden="true" />
    </div>
  );
}

/** Shows the last figures until those of another period have arrived. */
function useOverview(workspaceId: string, days: Period) {
  const input = { params: { workspaceId }, query: { days } };
  return useQuery({
    ...queryFor("GET /workspaces/:workspaceId/overview", input),
    placeholderData: keepPreviousData,
    refetchInterval: lookAgainMs,
  });
}
