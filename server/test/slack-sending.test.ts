import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { setGroupSlackChannel } from "../src/operations/channels/group-channels.ts";
import { redrawMessage } from "../src/operations/channels/redraw-message.ts";
import { removeGroupMember } from "../src/operations/people/manage-group.ts";
import * as messageHistory from "../src/storage/channels/message-history.ts";
import * as slackAccounts from "../src/storage/channels/slack-accounts.ts";
import * as slackConnections from "../src/storage/channels/slack-connections.ts";
import { SlackPeople } from "../src/worker/slack-people.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackApp, SlackUser } from "./fake-slack/slack-state.ts";
import { seenIn } from "./fake-slack/what-is-seen.ts";
import { until } from "./patience.ts";
import { messagesOf, tellNews } from "./test-channels.ts";
import { makeWorkspace, startService } from "./test-service.ts";
import { connectTo, startSlackWorker } from "./test-slack-sending.ts";
import { makeVoters } from "./test-votes.ts";
import type { TestWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
const voters = makeVoters(service);
let slack: FakeSlack;
let worker: TestWorker;

before(async () => {
  slack = await FakeSlack.start({ messageEveryMs: 0, tier3PerMinute: 10_000 });
  worker = startSlackWorker(service.database, slack, { db: service.servicePool });
});
after(async () => {
  await worker.stop();
  await slack.stop();
  await service.stop();
});

type Asked = { workspaceId: string; approvalId: string };

/** As the statements that change a request do. */
async function tell(asked: Asked, asks = false): Promise<void> {
  await tellNews(db, asked, asks);
  worker.worker.wake();
  if (asks) return;
  await until(async () => (await db.query("select from channel_news")).rowCount === 0);
  // Updates keep a distance of seconds, for which no test should wait.
  await dueNow(asked);
}

const stateOf = async ({ approvalId }: Asked) => (await messagesOf(db, approvalId))[0];
const untilState = (asked: Asked, state: string) =>
  until(async () => {
    const message = await stateOf(asked);
    return (
      message?.state === state &&
      message.drawn === (state === "sent" ? message.wanted : message.drawn)
    );
  }, `the message is ${state}`);

/** A group with a channel in Slack. */
async function furnish(settings: { showsPayload?: boolean } = {}) {
  const app = slack.createApp();
  const workspace = await voters.workspaceWith();
  const { id: workspaceId, groupId } = workspace;
  await connectTo(slack, { db, workspaceId }, app, settings);
  const channel = slack.addChannel("finance", { members: [app.botUserId] });
  await setGroupSlackChannel(db, {
    workspaceId,
    groupId,
    channel: { id: channel.id, name: "finance" },
  });
  const ask = async (body: object = {}) => {
    const { id: approvalId } = await voters.ask(workspace.key, body);
    return { workspaceId, approvalId };
  };
  return { app, workspaceId, groupId, channel, key: workspace.key, ask };
}

const labelsOf = (blocks: readonly object[]) => seenIn(blocks).buttons.map(({ label }) => label);

test("a group's channel gets one message, which is updated in place and tells the outcome at the end", async () => {
  const { channel, ask } = await furnish();
  const asked = await ask({ quorum: 2 });
  await tell(asked, true);
  await untilState(asked, "sent");
  const [message] = slack.messagesIn(channel.id);
  assert.ok(message);
  assert.deepEqual(labelsOf(message.blocks), ["Approve", "Reject", "Open in inbox"]);
  assert.deepEqual(
    [message.unfurlsLinks, message.unfurlsMedia, message.isMarkup],
    [false, false, false],
  );
  assert.equal((await voters.vote(asked.approvalId, "ann@example.com")).status, 200);
  await tell(asked);
  await until(() => seenIn(message.blocks).text.includes("ann@example.com approved"));
  assert.equal((await voters.vote(asked.approvalId, "bob@example.com")).status, 200);
  await tell(asked);
  await until(() => seenIn(message.blocks).text.includes("was approved by bob@example.com"));
  assert.deepEqual(labelsOf(message.blocks), []);
  assert.equal(slack.messagesIn(channel.id).length, 1);
});

test("the history tells when a message first arrived, and names no channel that it isn't in", async () => {
  const { ask, groupId, workspaceId } = await furnish();
  const asked = await ask();
  await tell(asked, true);
  await untilState(asked, "sent");
  const before = await messageHistory.list(db, asked);
  assert.equal(before[0]?.to, "#finance");
  const place = { workspaceId, groupId };
  await setGroupSlackChannel(db, { ...place, channel: { id: "C_BOARD", name: "board" } });
  await voters.vote(asked.approvalId, "ann@example.com");
  await until(async () => (await db.query("select from channel_news")).rowCount === 0);
  await dueNow(asked);
  await until(async () => {
    const { rowCount } = await db.query(
      "select from channel_messages where approval_id = $1 and sent_at > arrived_at",
      [asked.approvalId],
    );
    return rowCount === 1;
  });
  assert.deepEqual(await messageHistory.list(db, asked), [{ ...before[0], to: "Finance" }]);
});

test("news that changes nothing to see sends nothing", async () => {
  const { channel, ask } = await furnish();
  const asked = await ask();
  await tell(asked, true);
  await untilState(asked, "sent");
  // The worker may have heard of the request twice: from its creation, and from `tell`.
  const before = (await stateOf(asked))?.wanted ?? 0;
  await tell(asked);
  await until(async () => ((await stateOf(asked))?.wanted ?? 0) > before);
  await untilState(asked, "sent");
  assert.equal(slack.messagesIn(channel.id)[0]?.versions.length, 1);
});

test("a payload that is kept out of Slack, or too large for it, leads to the inbox", async () => {
  const kept = await furnish({ showsPayload: false });
  const open = await furnish();
  const cases = [
    { place: kept, body: {} },
    { place: open, body: { payload: { text: "x".repeat(100_000) } } },
    { place: open, body: { channels: ["mail", "slack_link"] } },
  ];
  for (const { place, body } of cases) {
    const asked = await place.ask(body);
    await tell(asked, true);
    await untilState(asked, "sent");
    const message = slack.messagesIn(place.channel.id).at(-1);
    assert.ok(message);
    const { buttons } = seenIn(message.blocks);
    assert.deepEqual(
      buttons.map(({ label }) => label),
      ["Review"],
    );
    assert.match(buttons[0]?.url ?? "", new RegExp(`/inbox/requests/${asked.approvalId}$`));
    assert.ok(!JSON.stringify(message).includes("xxxx"));
  }
});

test("a person gets a direct message where their account is linked, and nobody else's account is guessed", async () => {
  const { person, app, ask } = await furnishPerson({});
  const ann = slack.addUser({ email: person });
  await inTransaction(db, (tx) =>
    slackAccounts.link(tx, {
      teamId: app.teamId,
      appId: app.id,
      slackUserId: ann.id,
      email: person,
    }),
  );
  const asked = await ask();
  await tell(asked, true);
  await untilState(asked, "sent");
  assert.equal(slack.directMessages(app, ann).length, 1);
  const { approvalId } = await ask({ notify: "other@example.com" });
  await tell({ workspaceId: asked.workspaceId, approvalId }, true);
  await until(async () => (await db.query("select from channel_news")).rowCount === 0);
  assert.deepEqual(await messagesOf(db, approvalId), []);
});

let people = 0;

async function furnishPerson(settings: { matchesEmail?: boolean }) {
  const app = slack.createApp();
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "Acme" });
  await connectTo(slack, { db, workspaceId }, app, settings);
  people += 1;
  const person = `person${people}@example.com`;
  const ask = async (body: object = {}) => {
    const { id: approvalId } = await voters.ask(key, { notify: person, ...body });
    return { workspaceId, approvalId };
  };
  return { app, workspaceId, person, ask };
}

