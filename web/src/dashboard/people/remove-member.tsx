// Removes a member or revokes an invitation. The dialog names the person, what they can still decide, and offers to
// remove them from all groups, too.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Member } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { queryFor, refresh } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";
import { RemovalChoice } from "./removal-choice.tsx";

type RemoveMemberProps = { workspaceId: string; member: Member };

export function RemoveMember({ workspaceId, member: { id, email, joinedAt } }: RemoveMemberProps) {
  const toast = useToast();
  const [isOpen, setOpen] = useState(false);
  const [withGroups, setWithGroups] = useState(true);
  const isInvited = joinedAt === null;
  const params = { workspaceId, memberId: id };
  const removal = useQuery({
    ...queryFor("GET /workspaces/:workspaceId/members/:memberId/removal", { params }),
    enabled: isOpen,
    staleTime: 0,
  });
  const groups = removal.data?.groups ?? [];
  const remove = async () => {
    await call("POST /workspaces/:workspaceId/members/:memberId/remove", {
      params,
      // Groups that the dialog didn't name stay.
      body: { groups: withGroups && groups.length > 0 },
    });
    await refresh("GET /workspaces/:workspaceId/members", "GET /workspaces/:workspaceId/groups");
    toast(
      <>
        {isInvited ? "Revoked the invitation of" : "Removed"} <Visible text={email} />
      </>,
    );
  };
  return (
    <ConfirmDialog
      {...(isInvited ? invitationWords(email) : memberWords(email))}
      isDanger
      isReady={removal.isSuccess && !removal.isFetching}
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next);
        setWithGroups(true);
      }}
      trigger={
        <Button isSmall variant="danger" aria-label={`Remove ${toVisibleText(email)}`}>
          Remove
        </Button>
      }
      onConfirm={remove}
    >
      <Answered query={removal} label="Looking up their groups and requests" lines={2}>
        {(found) => (
          <RemovalChoice
            {...{ workspaceId, email }}
            removal={found}
            isChosen={withGroups}
            onChoose={setWithGroups}
          />
        )}
      </Answered>
    </ConfirmDialog>
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
    description: "They lose access at once. Keys and endpoints they made keep working.",
    confirmLabel: "Remove them",
  };
}
