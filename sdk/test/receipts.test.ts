// The client reads receipts and the exact bytes that were approved, and believes no other server's answers.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { Countersign } from "../src/index.ts";
import { FakeService } from "../src/testing/fake-service.ts";
import { serve } from "./served.ts";

const served = await serve();
after(() => served.stop());

const edit = '{"amount": 9007199254740993, "rate": 1.0, "name": "\\u00e9"}';
const base64url = (text: string) => createHash("sha256").update(text).digest("base64url");

test("a receipt and the bytes it names can be read, and redeem gives the same receipt", async () => {
  const client = await served.client();
  const { id } = await client.requests.create({ summary: "Pay", notify: "ann@example.com" });
  await assert.rejects(client.requests.receipt(id), { code: "not_found", status: 404 });
  await served.approve(id);
  await assert.rejects(client.requests.effectivePayload(id), { code: "not_found" });
  const payload = { amount: 1 };
  const asked = { summary: "Pay", notify: "ann@example.com", payload };
  const { id: edited } = await client.requests.create(asked);
  await served.approve(edited, edit);
  const exact = await client.requests.effectivePayload(edited);
  assert.deepEqual(exact, { text: edit, digest: base64url(edit) });
  const receipt = await client.requests.receipt(edited);
  assert.deepEqual(claimsOf(receipt).effective, {
    digest: exact.digest,
    bytes: Buffer.byteLength(edit),
  });
  const embedded = await client.requests.receipt(edited, { embed: "payload" });
  assert.equal(claimsOf(embedded).text, edit);
  const another = await client.requests.create(asked);
  await served.approve(another.id);
  const redeemed = await client.requests.redeem(another.id);
  assert.equal(redeemed.receipt, await client.requests.receipt(another.id));
});

test("an answer that is no receipt, or that of another request, is not believed", async () => {
  const token = (claims: object) =>
    `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
  for (const answer of ["", "hello", "a.b.c", "..", token({ sub: "req_other" }), token([])]) {
    const client = new Countersign({
      apiKey: "cs_x",
      baseUrl: "https://elsewhere.example",
      fetch: async () => new Response(answer),
    });
    await assert.rejects(client.requests.receipt("req_this"), { code: "not_countersign" });
  }
});

test("a fake's receipts verify with its own keys, for one person and for several", async () => {
  const groups = [{ key: "finance", name: "Finance", members: ["ann@x.example", "bob@x.example"] }];
  const fake = new FakeService({ groups });
  const client = new Countersign(fake.options);
  const { baseUrl, fetch } = fake.options;
  const set = await (await fetch(`${baseUrl}/.well-known/jwks.json`, {})).json();
  const keys = createLocalJWKSet(set as Parameters<typeof createLocalJWKSet>[0]);
  const alone = await client.requests.create({ summary: "Pay", notify: "ann@x.example" });
  fake.approve(alone.id);
  const request = { summary: "Pay", notify: "group:finance", quorum: 2, payload: { a: 1 } };
  const voted = await client.requests.create(request);
  fake.approve(voted.id, { by: "ann@x.example" });
  fake.approve(voted.id, { by: "bob@x.example" });
  for (const [id, votes] of [
    [alone.id, 1],
    [voted.id, 2],
  ] as const) {
    const { payload } = await jwtVerify(await client.requests.receipt(id), keys, {
      ...{ issuer: baseUrl, algorithms: ["Ed25519"], typ: "countersign-receipt+jwt" },
    });
    assert.equal(payload.sub, id);
    assert.equal((payload.by as object[]).length, votes);
  }
  const { text, digest } = await client.requests.effectivePayload(voted.id);
  assert.deepEqual([text, digest], ['{"a":1}', base64url('{"a":1}')]);
});

function claimsOf(receipt: string) {
  return JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString());
}
