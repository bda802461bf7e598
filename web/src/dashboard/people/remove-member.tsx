// Removes a member or revokes an invitation. The dialog names the person and says what stays.

import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Member } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { refresh } from "../service/queries.ts";

type RemoveMemberProps = { workspaceId: string; member: Member };

export function RemoveMember({ workspaceId, member: { id, email, joinedAt } }: RemoveMemberProps) {
  const toast = useToast();
  const isInvited = joinedAt === null;
  const remove = async () => {
    await call("POST /workspaces/:workspaceId/members/:memberId/remove", {
      params: { workspaceId, memberId: id },
    });
    await refresh("GET /workspaces/:workspaceId/members");
    toast(
      <>
        {isInvited ? "Revoked the invitation of" : "Removed"} <Visible text={email} />
      </>,
    );
  };
  const words = isInvited ? invitationWords(email) : memberWords(email);
  return (
    <ConfirmDialog
      {...words}
      isDanger
      trigger={
        <Button isSmall variant="danger" aria-label={`Remove ${toVisibleText(email)}`}>
          Remove
        </Button>
      }
      onConfirm={remove}
    />
  );
}

function invitationWords(email: string) {
  return {
    title: (
      <>
        Revoke the invitation of <Visible text={email} />?
      </>
    ),
    description: "The invitation in their mailbox stops working. You can invite them again.",
    confirmLabel: "Revoke invitation",
  };
}

function memberWords(email: string) {
  return {
    title: (
      <>
        Remove <Visible text={email} /> from this workspace?
      </>
    ),
    description:
      "They lose access at once. Keys and endpoints they made keep working, and as an approver they can still decide what they are asked.",
    confirmLabel: "Remove them",
  };
}
