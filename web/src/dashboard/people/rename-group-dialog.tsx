// Gives a group another name. Its key stays, because agents have it in their code.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Group } from "../../../../sdk/src/dashboard-contract.ts";
import { call, fieldError, otherError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogActions } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { FormProblem } from "../parts/form-problem.tsx";
import { refresh } from "../queries.ts";

type RenameGroupDialogProps = { workspaceId: string; group: Group };

export function RenameGroupDialog({ workspaceId, group }: RenameGroupDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState(group.name);
  const renaming = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/groups/:groupId", {
        params: { workspaceId, groupId: group.id },
        body: { name },
      }),
    onSuccess: async () => {
      await refresh("GET /workspaces/:workspaceId/groups");
      setOpen(false);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!renaming.isPending) renaming.mutate();
  };
  return (
    <Dialog
      title={`Rename “${group.name}”`}
      description={`Approvers read the name. The key “${group.key}” stays, so no agent has to change.`}
      trigger={
        <Button isSmall aria-label={`Rename ${group.name}`}>
          Rename
        </Button>
      }
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next);
        setName(group.name);
        renaming.reset();
      }}
    >
      <form className="form" onSubmit={submit} noValidate>
        <TextField
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(renaming.error, "name")}
          autoFocus
        />
        <FormProblem error={otherError(renaming.error, ["name"])} />
        <DialogActions>
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={renaming.isPending}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
