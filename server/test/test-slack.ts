// Slack under test: a workspace that is connected to the fake Slack by one of the two transports, a request's card in a
// channel, and people who press its buttons.

import assert from "node:assert/strict";
import type { DestinationStream } from "pino";
import { inTransaction } from "../src/database/database.ts";
import { openLog } from "../src/log.ts";
import { sealSlackSecret } from "../src/operations/channels/slack-tokens.ts";
import { assembleSockets } from "../src/service.ts";
import * as slackAccounts from "../src/storage/channels/slack-accounts.ts";
import * as slackConnections from "../src/storage/channels/slack-connections.ts";
import type { FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackApp, SlackMessage, SlackUser, SlackView } from "./fake-slack/slack-state.ts";
import { seenIn } from "./fake-slack/what-is-seen.ts";
import { hangMs, until } from "./patience.ts";
import { makeWorkspace, type TestNode, testKeyring, testPublicUrl } from "./test-service.ts";

export type Transport = "socket" | "http";

let teams = 0;

/** A team, an app and a workspace of their own, so that tests don't see each other. */
export async function connect(
  { slack, node, transport }: { slack: FakeSlack; node: TestNode; transport: Transport },
  settings: { matchesEmail?: boolean; showsPayload?: boolean; app?: SlackApp } = {},
) {
  const { matchesEmail = false, showsPayload = true } = settings;
  teams += 1;
  const teamId = settings.app?.teamId ?? `T${String(teams).padStart(8, "0")}`;
  const interactionsUrl = transport === "http" ? await urlOf(node) : null;
  const app = settings.app ?? slack.createApp({ teamId, interactionsUrl });
  const workspace = await makeWorkspace(node.db, { name: "Acme" });
  const workspaceId = workspace.id;
  const sealed = (name: "bot_token" | "app_token" | "signing_secret", secret: string) =>
    sealSlackSecret(testKeyring, { workspaceId, name, secret });
  await inTransaction(node.db, (tx) =>
    slackConnections.put(tx, {
      ...{ workspaceId, teamId, teamName: "Acme HQ", appId: app.id, botUserId: app.botUserId },
      ...{ mode: transport, secretKeyId: testKeyring.current.id, matchesEmail, showsPayload },
      sealedBotToken: sealed("bot_token", app.botToken),
      sealedAppToken: transport === "socket" ? sealed("app_token", app.appToken) : null,
      sealedSigningSecret:
        transport === "http" ? sealed("signing_secret", app.signingSecret) : null,
      connectedBy: null,
    }),
  );
  const channel = slack.addChannel("finance", { teamId, members: [app.botUserId] });

  /** Somebody in the channel. */
  function person(user: Partial<SlackUser> = {}): SlackUser {
    const made = slack.addUser({ teamId, ...user });
    channel.members.add(made.id);
    return made;
  }

  async function linked(email: string, user: Partial<SlackUser> = {}): Promise<SlackUser> {
    const made = person(user);
    const account = { teamId, appId: app.id, slackUserId: made.id, email };
    await inTransaction(node.db, (tx) => slackAccounts.link(tx, account));
    return made;
  }

  /** A request and its message in the channel. The buttons are there, whether or not they should be. */
  async function ask(body: object = {}): Promise<{ id: string; card: SlackMessage }> {
    const reply = await node.call("POST", "/v1/requests", {
      key: workspace.key,
      body: { ...payment, ...body },
    });
    assert.equal(reply.status, 201, reply.text);
    return { id: reply.json.id, card: await post(reply.json.id) };
  }

  async function post(approvalId: string): Promise<SlackMessage> {
    const { rows } = await node.db.query<{ id: string }>(
      `insert into channel_messages (workspace_id, approval_id, channel, target, state, drawn, sent_at, slack_channel, slack_ts)
       values ($1, $2, 'slack', 'grp_of_test', 'sent', 1, now_ms(), $3, '1.1') returning id`,
      [workspaceId, approvalId, channel.id],
    );
    const value = rows[0]?.id;
    const button = (action_id: string, text: string) => ({
      type: "button",
      text: { type: "plain_text", text },
      action_id,
      value,
    });
    const elements = [
      button("countersign_approve", "Approve"),
      button("countersign_reject", "Reject"),
      button("of_another_app", "Other"),
    ];
    const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${app.botToken}`,
        "content-type": "application/json; charset=utf-8",
      },
      body: JSON.stringify({
        channel: channel.id,
        text: "Pay",
        blocks: [{ type: "actions", elements }],
      }),
    });
    const posted = (await response.json()) as { ok: boolean; ts: string };
    assert.equal(posted.ok, true, JSON.stringify(posted));
    const card = slack.messagesIn(channel.id).find(({ ts }) => ts === posted.ts);
    assert.ok(card);
    return card;
  }

  async function read(id: string) {
    return (await node.call("GET", `/v1/requests/${id}`, { key: workspace.key })).json;
  }

  return { workspace, app, channel, person, linked, ask, post, read };
}

export const payment = {
  summary: "Pay 40,000",
  notify: "ann@example.com",
  payload: { amount: 40000 },
  agentName: "payer",
};

/** A slow machine is no fault. */
export const patient = { callMs: hangMs, acknowledgeMs: hangMs };

/** Sockets as the worker keeps them. */
export function startSockets(
  node: TestNode,
  { apiUrl: slackApiUrl }: Pick<FakeSlack, "apiUrl">,
  {
    logDestination,
    patience = patient,
  }: { logDestination?: DestinationStream; patience?: typeof patient } = {},
) {
  const sockets = assembleSockets({
    db: node.servicePool,
    keyring: testKeyring,
    origin: { publicUrl: testPublicUrl },
    slackApiUrl,
    onDue: () => {},
    patience,
    lookEveryMs: 50,
    log: openLog({
      level: logDestination === undefined ? "fatal" : "trace",
      format: "json",
      ...(logDestination === undefined ? {} : { destination: logDestination }),
    }),
  });
  sockets.start();
  return sockets;
}

export async function isReachable(slack: FakeSlack, { id, interactionsUrl }: SlackApp) {
  await until(() => interactionsUrl !== null || slack.sockets.countOf(id) > 0);
}

/** The modal that a press has opened. */
export async function modalOf(slack: FakeSlack, user: SlackUser): Promise<SlackView> {
  await until(() => slack.openViews(user).length > 0 || slack.privateAnswers(user).length > 0);
  const [view] = slack.openViews(user).toReversed();
  assert.ok(view, `no modal, but: ${answersOf(slack, user).join(" ")}`);
  return view;
}

/** What somebody was told privately, oldest first. */
export function answersOf(slack: FakeSlack, user: SlackUser): string[] {
  return slack.privateAnswers(user).map(({ blocks }) => seenIn(blocks).text);
}

export async function answerOf(slack: FakeSlack, user: SlackUser): Promise<string> {
  await until(() => slack.privateAnswers(user).length > 0);
  return answersOf(slack, user).at(-1) ?? "";
}

export function textOf({ view }: SlackView): string {
  return seenIn(view.blocks).text;
}

export async function urlOf({ app }: TestNode): Promise<string> {
  if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  assert.ok(address !== null && typeof address === "object");
  return `http://127.0.0.1:${address.port}/slack/interactions`;
}
