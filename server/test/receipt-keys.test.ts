// The keys with which receipts and checkpoints are signed: made once, sealed, rotated and revoked, and told in the logs.

import assert from "node:assert/strict";
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { after, test } from "node:test";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { unseal } from "../src/domain/access/sealed-secret.ts";
import { publicJwkOf, type Signer, signingKeyRecordOf } from "../src/domain/proof/signing-key.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  currentSigner,
  listSigningKeys,
  revokeSigningKey,
  rotateSigningKey,
} from "../src/operations/proof/signing-keys.ts";
import { listSecretKeyIds } from "../src/storage/deliveries/endpoints.ts";
import { makeTestDatabase } from "./test-database.ts";
import { assertRefused, environmentOn, jsonOf, runCommand } from "./test-program.ts";
import { makeWorkspace, startService, testKeyring } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const other = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
const { id: workspaceId } = await makeWorkspace(db);

test("racing processes make one key, its halves belong together, and the private one is sealed", async () => {
  const nodes = Array.from({ length: 8 }, () => ({ ...testKeyring }));
  const signers = await Promise.all(nodes.map((keyring) => currentSigner(db, keyring)));
  assert.equal(new Set(signers.map((signer) => signer?.id)).size, 1);
  const words = Buffer.from("pay Ann");
  const signatures = signers.map((signer) => sure(signer).sign(words).toString("hex"));
  assert.equal(new Set(signatures).size, 1);
  const { publicKey, id } = sure(signers[0]);
  const key = createPublicKey({ key: publicJwkOf(publicKey), format: "jwk" });
  assert.ok(verify(null, words, key, Buffer.from(signatures[0] ?? "", "hex")));
  const { rows } = await db.query("select sealed, secret_key_id from signing_keys");
  assert.equal(rows.length, 1);
  assert.equal(rows[0].secret_key_id, testKeyring.current.id);
  const seed = unseal(testKeyring.current, signingKeyRecordOf(id), rows[0].sealed);
  assert.equal(Buffer.from(seed, "base64url").length, 32);
  assert.ok(!rows[0].sealed.includes(seed));
  assert.ok(!rows[0].sealed.includes(Buffer.from(seed, "base64url")));
  assert.deepEqual(await factsOf(id), [{ kind: "signing_key.made", kid: id, x: xOf(publicKey) }]);
});

test("a rotated key stays known, and the next signer is another one at every node", async () => {
  const before = sure(await currentSigner(db, testKeyring));
  const { current, retired } = await rotateSigningKey(db, testKeyring);
  assert.equal(retired?.id, before.id);
  assert.notEqual(current.id, before.id);
  for (const keyring of [testKeyring, { ...testKeyring }]) {
    assert.equal((await currentSigner(db, keyring))?.id, current.id);
  }
  const [newest, older] = await listSigningKeys(db);
  assert.deepEqual([newest?.id, newest?.retiredAt], [current.id, null]);
  assert.equal(older?.id, before.id);
  assert.ok((older?.retiredAt ?? 0) >= (older?.createdAt ?? 1));
  const fact = { kind: "signing_key.rotated", kid: current.id, retired: before.id };
  assert.deepEqual(await factsOf(current.id), [{ ...fact, x: xOf(current.publicKey) }]);
});

test("rotations at once happen one after the other and leave one current key", async () => {
  const rotated = await Promise.all(
    Array.from({ length: 6 }, () => rotateSigningKey(db, testKeyring)),
  );
  const retired = rotated.map((each) => each.retired?.id);
  assert.equal(new Set(retired).size, 6, "each of them retired another key");
  const { rows } = await db.query("select id from signing_keys where retired_at is null");
  assert.deepEqual(rows, [{ id: (await currentSigner(db, testKeyring))?.id }]);
});

test("a revoked current key is replaced in the same step, and can't be revoked twice", async () => {
  const { id } = sure(await currentSigner(db, testKeyring));
  const done = await revokeSigningKey(db, testKeyring, id);
  assert.ok(!isRefusal(done));
  assert.ok(done.revoked.revokedAt);
  assert.equal((await currentSigner(db, testKeyring))?.id, done.current?.id);
  assert.deepEqual(
    (await factsOf(id)).map(({ kind }) => kind),
    ["signing_key.rotated", "signing_key.revoked"],
  );
  const again = await revokeSigningKey(db, testKeyring, id);
  assert.ok(isRefusal(again) && /was revoked at/.test(again.message));
  const unknown = await revokeSigningKey(db, testKeyring, "nobody");
  assert.ok(isRefusal(unknown) && unknown.refusal === "not_found");
});

