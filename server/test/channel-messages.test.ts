import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { messageRetryDelaysMs } from "../src/domain/channels/message-limits.ts";
import { stepAfterRefusal } from "../src/domain/channels/message-step.ts";
import { completeMessage } from "../src/operations/channels/complete-message.ts";
import { spreadNews } from "../src/operations/channels/spread-news.ts";
import * as channelMessages from "../src/storage/channels/channel-messages.ts";
import { until } from "./patience.ts";
import {
  connectSlack,
  giveGroupChannels,
  keepingChannel,
  messagesOf,
  tellNews,
} from "./test-channels.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { startWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
const voters = makeVoters(service);
after(() => service.stop());

/** A request that asks a group with a place in Slack. */
async function askInSlack() {
  const workspace = await voters.workspaceWith();
  const { id: workspaceId, key, groupId } = workspace;
  await connectSlack(db, workspaceId);
  await giveGroupChannels(db, { workspaceId, groupId }, { slack: "C1" });
  const { id: approvalId } = await voters.ask(key);
  return { workspaceId, approvalId, groupId, key };
}

test("news of a request becomes one message to its group's channel, which is sent once", async () => {
  const { groupId, ...where } = await askInSlack();
  await tellNews(db, where, true);
  const slack = keepingChannel("slack");
  const worker = startWorker(service.database, { messageChannels: [slack] });
  try {
    await until(async () => (await messagesOf(db, where.approvalId))[0]?.state === "sent");
  } finally {
    await worker.stop();
  }
  assert.deepEqual(
    slack.kept.map(({ target, groupId: group, wasSent }) => ({ target, group, wasSent })),
    [{ target: groupId, group: groupId, wasSent: false }],
  );
  const { rows } = await db.query("select from channel_news");
  assert.equal(rows.length, 0);
});

const claimOne = async () => {
  const [message] = await channelMessages.claim(inOneStatement(db), "slack", 1);
  assert.ok(message !== undefined, "a message is due");
  return message;
};

/** One message that is due, and nothing else. */
async function oneDue() {
  await db.query("update channel_messages set state = 'skipped' where state = 'due'");
  const where = await askInSlack();
  while ((await spreadNews(db)) !== null);
  return where;
}

const stateOf = async (approvalId: string) => (await messagesOf(db, approvalId))[0];

test("of two workers that race for a message one gets it, and one that has lost it changes nothing", async () => {
  const { approvalId } = await oneDue();
  const raced = await Promise.all(
    [1, 2, 3].map(() => channelMessages.claim(inOneStatement(db), "slack", 4)),
  );
  const [first, ...others] = raced.flat();
  assert.ok(first !== undefined);
  assert.deepEqual(others, []);
  // Its worker has died: the lease ends, and another one takes over.
  await db.query("update channel_messages set leased_until = now_ms() where approval_id = $1", [
    approvalId,
  ]);
  const second = await claimOne();
  assert.equal(second.attempts, 2);
  const late = await completeMessage(db, first, { kind: "failed", failure: "late" });
  assert.deepEqual([late.wasHeld, late.hurried], [false, 0]);
  assert.equal((await stateOf(approvalId))?.state, "due");
  const slack = { channel: "C1", ts: "1.2" };
  assert.ok((await completeMessage(db, second, { kind: "sent", slack })).wasHeld);
  assert.equal((await stateOf(approvalId))?.state, "sent");
});

test("what changes while a message is sent makes it due again, and is then an update of the same", async () => {
  const { approvalId, workspaceId } = await oneDue();
  const first = await claimOne();
  await tellNews(db, { workspaceId, approvalId });
  while ((await spreadNews(db)) !== null);
  assert.deepEqual(await channelMessages.claim(inOneStatement(db), "slack", 1), []);
  const slack = { channel: "C1", ts: "1.2" };
  const ended = await completeMessage(db, first, { kind: "sent", slack });
  assert.ok(ended.dueInMs !== null && ended.dueInMs > 0, "after a pause");
  await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [
    approvalId,
  ]);
  const update = await claimOne();
  assert.deepEqual([update.wasSent, update.slack, update.wanted], [true, slack, 2]);
  await completeMessage(db, update, { kind: "unchanged" });
  const row = await stateOf(approvalId);
  assert.deepEqual([row?.state, row?.drawn, row?.wanted], ["sent", 2, 2]);
});

