// What is typed about a group's channels, and the changes that follow.

import type {
  GroupChannelChanges,
  GroupChannels,
} from "../../../../server/src/wire/dashboard-channels.ts";

export type GroupDraft = {
  /** Empty is none. */
  slackChannel: string;
  /** Empty keeps the one that is set. */
  teamsUrl: string;
  isTeamsRemoved: boolean;
  /** Null is at once. */
  mailAfterMinutes: string | null;
};

export function groupDraftOf({ slackChannel, mailAfterMinutes }: GroupChannels): GroupDraft {
  return {
    slackChannel: slackChannel?.id ?? "",
    teamsUrl: "",
    isTeamsRemoved: false,
    mailAfterMinutes: mailAfterMinutes === null ? null : String(mailAfterMinutes),
  };
}

/** Only what differs. The service says what is wrong with it. */
export function changesOf(before: GroupChannels, draft: GroupDraft): GroupChannelChanges {
  const changes: GroupChannelChanges = {};
  const channel = draft.slackChannel.trim();
  if (channel !== (before.slackChannel?.id ?? "")) {
    changes.slackChannel = channel === "" ? null : channel;
  }
  const url = draft.teamsUrl.trim();
  if (draft.isTeamsRemoved) changes.teamsUrl = null;
  else if (url !== "") changes.teamsUrl = url;
  const minutes = draft.mailAfterMinutes === null ? null : numberOf(draft.mailAfterMinutes);
  if (minutes !== before.mailAfterMinutes) changes.mailAfterMinutes = minutes;
  return changes;
}

/** What is no number is sent as one that is refused. */
function numberOf(text: string): number {
  return /^[0-9]{1,5}$/.test(text.trim()) ? Number(text) : 0;
}