test("where the workspace goes by addresses, only a confirmed address of a full member counts", async () => {
  const reached = async (user: Partial<SlackUser> | null) => {
    const { app, person, ask } = await furnishPerson({ matchesEmail: true });
    const made = user === null ? null : slack.addUser({ email: person.toUpperCase(), ...user });
    const asked = await ask();
    await tell(asked, true);
    const state = await until(async () => {
      const message = await stateOf(asked);
      return message?.state === "due" ? null : message?.state;
    });
    const account = await slackAccounts.findByEmail(db, {
      teamId: app.teamId,
      appId: app.id,
      email: person,
    });
    const messages = made === null ? 0 : slack.directMessages(app, made).length;
    return [state, messages, account?.source ?? null];
  };
  assert.deepEqual(await reached({}), ["sent", 1, "email"]);
  const refused = ["skipped", 0, null];
  assert.deepEqual(await reached(null), refused);
  assert.deepEqual(await reached({ isEmailConfirmed: false }), refused);
  assert.deepEqual(await reached({ isRestricted: true }), refused);
  assert.deepEqual(await reached({ isUltraRestricted: true }), refused);
  assert.deepEqual(await reached({ isDeleted: true }), refused);
  assert.deepEqual(await reached({ isStranger: true }), refused);
});

test("an account that somebody has proven to be theirs is not taken over by an address", async () => {
  const { app, person, ask } = await furnishPerson({ matchesEmail: true });
  const user = slack.addUser({ email: person });
  const owner = {
    teamId: app.teamId,
    appId: app.id,
    slackUserId: user.id,
    email: `owner-of-${person}`,
  };
  await inTransaction(db, (tx) => slackAccounts.link(tx, owner));
  const asked = await ask();
  await tell(asked, true);
  await untilState(asked, "skipped");
  assert.equal(slack.directMessages(app, user).length, 0);
  assert.equal((await slackAccounts.find(db, owner))?.email, owner.email);
});

