import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { completeMessage, type MessageStep } from "../src/operations/channels/complete-message.ts";
import { spreadNews } from "../src/operations/channels/spread-news.ts";
import * as channelMessages from "../src/storage/channels/channel-messages.ts";
import { until } from "./patience.ts";
import {
  connectSlack,
  giveGroupChannels,
  giveSlackAccount,
  keepingChannel,
  mailWaitsOf,
  messagesOf,
  quietNow,
  setSettings,
  subscribeToPush,
} from "./test-channels.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { startWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
const voters = makeVoters(service);
after(() => service.stop());

let teams = 0;

/** A group that is asked in Slack, and mailed ten minutes later. */
async function slackFirst(members: string[]) {
  const workspace = await voters.workspaceWith(members);
  teams += 1;
  const teamId = `T-${teams}`;
  await connectSlack(db, workspace.id, { teamId });
  const place = { workspaceId: workspace.id, groupId: workspace.groupId };
  await giveGroupChannels(db, place, { slack: "C1", mailAfterMinutes: 10 });
  return { ...workspace, place, teamId };
}

test("mail to a group waits for its channel, and a reminder and an outcome don't", async () => {
  const { key } = await slackFirst(["a1@example.com", "a2@example.com"]);
  const { id } = await voters.ask(key, { quorum: 2 });
  assert.deepEqual(await mailWaitsOf(db, id), { "a1@example.com": 10, "a2@example.com": 10 });
  const reminded = await service.call("POST", `/v1/requests/${id}/remind`, { key });
  assert.equal(reminded.status, 200, reminded.text);
  assert.deepEqual(Object.values(await mailWaitsOf(db, id, "request.reminded")), [0, 0]);
  await voters.vote(id, "a1@example.com", { verdict: "reject" });
  const told = Object.values(await mailWaitsOf(db, id, "request.rejected"));
  assert.ok(told.length > 0 && told.every((minutes) => minutes === 0));
});

test("mail doesn't wait where nothing else can tell: no Slack, a broken one, or one that isn't allowed", async () => {
  const { key, place } = await slackFirst(["b@example.com"]);
  const { id: mailOnly } = await voters.ask(key, { channels: ["mail"] });
  const { id: noSlack } = await voters.ask(key, { channels: ["mail", "teams"] });
  const { id: asLink } = await voters.ask(key, { channels: ["mail", "slack_link"] });
  await db.query(
    "update slack_connections set broken_at = now(), broken_reason = 'revoked' where workspace_id = $1",
    [place.workspaceId],
  );
  const { id: broken } = await voters.ask(key);
  const waits = [mailOnly, noSlack, asLink, broken].map((id) => mailWaitsOf(db, id));
  assert.deepEqual(
    (await Promise.all(waits)).map((each) => each["b@example.com"]),
    [0, 0, 10, 0],
  );
});

test("a person's own choice wins over their group's, and in quiet hours mail comes at once", async () => {
  const members = ["c1@example.com", "c2@example.com", "c3@example.com", "c4@example.com"];
  const { key, teamId } = await slackFirst(members);
  // At once; after 30 minutes; quiet just now; a choice without a channel of their own.
  await setSettings(db, "c1@example.com", { mailAfterMinutes: null });
  await setSettings(db, "c2@example.com", { mailAfterMinutes: 30 });
  await setSettings(db, "c3@example.com", { mailAfterMinutes: 30, quiet: await quietNow(db) });
  await setSettings(db, "c4@example.com", { mailAfterMinutes: 30 });
  await giveSlackAccount(db, "c2@example.com", { teamId });
  await subscribeToPush(db, "c3@example.com");
  const { id } = await voters.ask(key);
  assert.deepEqual(await mailWaitsOf(db, id), {
    "c1@example.com": 0,
    "c2@example.com": 30,
    "c3@example.com": 0,
    "c4@example.com": 0,
  });
});

test("mail to those whom a later stage asks waits, too", async () => {
  const { key } = await slackFirst(["d@example.com"]);
  const { id } = await voters.ask(key, {
    ...{ notify: "e@example.com", quorum: 1, then: [{ notify: "group:finance" }] },
  });
  assert.deepEqual(await mailWaitsOf(db, id), { "e@example.com": 0 });
  await voters.vote(id, "e@example.com");
  assert.deepEqual(await mailWaitsOf(db, id, "request.stage_entered"), { "d@example.com": 10 });
});