test("revoking a retired key leaves the current one alone", async () => {
  const before = sure(await currentSigner(db, testKeyring));
  const { current } = await rotateSigningKey(db, testKeyring);
  const done = await revokeSigningKey(db, testKeyring, before.id);
  assert.ok(!isRefusal(done) && done.current === null);
  assert.equal((await currentSigner(db, testKeyring))?.id, current.id);
});

test("a start asks for the key that seals the current signing key", async () => {
  assert.ok((await listSecretKeyIds(db)).includes(testKeyring.current.id));
  await db.query("update signing_keys set secret_key_id = 'aaaaaaaaaaaa' where retired_at is null");
  assert.ok((await listSecretKeyIds(db)).includes("aaaaaaaaaaaa"));
  await db.query("update signing_keys set secret_key_id = $1 where retired_at is null", [
    testKeyring.current.id,
  ]);
});

test("a key that SECRET_KEY lacks signs nothing and stays, until it is given up: then one new key is made", async () => {
  const before = sure(await currentSigner(db, testKeyring));
  assert.equal(await currentSigner(db, other), null);
  assert.equal((await currentSigner(db, testKeyring))?.id, before.id);
  const lost = { ...other, lost: [testKeyring.current.id] };
  const renewed = await Promise.all(Array.from({ length: 4 }, () => currentSigner(db, lost)));
  assert.equal(new Set(renewed.map((signer) => signer?.id)).size, 1);
  assert.notEqual(renewed[0]?.id, before.id);
  const former = (await listSigningKeys(db)).find(({ id }) => id === before.id);
  assert.ok(former?.retiredAt && former.revokedAt === null, "its receipts still verify");
  assert.equal((await currentSigner(db, other))?.id, renewed[0]?.id);
  assert.equal(await currentSigner(db, { ...testKeyring }), null);
});

test("the command rotates, lists and revokes as the service's role, and refuses what it doesn't know", async () => {
  const database = await makeTestDatabase();
  try {
    const environment = environmentOn(database.url);
    const run = (...words: string[]) => runCommand(environment, ["receipt-key", ...words]);
    assert.match((await run("list")).stdout, /No key yet/);
    const { current: first, retired } = jsonOf(await run("rotate", "--json"));
    assert.equal(retired, null);
    assert.match((await run("rotate")).stdout, new RegExp(`${first.id} is retired`));
    assert.match((await run("revoke", first.id)).stdout, /signed anew when they are next read/);
    const listed = jsonOf(await run("list", "--json"));
    assert.equal(listed.length, 2);
    assert.deepEqual([listed[0].retiredAt, listed[0].revokedAt], [null, null]);
    assert.equal(listed[1].id, first.id);
    assert.ok(listed[1].revokedAt !== null);
    assertRefused(await run("revoke", first.id), /was revoked at/);
    assertRefused(await run("revoke", "x"), /there is no receipt key x/);
    const wrong = { ...environment, SECRET_KEY: randomBytes(32).toString("base64") };
    assertRefused(await runCommand(wrong, ["receipt-key", "rotate"]), /SECRET_KEY lacks the key/);
  } finally {
    await database.drop();
  }
});

function sure(signer: Signer | null | undefined): Signer {
  assert.ok(signer);
  return signer;
}

function xOf(publicKey: Buffer): string {
  return publicKey.toString("base64url");
}

/** The log may have taken some of them already, so this service runs none. */
async function factsOf(kid: string): Promise<Record<string, string>[]> {
  const { rows } = await db.query(
    `select detail from log_pending
     where workspace_id = $1 and source = 'd' and subject = $2 order by id`,
    [workspaceId, kid],
  );
  return rows.map(({ detail }) => detail);
}

test("a key that was retired or revoked stays so, whatever the service's connection says", async () => {
  const { rows } = await db.query<{ id: string }>(
    "select id from signing_keys where revoked_at is not null limit 1",
  );
  const [revoked] = rows;
  assert.ok(revoked !== undefined, "a test before has revoked one");
  for (const change of ["revoked_at = null", "retired_at = null, revoked_at = null"]) {
    await assert.rejects(
      db.query(`update signing_keys set ${change} where id = $1`, [revoked.id]),
      /was retired or revoked for good/,
    );
  }
});
