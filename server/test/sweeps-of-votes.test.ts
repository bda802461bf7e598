// A sweep takes the steps, absences and checks of many requests: a few at a time, each once, and none is kept from its turn
// by another that fails.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { stepBatch } from "../src/domain/approval/voting-limits.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { beginAbsences } from "../src/operations/votings/begin-absences.ts";
import { SweepFaults } from "../src/worker/sweep-faults.ts";
import { Sweeper } from "../src/worker/sweeper.ts";
import { startService, testKeyring } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db } = service;
const parts = { db, keyring: testKeyring };
after(() => service.stop());
const { workspaceWith, ask, mailsOf, sweep, beAway } = makeVoters(service);

const [ann, bob, cy, dee] = ["ann", "bob", "cy", "dee"].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
  string,
];

/** From now on nothing of this request can be written by a sweep. Answers how to mend it. */
async function breakRequest(id: string): Promise<() => Promise<unknown>> {
  const name = `broken_${id}`;
  await db.query(
    `create function ${name}() returns trigger language plpgsql as $$
     begin raise exception 'broken: %', '${id}'; end; $$`,
  );
  const tables = ["steps", "seats", "votings"];
  for (const table of tables) {
    await db.query(
      `create trigger ${name} before insert or update on ${table} for each row
       when (new.approval_id = '${id}') execute function ${name}()`,
    );
  }
  return () => db.query(`drop function ${name} cascade`);
}

test("a request that fails keeps no other from its step, check or delegate, and is told once", async () => {
  const { key, id: workspaceId, groupId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [cy, dee] });
  const body = { quorum: 2, escalate: [{ afterMinutes: 30, notify: cy }] };
  const broken = await ask(key, body);
  const fine = await ask(key, body);
  await db.query("update steps set due_at = now_ms() where workspace_id = $1", [workspaceId]);
  const mend = await breakRequest(broken.id);
  await beAway(workspaceId, ann, dee);
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => faults.push(fault);
  const sweeper = new Sweeper({ db, keyring: testKeyring, onDue: () => {}, onFault });
  sweeper.sweep();
  await sweeper.stop();
  assert.equal(faults.length, 1, String(faults));
  assert.match(String(faults[0]), new RegExp(`broken: ${broken.id}`));
  assert.deepEqual(await mailsOf(fine.id, "request.escalated"), [cy]);
  assert.deepEqual(await mailsOf(fine.id, "request.reassigned"), [dee]);
  await removeGroupMember(db, groupId, bob);
  await mend();
  await sweep();
  assert.deepEqual(await mailsOf(broken.id, "request.escalated"), [cy]);
  assert.deepEqual(await mailsOf(broken.id, "request.reassigned"), [dee], "later than the others");
});

test("a delegate is asked about everything that is open, a few requests at a time", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [dee] });
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) ids.push((await ask(key, { quorum: 2 })).id);
  await beAway(workspaceId, ann, dee);
  const asked = async () =>
    (await Promise.all(ids.map((id) => mailsOf(id, "request.reassigned")))).flat().length;
  const counts: number[] = [];
  while ((await beginAbsences(parts, 3)) > 0) counts.push(await asked());
  assert.deepEqual(counts, [3, 6, 7]);
  assert.ok(stepBatch <= 100, "what expires waits for no more than this");
});

async function hasBegun(workspaceId: string): Promise<boolean> {
  const { rows } = await db.query(
    "select from absences where workspace_id = $1 and begun_at is not null",
    [workspaceId],
  );
  return rows.length === 1;
}

test("an absence whose requests all go well has begun, whatever else failed lately", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [dee] });
  const { id } = await ask(key, { quorum: 2 });
  await beAway(workspaceId, ann, dee);
  const faults = new SweepFaults(() => {});
  faults.note("somewhere else", new Error("it passed"));
  await beginAbsences(parts, 10, faults);
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [dee]);
  assert.ok(await hasBegun(workspaceId));
});

test("a request on which one worker failed gets its delegate from another, and the rest don't wait", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [dee] });
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await ask(key, { quorum: 2 })).id);
  const asked = () => Promise.all(ids.map((id) => mailsOf(id, "request.reassigned")));
  const mend = await breakRequest(ids[1] ?? "");
  await beAway(workspaceId, ann, dee);
  const faults = new SweepFaults(() => {});
  while ((await beginAbsences(parts, 1, faults)) > 0);
  assert.deepEqual(await asked(), [[dee], [], [dee]]);
  assert.ok(!(await hasBegun(workspaceId)));
  await mend();
  // It knows nothing of what failed.
  const others = new SweepFaults(assert.ifError);
  while ((await beginAbsences(parts, 1, others)) > 0);
  assert.deepEqual(await asked(), [[dee], [dee], [dee]]);
  assert.ok(await hasBegun(workspaceId));
});

test("a request that one worker has just failed on isn't left out by another that goes on", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [dee] });
  const { id } = await ask(key, { quorum: 2 });
  await ask(key, { quorum: 2 });
  const mend = await breakRequest(id);
  await beAway(workspaceId, ann, dee);
  await beginAbsences(parts, 1, new SweepFaults(() => {}));
  await mend();
  const others = new SweepFaults(assert.ifError);
  while ((await beginAbsences(parts, 1, others)) > 0);
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [dee]);
  assert.ok(await hasBegun(workspaceId));
});

test("a delegate of several places in one request is mailed once", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [dee] });
  const { id } = await ask(key, { quorum: 2 });
  await beAway(workspaceId, bob, ann);
  await sweep();
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [ann]);
  await beAway(workspaceId, ann, dee);
  await sweep();
  assert.deepEqual(await mailsOf(id, "request.reassigned"), [ann, dee]);
});
