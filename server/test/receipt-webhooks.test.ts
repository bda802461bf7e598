// Webhooks and callbacks of decisions carry the receipt, and never wait for one.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import { receiptHeaderBytesMax } from "../src/domain/proof/receipt.ts";
import { currentSigner } from "../src/operations/proof/signing-keys.ts";
import { until } from "./patience.ts";
import { decide, findReviewer } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService, testPublicUrl } from "./test-service.ts";
import { makeEndpoint, type Receiver, startReceiver, startWorker } from "./test-worker.ts";

const stops: (() => Promise<void>)[] = [];
after(async () => {
  for (const stop of stops.reverse()) await stop();
});

async function setUp(answer?: Parameters<typeof startReceiver>[0]) {
  let wake = () => {};
  const service = await startService({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
  stops.push(() => service.stop());
  const begin = () => {
    const { worker, stop } = startWorker(service.database, { webhookRetryDelaysMs: [20, 20] });
    stops.push(stop);
    wake = () => worker.wake();
  };
  const receiver = await startReceiver(answer);
  stops.push(() => receiver.close());
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  await makeEndpoint(service.db, workspaceId, receiver.url);
  const ask = async (more: object = {}) => {
    const body = { ...minimalBody, payload: { amount: 1 }, ...more };
    const { json } = await service.call("POST", "/v1/requests", { key, body });
    return json.id as string;
  };
  const choose = async (id: string, verdict: "approve" | "reject") => {
    const { token } = await findReviewer(service.db, id);
    assert.equal((await decide(service.app, token, { verdict })).status, 200);
    wake();
  };
  const receiptOf = async (id: string) =>
    (await service.call("GET", `/v1/requests/${id}/receipt`, { key })).text;
  return { service, receiver, workspaceId, key, ask, choose, receiptOf, begin };
}

function heardAbout(receiver: Receiver, event: string, count: number) {
  return until(() => {
    const heard = receiver.heard.filter(({ json }) => json.event === event);
    return heard.length >= count ? heard : null;
  }, `${count} × ${event}`);
}

test("each decision's webhook has the receipt that is read, on every attempt, and other events have none", async () => {
  let failures = 2;
  const place = await setUp((response, { json }) => {
    const isRefused = json.event === "request.approved" && failures > 0;
    if (isRefused) failures -= 1;
    response.writeHead(isRefused ? 500 : 200).end();
  });
  const { service, receiver, workspaceId, ask, choose, receiptOf, begin, key } = place;
  begin();
  const [approved, rejected, cancelled] = [await ask(), await ask(), await ask()];
  await choose(approved, "approve");
  await choose(rejected, "reject");
  await service.call("POST", `/v1/requests/${cancelled}/cancel`, { key });
  const { json: set } = await until(async () => {
    const reply = await service.call("GET", "/.well-known/jwks.json");
    return reply.json.keys.length > 0 ? reply : null;
  });
  for (const [event, id, attempts] of [
    ["request.approved", approved, 3],
    ["request.rejected", rejected, 1],
  ] as const) {
    const heard = await heardAbout(receiver, event, attempts);
    const receipts = new Set(heard.map(({ headers }) => headers["x-service-receipt"]));
    assert.deepEqual([...receipts], [await receiptOf(id)]);
    const { payload } = await jwtVerify(String([...receipts][0]), createLocalJWKSet(set), {
      ...{ issuer: testPublicUrl, audience: workspaceId, algorithms: ["Ed25519"] },
    });
    assert.equal(payload.sub, id);
    assert.ok(heard.every(({ body }) => !body.includes("receipt")));
  }
  for (const [event, count] of [
    ["request.created", 3] as const,
    ["request.cancelled", 1] as const,
  ]) {
    const heard = await heardAbout(receiver, event, count);
    assert.ok(heard.every(({ headers }) => headers["x-service-receipt"] === undefined));
  }
});

test("a callback has it, too", async () => {
  const { receiver, ask, choose, receiptOf, begin } = await setUp();
  begin();
  const callback = await startReceiver();
  stops.push(() => callback.close());
  const id = await ask({ callbackUrl: callback.url });
  await choose(id, "approve");
  const [heard] = await heardAbout(callback, "request.approved", 1);
  assert.equal(heard?.headers["x-service-receipt"], await receiptOf(id));
  const [webhook] = await heardAbout(receiver, "request.approved", 1);
  assert.deepEqual(webhook?.body, heard?.body);
});

test("a receipt that is too long for a header stays at home, and the webhook goes without", async () => {
  const { service, receiver, ask, choose, receiptOf, begin } = await setUp();
  begin();
  const id = await ask();
  // As long as a caller may make it: 200 characters each, of four bytes.
  const audience = Array.from({ length: 5 }, (_, n) => `${n}${"😀".repeat(199)}`);
  await service.db.query("update approvals set audience = $2 where id = $1", [id, audience]);
  await choose(id, "approve");
  const [heard] = await heardAbout(receiver, "request.approved", 1);
  assert.equal(heard?.headers["x-service-receipt"], undefined);
  assert.ok((await receiptOf(id)).length > receiptHeaderBytesMax);
});

test("while SECRET_KEY lacks the signing key's, the outcome arrives without a receipt", async () => {
  const { service, receiver, ask, choose, begin } = await setUp();
  const other = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  assert.ok(await currentSigner(service.db, other));
  begin();
  const id = await ask();
  await choose(id, "approve");
  const [heard] = await heardAbout(receiver, "request.approved", 1);
  assert.equal(heard?.headers["x-service-receipt"], undefined);
  assert.equal(heard?.json.data.status, "APPROVED");
});
