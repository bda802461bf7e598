import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { loopbackCidrs, makeAddressPolicy } from "../src/domain/access/network-address.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { JsonText } from "../src/domain/shown/json-text.ts";
import { expireApprovals } from "../src/operations/approvals/expire-approvals.ts";
import {
  disableEndpoint,
  rotateEndpointSecret,
} from "../src/operations/deliveries/manage-endpoint.ts";
import { WebhookSender } from "../src/outbound/send-webhook.ts";
import { hangMs, until } from "./patience.ts";
import { resolveNow } from "./test-evidence.ts";
import { fullBody, makeWorkspace, minimalBody, startService } from "./test-service.ts";
import {
  type Heard,
  makeEndpoint,
  type Receiver,
  startReceiver,
  startWorker,
} from "./test-worker.ts";
import { isSignedByStandard, isSignedWith } from "./webhook-verifier.ts";

let wake = () => {};
const service = await startService({ onDue: () => wake() });
const { db } = service;
const policy = makeAddressPolicy(loopbackCidrs);
const patient = new WebhookSender({ policy, timeoutMs: hangMs });
const impatient = new WebhookSender({ policy, timeoutMs: 700 });
/** Receivers that are to be cut off soon. */
const impatientUrls = new Set<string>();
const { worker, stop } = startWorker(service.database, {
  sendWebhook: (message) => (impatientUrls.has(message.url) ? impatient : patient).send(message),
});
wake = () => worker.wake();
const receivers: Receiver[] = [];
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await stop();
  patient.close();
  impatient.close();
  await service.stop();
});

async function receive(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...args);
  receivers.push(receiver);
  return receiver;
}

/** A workspace with one endpoint, and the requests that are created in it. */
async function setUp(answer?: Parameters<typeof startReceiver>[0]) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await receive(answer);
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const create = async (body: string | object = minimalBody) => {
    const { status, json } = await service.call("POST", "/v1/requests", { key, body });
    assert.equal(status, 201);
    return json.id as string;
  };
  return { workspaceId, key, receiver, endpoint, create };
}

async function heardOf(receiver: Receiver, count: number): Promise<Heard[]> {
  await until(() => receiver.heard.length >= count, `${count} webhooks`);
  return receiver.heard;
}

async function deliveryOf(workspaceId: string, endpointId: string) {
  const { rows } = await db.query(
    `select id, state, attempts, finished_at, due_at, leased_until from deliveries
     where workspace_id = $1 and endpoint_id = $2 order by id desc limit 1`,
    [workspaceId, endpointId],
  );
  return rows[0];
}

async function attemptsOf(deliveryId: string) {
  const { rows } = await db.query(
    `select number, outcome, http_status, duration_ms, response_start, started_at, finished_at
     from attempts where delivery_id = $1 order by number`,
    [deliveryId],
  );
  return rows;
}

async function untilState(workspaceId: string, endpointId: string, state: string) {
  return until(async () => {
    const delivery = await deliveryOf(workspaceId, endpointId);
    return delivery?.state === state && delivery;
  }, `the delivery to be ${state}`);
}

const dataFields = [
  "id",
  "status",
  "summary",
  "payload",
  "modifiedPayload",
  "effectivePayload",
  "metadata",
  "agentState",
  "reasoning",
  "recentActions",
  "agentName",
  "approverEmail",
  "approverGroup",
  "resolvedAt",
  "resolvedByEmail",
  "resolutionNote",
  "expiresAt",
  "createdAtRequest",
];

