// Creates a key and shows it once. While it is shown, only the one button closes the dialog: a stray click or Escape
// would lose the key for good.

import { useMutation } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { ApproverField } from "./approver-field.tsx";
import { IssuedKeyView } from "./issued-key-view.tsx";
import { OwnerField } from "./owner-field.tsx";

type NewKeyDialogProps = { workspaceId: string; trigger: ReactElement };

export function NewKeyDialog({ workspaceId, trigger }: NewKeyDialogProps) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [approver, setApprover] = useState("");
  const [owner, setOwner] = useState("");
  const issuing = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/keys", {
        params: { workspaceId },
        body: { name, defaultApprover: approver.trim() || null, owner: owner.trim() || null },
      }),
    onSuccess: () => refresh("GET /workspaces/:workspaceId/keys"),
  });
  const close = () => {
    setOpen(false);
    setName("");
    setApprover("");
    setOwner("");
    issuing.reset();
  };
  const issued = issuing.data;
  return (
    <Dialog
      title={
        issued === undefined ? (
          "Create an API key"
        ) : (
          <>
            Your key “<Visible text={issued.name} />”
          </>
        )
      }
      description={
        issued === undefined
          ? "Agents use it to call the API for this workspace. Give each agent its own key, so you can revoke one alone."
          : "Give it to the agent as a secret. Nobody can see it again: if you lose it, create another."
      }
      trigger={trigger}
      open={isOpen}
      isBusy={issuing.isPending}
      isSticky={issued !== undefined}
      onOpenChange={(next) => {
        if (next) setOpen(true);
        else if (issued === undefined) close();
      }}
    >
      {issued === undefined ? (
        <DialogForm
          sending={issuing}
          fields={["name", "defaultApprover", "owner"]}
          submitLabel="Create key"
          onSubmit={() => issuing.mutate()}
          onCancel={close}
        >
          <TextField
            label="Name"
            hint="What it is for, such as “Refund agent, production”."
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldError(issuing.error, "name")}
            autoFocus
          />
          <ApproverField
            value={approver}
            onChange={setApprover}
            error={fieldError(issuing.error, "defaultApprover")}
          />
          <OwnerField
            value={owner}
            onChange={setOwner}
            error={fieldError(issuing.error, "owner")}
          />
        </DialogForm>
      ) : (
        <IssuedKeyView issued={issued} workspaceId={workspaceId} onDone={close} />
      )}
    </Dialog>
  );
}
