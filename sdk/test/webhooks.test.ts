import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "../../server/test/test-worker.ts";
import { Countersign, constructEvent, WebhookVerificationError, webhooks } from "../src/index.ts";
import { serve } from "./served.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const now = 1_790_000_000;
const body = JSON.stringify({ event: "request.approved", createdAt: "x", data: { id: "req_1" } });

function sign(text: string, t: number | string = now, key = secret): string {
  return `t=${t},v1=${createHmac("sha256", key).update(`${t}.${text}`).digest("hex")}`;
}

async function flawOf(work: Promise<unknown>): Promise<WebhookVerificationError> {
  const failure = await work.then(
    () => null,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof WebhookVerificationError, `${failure}`);
  return failure;
}

test("a signed body is the event, given as text, bytes or buffer, with any kind of headers", async () => {
  const expected = JSON.parse(body);
  const header = sign(body);
  const bytes = new TextEncoder().encode(body);
  for (const raw of [body, bytes, bytes.buffer, Buffer.from(body)]) {
    assert.deepEqual(await webhooks.constructEvent(raw, header, secret, { now }), expected);
  }
  for (const headers of [
    new Headers({ "X-Service-Signature": header, "X-Service-Event": "request.approved" }),
    { "x-service-signature": header, "x-service-event": "request.approved" },
    { "X-Service-Signature": [header] },
  ]) {
    assert.deepEqual(await constructEvent(body, headers, secret, { now }), expected);
  }
});

test("while a secret is rotated, either signature and either secret will do", async () => {
  const both = `${sign(body, now, "whsec_old")},${sign(body).split(",")[1]}`;
  for (const each of [secret, "whsec_old", ["whsec_other", secret]]) {
    await constructEvent(body, both, each, { now });
  }
});

const tampered = body.replace("req_1", "req_2");

for (const [what, code, work] of [
  [
    "a changed body",
    "signature_mismatch",
    () => constructEvent(tampered, sign(body), secret, { now }),
  ],
  [
    "another secret",
    "signature_mismatch",
    () => constructEvent(body, sign(body), "whsec_other", { now }),
  ],
  [
    "a changed time",
    "signature_mismatch",
    () => constructEvent(body, sign(body).replace(`${now}`, `${now + 1}`), secret, { now }),
  ],
  [
    "upper-case hex",
    "signature_mismatch",
    () =>
      constructEvent(
        body,
        sign(body).replace(/v1=.*/, (v1) => `v1=${v1.slice(3).toUpperCase()}`),
        secret,
        { now },
      ),
  ],
  [
    "a signature cut short",
    "signature_mismatch",
    () => constructEvent(body, sign(body).slice(0, -2), secret, { now }),
  ],
  [
    "an empty v1",
    "signature_mismatch",
    () => constructEvent(body, `t=${now},v1=`, secret, { now }),
  ],
  [
    "an old time",
    "timestamp_too_old",
    () => constructEvent(body, sign(body, now - 301), secret, { now }),
  ],
  [
    "a time to come",
    "timestamp_in_future",
    () => constructEvent(body, sign(body, now + 301), secret, { now }),
  ],
  [
    "a time that is none",
    "signature_malformed",
    () => constructEvent(body, sign(body, "1e9"), secret, { now }),
  ],
  [
    "two times",
    "signature_malformed",
    () => constructEvent(body, `t=1,${sign(body)}`, secret, { now }),
  ],
  ["no v1", "signature_malformed", () => constructEvent(body, `t=${now}`, secret, { now })],
  [
    "another scheme",
    "signature_malformed",
    () => constructEvent(body, "sha256=abc", secret, { now }),
  ],
  ["no header", "signature_missing", () => constructEvent(body, undefined, secret, { now })],
  [
    "headers without it",
    "signature_missing",
    () => constructEvent(body, new Headers(), secret, { now }),
  ],
  [
    "an empty secret",
    "secret_missing",
    () => constructEvent(body, sign(body, now, " ").replace(/ $/, ""), "", { now }),
  ],
  ["no secret at all", "secret_missing", () => constructEvent(body, sign(body), [], { now })],
  [
    "a parsed body",
    "body_not_raw",
    () => constructEvent(JSON.parse(body), sign(body), secret, { now }),
  ],
  ["a signed list", "body_malformed", () => constructEvent("[]", sign("[]"), secret, { now })],
  [
    "a signed text that is no JSON",
    "body_malformed",
    () => constructEvent("hello", sign("hello"), secret, { now }),
  ],
  [
    "a header for another event",
    "event_mismatch",
    () =>
      constructEvent(
        body,
        { "x-service-signature": sign(body), "x-service-event": "request.rejected" },
        secret,
        { now },
      ),
  ],
] as const) {
  test(`${what} is refused as ${code}`, async () => {
    assert.equal((await flawOf(work())).code, code);
  });
}