test("a message that fails for good makes the mails of its readers due, and nobody else's", async () => {
  const { key, place, teamId } = await slackFirst(["f1@example.com", "f2@example.com"]);
  await setSettings(db, "g@example.com", { mailAfterMinutes: 20 });
  await giveSlackAccount(db, "g@example.com", { teamId });
  const { id: failing } = await voters.ask(key);
  const { id: working } = await voters.ask(key);
  const { id: direct } = await voters.ask(key, { notify: "g@example.com" });
  const slack = keepingChannel("slack", ({ approvalId }) =>
    approvalId === working ? { kind: "sent" } : { kind: "failed", failure: "channel_not_found" },
  );
  const worker = startWorker(service.database, { messageChannels: [slack] });
  try {
    await until(async () => {
      const states = await Promise.all([failing, working, direct].map((id) => messagesOf(db, id)));
      return states.flat().filter(({ state }) => state !== "due").length === 3;
    });
  } finally {
    await worker.stop();
  }
  assert.deepEqual(await mailWaitsOf(db, failing), { "f1@example.com": 0, "f2@example.com": 0 });
  assert.deepEqual(await mailWaitsOf(db, working), { "f1@example.com": 10, "f2@example.com": 10 });
  assert.deepEqual(await mailWaitsOf(db, direct), { "g@example.com": 0 });
  const [message] = await messagesOf(db, failing);
  assert.equal(message?.failure, "channel_not_found");
  assert.equal(message?.target, place.groupId);
});

test("who is asked once more, and could not be told before, is mailed at once", async () => {
  const { key } = await slackFirst(["j1@example.com", "j2@example.com"]);
  const { id } = await voters.ask(key, { quorum: 1, then: [{ notify: "group:finance" }] });
  await spreadAll();
  await tryOnce(id, { kind: "failed", failure: "not_in_channel" });
  await voters.vote(id, "j1@example.com");
  assert.deepEqual(await mailWaitsOf(db, id, "request.stage_entered"), { "j2@example.com": 10 });
  await spreadAll();
  assert.equal((await messagesOf(db, id))[0]?.state, "failed");
  assert.deepEqual(await mailWaitsOf(db, id, "request.stage_entered"), { "j2@example.com": 0 });
});

test("mail waits for a second try of a message, and not for the hour in which it is tried", async () => {
  const { key } = await slackFirst(["k@example.com"]);
  const { id } = await voters.ask(key);
  await spreadAll();
  const refusal = { kind: "due", delayMs: 0, failure: "unreachable" } as const;
  await tryOnce(id, { ...refusal, failure: null });
  await tryOnce(id, refusal);
  assert.deepEqual(await mailWaitsOf(db, id), { "k@example.com": 10 });
  await tryOnce(id, refusal);
  assert.deepEqual(await mailWaitsOf(db, id), { "k@example.com": 0 });
  assert.equal((await messagesOf(db, id))[0]?.state, "due");
});

async function spreadAll(): Promise<void> {
  while ((await spreadNews(db)) !== null);
}

/** As a worker does that finds the message due, with what came of it. */
async function tryOnce(approvalId: string, step: MessageStep): Promise<void> {
  const claimed = await inTransaction(db, (tx) => channelMessages.claim(tx, "slack", 100));
  const message = claimed.find((each) => each.approvalId === approvalId);
  assert.ok(message);
  await completeMessage(db, message, step);
}

test("mail that waited for a channel which is gone before anything was sent is due at once", async () => {
  const { key, place } = await slackFirst(["h@example.com"]);
  const { id } = await voters.ask(key);
  assert.deepEqual(await mailWaitsOf(db, id), { "h@example.com": 10 });
  await db.query("delete from slack_connections where workspace_id = $1", [place.workspaceId]);
  while ((await spreadNews(db)) !== null);
  assert.deepEqual(await messagesOf(db, id), []);
  assert.deepEqual(await mailWaitsOf(db, id), { "h@example.com": 0 });
});

test("who voted before their mail was due gets none", async () => {
  const { key } = await slackFirst(["i1@example.com", "i2@example.com", "i3@example.com"]);
  const { id } = await voters.ask(key, { quorum: 2 });
  await voters.vote(id, "i1@example.com");
  await db.query(
    `update deliveries set due_at = now_ms() where due_at > now() and event_id in (
       select id from events where approval_id = $1
     )`,
    [id],
  );
  const worker = startWorker(service.database);
  const statesOf = async () => {
    const { rows } = await db.query<{ email: string; state: string }>(
      `select r.email, d.state from deliveries d
       join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
       join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where ev.approval_id = $1 and ev.kind = 'request.created' order by r.email`,
      [id],
    );
    return rows.map(({ state }) => state);
  };
  try {
    await until(async () => !(await statesOf()).includes("due"));
  } finally {
    await worker.stop();
  }
  assert.deepEqual(await statesOf(), ["skipped", "delivered", "delivered"]);
});
