// Changes where a group is asked beside mail, and how long its mail waits. The address of a webhook is never shown again.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { toVisibleText } from "../../../../server/src/domain/shown/text/visible-text.ts";
import type { GroupChannels } from "../../../../server/src/wire/dashboard-channels.ts";
import type { Group } from "../../../../server/src/wire/dashboard-groups.ts";
import { Visible } from "../../look/visible-text.tsx";
import { Dialog } from "../forms/dialog.tsx";
import { DialogForm } from "../forms/dialog-form.tsx";
import { CheckField, TextField } from "../forms/field.tsx";
import { OptionalNumber } from "../forms/optional-number.tsx";
import { Button } from "../parts/button.tsx";
import { useToast } from "../parts/toast.tsx";
import { call, fieldError } from "../service/api.ts";
import { refresh } from "../service/queries.ts";
import { changesOf, type GroupDraft, groupDraftOf } from "./group-draft.ts";

type GroupChannelsDialogProps = {
  workspaceId: string;
  group: Group;
  places: GroupChannels;
  hasSlack: boolean;
};

const fields = ["slackChannel", "teamsUrl", "mailAfterMinutes"] as const;

export function GroupChannelsDialog(props: GroupChannelsDialogProps) {
  const { workspaceId, group, places, hasSlack } = props;
  const [isOpen, setOpen] = useState(false);
  const [draft, setDraft] = useState(() => groupDraftOf(places));
  const toast = useToast();
  const changing = useMutation({
    mutationFn: () =>
      call("POST /workspaces/:workspaceId/groups/:groupId/channels", {
        params: { workspaceId, groupId: group.id },
        body: changesOf(places, draft),
      }),
    onSuccess: () => {
      setOpen(false);
      toast(
        <>
          Changed the channels of <Visible text={group.name} />
        </>,
      );
    },
    // Of several changes some may hold although one was refused.
    onSettled: () => refresh("GET /workspaces/:workspaceId/channels"),
  });
  const change = (changes: Partial<GroupDraft>) => setDraft({ ...draft, ...changes });
  const errorAt = (field: (typeof fields)[number]) => fieldError(changing.error, field);
  return (
    <Dialog
      title={
        <>
          Channels of “<Visible text={group.name} />”
        </>
      }
      description="Beside mail, which stays. Everybody in a channel can read what is asked there, and only the group’s members can decide."
      trigger={
        <Button isSmall aria-label={`Change channels of ${toVisibleText(group.name)}`}>
          Change channels
        </Button>
      }
      open={isOpen}
      isBusy={changing.isPending}
      onOpenChange={(next) => {
        setOpen(next);
        setDraft(groupDraftOf(places));
        changing.reset();
      }}
    >
      <DialogForm
        sending={changing}
        fields={fields}
        submitLabel="Save"
        onSubmit={() => changing.mutate()}
        onCancel={() => setOpen(false)}
      >
        <TextField
          label="Slack channel"
          hint={
            hasSlack
              ? "The channel’s link or ID. In Slack, invite the app there first, then use Copy link on the channel. Empty is none."
              : "Connect Slack first, in the settings under Channels."
          }
          value={draft.slackChannel}
          disabled={!hasSlack && places.slackChannel === null}
          onChange={(event) => change({ slackChannel: event.currentTarget.value })}
          error={errorAt("slackChannel")}
          placeholder="C0123456789"
          autoComplete="off"
          spellCheck={false}
        />
        <TextField
          label="Teams webhook"
          hint={
            places.teamsHost === null
              ? "The address that the Workflows app in Teams gives you. Who knows it can post, so it is never shown again."
              : "Its address is never shown. Leave this empty to keep it."
          }
          value={draft.teamsUrl}
          disabled={draft.isTeamsRemoved}
          onChange={(event) => change({ teamsUrl: event.currentTarget.value })}
          error={errorAt("teamsUrl")}
          placeholder={places.teamsHost ?? "https://"}
          type="password"
          autoComplete="off"
          spellCheck={false}
        />
        {places.teamsHost !== null && (
          <CheckField
            label="Remove the Teams webhook"
            checked={draft.isTeamsRemoved}
            onChange={(event) => change({ isTeamsRemoved: event.currentTarget.checked })}
          />
        )}
        <OptionalNumber
          label="Mail"
          hint="Mail waits for a decision in the other channels. It goes out at once if they fail, and to people with settings of their own as these say."
          error={errorAt("mailAfterMinutes")}
          value={draft.mailAfterMinutes}
          onChange={(mailAfterMinutes) => change({ mailAfterMinutes })}
          switchLabel="Wait"
          unit="minutes after the other channels"
          first="10"
        />
      </DialogForm>
    </Dialog>
  );
}
