// What endpoints hear of votes: the newer kinds only where they are named, each with the request and its `approvals`. And
// the limit of approvers holds for steps and for colleagues who take a vote over.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { until } from "./patience.ts";
import { startService } from "./test-service.ts";
import { makeVoters, payment } from "./test-votes.ts";
import { makeEndpoint, startReceiver, startWorker } from "./test-worker.ts";

let wake = () => {};
const service = await startService({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
const { db } = service;
const named = await startReceiver();
const unnamed = await startReceiver();
const worker = startWorker(service.database);
wake = () => worker.worker.wake();
after(async () => {
  await worker.stop();
  await Promise.all([named.close(), unnamed.close()]);
  await service.stop();
});
const { workspaceWith, ask, vote, sweep, passOn } = makeVoters(service);
const [ann, bob, cy, dee] = ["ann", "bob", "cy", "dee"].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
  string,
];

test("newer kinds go to endpoints that name them, with the request and its approvals", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob, cy]);
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [dee] });
  const kinds = [
    "request.vote_recorded",
    "request.escalated",
    "request.reassigned",
    "request.stage_entered",
  ] as const;
  await makeEndpoint(db, workspaceId, named.url, kinds);
  await makeEndpoint(db, workspaceId, unnamed.url);
  const body = { then: [{ notify: bob }], escalate: [{ afterMinutes: 30, notify: dee }] };
  const { id } = await ask(key, { ...body, notify: ann });
  await db.query("update steps set due_at = now_ms() where approval_id = $1 and stage = 1", [id]);
  await sweep();
  assert.equal((await passOn(id, ann, cy)).status, 200);
  await vote(id, cy);
  await vote(id, bob);
  wake();
  await until(() => named.heard.length >= 5, "all five events");
  await until(() => unnamed.heard.length >= 2, "the beginning and the end");
  const told = named.heard.map(({ json }) => json.event).sort();
  assert.deepEqual(told, [
    "request.escalated",
    "request.reassigned",
    "request.stage_entered",
    "request.vote_recorded",
    "request.vote_recorded",
  ]);
  for (const { json } of named.heard) {
    assert.deepEqual([json.data.id, json.data.summary], [id, payment.summary]);
    const { stage, stages } = json.data.approvals;
    assert.equal(stage, json.event === "request.stage_entered" ? 2 : stage);
    assert.deepEqual(
      stages.map((each: { notify: string }) => each.notify),
      [ann, bob],
    );
  }
  const kindsOfUnnamed = unnamed.heard.map(({ json }) => json.event).sort();
  assert.deepEqual(kindsOfUnnamed, ["request.approved", "request.created"]);
});

test("the limit of approvers holds for steps, and for who takes a vote over", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, bob]);
  await createGroup(db, {
    workspaceId,
    key: "other",
    name: "Other",
    members: ["eve@else.example"],
  });
  await db.query(
    "update workspaces set approver_limit = 'domains', approver_domains = '{example.com}' where id = $1",
    [workspaceId],
  );
  const step = { afterMinutes: 5, notify: "eve@else.example" };
  const refused = await service.call("POST", "/v1/requests", {
    key,
    body: { ...payment, escalate: [step] },
  });
  assert.deepEqual([refused.status, refused.json.error.code], [403, "approver_not_allowed"]);
  assert.match(refused.json.error.message, /^escalate\[0\]\.notify: /);
  for (const body of [{ notify: ann }, { quorum: 1 }]) {
    const { id } = await ask(key, body);
    const passed = await passOn(id, ann, "eve@else.example");
    assert.deepEqual([passed.status, passed.json.error.code], [409, "hand_over_refused"]);
    assert.match(passed.json.error.message, /doesn’t let eve@else.example be asked/);
  }
});
