// Invites a person by their address, in a role. They join when they sign in and accept.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Role } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { RoleChoice } from "./role-choice.tsx";

type InviteDialogProps = { workspaceId: string; ownRole: Role };

export function InviteDialog({ workspaceId, ownRole }: InviteDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const toast = useToast();
  const inviting = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/members", {
        params: { workspaceId },
        body: { email: email.trim(), role },
      }),
    onSuccess: async (member) => {
      await refresh("GET /workspaces/:workspaceId/members");
      change(false);
      toast(
        <>
          Invited <Visible text={member.email} />
        </>,
      );
    },
  });
  const change = (next: boolean) => {
    setOpen(next);
    setEmail("");
    setRole("viewer");
    inviting.reset();
  };
  return (
    <Dialog
      title="Invite somebody"
      description="They get a mail, sign in with their address, and accept. Until then they see nothing."
      trigger={<Button variant="primary">Invite</Button>}
      open={isOpen}
      isBusy={inviting.isPending}
      onOpenChange={change}
    >
      <DialogForm
        sending={inviting}
        fields={["email", "role"]}
        submitLabel="Send invitation"
        onSubmit={() => inviting.mutate()}
        onCancel={() => change(false)}
      >
        <TextField
          label="Mail address"
          type="email"
          inputMode="email"
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fieldError(inviting.error, "email")}
          autoComplete="off"
          spellCheck={false}
          autoFocus
        />
        <RoleChoice
          role={role}
          ownRole={ownRole}
          error={fieldError(inviting.error, "role")}
          onChange={setRole}
        />
      </DialogForm>
    </Dialog>
  );
}
