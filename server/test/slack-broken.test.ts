// A connection to Slack that ends: the cards that are there lead nowhere from then on, so nobody's mail waits for them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { disconnectSlack } from "../src/operations/channels/connect-slack.ts";
import { setGroupSlackChannel } from "../src/operations/channels/group-channels.ts";
import * as channelNews from "../src/storage/channels/channel-news.ts";
import * as groupChannels from "../src/storage/channels/group-channels.ts";
import * as slackAccounts from "../src/storage/channels/slack-accounts.ts";
import { SlackPeople } from "../src/worker/slack-people.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import { hangMs, until } from "./patience.ts";
import { messagesOf, tellNews } from "./test-channels.ts";
import { startService } from "./test-service.ts";
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
  slack = await FakeSlack.start({
    ...{ messageEveryMs: 0, tier3PerMinute: 10_000, ackMs: hangMs, triggerMs: hangMs },
  });
  worker = startSlackWorker(service.database, slack, { db: service.servicePool });
  sockets = startSockets(service, slack);
});
after(async () => {
  await sockets.stop();
  await worker.stop();
  await slack.stop();
  await service.stop();
});

type Asked = { workspaceId: string; approvalId: string };

/** As the statement that creates a request with channels does. */
async function tell(asked: Asked): Promise<void> {
  await tellNews(db, asked, true);
  worker.worker.wake();
}

/** A card that has arrived, and whose readers' mails wait for an hour. */
async function furnish() {
  const app = slack.createApp({ teamId: `T${slack.state.apps.size}` });
  const { teamId } = app;
  const { id: workspaceId, groupId, key } = await voters.workspaceWith();
  await connectTo(slack, { db, workspaceId }, app);
  const channel = slack.addChannel("finance", { teamId, members: [app.botUserId] });
  await setGroupSlackChannel(db, {
    ...{ workspaceId, groupId, channel: { id: channel.id, name: "finance" } },
  });
  await db.query("update group_channels set mail_after_minutes = 60 where group_id = $1", [
    groupId,
  ]);
  const ask = async () => ({ workspaceId, approvalId: (await voters.ask(key)).id });
  const asked = await ask();
  await holdMails(asked);
  await tell(asked);
  await untilState(asked, "sent");
  assert.ok((await waitingMails(asked)) > 0);
  const [card] = slack.messagesIn(channel.id);
  assert.ok(card);
  return { app, workspaceId, groupId, channel, ask, asked, card };
}

const stateOf = async ({ approvalId }: Asked) => (await messagesOf(db, approvalId))[0];
const untilState = (asked: Asked, state: string) =>
  until(async () => (await stateOf(asked))?.state === state, `the message is ${state}`);

async function isOnItsWay({ approvalId }: Asked): Promise<boolean> {
  const { rowCount } = await db.query(
    "select from channel_messages where approval_id = $1 and lease_token is not null",
    [approvalId],
  );
  return rowCount === 1;
}

async function isWantedAnew(asked: Asked): Promise<boolean> {
  const message = await stateOf(asked);
  return message !== undefined && message.wanted > 1;
}

/** As `mail_wait` does. */
async function holdMails({ approvalId }: Asked): Promise<void> {
  await db.query(
    `update deliveries d set due_at = now() + interval '1 hour', state = 'due', attempts = 0
     from events ev where ev.id = d.event_id and ev.approval_id = $1 and d.channel = 'mail'`,
    [approvalId],
  );
}

async function waitingMails({ approvalId }: Asked): Promise<number> {
  const { rowCount } = await db.query(
    `select from deliveries d join events ev on ev.id = d.event_id
     where ev.approval_id = $1 and d.channel = 'mail' and d.state = 'due' and d.due_at > now() + interval '1 minute'`,
    [approvalId],
  );
  return rowCount ?? 0;
}

async function untilMailed(asked: Asked, failure: string): Promise<void> {
  await untilState(asked, "failed");
  assert.equal((await stateOf(asked))?.failure, failure);
  assert.equal(await waitingMails(asked), 0);
}

test("when a click meets a revoked token, the card fails with the reason, and the mails that waited leave", async () => {
  const { app, asked, card, channel } = await furnish();
  const ann = slack.addUser({ teamId: app.teamId });
  channel.members.add(ann.id);
  const account = {
    teamId: app.teamId,
    appId: app.id,
    slackUserId: ann.id,
    email: "ann@example.com",
  };
  await inTransaction(db, (tx) => slackAccounts.link(tx, account));
  await isReachable(slack, app);
  slack.revoke(app);
  await slack.click(ann, card, "countersign_approve");
  await untilMailed(asked, "token_revoked");
});

