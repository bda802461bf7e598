// Tries the connection: asks Slack whether the token is good and, if told where, posts a message.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { TextField } from "../forms/field.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";

export function TestSlack({ workspaceId }: { workspaceId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [to, setTo] = useState("");
  const toast = useToast();
  const testing = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/slack/test", {
        params: { workspaceId },
        body: { to: to.trim() === "" ? null : to.trim() },
      }),
    onSuccess: ({ isPosted }) => {
      setOpen(false);
      toast(isPosted ? "The test message is in Slack" : "Slack takes the token");
    },
  });
  return (
    <Dialog
      title="Test Slack"
      description="Asks Slack whether it takes the token, and posts a test message."
      trigger={<Button>Test</Button>}
      open={isOpen}
      isBusy={testing.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        testing.reset();
      }}
    >
      <DialogForm
        sending={testing}
        fields={["to"]}
        submitLabel="Test"
        onSubmit={() => testing.mutate()}
        onCancel={() => setOpen(false)}
      >
        <TextField
          label="Post to"
          hint="A channel’s link or ID, or somebody’s e-mail address. Empty posts nothing."
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={fieldError(testing.error, "to")}
          placeholder="C0123456789"
          autoComplete="off"
          spellCheck={false}
          autoFocus
        />
      </DialogForm>
    </Dialog>
  );
}
