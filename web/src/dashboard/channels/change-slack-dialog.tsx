// Changes how people are known in Slack, and whether payloads leave. The tokens stay as they are.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { SlackConnection } from "../../../../server/src/wire/dashboard-channels.ts";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { SlackChoices } from "./slack-choices.tsx";

type ChangeSlackDialogProps = { workspaceId: string; slack: SlackConnection };

export function ChangeSlackDialog({ workspaceId, slack }: ChangeSlackDialogProps) {
  const { matchesEmail, showsPayload } = slack;
  const [isOpen, setOpen] = useState(false);
  const [choice, setChoice] = useState({ matchesEmail, showsPayload });
  const toast = useToast();
  const changing = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/slack/settings", {
        params: { workspaceId },
        body: choice,
      }),
    onSuccess: async () => {
      await refresh("GET /workspaces/:workspaceId/channels");
      setOpen(false);
      toast("The settings of Slack are saved");
    },
  });
  return (
    <Dialog
      title="Change the settings of Slack"
      description="The change holds for the next message and the next click."
      trigger={<Button>Change</Button>}
      open={isOpen}
      isBusy={changing.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        setChoice({ matchesEmail, showsPayload });
        changing.reset();
      }}
    >
      <DialogForm
        sending={changing}
        fields={["matchesEmail"]}
        submitLabel="Save"
        onSubmit={() => changing.mutate()}
        onCancel={() => setOpen(false)}
      >
        <SlackChoices
          choice={choice}
          onChange={setChoice}
          error={fieldError(changing.error, "matchesEmail")}
        />
      </DialogForm>
    </Dialog>
  );
}
