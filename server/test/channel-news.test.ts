import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { spreadNews } from "../src/operations/channels/spread-news.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import {
  connectSlack,
  giveGroupChannels,
  giveSlackAccount,
  messagesOf,
  quietNow,
  setSettings,
  subscribeToPush,
  tellNews,
} from "./test-channels.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

// No worker runs here: the news stays until a test spreads it.

const service = await startService();
const { db } = service;
const voters = makeVoters(service);
after(() => service.stop());
beforeEach(() => db.query("delete from channel_news"));

async function newsOf(approvalId: string): Promise<boolean[]> {
  const { rows } = await db.query<{ asks: boolean }>(
    "select asks from channel_news where approval_id = $1 order by id",
    [approvalId],
  );
  return rows.map(({ asks }) => asks);
}

async function isTold(approvalId: string): Promise<boolean> {
  const { rows } = await db.query("select has_channels from approvals where id = $1", [approvalId]);
  return rows[0].has_channels;
}

async function spreadAll(): Promise<void> {
  while ((await spreadNews(db)) !== null);
}

async function targetsOf(approvalId: string): Promise<string[]> {
  const messages = await messagesOf(db, approvalId);
  return messages.map(({ channel, target }) => `${channel} ${target}`);
}

async function slackWorkspace() {
  const workspace = await voters.workspaceWith();
  await connectSlack(db, workspace.id);
  const place = { workspaceId: workspace.id, groupId: workspace.groupId };
  await giveGroupChannels(db, place, { slack: "C1", isInTeams: true });
  return { ...workspace, place };
}

test("where nobody has a channel, no request leaves news, from its creation to its end", async () => {
  const { key } = await voters.workspaceWith();
  const { id } = await voters.ask(key, { quorum: 2 });
  await voters.vote(id, "ann@example.com");
  await voters.vote(id, "bob@example.com");
  assert.equal((await voters.read(key, id)).status, "APPROVED");
  assert.deepEqual(await newsOf(id), []);
  assert.equal(await isTold(id), false);
});

test("a request of a workspace with channels is news when it is created, voted on and ended", async () => {
  const { key } = await slackWorkspace();
  const { id } = await voters.ask(key, { quorum: 2 });
  assert.deepEqual(await newsOf(id), [true]);
  assert.equal(await isTold(id), true);
  await voters.vote(id, "ann@example.com");
  assert.deepEqual(await newsOf(id), [true, false]);
  await voters.vote(id, "bob@example.com");
  assert.deepEqual(new Set((await newsOf(id)).slice(2)), new Set([false]));
  await spreadAll();
  assert.deepEqual(await targetsOf(id), [], "it had ended before anybody was told");
});

test("a request that allows mail alone is no news", async () => {
  const { key } = await slackWorkspace();
  await subscribeToPush(db, "ann@example.com");
  const { id } = await voters.ask(key, { channels: ["mail"], quorum: 2 });
  await voters.vote(id, "ann@example.com");
  assert.deepEqual(await newsOf(id), []);
});

test("a browser that somebody subscribed makes news of what asks them, and of nothing else", async () => {
  const { key } = await voters.workspaceWith();
  await subscribeToPush(db, "dee@example.com");
  const { id: other } = await voters.ask(key, { notify: "eve@example.com" });
  const { id } = await voters.ask(key, { notify: "Dee@example.com" });
  assert.deepEqual([await newsOf(other), await newsOf(id)], [[], [true]]);
  await spreadAll();
  assert.deepEqual(await targetsOf(id), ["push dee@example.com"]);
});

test("a workspace made after the first subscription looks for subscriptions, too", async () => {
  await subscribeToPush(db, "fay@example.com");
  const { key } = await voters.workspaceWith();
  const { id } = await voters.ask(key, { notify: "fay@example.com" });
  assert.deepEqual(await newsOf(id), [true]);
});

test("people who are asked later are news that asks: a next stage, an escalation, a seat passed on", async () => {
  const { key, id: workspaceId } = await slackWorkspace();
  const group = await createGroup(db, {
    ...{
      workspaceId,
      key: "board",
      name: "Board",
      members: ["gil@example.com", "hal@example.com", "joe@example.com"],
    },
  });
  assert.ok(!isRefusal(group));
  const { id } = await voters.ask(key, {
    quorum: 1,
    then: [{ notify: "group:board" }],
    escalate: [{ notify: "ivy@example.com", afterMinutes: 10 }],
  });
  await db.query("delete from channel_news");
  await db.query("update steps set due_at = now() - interval '1 second' where approval_id = $1", [
    id,
  ]);
  await voters.sweep();
  assert.ok((await newsOf(id)).includes(true), "escalated");
  await db.query("delete from channel_news");
  await voters.vote(id, "ann@example.com");
  assert.ok((await newsOf(id)).includes(true), "the next stage");
  await db.query("delete from channel_news");
  const passed = await voters.passOn(id, "gil@example.com", "hal@example.com");
  assert.equal(passed.status, 200, passed.text);
  assert.ok((await newsOf(id)).includes(true), "passed on");
});

test("channels that came after the request was made hear of its next event, and of its end", async () => {
  const { key, id: workspaceId, groupId } = await voters.workspaceWith();
  const { id } = await voters.ask(key, { quorum: 2 });
  await giveGroupChannels(db, { workspaceId, groupId }, { isInTeams: true });
  await voters.vote(id, "ann@example.com");
  await spreadAll();
  assert.deepEqual(await targetsOf(id), [`teams ${groupId}`]);
  assert.equal(await isTold(id), true);
  await voters.vote(id, "bob@example.com");
  assert.notEqual((await newsOf(id)).length, 0);
});

