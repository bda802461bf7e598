// The end of the first steps: what just happened, and where to go next.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import type { Workspace } from "../../../../server/src/wire/dashboard-settings.ts";
import { describeDuration } from "../../look/time/duration.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Button } from "../parts/button.tsx";

type CelebrationProps = {
  workspace: Workspace;
  request: RequestRow;
  email: string;
  canChange: boolean;
  onHide: (() => void) | null;
};

export function Celebration({ workspace, request, email, canChange, onHide }: CelebrationProps) {
  const { id: workspaceId, apiUrl } = workspace;
  const isApproved = request.status === "APPROVED";
  return (
    <section
      className={isApproved ? "celebration celebration-approved" : "celebration"}
      aria-labelledby="celebration-title"
    >
      <div className="celebration-head">
        <svg
          className="celebration-mark"
          viewBox="0 0 40 40"
          width="40"
          height="40"
          aria-hidden="true"
        >
          <path d="M16 6H7v28h9" />
          <path className="celebration-second" d="M19 13h14v14H19" />
        </svg>
        <div>
          <h2 id="celebration-title">{titleOf(request, email)}</h2>
          <p>
            {isApproved
              ? `A waiting agent would continue now${tookOf(request)}. That’s all there is to it.`
              : "A waiting agent would now know not to do it."}
          </p>
        </div>
      </div>
      <ul className="next-steps">
        {canChange && (
          <li>
            <Link to="/app/w/$workspaceId/endpoints" params={{ workspaceId }}>
              Add a webhook endpoint
            </Link>
            <p>Your service is told the moment somebody decides.</p>
          </li>
        )}
        <li>
          <a href={`${apiUrl}/docs`} target="_blank" rel="noreferrer">
            Connect your agent
            <span className="sr-only"> (opens a new tab)</span>
          </a>
          <p>The documentation: SDK, frameworks, webhooks, and every call and field.</p>
        </li>
        {canChange && (
          <li>
            <Link to="/app/w/$workspaceId/people" params={{ workspaceId }}>
              Invite your people
            </Link>
            <p>They can look after keys, endpoints and requests.</p>
          </li>
        )}
      </ul>
      {onHide !== null && (
        <div>
          <Button onClick={() => onHide()}>Hide</Button>
        </div>
      )}
    </section>
  );
}

function titleOf({ status, resolvedByEmail }: RequestRow, email: string): ReactNode {
  const verb = status === "APPROVED" ? "approved" : "rejected";
  const isYours = resolvedByEmail === email || resolvedByEmail === null;
  if (isYours) return `You ${verb} your first request`;
  return (
    <>
      <Visible text={resolvedByEmail} /> {verb} the first request
    </>
  );
}

function tookOf({ createdAt, resolvedAt }: RequestRow): string {
  if (resolvedAt === null) return "";
  return `, ${describeDuration(Date.parse(resolvedAt) - Date.parse(createdAt))} after it asked`;
}
