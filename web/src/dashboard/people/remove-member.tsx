// Takes somebody out of the workspace, after saying who and what stays.

import type { Member } from "../../../../sdk/src/dashboard-contract.ts";
import { call } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/dialog.tsx";
import { useToast } from "../parts/toast.tsx";
import { refresh } from "../queries.ts";

type RemoveMemberProps = { workspaceId: string; member: Member };

export function RemoveMember({ workspaceId, member }: RemoveMemberProps) {
  const toast = useToast();
  const isInvited = member.joinedAt === null;
  const remove = async () => {
    await call("POST /workspaces/:workspaceId/members/:memberId/remove", {
      params: { workspaceId, memberId: member.id },
    });
    toast(isInvited ? `Withdrew the invitation of ${member.email}` : `Removed ${member.email}`);
    await refresh(
      "GET /workspaces/:workspaceId/members",
      ...(member.isYou ? (["GET /me"] as const) : []),
    );
  };
  return (
    <ConfirmDialog
      title={titleOf(member)}
      description={descriptionOf(member)}
      confirmLabel={confirmLabelOf(member)}
      isDanger
      trigger={
        <Button
          isSmall
          variant="danger"
          aria-label={member.isYou ? "Leave this workspace" : `Remove ${member.email}`}
        >
          {member.isYou ? "Leave" : "Remove"}
        </Button>
      }
      onConfirm={remove}
    />
  );
}

function confirmLabelOf({ isYou, joinedAt }: Member): string {
  if (joinedAt === null) return "Withdraw the invitation";
  return isYou ? "Leave" : "Remove them";
}

function descriptionOf({ isYou, joinedAt }: Member): string {
  if (joinedAt === null) {
    return "The invitation they were mailed does not work any more. You can invite them again.";
  }
  if (isYou) return "You cannot open it any more, until somebody invites you again.";
  return "They cannot open it any more, from the next click on. Keys and endpoints they made go on working, and as an approver they can still decide what they are asked.";
}

function titleOf({ email, isYou, joinedAt }: Member): string {
  if (joinedAt === null) return `Withdraw the invitation of ${email}?`;
  return isYou ? "Leave this workspace?" : `Remove ${email} from this workspace?`;
}
