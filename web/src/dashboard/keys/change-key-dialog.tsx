// Gives a key a default approver of its own and an owner, or takes them away.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { ApiKey } from "../../../../server/src/wire/dashboard-keys.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { ApproverField } from "./approver-field.tsx";
import { OwnerField } from "./owner-field.tsx";

type ChangeKeyDialogProps = { apiKey: ApiKey; workspaceId: string };

export function ChangeKeyDialog({ apiKey, workspaceId }: ChangeKeyDialogProps) {
  const saved = { approver: apiKey.defaultApprover ?? "", owner: apiKey.owner ?? "" };
  const [isOpen, setOpen] = useState(false);
  const [approver, setApprover] = useState(saved.approver);
  const [owner, setOwner] = useState(saved.owner);
  const toast = useToast();
  const changing = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/keys/:keyId", {
        params: { workspaceId, keyId: apiKey.id },
        body: { defaultApprover: approver.trim() || null, owner: owner.trim() || null },
      }),
    onSuccess: async (changed) => {
      await refresh("GET /workspaces/:workspaceId/keys");
      setOpen(false);
      toast(
        <>
          Changed <Visible text={changed.name} />
        </>,
      );
    },
  });
  return (
    <Dialog
      title={
        <>
          Change the key “<Visible text={apiKey.name} />” (…{apiKey.lastFour})
        </>
      }
      description="The key itself stays the same. The change holds from the agent’s next call."
      trigger={
        <Button isSmall aria-label={`Change ${toVisibleText(apiKey.name)}`}>
          Change
        </Button>
      }
      open={isOpen}
      isBusy={changing.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        setApprover(saved.approver);
        setOwner(saved.owner);
        changing.reset();
      }}
    >
      <DialogForm
        sending={changing}
        fields={["defaultApprover", "owner"]}
        submitLabel="Save"
        onSubmit={() => changing.mutate()}
        onCancel={() => setOpen(false)}
      >
        <ApproverField
          value={approver}
          onChange={setApprover}
          error={fieldError(changing.error, "defaultApprover")}
          autoFocus
        />
        <OwnerField value={owner} onChange={setOwner} error={fieldError(changing.error, "owner")} />
      </DialogForm>
    </Dialog>
  );
}
