import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { type Database, openDatabase, type Transaction } from "../src/database/database.ts";
import { digestOfApiKey } from "../src/domain/access/api-key.ts";
import { messagesPerWorkspaceMax } from "../src/domain/channels/message-limits.ts";
import {
  callbackLanesMax,
  callbacksPerHostMax,
  callbacksPerWorkspaceMax,
  digestRequestsMax,
  mailsPerWorkspaceMax,
  webhooksPerEndpointMax,
} from "../src/domain/limits.ts";
import { nothingElse } from "../src/domain/shown/submitted-fields.ts";
import { sequenceLog } from "../src/operations/proof/sequence-log.ts";
import { insertMany } from "../src/storage/approvals/approval-creation.ts";
import { expire, listResolvedIds } from "../src/storage/approvals/approval-resolution.ts";
import * as approvals from "../src/storage/approvals/approvals.ts";
import * as redemptions from "../src/storage/approvals/redemptions.ts";
import * as reviews from "../src/storage/approvals/reviews.ts";
import * as channelMessages from "../src/storage/channels/channel-messages.ts";
import * as clickedMessages from "../src/storage/channels/clicked-messages.ts";
import { readAttention } from "../src/storage/deliveries/attention.ts";
import * as dueCallbacks from "../src/storage/deliveries/due-callbacks.ts";
import * as dueMails from "../src/storage/deliveries/due-mails.ts";
import * as dueWebhooks from "../src/storage/deliveries/due-webhooks.ts";
import { readStories } from "../src/storage/deliveries/mail-stories.ts";
import * as unreachable from "../src/storage/deliveries/unreachable.ts";
import * as logPending from "../src/storage/proof/log-pending.ts";
import * as logTrees from "../src/storage/proof/log-trees.ts";
import { sequenceAll } from "./log-audit.ts";
import { rowsLookedAt } from "./rows-looked-at.ts";
import { resolveNow } from "./test-evidence.ts";
import { makeWorkspace, startService, testKeyring } from "./test-service.ts";

// A connection keeps the plan that it made of a statement, perhaps while there was nothing yet, until PostgreSQL looks at
// the tables again: a minute or two later. By then there may be very much, and plans must still look at few rows of it.
// And when PostgreSQL has looked, its figures are of that moment: plans by them must do when all of it is different.

/** A statement is planned for its values five times, and then for all. */
const untilPlanned = 8;
const many = 3_000;
const rowsAtMost = 20;

type Caller = { workspaceId: string; keyDigest: Buffer };

/** What a click in Slack looks up. */
async function pressInSlack(
  tx: Transaction,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
): Promise<void> {
  const { rows } = await tx.query<{ id: string }>({
    name: "test.insertMessage",
    text: `
      insert into channel_messages (workspace_id, approval_id, channel, target, state, sent_at)
      values ($1, $2, 'slack', 'ann@example.com', 'sent', now_ms()) returning id`,
    values: [workspaceId, approvalId],
  });
  const message = { workspaceId, id: rows[0]?.id ?? "" };
  const found = await clickedMessages.find(tx, { id: message.id, workspaceIds: [workspaceId] });
  assert.equal(found?.approvalId, approvalId);
  const reader = { workspaceId, approvalId, email: "ann@example.com" };
  assert.notEqual(await clickedMessages.findReviewerId(tx, reader), null);
  await clickedMessages.wantAgain(tx, message);
}