test("each change of state is POSTed with the contract's body, headers and signature", async () => {
  const { workspaceId, key, receiver, endpoint, create } = await setUp();
  const body = {
    ...fullBody,
    payload: { amount: 1 },
  };
  const tx = inOneStatement(db);
  const approved = await create(body);
  await resolveNow(
    tx,
    { workspaceId, id: approved },
    {
      status: "APPROVED",
      byEmail: "ann@example.com",
      note: "less",
      edit: '{"amount":0.50}' as JsonText,
    },
  );
  const rejected = await create(body);
  await resolveNow(
    tx,
    { workspaceId, id: rejected },
    {
      status: "REJECTED",
      byEmail: "ann@example.com",
      note: null,
    },
  );
  const cancelled = await create(body);
  await service.call("POST", `/v1/requests/${cancelled}/cancel`, { key });
  const expired = await create(body);
  await db.query("update approvals set expires_at = now_ms() where id = $1", [expired]);
  await expireApprovals(db, workspaceId, [expired]);
  const heard = await heardOf(receiver, 8);
  assert.equal(heard.length, 8);
  const outcomes = { approved, rejected, cancelled, expired };
  for (const [name, id] of Object.entries(outcomes)) {
    const of = heard.filter(({ json }) => json.data.id === id);
    assert.deepEqual(
      of.map(({ json }) => json.event).sort(),
      ["request.created", `request.${name}`].sort(),
    );
    const { json: read } = await service.call("GET", `/v1/requests/${id}`, { key });
    for (const { json, headers, body: raw } of of) {
      assert.deepEqual(Object.keys(json), ["event", "createdAt", "data"]);
      assert.deepEqual(Object.keys(json.data), dataFields);
      assert.equal(headers["x-service-event"], json.event);
      assert.match(String(headers["x-service-delivery-id"]), /^dlv_[0-9a-z]+$/);
      assert.match(String(headers["x-service-signature"]), /^t=\d{10},v1=[0-9a-f]{64}$/);
      assert.equal(headers["webhook-id"], headers["x-service-delivery-id"]);
      assert.ok(isSignedWith(endpoint.secret, String(headers["x-service-signature"]), raw));
      assert.ok(isSignedByStandard(endpoint.secret, headers, raw));
      const isFinal = json.event !== "request.created";
      const { object, createdAt, ...same } = read;
      const pending = {
        status: "PENDING",
        modifiedPayload: null,
        effectivePayload: body.payload,
        resolvedAt: null,
        resolvedByEmail: null,
        resolutionNote: null,
      };
      // Its end was moved by this test, between the two events.
      const moved = id === expired ? { expiresAt: json.data.expiresAt } : {};
      const rest = { createdAtRequest: createdAt, ...moved };
      const expected = { ...same, ...(isFinal ? {} : pending), ...rest };
      assert.deepEqual(json.data, expected);
      assert.equal(json.createdAt, isFinal ? read.resolvedAt : createdAt);
    }
  }
  const edited = heard.find(({ json }) => json.event === "request.approved")?.body.toString() ?? "";
  assert.ok(
    edited.includes('"modifiedPayload":{"amount":0.50},"effectivePayload":{"amount":0.50}'),
  );
  const ids = heard.map(({ headers }) => headers["x-service-delivery-id"]);
  assert.equal(new Set(ids).size, 8);
});

test("a signature does not verify with another secret, another body, or long after", async () => {
  const { receiver, endpoint, create } = await setUp();
  await create();
  const [heard] = await heardOf(receiver, 1);
  assert.ok(heard);
  const header = String(heard.headers["x-service-signature"]);
  assert.ok(isSignedWith(endpoint.secret, header, heard.body));
  assert.ok(!isSignedWith(`${endpoint.secret}x`, header, heard.body));
  assert.ok(!isSignedWith(endpoint.secret, header, Buffer.concat([heard.body, Buffer.from(" ")])));
  assert.ok(!isSignedWith(endpoint.secret, header, heard.body, Date.now() / 1000 + 301));
});

test("opaque JSON arrives as it was sent: numbers, key order, escapes", async () => {
  const { receiver, create } = await setUp();
  const payload = String.raw`{"b":9007199254740993,"2":1.0,"1":-0,"x":1E400,"z":"\u0000\ud800"}`;
  await create(
    `{"summary":"s","notify":"ann@example.com","payload":${payload},"agentState":${payload}}`,
  );
  const [heard] = await heardOf(receiver, 1);
  const text = heard?.body.toString() ?? "";
  assert.ok(text.includes(`"payload":${payload},`));
  assert.ok(text.includes(`"effectivePayload":${payload},`));
  assert.ok(text.includes(`"agentState":${payload},`));
});

