// The places where a group is asked beside mail: a channel in Slack, a webhook of Teams. And how long its mails wait for
// them. The address of a webhook never leaves again: at rest it is sealed under SECRET_KEY.

import { randomBytes } from "node:crypto";
import type { Database, Transaction } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { seal, sealRandomBytes } from "../../domain/access/sealed-secret.ts";
import { flawOfTeamsUrl } from "../../domain/channels/teams-url.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import { type ActivityAction, type Doer, operator } from "../../domain/workspace/activity.ts";
import * as groupChannels from "../../storage/channels/group-channels.ts";
import * as groups from "../../storage/people/groups.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { unknownGroup } from "../people/manage-group.ts";
import { inTurnBy } from "../transaction-by.ts";

export type GroupPlace = { workspaceId: string; groupId: string };

/** Says what is wrong with the address behind a URL; asked before the transaction, since it asks the network. */
export type ExamineAddress = (url: string) => Promise<string | null>;

export type Changed = groupChannels.GroupChannels | ChangeRefusal;

/** The name under which the address is sealed, so that it opens for this group alone. */
export function teamsRecordOf({ workspaceId, groupId }: GroupPlace): string {
  return `group_channels/${workspaceId}/${groupId}/teams`;
}

/** Sets or replaces the webhook that posts to the group's place in Teams. */
export async function setGroupTeams(
  db: Database,
  keyring: Keyring,
  { url, examineAddress, ...place }: GroupPlace & { url: string; examineAddress: ExamineAddress },
  by: Doer = operator,
): Promise<Changed> {
  const flaw = flawOfTeamsUrl(url) ?? (await examineAddress(url));
  if (flaw !== null) return refuseField("url", flaw);
  const { host } = new URL(url);
  return change(db, place, by, async (tx) => {
    const sealed = seal({
      key: keyring.current,
      record: teamsRecordOf(place),
      plaintext: url,
      random: randomBytes(sealRandomBytes),
    });
    await groupChannels.setTeams(tx, place, { host, secretKeyId: keyring.current.id, sealed });
    return { action: "group.teams_set", detail: { host } };
  });
}

export async function removeGroupTeams(
  db: Database,
  place: GroupPlace,
  by: Doer = operator,
): Promise<Changed> {
  return change(db, place, by, async (tx, { teamsHost }) => {
    if (teamsHost === null) return null;
    await groupChannels.setTeams(tx, place, null);
    return { action: "group.teams_removed", detail: { host: teamsHost } };
  });
}

/** The caller has asked Slack whether the app may post there. */
export async function setGroupSlackChannel(
  db: Database,
  { channel, ...place }: GroupPlace & { channel: { id: string; name: string } },
  by: Doer = operator,
): Promise<Changed> {
  return change(db, place, by, async (tx, { slackChannel }) => {
    if (slackChannel?.id === channel.id && slackChannel.name === channel.name) return null;
    await groupChannels.setSlackChannel(tx, place, channel);
    return { action: "group.slack_channel_set", detail: { channel: channel.name } };
  });
}

export async function removeGroupSlackChannel(
  db: Database,
  place: GroupPlace,
  by: Doer = operator,
): Promise<Changed> {
  return change(db, place, by, async (tx, { slackChannel }) => {
    if (slackChannel === null) return null;
    await groupChannels.setSlackChannel(tx, place, null);
    return { action: "group.slack_channel_removed", detail: { channel: slackChannel.name } };
  });
}

const mailAfterMinutesMax = 1_440;

/** How long mail waits for the group's other channels; null is not at all. */
export async function setGroupMailDelay(
  db: Database,
  { minutes, ...place }: GroupPlace & { minutes: number | null },
  by: Doer = operator,
): Promise<Changed> {
  const isFine = minutes === null || (Number.isInteger(minutes) && minutes >= 1);
  if (!isFine || (minutes ?? 0) > mailAfterMinutesMax) {
    return refuseField("minutes", `must be a whole number from 1 to ${mailAfterMinutesMax}`);
  }
  return change(db, place, by, async (tx, { mailAfterMinutes }) => {
    if (mailAfterMinutes === minutes) return null;
    await groupChannels.setMailDelay(tx, place, minutes);
    const detail: Record<string, string> = minutes === null ? {} : { minutes: String(minutes) };
    return { action: "group.mail_delay_changed", detail };
  });
}

/** What is noted of a change; null when nothing has changed. */
type Noted = { action: ActivityAction; detail: Record<string, string> } | null;

async function change(
  db: Database,
  place: GroupPlace,
  by: Doer,
  work: (tx: Transaction, before: groupChannels.GroupChannels) => Promise<Noted>,
): Promise<Changed> {
  const { workspaceId, groupId } = place;
  if (by.workspaceId !== null && by.workspaceId !== workspaceId) {
    return refuse("not_found", "there is no such group in this workspace");
  }
  return inTurnBy(db, workspaceId, by, async (tx) => {
    const group = await groups.lock(tx, { workspaceId, id: groupId });
    if (group === null) return unknownGroup(groupId, by);
    const noted = await work(tx, await groupChannels.get(tx, place));
    if (noted !== null) {
      await groupChannels.noteOfWorkspace(tx, workspaceId);
      const entry = { workspaceId, actor: by.actor, subject: group.name };
      await activity.insert(tx, { ...entry, ...noted });
    }
    return groupChannels.get(tx, place);
  });
}