test("a message that was deleted in Slack fails visibly, and the waiting mail is due at once", async () => {
  const { channel, ask, groupId, workspaceId } = await furnish();
  await db.query("update group_channels set mail_after_minutes = 60 where group_id = $1", [
    groupId,
  ]);
  const asked = await ask({ quorum: 2 });
  await holdMails(asked);
  await tell(asked, true);
  await untilState(asked, "sent");
  const [message] = slack.messagesIn(channel.id);
  assert.ok(message);
  slack.deleteMessage(message);
  await voters.vote(asked.approvalId, "ann@example.com");
  await tell(asked);
  await untilState(asked, "failed");
  assert.equal((await stateOf(asked))?.failure, "message_not_found");
  assert.equal(await waitingMails(asked), 0);
  assert.equal((await slackConnections.find(db, workspaceId))?.brokenAt, null);
});

test("a message whose update failed is drawn again once somebody has pressed its button", async () => {
  const { channel, ask, workspaceId } = await furnish();
  const asked = await ask();
  await tell(asked, true);
  await untilState(asked, "sent");
  await db.query(
    "update channel_messages set state = 'failed', failed_at = now_ms(), failure = 'gone' where approval_id = $1",
    [asked.approvalId],
  );
  await voters.vote(asked.approvalId, "ann@example.com");
  await db.query("delete from channel_news");
  const { rows } = await db.query<{ id: string }>(
    "select id from channel_messages where approval_id = $1",
    [asked.approvalId],
  );
  const { id = "" } = rows[0] ?? {};
  await redrawMessage({ db, onDue: () => worker.worker.wake() }, { workspaceId, id });
  await dueNow(asked);
  await untilState(asked, "sent");
  assert.match(seenIn(slack.messagesIn(channel.id)[0]?.blocks ?? []).text, /was approved by ann/);
});

test("somebody whom another process found in Slack meanwhile is not taken for unknown", async () => {
  const app = slack.createApp();
  const { id: workspaceId } = await makeWorkspace(db, { name: "Acme" });
  const connection = await connectTo(slack, { db, workspaceId }, app, { matchesEmail: true });
  const { teamId, appId } = connection;
  const nobody = { ok: false, error: "users_not_found", retryAfterSeconds: null } as const;
  const people = new SlackPeople(db);
  const find = () => people.find(connection, "zoe@example.com", async () => nobody);
  assert.deepEqual(await find(), { kind: "none", wasKnown: false });
  const zoe = { teamId, appId, slackUserId: "U_ZOE", email: "zoe@example.com" };
  await inTransaction(db, (tx) => slackAccounts.rememberEmail(tx, zoe));
  // Their mail waits for this message from now on, so they are not left without either.
  assert.deepEqual(await find(), { kind: "none", wasKnown: true });
});

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