test("what changes while an update fails is told by another, unless it never arrived", async () => {
  const { approvalId, workspaceId } = await oneDue();
  const dueNow = () =>
    db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [approvalId]);
  const failWhileItChanges = async () => {
    await dueNow();
    const claimed = await claimOne();
    await tellNews(db, { workspaceId, approvalId });
    while ((await spreadNews(db)) !== null);
    return completeMessage(db, claimed, { kind: "failed", failure: "invalid_blocks" });
  };
  await completeMessage(db, await claimOne(), {
    kind: "sent",
    slack: { channel: "C1", ts: "1.2" },
  });
  await tellNews(db, { workspaceId, approvalId });
  while ((await spreadNews(db)) !== null);
  assert.ok((await failWhileItChanges()).dueInMs !== null);
  assert.equal((await stateOf(approvalId))?.state, "due");
  await db.query("update channel_messages set sent_at = null where approval_id = $1", [approvalId]);
  assert.equal((await failWhileItChanges()).dueInMs, null);
  assert.equal((await stateOf(approvalId))?.state, "failed");
});

test("fifty pieces of news make few updates", async () => {
  const { approvalId, workspaceId } = await oneDue();
  const slack = keepingChannel("slack");
  const worker = startWorker(service.database, { messageChannels: [slack] });
  try {
    await until(async () => (await stateOf(approvalId))?.state === "sent");
    for (let n = 0; n < 50; n += 1) {
      await tellNews(db, { workspaceId, approvalId });
      worker.worker.wake();
    }
    await until(async () => {
      const row = await stateOf(approvalId);
      const { rowCount } = await db.query("select from channel_news");
      return rowCount === 0 && row?.state === "sent" && row.drawn === row.wanted;
    });
  } finally {
    await worker.stop();
  }
  const sent = slack.kept.filter((message) => message.approvalId === approvalId).length;
  assert.ok(sent >= 2 && sent < 20, `${sent} messages`);
});

test("a message that is refused for now waits ever longer, and is given up in the end", async () => {
  const { approvalId } = await oneDue();
  const tries = messageRetryDelaysMs.length + 1;
  for (let n = 1; n <= tries; n += 1) {
    await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [
      approvalId,
    ]);
    const message = await claimOne();
    const step = stepAfterRefusal({ afterSeconds: 0, failure: "timeout" }, message.attempts, 0.5);
    await completeMessage(db, message, step);
    const row = await stateOf(approvalId);
    assert.equal(row?.state, n < tries ? "due" : "failed", `try ${n}`);
    assert.equal(row?.failure, "timeout");
  }
});

test("waiting for a turn uses up no try", async () => {
  const { approvalId } = await oneDue();
  for (let n = 0; n < 20; n += 1) {
    await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [
      approvalId,
    ]);
    await completeMessage(db, await claimOne(), { kind: "due", delayMs: 60_000, failure: null });
  }
  const row = await stateOf(approvalId);
  assert.deepEqual([row?.state, row?.attempts, row?.failure], ["due", 0, null]);
});

test("a worker that stops gives back what it had not finished, and nothing is used up", async () => {
  const { approvalId } = await oneDue();
  const { promise: hanging, resolve: begun } = Promise.withResolvers<void>();
  const slack = keepingChannel("slack", () => {
    begun();
    return new Promise(() => {});
  });
  const worker = startWorker(service.database, { messageChannels: [slack] });
  await hanging;
  await worker.stop();
  const again = await claimOne();
  assert.deepEqual([again.approvalId, again.attempts], [approvalId, 1]);
});

test("a workspace with very many messages due delays no other's", async () => {
  const { workspaceId, approvalId } = await oneDue();
  await db.query(
    `insert into channel_messages (workspace_id, approval_id, channel, target, due_at)
     select $1, $2, 'slack', 'p' || n || '@example.com', now() - interval '1 hour' from generate_series(1, 300) as n`,
    [workspaceId, approvalId],
  );
  const other = await askInSlack();
  while ((await spreadNews(db)) !== null);
  const claimed = await channelMessages.claim(inOneStatement(db), "slack", 4);
  assert.ok(claimed.some((message) => message.approvalId === other.approvalId));
});
