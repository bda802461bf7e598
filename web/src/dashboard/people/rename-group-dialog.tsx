// Gives a group another name. Its key stays, because agents have it in their code.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";

type RenameGroupDialogProps = { workspaceId: string; group: Group };

export function RenameGroupDialog({ workspaceId, group }: RenameGroupDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState(group.name);
  const toast = useToast();
  const renaming = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/groups/:groupId", {
        params: { workspaceId, groupId: group.id },
        body: { name },
      }),
    onSuccess: async (renamed) => {
      await refresh("GET /workspaces/:workspaceId/groups");
      setOpen(false);
      toast(
        <>
          The group is called <Visible text={renamed.name} /> now
        </>,
      );
    },
  });
  return (
    <Dialog
      title={
        <>
          Rename “<Visible text={group.name} />”
        </>
      }
      description={`Approvers read the name. The key “${group.key}” stays, so no agent has to change.`}
      trigger={
        <Button isSmall aria-label={`Rename ${toVisibleText(group.name)}`}>
          Rename
        </Button>
      }
      open={isOpen}
      isBusy={renaming.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        setName(group.name);
        renaming.reset();
      }}
    >
      <DialogForm
        sending={renaming}
        fields={["name"]}
        submitLabel="Save"
        onSubmit={() => renaming.mutate()}
        onCancel={() => setOpen(false)}
      >
        <TextField
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(renaming.error, "name")}
          autoFocus
        />
      </DialogForm>
    </Dialog>
  );
}