test("a revoked token breaks the connection, and nothing more is tried through it", async () => {
  const { app, ask, workspaceId } = await furnish();
  slack.revoke(app);
  const first = await ask();
  await tell(first, true);
  await untilState(first, "failed");
  assert.equal((await stateOf(first))?.failure, "token_revoked");
  const connection = await slackConnections.find(db, workspaceId);
  assert.equal(connection?.brokenReason, "token_revoked");
  const calls = slack.calls.length;
  const second = await ask();
  await tell(second, true);
  await until(async () => (await db.query("select from channel_news")).rowCount === 0);
  assert.equal(slack.calls.length, calls);
});

test("a connection that was replaced meanwhile is not broken by the old token's end", async () => {
  const { app, ask, workspaceId, channel } = await furnish();
  const release = Promise.withResolvers<void>();
  slack.plan("chat.postMessage", { error: "token_revoked", until: release.promise });
  const asked = await ask();
  await tell(asked, true);
  await until(() => slack.calls.length > 0 && inFlight(asked));
  await connectTo(slack, { db, workspaceId }, app);
  release.resolve();
  await untilState(asked, "failed");
  assert.equal((await slackConnections.find(db, workspaceId))?.brokenAt, null);
  const next = await ask();
  await tell(next, true);
  await untilState(next, "sent");
  assert.equal(slack.messagesIn(channel.id).length, 1);
});

async function inFlight({ approvalId }: Asked): Promise<boolean> {
  const { rowCount } = await db.query(
    "select from channel_messages where approval_id = $1 and lease_token is not null",
    [approvalId],
  );
  return rowCount === 1;
}

test("another Slack team makes the old message fail, and takes the group's channel away", async () => {
  const { ask, workspaceId, groupId, channel } = await furnish();
  const asked = await ask({ quorum: 2 });
  await tell(asked, true);
  await untilState(asked, "sent");
  const other = slack.createApp({ teamId: "T0002" });
  await connectTo(slack, { db, workspaceId }, other);
  await voters.vote(asked.approvalId, "ann@example.com");
  await tell(asked);
  await untilState(asked, "failed");
  assert.equal((await stateOf(asked))?.failure, "channel_not_found");
  assert.equal(slack.messagesIn(channel.id)[0]?.versions.length, 1);
  const { rows } = await db.query("select slack_channel from group_channels where group_id = $1", [
    groupId,
  ]);
  assert.deepEqual(rows, [{ slack_channel: null }]);
});

test("a channel that the app may not write to fails with Slack's own code", async () => {
  for (const [code, change] of [
    ["not_in_channel", (place: Furnished) => place.channel.members.clear()],
    ["is_archived", (place: Furnished) => Object.assign(place.channel, { isArchived: true })],
    ["channel_not_found", (place: Furnished) => slack.state.channels.delete(place.channel.id)],
  ] as [string, (place: Furnished) => void][]) {
    const place = await furnish();
    change(place);
    const asked = await place.ask();
    await tell(asked, true);
    await untilState(asked, "failed");
    assert.equal((await stateOf(asked))?.failure, code);
  }
});

type Furnished = { app: SlackApp; channel: ReturnType<FakeSlack["addChannel"]> };

test("a rate limit puts a message off for as long as Slack says, and counts as no failure", async () => {
  const { ask, channel } = await furnish();
  slack.plan("chat.postMessage", { retryAfterSeconds: 1, times: 1 });
  const asked = await ask();
  await tell(asked, true);
  await until(async () => ((await stateOf(asked))?.due_in ?? 0) > 0.1);
  assert.deepEqual(await stateOf(asked).then((each) => [each?.attempts, each?.failure]), [0, null]);
  await untilState(asked, "sent");
  assert.equal(slack.messagesIn(channel.id).length, 1);
});

