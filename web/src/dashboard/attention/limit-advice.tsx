// Recommends to limit whom agents may ask, until somebody has chosen. Anybody is a choice, too, and ends it.

import { Link } from "@tanstack/react-router";
import type { Workspace } from "../../../../server/src/wire/dashboard-settings.ts";

type LimitAdviceProps = { workspace: Workspace; isOnSettings?: boolean };

export function LimitAdvice({ workspace, isOnSettings = false }: LimitAdviceProps) {
  const { id: workspaceId, approverLimit, role } = workspace;
  if (approverLimit !== null || role === "viewer") return null;
  return (
    <div className="panel">
      <p>
        <strong>Recommended: limit who can be asked.</strong> Agents of this workspace can name any
        address as approver, even one that they control.{" "}
        {isOnSettings ? (
          "Choose below under “Who can be asked”, or choose “Anybody” to keep it."
        ) : (
          <Link to="/app/w/$workspaceId/settings" params={{ workspaceId }}>
            Choose who can be asked
          </Link>
        )}
      </p>
    </div>
  );
}