test("a failing endpoint gets three attempts with one id and the same bytes, each signed anew and recorded", async () => {
  const { workspaceId, receiver, endpoint, create } = await setUp((response) => {
    response.writeHead(500).end("broken: \u0000 and more");
  });
  await create();
  const delivery = await untilState(workspaceId, endpoint.id, "failed");
  assert.equal(delivery.attempts, 3);
  assert.equal(receiver.heard.length, 3);
  const [first] = receiver.heard;
  for (const { body, headers } of receiver.heard) {
    assert.deepEqual(body, first?.body);
    assert.equal(headers["x-service-delivery-id"], delivery.id);
    assert.ok(isSignedWith(endpoint.secret, String(headers["x-service-signature"]), body));
  }
  const attempts = await attemptsOf(delivery.id);
  assert.deepEqual(
    attempts.map(({ number, outcome, http_status }) => [number, outcome, http_status]),
    [1, 2, 3].map((number) => [number, "http_status", 500]),
  );
  for (const attempt of attempts) {
    assert.equal(attempt.response_start, "broken: \ufffd and more");
    assert.ok(attempt.duration_ms >= 0);
    assert.ok(attempt.finished_at >= attempt.started_at);
  }
});

test("the timestamp and signature are new on each attempt", async () => {
  const { receiver, create } = await setUp((response) => {
    // The second attempt comes in another second.
    response.writeHead(503, { "retry-after": "1" }).end();
  });
  await create();
  const [first, second] = await heardOf(receiver, 2);
  assert.notEqual(first?.headers["x-service-signature"], second?.headers["x-service-signature"]);
  assert.equal(first?.headers["webhook-id"], second?.headers["webhook-id"]);
  assert.deepEqual(first?.body, second?.body);
});

test("a Retry-After of 429 and 503 is honoured, up to an hour", async () => {
  for (const [status, seconds, expected] of [
    [429, 120, 120],
    [503, 90_000, 3_600],
  ] as const) {
    const { workspaceId, endpoint, create } = await setUp((response) => {
      response.writeHead(status, { "retry-after": String(seconds) }).end();
    });
    await create();
    const due = await until(async () => {
      const delivery = await deliveryOf(workspaceId, endpoint.id);
      return delivery?.attempts === 1 && delivery.leased_until === null && delivery;
    }, "the first attempt to end");
    const waitSeconds = (due.due_at.getTime() - Date.now()) / 1000;
    assert.ok(waitSeconds > expected / 2 && waitSeconds <= expected, `${waitSeconds} s`);
  }
});

test("a retry that succeeds ends it", async () => {
  let calls = 0;
  const { workspaceId, receiver, endpoint, create } = await setUp((response) => {
    calls += 1;
    response.writeHead(calls === 1 ? 500 : 204).end();
  });
  await create();
  const delivery = await untilState(workspaceId, endpoint.id, "delivered");
  assert.equal(delivery.attempts, 2);
  assert.equal(receiver.heard.length, 2);
});

test("a receiver that hangs is cut off at the deadline, and so is one that drips", async () => {
  for (const answer of [
    () => {},
    (response: { writeHead(status: number): void; write(text: string): void }) => {
      response.writeHead(200);
      setInterval(() => response.write("."), 100).unref();
    },
  ] as Parameters<typeof startReceiver>[0][]) {
    const { workspaceId, receiver, endpoint, create } = await setUp(answer);
    impatientUrls.add(receiver.url);
    await create();
    const delivery = await untilState(workspaceId, endpoint.id, "failed");
    for (const { outcome, duration_ms } of await attemptsOf(delivery.id)) {
      assert.equal(outcome, "timed_out");
      assert.ok(duration_ms >= 650, `${duration_ms} ms`);
    }
  }
});

test("a redirect, also to a metadata address, fails and is not followed", async () => {
  const other = await receive();
  for (const location of ["http://169.254.169.254/latest/meta-data/", other.url]) {
    const { workspaceId, endpoint, create } = await setUp((response) => {
      response.writeHead(307, { location }).end();
    });
    await create();
    const delivery = await untilState(workspaceId, endpoint.id, "failed");
    const outcomes = (await attemptsOf(delivery.id)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ["redirected", "redirected", "redirected"]);
  }
  assert.equal(other.heard.length, 0);
});

