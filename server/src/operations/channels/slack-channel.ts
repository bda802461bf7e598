// Asks Slack which channel somebody means, and whether the app may post there.

import type { Queryable } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { CallSlack, SlackBody } from "../../domain/channels/slack-answer.ts";
import { type ChangeRefusal, refuseField } from "../../domain/refusal.ts";
import * as slackConnections from "../../storage/channels/slack-connections.ts";
import { openBotToken } from "./slack-tokens.ts";

type Parts = { db: Queryable; keyring: Keyring; callSlack: CallSlack };

/** An id alone, or a link to the channel as Slack copies it. */
const channelPattern = /^(?:https:\/\/[a-z0-9.-]+\/archives\/)?([CG][A-Z0-9]{4,30})(?:[/?].*)?$/;

export async function findSlackChannel(
  { db, keyring, callSlack }: Parts,
  { workspaceId, text }: { workspaceId: string; text: string },
): Promise<{ id: string; name: string } | ChangeRefusal> {
  const [, id] = channelPattern.exec(text.trim()) ?? [];
  if (id === undefined) {
    return refuse("must be a channel's ID such as C0123456789, or a link to it as Slack copies it");
  }
  const connection = await slackConnections.find(db, workspaceId);
  if (connection === null) return refuse("Slack is not connected to this workspace");
  const token = openBotToken(keyring, connection);
  if (token === null) {
    return refuse("the token of Slack can't be opened with the service's keys; connect it again");
  }
  const answer = await callSlack({ token, method: "conversations.info", body: { channel: id } });
  return answer.ok ? toChannel(answer.body) : refuse(sentenceOf(answer.error));
}

function toChannel({ channel }: SlackBody): { id: string; name: string } | ChangeRefusal {
  const { id, name, is_archived: isArchived, is_member: isMember } = channel ?? {};
  // A conversation between people has no name.
  if (typeof id !== "string" || typeof name !== "string" || name === "") {
    return refuse("is no channel");
  }
  if (isArchived === true) return refuse(`#${name} is archived in Slack`);
  if (isMember !== true) {
    return refuse(`the app is not in #${name}; invite it there in Slack, then try again`);
  }
  return { id, name };
}

function sentenceOf(error: string): string {
  if (error === "channel_not_found") {
    return "Slack knows no such channel, or the app is not in it; invite it there, then try again";
  }
  return `Slack could not be asked: ${error}`;
}

function refuse(flaw: string): ChangeRefusal {
  return refuseField("slackChannel", flaw);
}
