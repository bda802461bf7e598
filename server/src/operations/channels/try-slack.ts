// Tries a connection to Slack: asks whether Slack still takes its token and, where told, posts a message that says so.

import type { Queryable } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import type { CallSlack, SlackAnswer } from "../../domain/channels/slack-answer.ts";
import { said } from "../../domain/channels/slack-answers.ts";
import { slackRefusal } from "../../domain/channels/slack-refusals.ts";
import { type ChangeRefusal, refuse } from "../../domain/refusal.ts";
import * as slackConnections from "../../storage/channels/slack-connections.ts";
import { notConnected } from "./connect-slack.ts";
import { openBotToken } from "./slack-tokens.ts";

/** Where a test message goes: a channel by its id, a person by their address, or nowhere. */
export type TrialPlace = { channel: string } | { email: string } | null;

export type TriedSlack = { teamName: string; postedTo: string | null };

/** Its button is a way to link an account before anybody is asked. */
const trial =
  "This is a test message of Countersign. Requests will be asked here like this. To decide in Slack, get a code in the settings of your inbox, and link your account.";

export async function trySlack(
  { db, keyring, callSlack }: { db: Queryable; keyring: Keyring; callSlack: CallSlack },
  { workspaceId, place }: { workspaceId: string; place: TrialPlace },
): Promise<TriedSlack | ChangeRefusal> {
  const connection = await slackConnections.find(db, workspaceId);
  if (connection === null) return notConnected();
  const token = openBotToken(keyring, connection);
  if (token === null) {
    return refuse("conflict", "no key in SECRET_KEY opens the tokens; connect Slack again");
  }
  const call: Call = (method, body = {}) => callSlack({ token, method, body });
  const tested = await call("auth.test");
  if (!tested.ok) return refused("the bot token", tested);
  const { teamName } = connection;
  if (place === null) return { teamName, postedTo: null };
  const channel = await findChannel(call, place);
  if (typeof channel !== "string") return channel;
  const posted = await call("chat.postMessage", { channel, ...said(trial, { linking: true }) });
  return posted.ok ? { teamName, postedTo: channel } : refused("the message", posted);
}

type Call = (method: string, body?: Record<string, unknown>) => Promise<SlackAnswer>;

async function findChannel(
  call: Call,
  place: { channel: string } | { email: string },
): Promise<string | ChangeRefusal> {
  if ("channel" in place) return place.channel;
  const found = await call("users.lookupByEmail", { email: place.email });
  if (!found.ok) return refused("to look for this address", found);
  const opened = await call("conversations.open", { users: found.body.user?.id });
  return opened.ok ? opened.body.channel?.id : refused("a conversation with them", opened);
}

function refused(what: string, failure: Extract<SlackAnswer, { ok: false }>): ChangeRefusal {
  return refuse("conflict", slackRefusal(what, failure));
}
