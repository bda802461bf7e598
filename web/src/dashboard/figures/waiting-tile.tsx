// How many requests wait now and since when, on the way to their list. One hollow circle for each, the shape of a
// pending request everywhere.

import { Link } from "@tanstack/react-router";
import type { PendingNow } from "../../../../server/src/wire/dashboard-contract.ts";
import { describeCount } from "../../look/shares.ts";
import { describeDuration } from "../../look/time/duration.ts";

const circlesMax = 12;
const pitch = 18;

type WaitingTileProps = { workspaceId: string; pending: PendingNow; now: string };

export function WaitingTile({ workspaceId, pending, now }: WaitingTileProps) {
  const { count, isMore, oldestCreatedAt } = pending;
  return (
    <Link
      className="figure-card figure-tile"
      to="/app/w/$workspaceId/requests"
      params={{ workspaceId }}
      search={{ status: "PENDING" }}
    >
      <span className="figure-name">Waiting now</span>
      <span className="figure-number">
        {describeCount(count)}
        {isMore && <small> or more</small>}
      </span>
      <span className="figure-note">
        {oldestCreatedAt === null
          ? "No request is waiting"
          : `The oldest has waited ${describeDuration(Date.parse(now) - Date.parse(oldestCreatedAt))}`}
      </span>
      <span className="figure-picture">
        {count === 0 ? (
          <span className="figure-go figure-note">See all requests</span>
        ) : (
          <Circles count={count} />
        )}
      </span>
    </Link>
  );
}

function Circles({ count }: { count: number }) {
  const shown = Math.min(count, circlesMax);
  return (
    <svg
      className="waiting-circles"
      width={shown * pitch + (count > shown ? 34 : 0)}
      height={12}
      aria-hidden="true"
    >
      {Array.from({ length: shown }, (_, at) => (
        <circle key={at} cx={at * pitch + 6} cy={6} r={5} />
      ))}
      {count > shown && (
        <path
          className="waiting-more"
          d={`M${shown * pitch + 2} 6h0M${shown * pitch + 10} 6h0M${shown * pitch + 18} 6h0`}
        />
      )}
    </svg>
  );
}
