// The sender of push messages against push services that misbehave, and addresses that it must not call.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loopbackCidrs, makeAddressPolicy } from "../src/domain/access/network-address.ts";
import { type PushMessage, type PushOutcome, PushSender } from "../src/outbound/send-push.ts";
import { hangMs } from "./patience.ts";
import { pushServiceCa, startPushService } from "./test-push-service.ts";

const ca = pushServiceCa;
const loopback = makeAddressPolicy(loopbackCidrs);
const service = await startPushService();
after(() => service.close());

function sender(options: { policy?: typeof loopback; timeoutMs?: number } = {}) {
  const made = new PushSender({ policy: loopback, timeoutMs: hangMs, ca, ...options });
  after(() => made.close());
  return made;
}

function messageTo(endpoint: string): PushMessage {
  const facts = { body: Buffer.from("x"), authorization: "vapid t=, k=", topic: "waiting" };
  return { endpoint, ...facts, keptSeconds: 60, urgency: "high" };
}

test("each answer of a push service has one outcome", async () => {
  const { send } = bound(sender());
  const answers: [status: number, headers: Record<string, string>, outcome: PushOutcome][] = [
    [200, {}, { kind: "accepted" }],
    [201, {}, { kind: "accepted" }],
    [202, {}, { kind: "accepted" }],
    [404, {}, { kind: "gone" }],
    [410, {}, { kind: "gone" }],
    [429, { "retry-after": "7" }, { kind: "too_many", retryAfterSeconds: 7 }],
    [429, {}, { kind: "too_many", retryAfterSeconds: null }],
    [400, {}, { kind: "refused" }],
    [403, {}, { kind: "refused" }],
    [413, {}, { kind: "refused" }],
    [500, {}, { kind: "unreachable", retryAfterSeconds: null }],
    [503, { "retry-after": "9" }, { kind: "unreachable", retryAfterSeconds: 9 }],
  ];
  for (const [status, headers, outcome] of answers) {
    service.answer = (response) => void response.writeHead(status, headers).end("some words");
    assert.deepEqual(await send(`${service.url}/raw/1`), outcome, String(status));
  }
});

test("a redirect is not followed", async () => {
  let asked = 0;
  service.answer = (response) => {
    asked += 1;
    response.writeHead(307, { location: `${service.url}/raw/elsewhere` }).end();
  };
  assert.deepEqual(await bound(sender()).send(`${service.url}/raw/1`), { kind: "refused" });
  assert.equal(asked, 1);
});

test("a push service that never answers, or never ends its answer, is given up in time", async () => {
  const { send } = bound(sender({ timeoutMs: 300 }));
  service.answer = () => {};
  assert.deepEqual(await send(`${service.url}/raw/1`), { kind: "timeout" });
  service.answer = (response) => void response.writeHead(201).write("and ");
  assert.deepEqual(await send(`${service.url}/raw/1`), { kind: "timeout" });
});

test("an endless answer is read up to a bound", async () => {
  service.answer = (response) => {
    response.writeHead(201);
    const pour = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", pour);
    pour();
  };
  assert.deepEqual(await bound(sender()).send(`${service.url}/raw/1`), { kind: "accepted" });
});

test("nothing but public addresses over https is called", async () => {
  let asked = 0;
  service.answer = (response) => {
    asked += 1;
    response.writeHead(201).end();
  };
  const { send } = bound(sender({ policy: makeAddressPolicy([]) }));
  const { port } = new URL(service.url);
  const hosts = ["169.254.169.254", "localhost", "127.0.0.1", "[::1]", "10.0.0.1", "2130706433"];
  for (const host of hosts) {
    assert.deepEqual(await send(`https://${host}:${port}/raw/1`), { kind: "refused" }, host);
  }
  assert.deepEqual(
    await bound(sender()).send(`http://127.0.0.1:${port}/raw/1`),
    { kind: "refused" },
    "plain http goes nowhere, even where its address is allowed",
  );
  assert.equal(asked, 0);
});

test("a certificate that nobody vouches for gets no message", async () => {
  let asked = 0;
  service.answer = (response) => {
    asked += 1;
    response.writeHead(201).end();
  };
  const trusting = new PushSender({ policy: loopback, timeoutMs: hangMs });
  after(() => trusting.close());
  const outcome = await bound(trusting).send(`${service.url}/raw/1`);
  assert.deepEqual(outcome, { kind: "unreachable", retryAfterSeconds: null });
  assert.equal(asked, 0);
});

function bound(made: PushSender) {
  return { send: (endpoint: string) => made.send(messageTo(endpoint)) };
}
