// Slack's own limits, as it publishes them, and our own pace: what is sent meets no limit, and a click is acknowledged in
// time.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { clickPatience } from "../src/domain/channels/slack-limits.ts";
import { setGroupSlackChannel } from "../src/operations/channels/group-channels.ts";
import * as slackAccounts from "../src/storage/channels/slack-accounts.ts";
import { slackRules } from "../src/worker/slack-messages.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackApp } from "./fake-slack/slack-state.ts";
import { slowness, until } from "./patience.ts";
import { tellNews } from "./test-channels.ts";
import { makeWorkspace, startService } from "./test-service.ts";
import { isReachable, startSockets } from "./test-slack.ts";
import { connectTo, startSlackWorker } from "./test-slack-sending.ts";
import { makeVoters } from "./test-votes.ts";
import type { TestWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
const voters = makeVoters(service);
let slack: FakeSlack;
let worker: TestWorker;
let sockets: ReturnType<typeof startSockets>;

before(async () => {
  // Its own limits. A machine that is slow has as much more time for a click.
  slack = await FakeSlack.start({ ackMs: 3_000 * slowness, triggerMs: 3_000 * slowness });
  const options = { db: service.servicePool, rules: slackRules };
  worker = startSlackWorker(service.database, slack, options);
  sockets = startSockets(service, slack, { patience: clickPatience });
});
after(async () => {
  await sockets.stop();
  await worker.stop();
  await slack.stop();
  await service.stop();
});

async function linked(app: SlackApp, email: string) {
  const user = slack.addUser({ teamId: app.teamId });
  const account = { teamId: app.teamId, appId: app.id, slackUserId: user.id, email };
  await inTransaction(db, (tx) => slackAccounts.link(tx, account));
  return user;
}

const callsOf = (method: string) => slack.calls.filter((call) => call.method === method).length;
const limited = () => slack.calls.filter(({ error }) => error === "ratelimited");

test("twenty requests to one person open one conversation, and meet no limit", async () => {
  const app = slack.createApp();
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "Acme" });
  await connectTo(slack, { db, workspaceId }, app);
  const dan = await linked(app, "dan@example.com");
  for (let count = 0; count < 20; count += 1) {
    const { id: approvalId } = await voters.ask(key, { notify: "dan@example.com" });
    await tellNews(db, { workspaceId, approvalId }, true);
  }
  worker.worker.wake();
  await until(() => slack.directMessages(app, dan).length >= 4);
  assert.equal(callsOf("conversations.open"), 1);
  assert.deepEqual(limited(), []);
});

test("posts, updates, messages to people and a click meet no limit of Slack, and the click is acknowledged", async () => {
  const app = slack.createApp({ teamId: "T0002" });
  const { teamId } = app;
  const { id: workspaceId, groupId, key } = await voters.workspaceWith();
  await connectTo(slack, { db, workspaceId }, app);
  const channel = slack.addChannel("finance", { teamId, members: [app.botUserId] });
  const place = { id: channel.id, name: "finance" };
  await setGroupSlackChannel(db, { workspaceId, groupId, channel: place });
  const [ann, cy] = [await linked(app, "ann@example.com"), await linked(app, "cy@example.com")];
  channel.members.add(ann.id);
  const ask = async (body: object) => {
    const asked = { workspaceId, approvalId: (await voters.ask(key, body)).id };
    await tellNews(db, asked, true);
    return asked;
  };
  const first = await ask({ quorum: 2 });
  await ask({});
  await ask({ notify: "cy@example.com" });
  await ask({ notify: "cy@example.com" });
  worker.worker.wake();
  await until(() => slack.messagesIn(channel.id).length === 2);
  await until(() => slack.directMessages(app, cy).length === 2);
  await voters.vote(first.approvalId, "bob@example.com");
  await tellNews(db, first);
  worker.worker.wake();
  await until(() => callsOf("chat.update") > 0);
  await isReachable(slack, app);
  const [card] = slack.messagesIn(channel.id);
  assert.ok(card);
  assert.deepEqual(await slack.click(ann, card, "countersign_approve"), { kind: "acknowledged" });
  assert.deepEqual(limited(), []);
});
