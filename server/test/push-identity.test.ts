// The key pair of push messages: made once, sealed, and never replaced unless its key is given up.

import assert from "node:assert/strict";
import { createPublicKey, randomBytes, sign, verify } from "node:crypto";
import { after, test } from "node:test";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { publicJwkOf } from "../src/domain/channels/vapid.ts";
import { openPushIdentity, pushPublicKey } from "../src/operations/channels/push-identity.ts";
import { listSecretKeyIds } from "../src/storage/deliveries/endpoints.ts";
import { makeWorkspace, startService, testKeyring } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

const other = parseKeyring(randomBytes(32).toString("base64")) as Keyring;

test("racing processes make one key pair, and its halves belong together", async () => {
  const keys = await Promise.all(Array.from({ length: 8 }, () => pushPublicKey(db, testKeyring)));
  assert.equal(new Set(keys).size, 1);
  const sender = await openPushIdentity(db, testKeyring);
  assert.ok(sender);
  assert.equal(sender.publicKey.toString("base64url"), keys[0]);
  const words = Buffer.from("who is it");
  const publicKey = createPublicKey({ key: publicJwkOf(sender.publicKey), format: "jwk" });
  assert.ok(verify("sha256", words, publicKey, sign("sha256", words, sender.privateKey)));
  const { rows } = await db.query("select sealed from push_identity");
  assert.ok(!rows[0].sealed.includes(sender.privateKey.export({ format: "jwk" }).d ?? "?"));
});

test("a start asks for the key of the pair and of channels' secrets", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  await db.query("update push_identity set secret_key_id = 'aaaaaaaaaaaa'");
  await db.query(
    `insert into slack_connections
       (workspace_id, team_id, team_name, app_id, bot_user_id, mode, secret_key_id, sealed_bot_token, sealed_app_token)
     values ($1, 'T1', 'Team', 'A1', 'U1', 'socket', 'bbbbbbbbbbbb', '', '')`,
    [workspaceId],
  );
  await db.query(
    "insert into groups (workspace_id, id, key, name) values ($1, 'grp_1', 'g', 'G')",
    [workspaceId],
  );
  await db.query(
    `insert into group_channels (workspace_id, group_id, teams_host, teams_secret_key_id, teams_sealed)
     values ($1, 'grp_1', 'teams.example', 'cccccccccccc', '')`,
    [workspaceId],
  );
  const ids = await listSecretKeyIds(db);
  for (const id of ["aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"]) assert.ok(ids.includes(id));
  await db.query("update push_identity set secret_key_id = $1", [testKeyring.current.id]);
});

test("a pair whose key is missing stays, and is replaced only once the key is given up", async () => {
  const before = await pushPublicKey(db, testKeyring);
  await subscribe("ann@example.com");
  assert.equal(await openPushIdentity(db, other), null);
  assert.equal(await pushPublicKey(db, other), before, "browsers may still subscribe to it");
  const lost = { ...other, lost: [testKeyring.current.id] };
  const renewed = await Promise.all([pushPublicKey(db, lost), pushPublicKey(db, lost)]);
  assert.equal(new Set(renewed).size, 1);
  assert.notEqual(renewed[0], before);
  assert.ok(await openPushIdentity(db, other));
  const { rows } = await db.query("select from push_subscriptions");
  assert.equal(rows.length, 0, "nobody can send to those any more");
});

async function subscribe(email: string): Promise<void> {
  await db.query(
    `with person as (insert into people (email) values ($1) returning id),
     session as (
       insert into sessions (person_id, token_digest, method, expires_at)
       select id, sha256('x'), 'code', now() + interval '1 day' from person returning id
     )
     insert into push_subscriptions (session_id, email, endpoint, public_key, auth)
     select id, $1, 'https://push.example/1', $2, $3 from session`,
    [email, Buffer.alloc(65), Buffer.alloc(16)],
  );
}