test("a group's channel is told once; people are told where no channel tells them", async () => {
  const { key, groupId, id: workspaceId } = await slackWorkspace();
  await giveSlackAccount(db, "ann@example.com");
  await giveSlackAccount(db, "jo@example.com");
  const { id: toGroup } = await voters.ask(key);
  const { id: toJo } = await voters.ask(key, { notify: "jo@example.com" });
  const { id: toNobody } = await voters.ask(key, { notify: "kim@example.com" });
  await spreadAll();
  assert.deepEqual(
    await targetsOf(toGroup),
    [`slack ${groupId}`, `teams ${groupId}`, "push ann@example.com"].sort(),
  );
  assert.deepEqual(await targetsOf(toJo), ["slack jo@example.com"]);
  assert.deepEqual(await targetsOf(toNobody), []);
  await db.query(
    "update slack_connections set broken_at = now(), broken_reason = 'revoked' where workspace_id = $1",
    [workspaceId],
  );
  const { id: later } = await voters.ask(key, { notify: "jo@example.com" });
  await spreadAll();
  assert.deepEqual(await targetsOf(later), [], "a connection that is broken reaches nobody");
});

test("somebody whose address Slack only claims is told where the workspace goes by addresses", async () => {
  const strict = await voters.workspaceWith();
  const trusting = await voters.workspaceWith();
  await connectSlack(db, strict.id, { teamId: "T2" });
  await connectSlack(db, trusting.id, { teamId: "T2", matchesEmail: true });
  await giveSlackAccount(db, "lou@example.com", { teamId: "T2", source: "email" });
  await giveSlackAccount(db, "mo@example.com", { teamId: "T2" });
  await setSettings(db, "mo@example.com", { usesSlack: false });
  const notify = { notify: "lou@example.com" };
  const { id: unsaid } = await voters.ask(strict.key, notify);
  const { id: said } = await voters.ask(trusting.key, notify);
  const { id: unwanted } = await voters.ask(trusting.key, { notify: "mo@example.com" });
  await spreadAll();
  assert.deepEqual(await targetsOf(unsaid), []);
  assert.deepEqual(await targetsOf(said), ["slack lou@example.com"]);
  assert.deepEqual(await targetsOf(unwanted), [], "they don't use Slack");
});

test("quiet hours hold what goes to a person, and not what goes to a group's channel", async () => {
  const { key, groupId, id: workspaceId } = await voters.workspaceWith(["ned@example.com"]);
  await connectSlack(db, workspaceId, { teamId: "T3" });
  await giveGroupChannels(db, { workspaceId, groupId }, { isInTeams: true });
  await giveSlackAccount(db, "ned@example.com", { teamId: "T3" });
  await subscribeToPush(db, "ned@example.com");
  await setSettings(db, "ned@example.com", { quiet: await quietNow(db) });
  const { id } = await voters.ask(key);
  await spreadAll();
  const waits = (await messagesOf(db, id)).map(({ channel, due_in: seconds }) => ({
    channel,
    minutes: Math.max(0, Math.round(seconds / 60)),
  }));
  assert.deepEqual(waits, [
    { channel: "push", minutes: 60 },
    { channel: "slack", minutes: 60 },
    { channel: "teams", minutes: 0 },
  ]);
});

test("news that asks nobody leaves devices alone, and wants each message anew that somebody may see", async () => {
  const { key, place, groupId } = await slackWorkspace();
  await subscribeToPush(db, "bob@example.com");
  const { id: approvalId } = await voters.ask(key);
  await spreadAll();
  const where = { ...place, approvalId };
  await db.query(
    `update channel_messages set state = case when channel = 'teams' then 'failed' else 'sent' end, drawn = 1,
       sent_at = case when channel = 'teams' then null else now() end,
       failed_at = case when channel = 'teams' then now() end,
       failure = case when channel = 'teams' then 'gone' end
     where approval_id = $1`,
    [approvalId],
  );
  await tellNews(db, where);
  await tellNews(db, where);
  await spreadAll();
  const states = (await messagesOf(db, approvalId))
    .filter(({ target }) => target === groupId || target === "bob@example.com")
    .map(({ channel, state, wanted }) => ({ channel, state, wanted }));
  assert.deepEqual(states, [
    { channel: "push", state: "sent", wanted: 1 },
    { channel: "slack", state: "due", wanted: 2 },
    { channel: "teams", state: "failed", wanted: 1 },
  ]);
});

test("a worker that dies while it spreads news loses none", async () => {
  const { key } = await slackWorkspace();
  const { id } = await voters.ask(key);
  const client = await db.connect();
  await client.query("begin");
  await client.query("delete from channel_news where approval_id = $1", [id]);
  // Another worker passes by what this one holds.
  assert.equal(await spreadNews(db), null);
  await client.query("rollback");
  client.release();
  await spreadAll();
  assert.notDeepEqual(await targetsOf(id), []);
});

test("many workers that spread news of the same requests make each message once", async () => {
  const { key, groupId, place } = await slackWorkspace();
  const asked = await Promise.all(Array.from({ length: 10 }, () => voters.ask(key)));
  for (const { id: approvalId } of asked) {
    for (let n = 0; n < 5; n += 1) await tellNews(db, { ...place, approvalId }, true);
  }
  await Promise.all([spreadAll(), spreadAll(), spreadAll(), spreadAll()]);
  for (const { id } of asked) {
    const shared = (await targetsOf(id)).filter((name) => name.endsWith(groupId));
    assert.deepEqual(shared, [`slack ${groupId}`, `teams ${groupId}`]);
  }
  assert.equal(await spreadNews(db), null);
});