/** Makes each call that agents and approvers make all day, once. */
async function callAll(tx: Transaction, { workspaceId, keyDigest }: Caller): Promise<void> {
  const tokenDigest = randomBytes(32);
  const idempotency = { key: randomBytes(8).toString("hex"), bodyDigest: randomBytes(32) };
  const row = {
    keyDigest,
    idempotency,
    submitted: { ...nothingElse, summary: "Refund order 1042" },
    approverEmail: "ann@example.com",
    group: null,
    groupIds: null,
    ttlMinutes: 60,
    callbackUrl: null,
    hasSeats: false,
    voting: null,
    reviewers: [{ email: "ann@example.com", tokenNonce: randomBytes(16), tokenDigest }],
  };
  const [created] = await insertMany(tx, [row], "a key");
  assert.equal(created?.kind, "created");
  const { id } = created;
  const { key: idempotencyKey, bodyDigest } = idempotency;
  const known = await approvals.findByIdempotencyKey(tx, {
    keyDigest,
    idempotencyKey,
    bodyDigest,
  });
  assert.equal(known?.id, id);
  const [read] = await approvals.findByKeys(tx, [{ keyDigest, id }]);
  assert.equal(read?.kind, "found");
  assert.notEqual(await approvals.find(tx, workspaceId, id), null);
  assert.notEqual(await reviews.find(tx, { kind: "link", tokenDigest }), null);
  assert.notEqual(await reviews.findLink(tx, { kind: "link", tokenDigest }), null);
  await pressInSlack(tx, { workspaceId, approvalId: id });
  const byEmail = "ann@example.com";
  const resolution = { status: "APPROVED", byEmail, note: null, edit: null } as const;
  assert.notEqual(await resolveNow(tx, { workspaceId, id }, resolution), null);
  const redeeming = await redemptions.insert(tx, { keyDigest, id, idempotencyKey });
  assert.ok(redeeming?.redeemedAt);
  assert.notEqual(await redemptions.find(tx, { workspaceId, id }), null);
  await expire(tx, workspaceId, [id]);
  assert.deepEqual(await listResolvedIds(tx, [{ workspaceId, id }]), [id]);
}

