import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import { reviewMailBurstMax } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  rotateCallbackSecret,
  showCallbackSecret,
} from "../src/operations/deliveries/callback-secret.ts";
import type { ComposedMail } from "../src/operations/deliveries/composed-mail.ts";
import { rotateEndpointSecret } from "../src/operations/deliveries/manage-endpoint.ts";
import * as attempts from "../src/storage/deliveries/attempts.ts";
import * as dueMails from "../src/storage/deliveries/due-mails.ts";
import { listSecretKeyIds } from "../src/storage/deliveries/endpoints.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService, testKeyring } from "./test-service.ts";
import {
  makeEndpoint,
  startReceiver,
  startWorker,
  type TestWorkerOptions,
  testPublicUrl,
} from "./test-worker.ts";
import { isSignedWith } from "./webhook-verifier.ts";

const service = await startService({ callbackAllowed: loopbackCidrs });
const { db } = service;
after(() => service.stop());

const other = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
/** As SECRET_KEY is after a rotation: a new key first, the old one behind it. */
const rotated: Keyring = { current: other.current, all: [...other.all, ...testKeyring.all] };

/** A worker that came up with these keys, working on what was made with the old one. */
async function workWith(keyring: Keyring, more: TestWorkerOptions = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await startReceiver();
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const kept: ComposedMail[] = [];
  const { stop } = startWorker(service.database, {
    keyring,
    mail: {
      send: null,
      origin: { keyring, publicUrl: testPublicUrl },
      onKept: (mail) => kept.push(mail),
    },
    ...more,
  });
  const outcomes = async () => {
    const { rows } = await db.query(
      `select a.outcome, d.endpoint_id is not null as is_webhook, d.state
       from deliveries d join attempts a on a.workspace_id = d.workspace_id and a.delivery_id = d.id
       where d.workspace_id = $1 and a.outcome is not null order by a.number`,
      [workspaceId],
    );
    return rows;
  };
  const deliveries = async () => {
    const { rows } = await db.query(
      `select d.state, d.attempts, d.due_at > d.created_at + interval '1 second' as is_back,
         (select count(*)::int from attempts a where a.delivery_id = d.id) as tried
       from deliveries d where d.workspace_id = $1`,
      [workspaceId],
    );
    return rows;
  };
  return {
    receiver,
    endpoint,
    kept,
    outcomes,
    deliveries,
    close: async ({ keepsReceiver = false } = {}) => {
      await stop();
      if (!keepsReceiver) await receiver.close();
    },
  };
}

test("after SECRET_KEY was rotated, old secrets still sign and old links are still made", async () => {
  const { receiver, endpoint, kept, close } = await workWith(rotated);
  const [heard] = await until(() => receiver.heard.length > 0 && receiver.heard, "the webhook");
  assert.ok(heard);
  assert.ok(
    isSignedWith(endpoint.secret, String(heard.headers["x-service-signature"]), heard.body),
  );
  await until(() => kept.length > 0, "the mail");
  assert.match(kept[0]?.reviewUrl ?? "", /\/review\/[\w-]{43}$/);
  await close();
});

test("without the key nothing is sent, nothing is used up, and a worker that has the key sends it", async () => {
  const log: string[] = [];
  const logDestination = { write: (line: string) => void log.push(line) };
  const { receiver, kept, deliveries, close } = await workWith(other, { logDestination });
  const untouched = { state: "due", attempts: 0, tried: 0, is_back: true };
  await until(async () => {
    const rows = await deliveries();
    return rows.length === 2 && rows.every((row) => row.is_back);
  }, "both to be put back");
  const found = await deliveries();
  assert.deepEqual(found, [untouched, untouched]);
  assert.equal(receiver.heard.length, 0);
  assert.equal(kept.length, 0);
  const errors = log.filter((line) => line.includes('"level":"error"'));
  assert.ok(errors.length > 0);
  for (const line of errors) {
    assert.match(line, /wait for a key that is not in SECRET_KEY, and no attempt is used up/);
    assert.equal(JSON.parse(line).secretKeyId, testKeyring.current.id);
  }
  // As on a node that has the new list already, when the time has come.
  await close({ keepsReceiver: true });
  await db.query("update deliveries set due_at = created_at where state = 'due'");
  const { stop } = startWorker(service.database, { keyring: rotated });
  await until(() => receiver.heard.length > 0, "the webhook by another worker");
  await stop();
  await receiver.close();
});