test("Slack that is away is tried again, and a lost answer asks twice rather than never", async () => {
  const { ask, channel } = await furnish();
  slack.plan("chat.postMessage", { breaks: "before" });
  const asked = await ask();
  await tell(asked, true);
  await until(async () => (await stateOf(asked))?.failure === "unreachable");
  assert.equal(slack.messagesIn(channel.id).length, 0);
  slack.plan("chat.postMessage", { breaks: "after" });
  await dueNow(asked);
  await until(() => slack.messagesIn(channel.id).length === 1);
  await until(async () => (await stateOf(asked))?.attempts === 2 && !(await inFlight(asked)));
  await dueNow(asked);
  await untilState(asked, "sent");
  const [first, second] = slack.messagesIn(channel.id);
  assert.ok(first && second);
  assert.deepEqual(seenIn(first.blocks).buttons, seenIn(second.blocks).buttons);
});

async function dueNow({ approvalId }: Asked): Promise<void> {
  await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [
    approvalId,
  ]);
  worker.worker.wake();
}

test("updates never overtake each other: what Slack keeps is the last state, however slow it is", async () => {
  const { ask, channel } = await furnish();
  const asked = await ask({ quorum: 3 });
  await tell(asked, true);
  await untilState(asked, "sent");
  const slow = Promise.withResolvers<void>();
  slack.plan("chat.update", { until: slow.promise });
  const updates = slack.calls.filter(({ method }) => method === "chat.update").length;
  await voters.vote(asked.approvalId, "ann@example.com");
  await tell(asked);
  await until(() => inFlight(asked));
  // The worker may hear of a vote twice: from the vote, and from `tell`.
  const before = (await stateOf(asked))?.wanted ?? 0;
  await voters.vote(asked.approvalId, "bob@example.com");
  await tell(asked);
  await until(async () => ((await stateOf(asked))?.wanted ?? 0) > before);
  assert.equal(slack.calls.filter(({ method }) => method === "chat.update").length, updates);
  slow.resolve();
  await untilState(asked, "sent");
  const versions = slack.messagesIn(channel.id)[0]?.versions ?? [];
  assert.deepEqual(
    versions.map(({ blocks }) => /(\d) of 3 approved/.exec(seenIn(blocks).text)?.[1]),
    ["0", "1", "2"],
  );
});

test("whatever Slack answers about a person, no message is lost and the worker goes on", async () => {
  for (const user of [
    null,
    7,
    { id: 1 },
    { id: "U1", profile: null },
    { id: "U1", profile: { email: 7 } },
  ]) {
    const { ask } = await furnishPerson({ matchesEmail: true });
    slack.plan("users.lookupByEmail", { answer: { ok: true, user } });
    const asked = await ask();
    await tell(asked, true);
    await untilState(asked, "skipped");
  }
});

test("somebody who was removed from the group is told nothing more by their direct message", async () => {
  const app = slack.createApp();
  const {
    id: workspaceId,
    key,
    groupId,
  } = await voters.workspaceWith(["eve@example.com", "bob@example.com"]);
  await connectTo(slack, { db, workspaceId }, app);
  const eve = slack.addUser();
  const account = {
    teamId: app.teamId,
    appId: app.id,
    slackUserId: eve.id,
    email: "eve@example.com",
  };
  await inTransaction(db, (tx) => slackAccounts.link(tx, account));
  const { id: approvalId } = await voters.ask(key);
  const asked = { workspaceId, approvalId };
  await tell(asked, true);
  await untilState(asked, "sent");
  assert.ok(!isRefusal(await removeGroupMember(db, groupId, "eve@example.com")));
  await voters.vote(approvalId, "bob@example.com", { note: "between us" });
  await tell(asked);
  const [message] = slack.directMessages(app, eve);
  await until(() => message?.versions.length === 2);
  assert.equal(seenIn(message?.blocks ?? []).text, "You are no longer asked about this request.");
});

test("a message that is held until its request has ended is never posted", async () => {
  const { ask, channel, key } = await furnish();
  const asked = await ask();
  await tell(asked, true);
  await untilState(asked, "sent");
  const other = await ask();
  await voters.vote(other.approvalId, "ann@example.com");
  await db.query(
    `insert into channel_messages (workspace_id, approval_id, channel, target, group_id)
     select workspace_id, $2, channel, target, group_id from channel_messages where approval_id = $1`,
    [asked.approvalId, other.approvalId],
  );
  worker.worker.wake();
  await untilState(other, "skipped");
  assert.equal(slack.messagesIn(channel.id).length, 1);
  assert.equal((await voters.read(key, other.approvalId)).status, "APPROVED");
});