test("a value that is no secret is refused, however it was signed", async () => {
  for (const wrong of [
    "",
    " ",
    "undefined",
    "whsec_",
    [""],
    [{}],
    [1],
    [Promise.resolve("whsec_a")],
    null,
  ]) {
    const header = sign(body, now, String(Array.isArray(wrong) ? wrong[0] : wrong) || " ");
    const flaw = await flawOf(constructEvent(body, header, wrong as string, { now }));
    assert.equal(flaw.code, "secret_missing", String(wrong));
  }
});

test("many signatures in one header cost one computation for each secret", async (t) => {
  const computed = t.mock.method(crypto.subtle, "sign");
  const guesses = Array.from({ length: 200 }, (_, at) => `v1=${String(at).padStart(64, "0")}`);
  const header = `t=${now},${guesses.join(",")}`;
  await flawOf(constructEvent(body, header, [secret, "whsec_old"], { now }));
  assert.equal(computed.mock.callCount(), 2);
  await constructEvent(body, `${header},${sign(body).split(",")[1]}`, secret, { now });
});

test("the bounds of the tolerance are within it, and it can be set", async () => {
  for (const t of [now - 300, now + 300])
    await constructEvent(body, sign(body, t), secret, { now });
  await flawOf(constructEvent(body, sign(body, now - 2), secret, { now, toleranceSeconds: 1 }));
  await assert.rejects(
    constructEvent(body, sign(body), secret, { now, toleranceSeconds: Number.NaN }),
    /toleranceSeconds/,
  );
  assert.equal(
    (await flawOf(constructEvent(body, sign(body), secret))).code,
    now < Date.now() / 1000 ? "timestamp_too_old" : "timestamp_in_future",
  );
});

test("a body that was parsed and written again is refused with the reason", async () => {
  const sent = '{"event": "request.approved", "data": {"amount": 1.0}}';
  const header = sign(sent);
  await constructEvent(sent, header, secret, { now });
  const failure = await flawOf(
    constructEvent(JSON.stringify(JSON.parse(sent)), header, secret, { now }),
  );
  assert.equal(failure.code, "signature_mismatch");
  assert.match(failure.message, /parsed and written again/);
});

test("numbers are exact with another parser", async () => {
  const sent = '{"event":"request.approved","data":{"amount":9007199254740993}}';
  const event = await constructEvent<{ amount: string }>(sent, sign(sent), secret, {
    now,
    parse: (text) => JSON.parse(text.replaceAll(/:(\d{16,})/g, ':"$1"')),
  });
  assert.equal((event.data as unknown as { amount: string }).amount, "9007199254740993");
});

test("a checkpoint of the log is an event of its own, for those who ask for these", async () => {
  const note =
    "approvals.example.com/log/ws_1\n3\naGFzaA==\n\n— approvals.example.com/log/ws_1 c2ln\n";
  const sent = JSON.stringify({ event: "log.checkpoint", createdAt: "x", checkpoint: note });
  const event = await constructEvent(sent, sign(sent), secret, { now, checkpoints: true });
  assert.ok(event.event === "log.checkpoint");
  assert.equal(event.checkpoint, note);
  const approved = await constructEvent(body, sign(body), secret, { now, checkpoints: true });
  assert.ok(approved.event !== "log.checkpoint");
  assert.equal(approved.data.id, "req_1");
  const unasked = await flawOf(constructEvent(sent, sign(sent), secret, { now }));
  assert.equal(unasked.code, "body_malformed");
  assert.match(unasked.message, /log\.checkpoint: give checkpoints: true/);
  for (const checkpoint of [undefined, 3, null]) {
    const odd = JSON.stringify({ event: "log.checkpoint", createdAt: "x", checkpoint });
    const flaw = await flawOf(constructEvent(odd, sign(odd), secret, { now, checkpoints: true }));
    assert.equal(flaw.code, "body_malformed");
  }
});

test("the service's webhooks verify, and anything else that arrives does not", async (t) => {
  const served = await serve();
  const { database, db } = served.service;
  const worker = startWorker(database);
  const receiver = await startReceiver();
  t.after(async () => {
    await worker.stop();
    await receiver.close();
    await served.stop();
  });
  const { id: workspaceId, key } = await makeWorkspace(db);
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const client = new Countersign({ apiKey: key, baseUrl: served.url });
  const agentState = { step: 3 };
  const request = {
    summary: "Refund",
    notify: "ann@example.com",
    payload: { amount: 49 },
    agentState,
  };
  const { id } = await client.requests.create(request);
  await served.approve(id, '{"amount": 12}');
  const heard = await until(
    () =>
      receiver.heard.find(({ headers }) => headers["x-service-event"] === "request.approved") ??
      null,
    "the webhook",
  );
  const event = await client.webhooks.constructEvent<{ amount: number }, unknown, { step: number }>(
    heard.body,
    heard.headers,
    endpoint.secret,
  );
  assert.equal(event.data.id, id);
  assert.equal(event.data.effectivePayload.amount, 12);
  assert.equal(event.data.agentState.step, 3);
  const replayed = constructEvent(heard.body, heard.headers, endpoint.secret, {
    now: Date.now() / 1_000 + 600,
  });
  assert.equal((await flawOf(replayed)).code, "timestamp_too_old");
});