test("when another message meets a revoked token, mails leave for the cards that had arrived, too", async () => {
  const { app, asked, ask } = await furnish();
  slack.revoke(app);
  await tell(await ask());
  await untilMailed(asked, "token_revoked");
});

test("when Slack is disconnected, mails leave for the cards that had arrived", async () => {
  const { asked, workspaceId } = await furnish();
  assert.ok(!isRefusal(await disconnectSlack(db, workspaceId)));
  await untilMailed(asked, "not_connected");
});

test("when another app takes the connection over, mails leave for the cards of the first", async () => {
  const { asked, workspaceId, app } = await furnish();
  await connectTo(slack, { db, workspaceId }, slack.createApp({ teamId: app.teamId }));
  await untilMailed(asked, "cant_update_message");
});

test("when Slack is disconnected and another app connected at once, mails leave for the cards of the first", async () => {
  const { asked, workspaceId, app } = await furnish();
  assert.ok(!isRefusal(await disconnectSlack(db, workspaceId)));
  await connectTo(slack, { db, workspaceId }, slack.createApp({ teamId: app.teamId }));
  await untilMailed(asked, "cant_update_message");
});

test("when another app takes over while a card is on its way, the mails that wait for the card leave", async () => {
  const { workspaceId, app, ask } = await furnish();
  const release = Promise.withResolvers<void>();
  slack.plan("chat.postMessage", { until: release.promise });
  const asked = await ask();
  await holdMails(asked);
  await tell(asked);
  await until(() => isOnItsWay(asked), "the card is on its way");
  await connectTo(slack, { db, workspaceId }, slack.createApp({ teamId: app.teamId }));
  await until(() => isWantedAnew(asked), "the card is wanted anew");
  release.resolve();
  await untilMailed(asked, "cant_update_message");
});

test("a card fails when Slack is disconnected, and lives again when the same app is connected", async () => {
  const { asked, workspaceId, app } = await furnish();
  assert.ok(!isRefusal(await disconnectSlack(db, workspaceId)));
  await untilMailed(asked, "not_connected");
  await connectTo(slack, { db, workspaceId }, app);
  await untilState(asked, "sent");
});

test("a group's channel is kept for another app of its team, and goes with the connection", async () => {
  const { workspaceId, groupId, app, channel } = await furnish();
  const channelOf = async () =>
    (await groupChannels.get(db, { workspaceId, groupId })).slackChannel?.id ?? null;
  await connectTo(slack, { db, workspaceId }, slack.createApp({ teamId: app.teamId }));
  assert.equal(await channelOf(), channel.id);
  assert.ok(!isRefusal(await disconnectSlack(db, workspaceId)));
  assert.equal(await channelOf(), null);
  await connectTo(slack, { db, workspaceId }, slack.createApp({ teamId: "T_OTHER" }));
  assert.equal(await channelOf(), null);
});

test("a card whose request has ended is no news when Slack is disconnected", async () => {
  const { asked, workspaceId, ask } = await furnish();
  const other = await ask();
  await tell(other);
  await untilState(other, "sent");
  await voters.vote(asked.approvalId, "ann@example.com");
  const told = await inTransaction(db, async (tx) => {
    await tx.query("delete from channel_news where workspace_id = $1", [workspaceId]);
    await channelNews.insertOfSlack(tx, workspaceId);
    const { rows } = await tx.query<{ approval_id: string }>(
      "delete from channel_news where workspace_id = $1 returning approval_id",
      [workspaceId],
    );
    return rows.map(({ approval_id: id }) => id);
  });
  assert.deepEqual(told, [other.approvalId]);
});

test("a conversation that one connection can't open is opened by another one of the same app", async () => {
  const app = slack.createApp();
  const connect = (workspaceId: string) => connectTo(slack, { db, workspaceId }, app);
  const [{ id: workspaceId }, other] = [await voters.workspaceWith(), await voters.workspaceWith()];
  const first = await connect(workspaceId);
  const people = new SlackPeople(db);
  const release = Promise.withResolvers<void>();
  const revoked = { ok: false, error: "token_revoked", retryAfterSeconds: null } as const;
  const failing = people.openConversation(first, "U_DAN", async () => {
    await release.promise;
    return revoked;
  });
  const connections = [await connect(other.id), await connect(workspaceId)];
  const opening = connections.map((connection) =>
    people.openConversation(connection, "U_DAN", async () => {
      return { ok: true, body: { channel: { id: "D_DAN" } } };
    }),
  );
  release.resolve();
  const opened = { ok: true, channel: "D_DAN" };
  assert.deepEqual(await Promise.all(opening), [opened, opened]);
  assert.deepEqual(await failing, revoked);
});