test("a worker that lacks the newest of two secrets' keys sends nothing with the older one alone", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await startReceiver();
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const newer = await rotateEndpointSecret(db, rotated, endpoint.id);
  assert.ok(!isRefusal(newer));
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const { stop } = startWorker(service.database, { keyring: testKeyring });
  await until(async () => {
    const { rows } = await db.query(
      `select attempts from deliveries
       where endpoint_id = $1 and due_at > created_at + interval '1 second'`,
      [endpoint.id],
    );
    return rows.length === 1 && rows[0].attempts === 0;
  }, "the webhook to be put back");
  assert.equal(receiver.heard.length, 0);
  await stop();
  await receiver.close();
  await db.query("delete from endpoint_secrets where endpoint_id = $1", [endpoint.id]);
});

test("a callback waits for the key of its secret, and a start asks for that key", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await startReceiver();
  const made = await showCallbackSecret(db, rotated, workspaceId);
  assert.ok(!isRefusal(made));
  assert.ok((await listSecretKeyIds(db)).includes(other.current.id));
  const body = { ...minimalBody, callbackUrl: receiver.url };
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  const lacking = startWorker(service.database, { keyring: testKeyring });
  await until(async () => {
    const { rows } = await db.query(
      `select attempts from deliveries
       where workspace_id = $1 and channel = 'callback' and due_at > created_at + interval '1 second'`,
      [workspaceId],
    );
    return rows.length === 1 && rows[0].attempts === 0;
  }, "the callback to be put back");
  await lacking.stop();
  assert.equal(receiver.heard.length, 0);
  await db.query("update deliveries set due_at = created_at where channel = 'callback'");
  const { stop } = startWorker(service.database, { keyring: rotated });
  const [heard] = await until(() => receiver.heard.length > 0 && receiver.heard, "the callback");
  assert.ok(heard);
  assert.ok(isSignedWith(made.secret, String(heard.headers["x-service-signature"]), heard.body));
  await stop();
  await receiver.close();
  const hidden = await showCallbackSecret(db, testKeyring, workspaceId);
  assert.ok(isRefusal(hidden) && hidden.refusal === "conflict");
  const renewed = await rotateCallbackSecret(db, testKeyring, workspaceId);
  assert.ok(!isRefusal(renewed));
  await db.query("delete from callback_secrets where workspace_id = $1", [workspaceId]);
});

test("a mail that is put back again and again leaves its approver's pace as it was", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const claimAndPutBack = async () => {
    const { mails } = await dueMails.claim(inOneStatement(db), 10);
    const leases = mails
      .flatMap((mail) => mail.leases)
      .filter((lease) => lease.workspaceId === workspaceId);
    assert.equal(leases.length, 1);
    await attempts.putBack(inOneStatement(db), leases, 0);
  };
  // More often than a mailbox may get mails at once.
  for (let round = 0; round < reviewMailBurstMax + 2; round += 1) await claimAndPutBack();
  const { rows } = await db.query(
    "select busy_until <= now() as is_free from mailboxes where workspace_id = $1",
    [workspaceId],
  );
  assert.deepEqual(rows, [{ is_free: true }]);
  await db.query("delete from deliveries where workspace_id = $1", [workspaceId]);
});

test("without a key that was given up nothing is sent unsigned or with a wrong link; it is recorded, retried, and the log says what to do", async () => {
  const log: string[] = [];
  const without: Keyring = { ...other, lost: [testKeyring.current.id] };
  const { receiver, kept, outcomes, close } = await workWith(without, {
    logDestination: { write: (line) => void log.push(line) },
  });
  const found = await until(async () => {
    const rows = await outcomes();
    return rows.filter(({ is_webhook }) => is_webhook).length === 3 && rows;
  }, "three attempts of the webhook");
  assert.ok(found.every(({ outcome }) => outcome === "secret_unreadable"));
  assert.ok(found.some(({ is_webhook, state }) => !is_webhook && state === "due"));
  assert.equal(receiver.heard.length, 0);
  assert.equal(kept.length, 0);
  const errors = log.filter((line) => line.includes('"level":"error"'));
  assert.ok(errors.some((line) => /webhook: .*SECRET_KEY.*rotate the secret/.test(line)));
  assert.ok(errors.some((line) => /mail: .*SECRET_KEY.*add it back/.test(line)));
  await close();
});

test("doctor's question finds every key that is still needed", async () => {
  // The worker that first signed a checkpoint may have had another current key.
  const { rows } = await db.query<{ secret_key_id: string }>(
    "select secret_key_id from signing_keys where retired_at is null",
  );
  const ids = new Set([testKeyring.current.id, ...rows.map((row) => row.secret_key_id)]);
  assert.deepEqual((await listSecretKeyIds(db)).sort(), [...ids].sort());
});
