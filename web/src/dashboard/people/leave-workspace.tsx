// Lets a member leave the workspace. The service keeps the last owner.

import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { call } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";
import { useMe, useMembership } from "../session/membership.ts";

export function LeaveWorkspace() {
  const { workspaceId, name } = useMembership();
  const isOnly = useMe().workspaces.length === 1;
  const leave = async () => {
    await call("POST /me/workspaces/:workspaceId/leave", { params: { workspaceId } });
    // Reloads the page, so that nothing of the workspace stays in memory.
    location.assign(`${basePath}/app`);
  };
  return (
    <ConfirmDialog
      title="Leave this workspace?"
      description={
        <>
          You lose access to “<Visible text={name} />” until somebody invites you again. Keys and
          endpoints that you made keep working, and as an approver you can still decide what you are
          asked.
          {isOnly && " This is your only workspace, so you’ll be signed out."}
        </>
      }
      confirmLabel="Leave"
      isDanger
      trigger={
        <Button isSmall variant="danger">
          Leave this workspace
        </Button>
      }
      onConfirm={leave}
    />
  );
}
