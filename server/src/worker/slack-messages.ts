// Messages in Slack: posted once, then updated in place, each time drawn from the state of the request at that moment.
// An answer that gets lost leaves us not knowing whether a message was posted. It is then posted again, because a person
// who is asked twice is better off than one who isn't asked: the buttons of both lead to the same request, and a click
// tells its current state. To look the first one up, the app would need the right to read everything in a channel.

import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import { isAwaited, type Keyring } from "../domain/access/keyring.ts";
import {
  messageJsonBytesMax,
  messageTimeoutMs,
  slackMessagesAtOnceMax,
} from "../domain/channels/message-limits.ts";
import {
  meaningOfSlackError,
  type SlackAnswer,
  type SlackArguments,
  type SlackFailure,
} from "../domain/channels/slack-answer.ts";
import { type SlackMessage, slackMessage } from "../domain/channels/slack-message.ts";
import { awaitedKeyDelayMs, retryAfterSecondsMax, slackTimeoutMs } from "../domain/limits.ts";
import type { MessageOutcome } from "../operations/channels/complete-message.ts";
import { noteSlackBroken } from "../operations/channels/note-slack-broken.ts";
import { openBotToken } from "../operations/channels/slack-tokens.ts";
import { callSlack } from "../outbound/slack-api.ts";
import type { ClaimedMessage } from "../storage/channels/channel-messages.ts";
import * as drawnRequests from "../storage/channels/drawn-requests.ts";
import * as groupChannels from "../storage/channels/group-channels.ts";
import * as slackConnections from "../storage/channels/slack-connections.ts";
import type { MessageChannel } from "./message-channel.ts";
import { type PaceRule, SlackPace } from "./slack-pace.ts";
import { SlackPeople } from "./slack-people.ts";

export type SlackMessagesOptions = {
  db: Database;
  keyring: Keyring;
  /** The start of all links; may still change until the service listens. */
  origin: { readonly publicUrl: string };
  apiUrl: string;
  /** Slack's own, unless a test has less patience. */
  rules?: { post: PaceRule; update: PaceRule };
};

/** Slack takes one message a second and channel, and about 50 calls a minute of each other method that is used here. */
export const slackRules = {
  post: { everyMs: 1_000, burst: 1 },
  update: { everyMs: 1_500, burst: 10 },
};

export function slackMessages(options: SlackMessagesOptions): MessageChannel {
  const sender: Sender = {
    rules: slackRules,
    ...options,
    pace: new SlackPace(),
    people: new SlackPeople(options.db),
  };
  return {
    channel: "slack",
    inFlightMax: slackMessagesAtOnceMax,
    send: (message) => send(sender, message),
  };
}

type Sender = Required<SlackMessagesOptions> & { pace: SlackPace; people: SlackPeople };

/** One message on its way through one connection. */
type Sending = Sender & {
  message: ClaimedMessage;
  connection: slackConnections.SlackConnection;
  /** The whole of it is over by then. */
  call: (method: string, body: SlackArguments) => Promise<SlackAnswer>;
};

async function send(sender: Sender, message: ClaimedMessage): Promise<MessageOutcome> {
  const { db, keyring } = sender;
  const endsAtMs = performance.now() + messageTimeoutMs - 1_000;
  const connection = await slackConnections.find(db, message.workspaceId);
  if (connection === null) return failed("not_connected");
  if (connection.brokenReason !== null) return failed(connection.brokenReason);
  const token = openBotToken(keyring, connection);
  if (token === null) {
    return isAwaited(keyring, connection.secretKeyId)
      ? { kind: "wait", afterSeconds: awaitedKeyDelayMs / 1_000 }
      : failed("secret_key_missing");
  }
  const { apiUrl } = sender;
  const call = (method: string, body: SlackArguments) => {
    const leftMs = Math.max(1, endsAtMs - performance.now());
    return callSlack({ apiUrl, token, method, body, timeoutMs: Math.min(slackTimeoutMs, leftMs) });
  };
  return draw({ ...sender, message, connection, call });
}

async function draw(sending: Sending): Promise<MessageOutcome> {
  const { db, message, connection, origin } = sending;
  const { workspaceId, approvalId, groupId, target } = message;
  const reader = groupId === null ? { email: target } : { groupId };
  const where = { workspaceId, approvalId, reader };
  const request = await drawnRequests.find(db, where, messageJsonBytesMax);
  // One that never arrived asks somebody, or nobody needs it.
  if (request === null || (message.slack === null && !request.isAwaited)) {
    return { kind: "needless" };
  }
  const drawn = slackMessage({
    request,
    messageId: message.id,
    readerEmail: groupId === null ? target : null,
    groupId,
    showsPayload: connection.showsPayload && (request.channels?.includes("slack") ?? true),
    publicUrl: origin.publicUrl,
  });
  const digest = digestOf(drawn, connection);
  if (message.slack !== null && message.digest?.equals(digest)) return { kind: "unchanged" };
  return message.slack === null
    ? post(sending, drawn, digest)
    : update(sending, { drawn, digest, slack: message.slack });
}

