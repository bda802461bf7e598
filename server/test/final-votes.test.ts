// What was decided stays decided by whom it was: PostgreSQL takes no vote, evidence, stage or text behind an outcome, and
// leads no request around its votes, whoever writes it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sequenceAll } from "./log-audit.ts";
import { readText } from "./test-receipt-proof.ts";
import { minimalBody, startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db, servicePool } = service;
const { workspaceWith, ask, vote, read } = makeVoters(service);
after(() => service.stop());

const [ann, bob, cy, cfo] = ["ann", "bob", "cy", "cfo"].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
  string,
];
const integrity = (error: { code?: string }) => error.code === "23000";

/** As somebody with the service's connection would. */
const write = (sql: string, values: unknown[] = []) => servicePool.query(sql, values);
const refuses = (sql: string, values: unknown[] = []) =>
  assert.rejects(write(sql, values), integrity, sql);

const evidenceSql = (revision: number) => `
  insert into evidence (workspace_id, approval_id, revision, voter, email, verdict, voted_at, shown_version,
    shown_digest, amr)
  select workspace_id, id, ${revision}, '${cfo}', '${cfo}', 'approve', now_ms(), 2, sha256('x'), '{session}'
  from approvals where id = $1`;
const seatSql = `
  insert into seats (workspace_id, approval_id, stage, person, voter, person_email, reviewer_id, reason)
  select a.workspace_id, a.id, 1, '${cfo}', '${cfo}', '${cfo}', r.id, 'asked'
  from approvals a join reviewers r on r.workspace_id = a.workspace_id and r.approval_id = a.id
  where a.id = $1 limit 1`;
const voteSql = (revision: number) => `
  insert into votes (workspace_id, approval_id, revision, stage, person, voter, voter_email, verdict, via, created_at)
  select workspace_id, id, ${revision}, 1, '${cfo}', '${cfo}', '${cfo}', 'approve', 'inbox', now_ms()
  from approvals where id = $1`;
const votingSql = `
  insert into votings (workspace_id, approval_id, approver_limit)
  select workspace_id, id, 'anybody' from approvals where id = $1`;
const stageSql = (number: number) => `
  insert into stages (workspace_id, approval_id, number, notify, required)
  select workspace_id, id, ${number}, '${cfo}', 1 from approvals where id = $1`;
const toldSql = (kind: string) => `
  insert into events (workspace_id, approval_id, kind, detail)
  select workspace_id, id, '${kind}', jsonb_build_object('byEmail', '${cfo}', 'stage', 1) from approvals where id = $1`;

async function signersOf(key: string, id: string): Promise<string[]> {
  const { text } = await readText(service, `/v1/requests/${id}/receipt`, key);
  const claims = JSON.parse(Buffer.from(text.split(".")[1] ?? "", "base64url").toString());
  return claims.by.map(({ email }: { email: string }) => email);
}

test("nobody joins those who decided, and the receipt has them alone", async () => {
  const { key } = await workspaceWith();
  const { id } = await ask(key, { quorum: 2 });
  await vote(id, ann);
  assert.equal((await vote(id, bob)).json.outcome?.status, "APPROVED");
  await write(seatSql, [id]).catch(() => {});
  await refuses(voteSql(1), [id]);
  await refuses(evidenceSql(1), [id]);
  await refuses(stageSql(2), [id]);
  await refuses("update votings set later_owners = $2 where approval_id = $1", [id, [ann]]);
  await refuses("update votings set revision = 2 where approval_id = $1", [id]);
  await refuses(
    `insert into revisions (workspace_id, approval_id, number, payload, by_email, created_at)
     select workspace_id, id, 2, '{}', '${cfo}', now_ms() from approvals where id = $1`,
    [id],
  );
  for (const kind of ["vote_recorded", "changed", "stage_entered", "escalated", "reassigned"]) {
    await refuses(toldSql(`request.${kind}`), [id]);
  }
  assert.deepEqual(await signersOf(key, id), [ann, bob]);
});

test("a request that one person decided never becomes one of several", async () => {
  const { key } = await workspaceWith();
  for (const verdict of ["approve", "reject"] as const) {
    const { id } = await ask(key, minimalBody);
    assert.equal((await vote(id, minimalBody.notify, { verdict })).status, 200);
    await refuses(votingSql, [id]);
    await refuses(evidenceSql(1), [id]);
    await refuses(toldSql("request.vote_recorded"), [id]);
    assert.deepEqual(await signersOf(key, id), [minimalBody.notify]);
  }
});

test("evidence comes with the vote that it is about, and never ahead of it", async () => {
  const { key } = await workspaceWith();
  const plain = await ask(key, minimalBody);
  const ofSeveral = await ask(key, { quorum: 2 });
  for (const { id } of [plain, ofSeveral]) await refuses(evidenceSql(1), [id]);
  await vote(plain.id, minimalBody.notify);
  await sequenceAll(db);
  const { rows } = await db.query<{ fact: string }>(
    'select fact from log_openings where approval_id = $1 and fact like \'{"kind":"request.approved%\'',
    [plain.id],
  );
  const { votes } = JSON.parse(rows[0]?.fact ?? "{}");
  assert.deepEqual(
    votes.map(({ email }: { email: string }) => email),
    [minimalBody.notify],
  );
});

test("no request is led around the people whose votes it needs", async () => {
  const { key } = await workspaceWith();
  const { id } = await ask(key, { quorum: 2, then: [{ notify: cfo }] });
  const decided =
    "status = 'APPROVED', resolved_at = now_ms(), resolved_by_email = 'eve@example.com'";
  await refuses(`update approvals set has_seats = false, ${decided} where id = $1`, [id]);
  await refuses("update approvals set has_seats = false where id = $1", [id]);
  await refuses(`update approvals set ${decided} where id = $1`, [id]);
  assert.equal((await read(key, id)).status, "PENDING");
});

test("votes count for the text they were about, and who was left out stays left out", async () => {
  const { key } = await workspaceWith();
  const { id } = await ask(key, { quorum: 2 });
  await vote(id, ann);
  await vote(id, bob, { edit: '{"amount":9}' });
  await refuses("update votings set revision = 1 where approval_id = $1", [id]);
  await write("update votings set later_owners = '{eve@example.com}' where approval_id = $1", [id]);
  await refuses("update votings set later_owners = '{}' where approval_id = $1", [id]);
  assert.equal((await vote(id, cy)).json.outcome?.status, "APPROVED");
  assert.deepEqual((await read(key, id)).effectivePayload, { amount: 9 });
});
