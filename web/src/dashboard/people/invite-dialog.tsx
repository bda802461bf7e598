// Invites somebody by their address, in a role. They join when they sign in and accept.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Role } from "../../../../sdk/src/dashboard-contract.ts";
import { call, fieldError, otherError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogActions } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { FormProblem } from "../parts/form-problem.tsx";
import { useToast } from "../parts/toast.tsx";
import { refresh } from "../queries.ts";
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
      toast(`Invited ${member.email}`);
    },
  });
  const change = (next: boolean) => {
    setOpen(next);
    setEmail("");
    setRole("viewer");
    inviting.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!inviting.isPending) inviting.mutate();
  };
  return (
    <Dialog
      title="Invite somebody"
      description="They get a mail, sign in with their address, and accept. Until then they see nothing."
      trigger={<Button variant="primary">Invite</Button>}
      open={isOpen}
      onOpenChange={change}
    >
      <form className="form" onSubmit={submit} noValidate>
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
        <FormProblem error={otherError(inviting.error, ["email", "role"])} />
        <DialogActions>
          <Button onClick={() => change(false)}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={inviting.isPending}>
            Send invitation
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
