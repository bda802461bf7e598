// Deletes a group. The second step says what happens to agents that ask it and to requests that wait for it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import type { GroupDeletion } from "../../../../server/src/wire/dashboard-removals.ts";
import { describeCount } from "../../look/shares.ts";
import { Visible } from "../../look/visible-text.tsx";
import { ConfirmDialog } from "../forms/dialog.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call } from "../service/api.ts";
import { queryFor, refresh } from "../service/queries.ts";
import { Answered } from "../states/answered.tsx";

type DeleteGroupProps = { workspaceId: string; group: Group };

export function DeleteGroup({ workspaceId, group }: DeleteGroupProps) {
  const toast = useToast();
  const [isOpen, setOpen] = useState(false);
  const params = { workspaceId, groupId: group.id };
  const deletion = useQuery({
    ...queryFor("GET /workspaces/:workspaceId/groups/:groupId/deletion", { params }),
    enabled: isOpen,
    staleTime: 0,
  });
  const remove = async () => {
    await call("POST /workspaces/:workspaceId/groups/:groupId/delete", { params });
    await refresh(
      "GET /workspaces/:workspaceId/groups",
      "GET /workspaces/:workspaceId/requests",
      "GET /workspaces/:workspaceId/overview",
    );
    toast(
      <>
        Deleted the group <Visible text={group.name} />
      </>,
    );
  };
  return (
    <ConfirmDialog
      title={
        <>
          Delete the group “<Visible text={group.name} />
          ”?
        </>
      }
      description={
        <>
          Requests to <code>group:{group.key}</code> are refused with <code>unknown_group</code>{" "}
          from now on. Earlier requests keep the group’s name.
        </>
      }
      confirmLabel="Delete group"
      isDanger
      isReady={deletion.isSuccess && !deletion.isFetching}
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button isSmall variant="danger" aria-label={`Delete ${toVisibleText(group.name)}`}>
          Delete
        </Button>
      }
      onConfirm={remove}
    >
      <Answered query={deletion} label="Looking up its requests" lines={1}>
        {({ pending }) => <Pending pending={pending} />}
      </Answered>
    </ConfirmDialog>
  );
}

function Pending({ pending: { count, isMore } }: GroupDeletion) {
  if (count === 0) return <p>No request waits for this group.</p>;
  return (
    <p className="attention-note">
      {describeCount(count)}
      {isMore && " or more"} pending {count === 1 ? "request waits" : "requests wait"} for this
      group and {count === 1 && !isMore ? "is" : "are"} cancelled. The agents are told. This can’t
      be undone.
    </p>
  );
}
