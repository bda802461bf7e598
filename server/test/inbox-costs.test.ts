// The statements of the inbox look at the person's own few rows, however many others have, also by plans that were made
// while there was nothing. Somebody with very many places still gets a list.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { openDatabase, type Queryable, type Transaction } from "../src/database/database.ts";
import {
  inboxLookedAtMax,
  inboxPastMax,
  inboxWaitingMax,
} from "../src/domain/channels/inbox-limits.ts";
import * as inbox from "../src/storage/approvals/inbox.ts";
import { findChanges, readSeen } from "../src/storage/approvals/inbox-changes.ts";
import * as reviews from "../src/storage/approvals/reviews.ts";
import * as people from "../src/storage/people/people.ts";
import * as sessions from "../src/storage/people/sessions.ts";
import { rowsLookedAt } from "./rows-looked-at.ts";
import { signIn } from "./test-dashboard.ts";
import { callInbox } from "./test-inbox.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const untilPlanned = 8;
const eve = "eve@example.com";
const ann = "ann@example.com";

/** Requests that ask one person; every second one is over. */
async function addMany(workspaceId: string, email: string, count: number): Promise<void> {
  await db.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, expires_at, status, resolved_at)
       select $1, new_id('req_'), 'Refund', $2, now() + interval '1 hour',
         case each % 2 when 0 then 'PENDING' else 'CANCELLED' end, case each % 2 when 1 then now_ms() end
       from generate_series(1, $3) as each
       returning workspace_id, id
     )
     insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
     select workspace_id, id, $2, 'a key', sha256(id::bytea), sha256(id::bytea) from approval`,
    [workspaceId, email, count],
  );
}

/** Everything that an open inbox asks, once. */
async function askAll(tx: Queryable, digest: Buffer): Promise<void> {
  await sessions.findVisitor(tx, digest, null);
  await people.findKnown(tx, eve);
  const { waiting } = await inbox.listWaiting(tx, eve);
  await inbox.listPast(tx, eve, null);
  const [place] = waiting;
  const { approvalId = "", reviewerId = "" } = place ?? {};
  await inbox.findPlace(tx, eve, approvalId);
  await inbox.listAgents(tx, eve, [reviewerId]);
  await reviews.findLink(tx, { kind: "person", reviewerId, email: eve, via: "inbox" });
  const seen = await readSeen(tx, [eve]);
  assert.equal(seen[0]?.open.size, waiting.length);
  const { emails } = await findChanges(tx, seen, []);
  assert.equal(emails.size, 0);
}

for (const beginning of ["with nothing", "with a few, and PostgreSQL has looked at them"]) {
  test(`the inbox's statements, planned ${beginning}, look at few rows when others have many`, async () => {
    const { id: workspaceId } = await makeWorkspace(db);
    await db.query("truncate approvals, reviewers cascade");
    const pool = openDatabase({
      connection: service.database.connection,
      connectionsMax: 1,
      onIdleFault: () => {},
    });
    const client = await pool.connect();
    const digest = randomBytes(32);
    try {
      if (beginning !== "with nothing") {
        await addMany(workspaceId, eve, 6);
        await db.query("analyze");
      }
      for (let call = 0; call < untilPlanned; call += 1) await askAll(client, digest);
      if (beginning === "with nothing") await addMany(workspaceId, eve, 6);
      await addMany(workspaceId, ann, 4_000);
      const { counts } = await rowsLookedAt(client, () =>
        askAll(client as unknown as Transaction, digest),
      );
      const tooMany = Object.entries(counts).filter(([, rows]) => rows > 100);
      assert.deepEqual(tooMany, []);
      assert.ok((counts.approvals ?? 0) > 0 && (counts.reviewers ?? 0) > 0);
    } finally {
      client.release();
      await pool.end();
    }
  });
}

test("somebody with more places than are looked at gets a list, is told of more, and a page of the past", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const email = "many@example.com";
  await addMany(workspaceId, email, inboxLookedAtMax + 100);
  const body = { ...minimalBody, notify: email };
  await service.call("POST", "/v1/requests", { key, body: { ...body, ttlMinutes: 5 } });
  const cookie = await signIn(service, email);
  const { status, json } = await callInbox(service, "GET /list", { cookie });
  assert.deepEqual([status, json.waiting.length, json.isMore], [200, inboxWaitingMax, true]);
  assert.equal(json.waiting[0].summary, body.summary);
  const past = await callInbox(service, "GET /past", { cookie });
  assert.equal(past.json.past.length, inboxPastMax);
  const next = await callInbox(service, `GET /past?before=${past.json.next}`, { cookie });
  const ids = [...past.json.past, ...next.json.past].map(({ id }: { id: string }) => id);
  assert.deepEqual([...ids].sort().reverse(), ids);
  assert.equal(new Set(ids).size, 2 * inboxPastMax);
});
