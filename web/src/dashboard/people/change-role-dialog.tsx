// Changes the role of a member.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { Member, Role } from "../../../../server/src/wire/dashboard-contract.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { roleName } from "../session/roles.ts";
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
      // The reader's own role decides what the shell offers.
      await refresh(
        "GET /workspaces/:workspaceId/members",
        ...(member.isYou ? (["GET /me", "GET /workspaces/:workspaceId"] as const) : []),
      );
      setOpen(false);
      toast(
        <>
          <Visible text={changed.email} /> is {roleName[changed.role].toLowerCase()} now
        </>,
      );
    },
  });
  return (
    <Dialog
      title={
        <>
          Role of <Visible text={member.email} />
        </>
      }
      description={
        member.isYou
          ? "This is you. If you lower your role, only somebody else can raise it again."
          : "It applies from their next click."
      }
      trigger={
        <Button isSmall aria-label={`Change role of ${toVisibleText(member.email)}`}>
          Change role
        </Button>
      }
      open={isOpen}
      isBusy={changing.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        setRole(member.role);
        changing.reset();
      }}
    >
      <DialogForm
        sending={changing}
        fields={["role"]}
        submitLabel="Save"
        onSubmit={() => changing.mutate()}
        onCancel={() => setOpen(false)}
      >
        <RoleChoice
          role={role}
          ownRole={ownRole}
          error={fieldError(changing.error, "role")}
          onChange={setRole}
        />
      </DialogForm>
    </Dialog>
  );
}
