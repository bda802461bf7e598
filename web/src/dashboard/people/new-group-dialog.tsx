// Creates a group: its name, its key for agents, and its members.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextAreaField, TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { addressesOf, keyOfName } from "./address-list.ts";

export function NewGroupDialog({ workspaceId }: { workspaceId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [typedKey, setTypedKey] = useState<string | null>(null);
  const [members, setMembers] = useState("");
  const toast = useToast();
  const key = typedKey ?? keyOfName(name);
  const creating = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/groups", {
        params: { workspaceId },
        body: { key, name, members: addressesOf(members) },
      }),
    onSuccess: async (group) => {
      await refresh("GET /workspaces/:workspaceId/groups");
      change(false);
      toast(
        <>
          Created the group <Visible text={group.name} />
        </>,
      );
    },
  });
  const change = (next: boolean) => {
    setOpen(next);
    setName("");
    setTypedKey(null);
    setMembers("");
    creating.reset();
  };
  return (
    <Dialog
      title="Create an approver group"
      description="All members are asked. The first decision counts."
      trigger={<Button variant="primary">Create group</Button>}
      open={isOpen}
      isBusy={creating.isPending}
      onOpenChange={change}
    >
      <DialogForm
        sending={creating}
        fields={["name", "key", "members"]}
        submitLabel="Create group"
        onSubmit={() => creating.mutate()}
        onCancel={() => change(false)}
      >
        <TextField
          label="Name"
          hint="Approvers see it. For example: “Finance”."
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(creating.error, "name")}
          autoFocus
        />
        <TextField
          label="Key"
          hint={
            <>
              Agents send it: "notify": "group:
              <Visible text={key === "" ? "finance" : key} />
              ". You can’t change it later.
            </>
          }
          value={key}
          onChange={(event) => setTypedKey(event.currentTarget.value)}
          error={fieldError(creating.error, "key")}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <TextAreaField
          label="Members"
          hint="One address per line. You can add more later."
          rows={3}
          placeholder={"ann@example.com\nben@example.com"}
          value={members}
          onChange={(event) => setMembers(event.currentTarget.value)}
          error={fieldError(creating.error, "members")}
          spellCheck={false}
        />
      </DialogForm>
    </Dialog>
  );
}