async function addMany(db: Database, { workspaceId }: Caller): Promise<void> {
  await db.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, idempotency_key, body_digest, expires_at)
       select $1, new_id('req_'), 'Refund', 'ann@example.com', gen_random_uuid()::text, sha256(''), now() + '1 hour'
       from generate_series(1, $2)
       returning workspace_id, id
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.created' from approval
       returning workspace_id, id, approval_id
     ), reviewer as (
       insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
       select workspace_id, id, 'ann@example.com', 'a key', sha256(id::bytea), sha256(id::bytea) from approval
       returning workspace_id, id, approval_id
     )
     insert into deliveries (workspace_id, event_id, reviewer_id)
     select workspace_id, event.id, reviewer.id from event join reviewer using (workspace_id, approval_id)`,
    [workspaceId, many],
  );
}

function assertFew(counts: Record<string, number>, atMost: number): void {
  const tooMany = Object.entries(counts).filter(([, rows]) => rows > atMost);
  assert.deepEqual(tooMany, []);
}

for (const beginning of ["with nothing", "with a few, and PostgreSQL has looked at them"]) {
  test(`a plan made ${beginning} looks at few rows when there are many`, async () => {
    const service = await startService();
    const { id: workspaceId, key } = await makeWorkspace(service.db);
    const caller = { workspaceId, keyDigest: digestOfApiKey(key) };
    const pool = openDatabase({
      connection: service.database.connection,
      connectionsMax: 1,
      onIdleFault: () => {},
    });
    const client = await pool.connect();
    try {
      const tx = client as unknown as Transaction;
      for (let call = 0; call < untilPlanned; call += 1) await callAll(tx, caller);
      if (beginning !== "with nothing") {
        await service.db.query("analyze");
        for (let call = 0; call < untilPlanned; call += 1) await callAll(tx, caller);
      }
      await addMany(service.db, caller);
      const { counts } = await rowsLookedAt(client, () => callAll(tx, caller));
      assertFew(counts, rowsAtMost);
      assert.ok((counts.approvals ?? 0) > 0);
    } finally {
      client.release();
      await pool.end();
      await service.stop();
    }
  });
}

test("a claim of mails that was planned with nothing looks at few rows, new ones and a digest alike", async () => {
  const service = await startService();
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const pool = openDatabase({
    connection: service.database.connection,
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  const client = await pool.connect();
  const tx = client as unknown as Transaction;
  const rowsOfClaim = () => rowsLookedAt(client, () => dueMails.claim(tx, 6));
  try {
    for (let call = 0; call < untilPlanned; call += 1) await dueMails.claim(tx, 6);
    await addMany(service.db, { workspaceId, keyDigest: digestOfApiKey(key) });
    const alone = await rowsOfClaim();
    assert.equal(alone.result.mails.length, mailsPerWorkspaceMax);
    assertFew(alone.counts, rowsAtMost);
    await service.db.query("update deliveries set mailbox = 'ann@example.com'");
    const digest = await rowsOfClaim();
    assert.equal(digest.result.mails[0]?.leases.length, digestRequestsMax);
    // Each is looked at when it is claimed, and once more to be told.
    assertFew(digest.counts, 2 * digestRequestsMax + rowsAtMost);
  } finally {
    client.release();
    await pool.end();
    await service.stop();
  }
});

test("what mails tell where several people decide is read by few rows, planned with nothing", async () => {
  const service = await startService();
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const pool = openDatabase({
    connection: service.database.connection,
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  const client = await pool.connect();
  const tx = client as unknown as Transaction;
  const work = async (deliveryId: string) => {
    await readStories(tx, [{ workspaceId, deliveryId, isAlone: true }]);
    const failed = { workspaceId, deliveryIds: [deliveryId], answer: null };
    const ids = await unreachable.lockAsking(tx, failed);
    await unreachable.note(tx, { ...failed, ids });
    await unreachable.clear(tx, { workspaceId, deliveryId });
  };
  try {
    for (let call = 0; call < untilPlanned; call += 1) {
      await work("dlv_none");
      await dueMails.claim(tx, 6);
    }
    await addMany(service.db, { workspaceId, keyDigest: digestOfApiKey(key) });
    await service.db.query("update approvals set has_seats = true");
    await service.db.query(
      `with voting as (
         insert into votings (workspace_id, approval_id, approver_limit)
         select workspace_id, id, 'anybody' from approvals returning workspace_id, approval_id
       ), stage as (
         insert into stages (workspace_id, approval_id, number, notify, required, entered_at)
         select workspace_id, approval_id, 1, 'ann@example.com', 2, now_ms() from voting
       )
       insert into seats (workspace_id, approval_id, stage, person, voter, person_email, reviewer_id, reason)
       select workspace_id, approval_id, 1, 'ann@example.com', 'ann@example.com', 'ann@example.com', id, 'asked'
       from reviewers`,
    );
    const claimed = await rowsLookedAt(client, () => dueMails.claim(tx, 6));
    assert.equal(claimed.result.mails.length, mailsPerWorkspaceMax);
    assertFew(claimed.counts, 2 * rowsAtMost);
    const { rows } = await service.db.query<{ id: string }>(
      "update deliveries set state = 'failed', finished_at = now_ms() returning id",
    );
    const { counts } = await rowsLookedAt(client, () => work(rows[1_500]?.id ?? ""));
    assertFew(counts, rowsAtMost);
    assert.ok((counts.seats ?? 0) > 0 && (counts.votings ?? 0) > 0);
  } finally {
    client.release();
    await pool.end();
    await service.stop();
  }
});

for (const figures of ["nothing", "mails alone", "mails of requests with a callback"]) {
  test(`a claim of callbacks that was planned with figures of ${figures} looks at few rows`, async () => {
    const service = await startService();
    const { id: workspaceId, key } = await makeWorkspace(service.db);
    const pool = openDatabase({
      connection: service.database.connection,
      connectionsMax: 1,
      walksIndexes: true,
      onIdleFault: () => {},
    });
    const client = await pool.connect();
    const tx = client as unknown as Transaction;
    const claim = (standings: dueCallbacks.Standing[] = []) =>
      dueCallbacks.claim(tx, { limit: 256, standings });
    try {
      for (let call = 0; call < untilPlanned; call += 1) await claim();
      await addMany(service.db, { workspaceId, keyDigest: digestOfApiKey(key) });
      if (figures === "mails alone") await service.db.query("analyze");
      await service.db.query("update approvals set callback_url = 'https://workflows.example/'");
      if (figures === "mails of requests with a callback") await service.db.query("analyze");
      await service.db.query(
        "update deliveries set channel = 'callback', reviewer_id = null, recipient = 'workflows.example'",
      );
      const { result, counts } = await rowsLookedAt(client, () => claim());
      assert.equal(result.callbacks.length, callbacksPerHostMax);
      // Each is looked at in its lane, when it is claimed, and with its request twice.
      assertFew(counts, 4 * callbacksPerHostMax + rowsAtMost);
      // A host of its own for each.
      await service.db.query("update deliveries set recipient = id || '.example'");
      const crowd = await rowsLookedAt(client, () => claim());
      assert.equal(crowd.result.callbacks.length, callbacksPerWorkspaceMax);
      assert.equal(crowd.result.looks.length, 1);
      // Each lane is found by its first row, and its window looks at that row once more.
      assertFew(crowd.counts, 2 * callbackLanesMax + 4 * callbacksPerWorkspaceMax + rowsAtMost);
      const full = [{ workspaceId, underWay: callbacksPerWorkspaceMax, after: null }];
      const passedOver = await rowsLookedAt(client, () => claim(full));
      assert.equal(passedOver.result.callbacks.length, 0);
      assertFew(passedOver.counts, rowsAtMost);
    } finally {
      client.release();
      await pool.end();
      await service.stop();
    }
  });
}

test("a claim of messages that was planned with nothing looks at few rows", async () => {
  const service = await startService();
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const pool = openDatabase({
    connection: service.database.connection,
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  const client = await pool.connect();
  const tx = client as unknown as Transaction;
  const claim = () => channelMessages.claim(tx, "slack", 64);
  try {
    for (let call = 0; call < untilPlanned; call += 1) {
      await claim();
      await channelMessages.findWork(client);
    }
    await addMany(service.db, { workspaceId, keyDigest: digestOfApiKey(key) });
    await service.db.query(
      `insert into channel_messages (workspace_id, approval_id, channel, target, state, sent_at)
       select workspace_id, id, 'slack', 'grp_1', case when row_number() over (order by id) % 2 = 0 then 'due'
         else 'sent' end, now_ms() from approvals`,
    );
    const { result, counts } = await rowsLookedAt(client, claim);
    assert.equal(result.length, messagesPerWorkspaceMax);
    assertFew(counts, 4 * messagesPerWorkspaceMax + rowsAtMost);
    const work = await rowsLookedAt(client, () => channelMessages.findWork(client));
    assert.deepEqual(work.result, { hasNews: false, channels: ["slack"] });
    assertFew(work.counts, rowsAtMost);
  } finally {
    client.release();
    await pool.end();
    await service.stop();
  }
});

test("claims that were planned with nothing count the crashes of what they take over, and look at nothing else", async () => {
  const service = await startService();
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const pool = openDatabase({
    connection: service.database.connection,
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  const client = await pool.connect();
  const tx = client as unknown as Transaction;
  const claims = {
    webhooks: async () => {
      const room = { limit: 512, quickEndpointIds: [] };
      return (await dueWebhooks.claim(tx, room)).postponedMs.length;
    },
    mails: async () => (await dueMails.claim(tx, 6)).waitMs.length,
  };
  try {
    for (let call = 0; call < untilPlanned; call += 1) {
      await claims.webhooks();
      await claims.mails();
    }
    await addMany(service.db, { workspaceId, keyDigest: digestOfApiKey(key) });
    await addCrashedWebhooks(service.db, workspaceId);
    for (const [name, taken] of [
      ["webhooks", webhooksPerEndpointMax],
      ["mails", mailsPerWorkspaceMax],
    ] as const) {
      const { result, counts } = await rowsLookedAt(client, claims[name]);
      assert.equal(result, taken);
      // Each has two attempts, which are looked at to find the last that ended by itself, to be counted, and to be closed.
      assertFew(counts, 6 * taken + rowsAtMost);
      assert.ok((counts.attempts ?? 0) >= 2 * taken);
    }
  } finally {
    client.release();
    await pool.end();
    await service.stop();
  }
});

test("skipping what is due to a disabled endpoint, planned with nothing, looks at the rows it skips, not at all attempts", async () => {
  const service = await startService();
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const pool = openDatabase({
    connection: service.database.connection,
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  const client = await pool.connect();
  const skip = () => dueWebhooks.skipDueToDisabled(client as unknown as Transaction, 50);
  try {
    for (let call = 0; call < untilPlanned; call += 1) assert.equal(await skip(), 0);
    await addMany(service.db, { workspaceId, keyDigest: digestOfApiKey(key) });
    await addCrashedWebhooks(service.db, workspaceId);
    await service.db.query(
      "update endpoints set disabled_at = now_ms(), disabled_reason = 'it is gone'",
    );
    // A crash cut short some at most: what is under way to an endpoint is bounded.
    await service.db.query(
      `update deliveries set lease_token = null, leased_until = null
       where id <> all (array(select id from deliveries where endpoint_id is not null order by due_at, id limit 10))`,
    );
    await service.db.query("vacuum deliveries");
    const { result, counts } = await rowsLookedAt(client, skip);
    assert.equal(result, 50);
    // Each is found, locked and changed, with what its foreign keys and indexes ask for.
    assertFew(counts, 4 * 50);
    assert.ok((counts.attempts ?? 0) <= 4 * 10, `${counts.attempts} attempts`);
  } finally {
    client.release();
    await pool.end();
    await service.stop();
  }
});

for (const figures of ["nothing", "many that are pending"]) {
  test(`what needs attention, planned with figures of ${figures}, is read at few rows when there is much that is well`, async () => {
    const service = await startService();
    const { id: workspaceId, key } = await makeWorkspace(service.db);
    const pool = openDatabase({
      connection: service.database.connection,
      connectionsMax: 1,
      onIdleFault: () => {},
    });
    const client = await pool.connect();
    try {
      for (let call = 0; call < untilPlanned; call += 1) await readAttention(client, workspaceId);
      await addMany(service.db, { workspaceId, keyDigest: digestOfApiKey(key) });
      if (figures === "many that are pending") await service.db.query("analyze");
      await service.db.query(
        "update approvals set status = 'EXPIRED', resolved_at = expires_at where workspace_id = $1",
        [workspaceId],
      );
      await service.db.query("update deliveries set state = 'delivered', finished_at = now_ms()");
      await service.db.query("vacuum");
      const { result, counts } = await rowsLookedAt(client, () =>
        readAttention(client, workspaceId),
      );
      const { failedMails, failedCallbacks, expiring } = result;
      assert.deepEqual([failedMails, failedCallbacks, expiring.count], [[], [], 0]);
      assertFew(counts, rowsAtMost);
    } finally {
      client.release();
      await pool.end();
      await service.stop();
    }
  });
}

/** Adds a webhook beside each mail. Crashes have cut short two attempts of each delivery, the last one just now. */
async function addCrashedWebhooks(db: Database, workspaceId: string): Promise<void> {
  await db.query(
    `with endpoint as (
       insert into endpoints (workspace_id, url) values ($1, 'https://example.com/hook') returning id
     )
     insert into deliveries (workspace_id, event_id, endpoint_id)
     select ev.workspace_id, ev.id, endpoint.id from events ev, endpoint`,
    [workspaceId],
  );
  await db.query(
    `with crashed as (
       update deliveries
       set attempts = 2, attempts_before = 1, lease_token = gen_random_uuid(), leased_until = now() - interval '1 second'
       returning workspace_id, id
     )
     insert into attempts (workspace_id, delivery_id, number, finished_at, outcome)
     select workspace_id, id, number, case number when 1 then now_ms() end, case number when 1 then 'interrupted' end
     from crashed, generate_series(1, 2) as number`,
  );
}

test("a log that was planned with nothing is grown and read by few rows, however much waits and is there", async () => {
  const service = await startService();
  const { id: workspaceId } = await makeWorkspace(service.db);
  const other = await makeWorkspace(service.db);
  const pool = openDatabase({
    ...{ connection: service.database.serviceConnection, connectionsMax: 1, walksIndexes: true },
    onIdleFault: () => {},
  });
  const client = await pool.connect();
  // One connection, whose transaction is ours: the sequencer's own begin and commit do nothing.
  const asked = client.query.bind(client) as (...query: unknown[]) => Promise<unknown>;
  const within = {
    query: (...query: unknown[]) =>
      query[0] === "begin" || query[0] === "commit" ? null : asked(...query),
    release: () => {},
    requireReplicated: () => {},
  };
  const db = { query: asked, connect: async () => within } as unknown as Database;
  const add = (count: number, to: string) =>
    service.db.query(
      `insert into log_pending (workspace_id, source, subject, detail)
       select $1, 'd', 'fact_' || n, '{"kind":"test.fact"}' from generate_series(1, $2::int) as n`,
      [to, count],
    );
  const grow = async () => {
    assert.ok((await logPending.listOwners(db, { after: "", limit: 10 })).length > 0);
    const grown = await sequenceLog(
      { db, keyring: testKeyring, origin: { publicUrl: "https://a.example" } },
      workspaceId,
      5,
    );
    assert.equal(grown?.count, 5);
    await logTrees.listToMend(db, await logTrees.readHome(db));
  };
  try {
    for (let call = 0; call < untilPlanned; call += 1) {
      await add(5, workspaceId);
      await grow();
    }
    await sequenceAll(service.db);
    await add(many, workspaceId);
    await sequenceAll(service.db);
    await add(many, workspaceId);
    await add(many, other.id);
    const { counts } = await rowsLookedAt(client, grow);
    const { log_entries: hashes = 0, log_nodes: nodes = 0, ...rest } = counts;
    // The last tile of each level is read to go on from there.
    assert.ok(hashes + nodes < 2 * 256, `${hashes} hashes and ${nodes} nodes`);
    assertFew(rest, 40);
  } finally {
    client.release();
    await pool.end();
    await service.stop();
  }
});
