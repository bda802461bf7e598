// The packed node in a fresh folder, loaded and run by n8n's own loader and engine, with the real service and its callbacks.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { serve } from "../../sdk/test/served.ts";
import { loopbackCidrs } from "../../server/src/domain/access/network-address.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { startWorker } from "../../server/test/test-worker.ts";
import { folder, install, load, SmallN8n } from "./small-n8n.ts";

let wake = () => {};
const served = await serve({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
const { db } = served.service;
const { worker, stop } = startWorker(served.service.database, {
  webhookRetryDelaysMs: [300, 300],
});
wake = () => worker.wake();
const place = await install();
const loader = await load(place);
const type = loader.getNode("countersign").type as ConstructorParameters<typeof SmallN8n>[0];
const instances: SmallN8n[] = [];
after(async () => {
  for (const each of instances) await each.stop();
  await stop();
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

const exact = '{"order": 9007199254740993, "amount": 1.0}';

async function open(more: object = {}, settings: object = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const gate = {
    credential: { url: `${served.url}/`, apiKey: key },
    parameters: {
      summary: '={{ "Refund order " + $json.order }}',
      payload: exact,
      notify: "ann@example.com",
      ttlMinutes: 60,
      options: {},
      ...more,
    },
    settings,
  };
  const n8n = new SmallN8n(type, gate);
  instances.push(n8n);
  await n8n.start();
  const requests = async () => {
    const { rows } = await db.query<{ id: string; summary: string; redeemed: boolean }>(
      `select approvals.id, summary, approval_id is not null as redeemed
       from approvals left join redemptions on approval_id = approvals.id
       where approvals.workspace_id = $1 order by approvals.id`,
      [workspaceId],
    );
    return rows;
  };
  return { n8n, gate, key, requests };
}

async function ask(more: object = {}, settings: object = {}) {
  const opened = await open(more, settings);
  const execution = randomUUID();
  const run = await opened.n8n.run(execution, [{ order: 1042 }]);
  assert.equal(run.data.resultData.error, undefined);
  const [request] = await opened.requests();
  assert.ok(request !== undefined);
  const state = () => opened.n8n.executions.get(execution);
  const finished = () => until(() => state()?.status === "finished", "the end of the execution");
  return { ...opened, execution, id: request.id, summary: request.summary, state, finished };
}

async function call(url: string, body: object = {}): Promise<number> {
  const { status } = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  return status;
}

test("n8n's own checker complains of what we can't mend, and of nothing else", async () => {
  const scanner = "@n8n/scan-community-package/scanner/scanner.mjs";
  const { analyzePackage, SOURCE_FILE_PATTERNS } = await import(scanner);
  const source = await analyzePackage(join(import.meta.dirname, ".."), SOURCE_FILE_PATTERNS);
  const rules = (details = "") =>
    [...details.matchAll(/ error .* (\S+)$/gm)].map(([, rule]) => rule);
  assert.deepEqual(rules(source.details), [
    // Only a node that waits; n8n registers nothing for it.
    "@n8n/community-nodes/webhook-lifecycle-complete",
    // Ours is Apache-2.0.
    "n8n-nodes-base/community-package-json-license-not-default",
  ]);
  const packed = await analyzePackage(place);
  assert.deepEqual(rules(packed.details), [
    "n8n-nodes-base/community-package-json-license-not-default",
  ]);
});

test("n8n's loader finds the node, its credential and its icon", () => {
  assert.deepEqual(Object.keys(loader.nodeTypes), ["countersign"]);
  assert.deepEqual(Object.keys(loader.credentialTypes), ["countersignApi"]);
  assert.match(loader.types.nodes[0]?.iconUrl as string, /countersign\.svg$/);
});

test("the execution waits without an end, and the callback lets it go on with the exact payload", async () => {
  const { n8n, id, summary, state, finished, requests } = await ask();
  assert.equal(summary, "Refund order 1042");
  assert.deepEqual([state()?.status, state()?.waitTill], ["waiting", "3000-01-01T00:00:00.000Z"]);
  await served.approve(id, undefined, "Fine");
  await finished();
  assert.deepEqual(n8n.ran, [
    [
      {
        approved: true,
        requestId: id,
        status: "APPROVED",
        edited: false,
        note: "Fine",
        // No field with the rounded number.
        effectivePayloadText: exact,
      },
    ],
  ]);
  assert.equal((await requests())[0]?.redeemed, true);
});

test("several people are asked as the options say, and the execution goes on once all have approved", async () => {
  const options = {
    then: '[{"notify": "ben@example.com"}]',
    requestedBy: "eve@example.com",
    escalate: [{ afterMinutes: 30, notify: "cat@example.com" }],
    channels: ["mail", "slack_link"],
    audience: "https://pay.example.com, ledger",
    requireSignature: false,
  };
  const { key, id, state, finished, n8n } = await ask({ options });
  await served.approve(id);
  const { json } = await served.service.call("GET", `/v1/requests/${id}`, { key });
  assert.deepEqual([json.requestedBy, json.approvals.stage], ["eve@example.com", 2]);
  assert.deepEqual(json.channels, ["mail", "slack_link"]);
  assert.deepEqual(json.audience, ["https://pay.example.com", "ledger"]);
  assert.equal(json.requireSignature, false);
  assert.deepEqual([state()?.status, n8n.ran], ["waiting", []]);
  await served.approve(id);
  await finished();
  assert.equal(n8n.ran.length, 1);
  const flawed = await open({ options: { then: '{"notify": "ben@example.com"}' } });
  const run = await flawed.n8n.run(randomUUID(), [{ order: 1042 }]);
  assert.match(String(run.data.resultData.error?.message), /Later Stages must be a list in JSON/);
  assert.deepEqual(await flawed.requests(), []);
});

test("an edit is what goes on", async () => {
  const { n8n, id, finished } = await ask();
  await served.approve(id, '{"order": 1042, "amount": 45}');
  await finished();
  const [[item]] = n8n.ran as [[Record<string, unknown>]];
  assert.deepEqual([item.edited, item.effectivePayload], [true, { order: 1042, amount: 45 }]);
});

test("a service that is away, lies or answers garbage resumes nothing, and the next callback does", async () => {
  const { n8n, id, finished } = await ask();
  served.calls.length = 0;
  // What the node meets when it looks at the request, and then redeems it.
  served.troubles.push("say HTML", "redirect");
  served.losesRedeem = true;
  await served.approve(id);
  await finished();
  const path = `/v1/requests/${id}`;
  const looks = [`GET ${path}`, `GET ${path}`, `GET ${path}`];
  assert.deepEqual(served.calls, [...looks, `POST ${path}/redeem`, `POST ${path}/redeem`]);
  assert.equal(n8n.ran.length, 1);
});

test("a rejection ends the execution, and no later node runs unless the workflow says so", async () => {
  const stopped = await ask();
  await served.reject(stopped.id, "No");
  await stopped.finished();
  assert.deepEqual(stopped.n8n.ran, []);
  const continued = await ask({ whenNotApproved: "continue" });
  await served.reject(continued.id, "No");
  await continued.finished();
  const { id } = continued;
  const expected = { approved: false, requestId: id, status: "REJECTED", note: "No" };
  assert.deepEqual(continued.n8n.ran, [[expected]]);
});

test("an expiry ends it, too", async () => {
  const { n8n, id, key, finished } = await ask();
  await db.query(
    "update approvals set expires_at = now_ms(), created_at = now_ms() - interval '1 hour' where id = $1",
    [id],
  );
  await served.service.call("GET", `/v1/requests/${id}`, { key });
  worker.wake();
  await finished();
  assert.deepEqual(n8n.ran, []);
});

test("a forged call resumes nothing, whatever it says", async () => {
  const { n8n, id, key, execution, state, finished } = await ask();
  const other = { summary: "Harmless", notify: "eve@example.com", payload: { order: 1 } };
  const { json } = await served.service.call("POST", "/v1/requests", { key, body: other });
  await served.approve(json.id);
  for (const body of [
    {},
    { event: "request.approved", data: { id, status: "APPROVED" } },
    { event: "request.approved", data: { ...json, status: "APPROVED" } },
  ]) {
    assert.equal(await call(n8n.urlOf(execution), body), 409);
  }
  assert.deepEqual([n8n.ran, state()?.status], [[], "waiting"]);
  await served.approve(id);
  await finished();
  assert.equal(n8n.ran.length, 1);
});

test("calls that race, and calls that come later, run the rest once", async () => {
  const { n8n, id, execution, finished } = await ask();
  await served.approve(id);
  await Promise.all([1, 2, 3, 4].map(() => call(n8n.urlOf(execution))));
  await finished();
  assert.equal(await call(n8n.urlOf(execution)), 409);
  assert.equal(n8n.ran.length, 1);
});

test("an n8n that was away when the decision came goes on in another process", async () => {
  const { n8n, gate, id } = await ask();
  const { port, executions } = n8n;
  await n8n.stop();
  instances.splice(instances.indexOf(n8n), 1);
  await served.approve(id);
  await until(async () => {
    const { rows } = await db.query(
      "select 1 from deliveries d join events e on e.id = d.event_id where e.approval_id = $1 and channel = 'callback' and attempts > 0",
      [id],
    );
    return rows.length > 0;
  }, "a callback that found nobody");
  const another = new SmallN8n(type, gate, executions);
  instances.push(another);
  await another.start(port);
  await until(() => another.ran.length > 0, "the rest to run");
  assert.equal(another.ran.length, 1);
});

test("what redeemed and died does not run again", async () => {
  const { n8n, id, key, execution, state } = await ask();
  n8n.isAway = true;
  await served.approve(id);
  // As the node does it, before its process is killed.
  await served.service.call("POST", `/v1/requests/${id}/redeem`, { key });
  n8n.isAway = false;
  assert.equal(await call(n8n.urlOf(execution)), 409);
  assert.deepEqual([n8n.ran, state()?.status], [[], "waiting"]);
});

test("why the wait has no end: n8n would go on with the input as if nothing had been asked", async () => {
  const { n8n, execution } = await ask();
  await n8n.wake(execution);
  assert.deepEqual(n8n.ran, [[{ order: 1042 }]]);
});

test("what can't be asked exactly is refused before anybody is asked", async () => {
  const flawed: [object, object[], RegExp][] = [
    [{}, [{ order: 1 }, { order: 2 }], /one question at a time/],
    [{ payload: '{"a": 1,}' }, [{}], /not JSON/],
    [{ payload: '{"a": 1, "a": 2}' }, [{}], /more than once/],
    [{ payload: "={{ ({ order: 9007199254740993 }) }}" }, [{}], /would not run as it was approved/],
    [{ notify: "nobody" }, [{}], /notify/],
  ];
  for (const [parameters, items, expected] of flawed) {
    const { n8n, requests } = await open(parameters);
    const { data } = await n8n.run(randomUUID(), items);
    assert.match(data.resultData.error?.message ?? "", expected);
    assert.deepEqual([n8n.ran, await requests()], [[], []]);
  }
});

test("what can't be asked lets no later node run, whatever the node's settings say of errors", async () => {
  for (const settings of [
    { onError: "continueRegularOutput" },
    { onError: "continueErrorOutput" },
    { continueOnFail: true },
    { alwaysOutputData: true },
    { alwaysOutputData: true, onError: "continueRegularOutput" },
  ]) {
    const { n8n } = await open({ notify: "nobody" }, settings);
    await n8n.run(randomUUID(), [{ order: 1042 }]);
    assert.deepEqual(n8n.ran, [], JSON.stringify(settings));
  }
});

test("a rejection lets no later node run, whatever the node's settings say of missing items", async () => {
  for (const onError of ["stopWorkflow", "continueRegularOutput"]) {
    const { n8n, requests } = await open({}, { alwaysOutputData: true, onError });
    const execution = randomUUID();
    await n8n.run(execution, [{ order: 1042 }]);
    for (const { id } of await requests()) await served.reject(id, "No");
    await call(n8n.urlOf(execution));
    assert.deepEqual(n8n.ran, [], onError);
  }
  const { n8n, id, finished } = await ask({}, { onError: "continueRegularOutput" });
  await served.approve(id);
  await finished();
  assert.equal(n8n.ran.length, 1);
});
