// Keys by which receipts are believed are told in the logs, also where the service's connection adds them without it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { makeMember } from "./test-dashboard.ts";
import { makeWorkspace, startService, testKeyring } from "./test-service.ts";

const service = await startService();
const { db, servicePool } = service;
after(() => service.stop());

async function toldIn(workspaceId: string, prefix: string): Promise<Record<string, string>[]> {
  const { rows } = await db.query<{ detail: Record<string, string> }>(
    `select detail from log_pending
     where workspace_id = $1 and source = 'd' and detail->>'kind' like $2 || '%' order by id`,
    [workspaceId, prefix],
  );
  return rows.map(({ detail }) => detail);
}

test("a passkey that was slipped in and out again is in the log, and none becomes another", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const { id: other } = await makeWorkspace(db);
  const email = "ann@untold.example";
  await makeMember(db, { workspaceId, email, role: "viewer" });
  await db.query("insert into people (email) values ($1) on conflict do nothing", [email]);
  const { rows } = await servicePool.query(
    `insert into passkeys (person_id, name, credential_id, public_key, counter)
     select id, 'Phone', 'cred', decode(repeat('fbff', 60), 'hex'), 0 from people where email = $1 returning id`,
    [email],
  );
  const [{ id }] = rows;
  await servicePool.query("update passkeys set counter = 1 where id = $1", [id]);
  await assert.rejects(
    servicePool.query("update passkeys set public_key = sha256('x') where id = $1", [id]),
    /never becomes another/,
  );
  await servicePool.query("delete from passkeys where id = $1", [id]);
  const publicKey = Buffer.from("fbff".repeat(60), "hex").toString("base64url");
  const fact = { email, credentialId: "cred", publicKey, name: "Phone" };
  assert.deepEqual(await toldIn(workspaceId, "passkey"), [
    { kind: "passkey.added", ...fact },
    { kind: "passkey.removed", ...fact },
  ]);
  assert.deepEqual(await toldIn(other, "passkey"), []);
});

test("a person never becomes another, because their passkeys would", async () => {
  const { rows } = await servicePool.query(
    "insert into people (email) values ('eve@untold.example') returning id",
  );
  const [{ id }] = rows;
  for (const change of ["email = 'bob@untold.example'", "id = id || 'x'"]) {
    await assert.rejects(
      servicePool.query(`update people set ${change} where id = $1`, [id]),
      /never becomes another|permission denied/,
    );
  }
  await assert.rejects(
    db.query("update people set email = 'bob@untold.example' where id = $1", [id]),
    /never becomes another/,
  );
});

test("a signing key that was slipped in is in each log, and so is its revoking", async () => {
  const current = await currentSigner(db, testKeyring);
  const { id: workspaceId } = await makeWorkspace(db);
  await servicePool.query(
    `insert into signing_keys (id, public_key, secret_key_id, sealed, retired_at)
     values ('slipped', sha256('x'), 'k', '', now_ms())`,
  );
  await servicePool.query("update signing_keys set revoked_at = now_ms() where id = 'slipped'");
  const [added, revoked, ...more] = await toldIn(workspaceId, "signing_key");
  assert.deepEqual(
    [added?.kind, added?.kid, added?.retired],
    ["signing_key.rotated", "slipped", current?.id],
  );
  assert.deepEqual([revoked?.kind, revoked?.kid, more], ["signing_key.revoked", "slipped", []]);
});