test("an address that is private, or of metadata, gets nothing, and each attempt says so", async () => {
  for (const url of ["http://10.0.0.1/", "http://169.254.169.254/", "http://[fd00::1]/"]) {
    const { id: workspaceId, key } = await makeWorkspace(db);
    const endpoint = await makeEndpoint(db, workspaceId, url);
    await service.call("POST", "/v1/requests", { key, body: minimalBody });
    const delivery = await untilState(workspaceId, endpoint.id, "failed");
    const attempts = await attemptsOf(delivery.id);
    assert.deepEqual(
      attempts.map(({ outcome, http_status }) => [outcome, http_status]),
      attempts.map(() => ["address_not_allowed", null]),
    );
    assert.equal(attempts.length, 3);
  }
});

test("an endpoint gets the kinds that it subscribed to, and no other", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const receiver = await receive();
  const everything = await receive();
  await makeEndpoint(db, workspaceId, receiver.url, ["request.cancelled"]);
  await makeEndpoint(db, workspaceId, everything.url);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  await heardOf(everything, 2);
  await heardOf(receiver, 1);
  assert.deepEqual(
    receiver.heard.map((heard) => heard.json.event),
    ["request.cancelled"],
  );
});

test("while a secret is rotated both sign, and afterwards the new one alone", async () => {
  const { receiver, endpoint, create } = await setUp();
  const rotated = await rotateEndpointSecret(db, service.keyring, endpoint.id);
  assert.ok(!isRefusal(rotated));
  await create();
  const [during] = await heardOf(receiver, 1);
  assert.ok(during);
  const header = String(during.headers["x-service-signature"]);
  assert.match(header, /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  for (const secret of [endpoint.secret, rotated.secret]) {
    assert.ok(isSignedWith(secret, header, during.body));
    assert.ok(isSignedByStandard(secret, during.headers, during.body));
  }
  await db.query(
    "update endpoint_secrets set expires_at = now_ms() - interval '1 second' where endpoint_id = $1 and expires_at is not null",
    [endpoint.id],
  );
  await create();
  const [, afterwards] = await heardOf(receiver, 2);
  assert.ok(afterwards);
  const later = String(afterwards.headers["x-service-signature"]);
  assert.ok(isSignedWith(rotated.secret, later, afterwards.body));
  assert.ok(!isSignedWith(endpoint.secret, later, afterwards.body));
});

test("however often a secret is rotated, the newest three sign and no more", async () => {
  const { receiver, endpoint, create } = await setUp();
  const secrets = [endpoint.secret];
  for (let n = 0; n < 4; n += 1) {
    const rotated = await rotateEndpointSecret(db, service.keyring, endpoint.id);
    assert.ok(!isRefusal(rotated));
    secrets.unshift(rotated.secret);
  }
  await create();
  const [heard] = await heardOf(receiver, 1);
  assert.ok(heard);
  const header = String(heard.headers["x-service-signature"]);
  const signing = secrets.map((secret) => isSignedWith(secret, header, heard.body));
  assert.deepEqual(signing, [true, true, true, false, false]);
});

test("events for a disabled endpoint are kept as skipped, also those that were due when it was disabled", async () => {
  const { workspaceId, receiver, endpoint, create } = await setUp();
  await db.query(
    "update endpoints set disabled_at = now_ms(), disabled_reason = 'test' where id = $1",
    [endpoint.id],
  );
  // Written as due by a transaction that saw the endpoint enabled.
  await create();
  await db.query("update deliveries set state = 'due' where endpoint_id = $1", [endpoint.id]);
  await untilState(workspaceId, endpoint.id, "skipped");
  assert.equal(receiver.heard.length, 0);
  assert.ok(!isRefusal(await disableEndpoint(db, endpoint.id, "again")));
});

test("4 MiB of payload and a quarter of agent state arrive whole", async () => {
  const { receiver, create } = await setUp();
  const payload = JSON.stringify("p".repeat(3_900_000));
  const agentState = JSON.stringify("s".repeat(262_000));
  await create(
    `{"summary":"s","notify":"ann@example.com","payload":${payload},"agentState":${agentState}}`,
  );
  const [heard] = await heardOf(receiver, 1);
  assert.ok(heard?.body.includes(payload));
  assert.ok(heard?.body.includes(agentState));
});
