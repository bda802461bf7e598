// A worker that is killed at any point of a step leaves all of it or nothing, and the step happens exactly once. The same
// goes for an absence that begins.

import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { runSteps, type StepRun } from "./crashing-steps.ts";
import { startService, testKeyring } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { listBroken } from "./voting-invariants.ts";

const service = await startService();
const { db, database } = service;
const { workspaceWith, ask, mailsOf, beAway, vote } = makeVoters(service);
after(() => service.stop());

const ann = "ann@example.com";
const bob = "bob@example.com";
const cfo = "cfo@example.com";

async function run(work: StepRun["work"], diesAfter?: number): Promise<boolean> {
  const databaseUrl = database.connection.connectionString ?? "";
  const settings = { databaseUrl, keyring: testKeyring, work };
  return runSteps(diesAfter === undefined ? settings : { ...settings, diesAfter });
}

/** Everything that a step or an absence leaves behind, counted. */
async function tracesOf(id: string, { kind, reasons }: { kind: string; reasons: string[] }) {
  const { rows } = await db.query<{ seats: number; events: number; mails: number; links: number }>(
    `select
       (select count(*)::int from seats where approval_id = $1 and reason = any ($3)) as seats,
       (select count(*)::int from events where approval_id = $1 and kind = $2) as events,
       (select count(*)::int from deliveries d join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
        where ev.approval_id = $1 and ev.kind = $2 and d.channel = 'mail') as mails,
       (select count(*)::int from reviewers where approval_id = $1) as links`,
    [id, kind, reasons],
  );
  return rows[0];
}

/** Kills a worker after its first answer, the next one after its second, and so on until one gets through. */
async function dieEverywhere(
  t: TestContext,
  work: StepRun["work"],
  look: () => Promise<void>,
): Promise<void> {
  let deaths = 0;
  while (!(await run(work, deaths + 1))) {
    deaths += 1;
    await look();
  }
  t.diagnostic(`${deaths} deaths`);
  assert.ok(deaths > 10, `only ${deaths} deaths`);
  // Two healthy ones at a time find nothing to do again.
  await Promise.all([run(work), run(work)]);
  await look();
}

test("a step happens once, at whatever point of it workers are killed", async (t) => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  const escalate = [{ afterMinutes: 30, notify: cfo }];
  const { id } = await ask(key, { quorum: 2, escalate });
  await db.query("update steps set due_at = now_ms() where approval_id = $1", [id]);
  const what = { kind: "request.escalated", reasons: ["escalated"] };
  const nothing = { seats: 0, events: 0, mails: 0, links: 2, isDone: false };
  const everything = { seats: 1, events: 1, mails: 1, links: 3, isDone: true };
  const look = async () => {
    const { rows } = await db.query<{ is_done: boolean }>(
      "select done_at is not null as is_done from steps where approval_id = $1",
      [id],
    );
    const isDone = rows[0]?.is_done ?? false;
    assert.deepEqual({ ...(await tracesOf(id, what)), isDone }, isDone ? everything : nothing);
    assert.deepEqual(await listBroken(db, { workspaceId, approvalId: id }), []);
  };
  await dieEverywhere(t, "takeSteps", look);
  assert.deepEqual(await mailsOf(id, "request.escalated"), [cfo]);
  assert.equal((await vote(id, cfo)).json.outcome, null);
  assert.equal((await vote(id, ann)).json.outcome?.status, "APPROVED");
});

test("a delegate is asked once about each request, at whatever point of an absence's beginning workers are killed", async (t) => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  const plain = (await ask(key, { notify: ann })).id;
  const several = (await ask(key, { quorum: 2, then: [{ notify: cfo }], notify: "group:finance" }))
    .id;
  await beAway(workspaceId, ann, bob);
  const what = { kind: "request.reassigned", reasons: ["away"] };
  const look = async () => {
    for (const [id, links] of [
      [plain, 1],
      [several, 2],
    ] as const) {
      const traces = await tracesOf(id, what);
      const isDone = traces?.seats === 1;
      const newLinks = isDone ? 2 : links;
      assert.deepEqual(
        traces,
        isDone
          ? { seats: 1, events: 1, mails: 1, links: newLinks }
          : { seats: 0, events: 0, mails: 0, links: newLinks },
      );
    }
  };
  await dieEverywhere(t, "beginAbsences", look);
  assert.deepEqual(await mailsOf(plain, "request.reassigned"), [bob]);
  assert.deepEqual(await mailsOf(several, "request.reassigned"), [bob]);
  const { rows } = await db.query("select from absences where begun_at is not null");
  assert.equal(rows.length, 1);
  assert.equal((await vote(plain, bob)).json.outcome?.status, "APPROVED");
});