async function post(
  sending: Sending,
  { text, blocks }: SlackMessage,
  digest: Buffer,
): Promise<MessageOutcome> {
  const place = await findPlace(sending);
  if ("kind" in place) return place;
  const { channel } = place;
  const paced = { kind: `post ${channel}`, rule: sending.rules.post };
  const content = { text, blocks, ...inert, mrkdwn: false };
  const answer = await callInTurn(sending, paced, "chat.postMessage", { channel, ...content });
  if (!answer.ok) return outcomeOf(sending, answer);
  const { channel: at, ts } = answer.body;
  if (typeof at !== "string" || typeof ts !== "string") {
    return { kind: "retry", afterSeconds: 0, failure: "bad_answer" };
  }
  return { kind: "sent", slack: { channel: at, ts }, digest };
}

async function update(
  sending: Sending,
  {
    drawn: { text, blocks },
    digest,
    slack: { channel, ts },
  }: { drawn: SlackMessage; digest: Buffer; slack: { channel: string; ts: string } },
): Promise<MessageOutcome> {
  const content = { text, blocks, ...inert };
  const answer = await callOfApp(sending, "chat.update", { channel, ts, ...content });
  return answer.ok ? { kind: "sent", digest } : outcomeOf(sending, answer);
}

/** Slack looks for neither links nor names in the text, and shows no preview of a page. */
const inert = { unfurl_links: false, unfurl_media: false, parse: "none", link_names: false };

/** The channel of the group, or the conversation with the person. */
async function findPlace(sending: Sending): Promise<{ channel: string } | MessageOutcome> {
  const { db, message, people, connection } = sending;
  const call = (method: string, body: SlackArguments) => callOfApp(sending, method, body);
  const { workspaceId, groupId, target } = message;
  if (groupId !== null) {
    const { slackChannel } = await groupChannels.get(db, { workspaceId, groupId });
    return slackChannel === null ? failed("channel_removed") : { channel: slackChannel.id };
  }
  const person = await people.find(connection, target, call);
  if (person.kind === "unanswered") return outcomeOf(sending, person.failure);
  if (person.kind === "none")
    return person.wasKnown ? failed("users_not_found") : { kind: "needless" };
  const opened = await people.openConversation(connection, person.slackUserId, call);
  if (!opened.ok) return outcomeOf(sending, opened);
  return { channel: opened.channel };
}

/** A call of which Slack takes so many a minute from each app. */
function callOfApp(sending: Sending, method: string, body: SlackArguments): Promise<SlackAnswer> {
  const { teamId, appId } = sending.connection;
  const paced = { kind: `${method} ${teamId} ${appId}`, rule: sending.rules.update };
  return callInTurn(sending, paced, method, body);
}

/** Waits for its turn, if that comes soon; otherwise it answers like a Slack that wants to wait. */
async function callInTurn(
  { pace, call }: Sending,
  { kind, rule }: { kind: string; rule: PaceRule },
  method: string,
  body: SlackArguments,
): Promise<SlackAnswer> {
  const turn = pace.take(kind, rule);
  if (turn.kind === "later") {
    return { ok: false, error: "ratelimited", retryAfterSeconds: turn.ms / 1_000 };
  }
  if (turn.waitMs > 0) await pause(turn.waitMs);
  const answer = await pace.keepDistance(kind, rule, () => call(method, body));
  if (answer.ok || answer.error !== "ratelimited") return answer;
  const seconds = Math.min(Math.max(1, answer.retryAfterSeconds ?? 0), retryAfterSecondsMax);
  pace.pause(kind, rule, seconds * 1_000);
  return { ...answer, retryAfterSeconds: seconds };
}

async function outcomeOf(
  { db, connection }: Sending,
  { error, retryAfterSeconds }: SlackFailure,
): Promise<MessageOutcome> {
  const afterSeconds = retryAfterSeconds ?? 0;
  if (error === "ratelimited") return { kind: "wait", afterSeconds };
  if (meaningOfSlackError(error) === "passing") {
    return { kind: "retry", afterSeconds, failure: error };
  }
  await noteSlackBroken(db, connection, error);
  return failed(error);
}

function failed(failure: string): MessageOutcome {
  return { kind: "failed", failure };
}

/** No app can change what another one posted, and only Slack's answer to a try tells so. Hence the app is in the digest. */
function digestOf(
  message: SlackMessage,
  { teamId, appId }: slackConnections.SlackConnection,
): Buffer {
  return createHash("sha256").update(JSON.stringify({ teamId, appId, message })).digest();
}
