// Changes what a member may do.

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Member, Role } from "../../../../sdk/src/dashboard-contract.ts";
import { call, fieldError, otherError } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog, DialogActions } from "../parts/dialog.tsx";
import { FormProblem } from "../parts/form-problem.tsx";
import { useToast } from "../parts/toast.tsx";
import { refresh } from "../queries.ts";
import { roleName } from "../role-name.ts";
import { RoleChoice } from "./role-choice.tsx";

type ChangeRoleDialogProps = { workspaceId: string; member: Member; ownRole: Role };

export function ChangeRoleDialog({ workspaceId, member, ownRole }: ChangeRoleDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const [role, setRole] = useState(member.role);
  const toast = useToast();
  const changing = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/members/:memberId/role", {
        params: { workspaceId, memberId: member.id },
        body: { role },
      }),
    onSuccess: async (changed) => {
      // One's own role decides what the shell offers.
      await refresh(
        "GET /workspaces/:workspaceId/members",
        ...(member.isYou ? (["GET /me", "GET /workspaces/:workspaceId"] as const) : []),
      );
      setOpen(false);
      toast(`${changed.email} is ${roleName[changed.role].toLowerCase()} now`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!changing.isPending) changing.mutate();
  };
  return (
    <Dialog
      title={`Role of ${member.email}`}
      description={
        member.isYou
          ? "This is you: with less than owner you cannot take it back yourself."
          : "It counts from their next click on."
      }
      trigger={
        <Button isSmall aria-label={`Change the role of ${member.email}`}>
          Change role
        </Button>
      }
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next);
        setRole(member.role);
        changing.reset();
      }}
    >
      <form className="form" onSubmit={submit} noValidate>
        <RoleChoice
          role={role}
          ownRole={ownRole}
          error={fieldError(changing.error, "role")}
          onChange={setRole}
        />
        <FormProblem error={otherError(changing.error, ["role"])} />
        <DialogActions>
          <Button onClick={() => setOpen(false)}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={changing.isPending}>
            Save
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
