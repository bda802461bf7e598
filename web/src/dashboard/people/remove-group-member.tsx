// Removes an address from a group. The dialog says what happens to their pending requests.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";

type RemoveGroupMemberProps = { workspaceId: string; group: Group; email: string };

export function RemoveGroupMember({ workspaceId, group, email }: RemoveGroupMemberProps) {
  const toast = useToast();
  const remove = async () => {
    await call("POST /workspaces/:workspaceId/groups/:groupId/members/remove", {
      params: { workspaceId, groupId: group.id },
      body: { email },
    });
    await refresh("GET /workspaces/:workspaceId/groups");
    toast(
      <>
        Removed <Visible text={email} /> from <Visible text={group.name} />
      </>,
    );
  };
  return (
    <ConfirmDialog
      title={
        <>
          Remove <Visible text={email} /> from “<Visible text={group.name} />
          ”?
        </>
      }
      description="They can no longer decide for this group. Their links stop working at once, for pending requests, too."
      confirmLabel="Remove them"
      isDanger
      trigger={
        <Button
          isSmall
          variant="danger"
          aria-label={`Remove ${toVisibleText(email)} from ${toVisibleText(group.name)}`}
        >
          Remove
        </Button>
      }
      onConfirm={remove}
    />
  );
}
