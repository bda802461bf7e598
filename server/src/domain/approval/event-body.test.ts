import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonText } from "../shown/json-text.ts";
import { nothingElse } from "../shown/submitted-fields.ts";
import type { Approval } from "./approval.ts";
import { eventBody, testEventBody } from "./event-body.ts";

const createdAt = new Date("2026-11-15T12:00:00.001Z");
const approval: Approval = {
  ...nothingElse,
  id: "req_1",
  summary: 'Pay "now"',
  payload: '{"2":1.0,"1":9007199254740993}' as JsonText,
  metadata: "1E400" as JsonText,
  agentState: '["\\u0000"]' as JsonText,
  recentActions: ["a"],
  approver: { kind: "group", key: "finance", name: "Finance" },
  createdAt,
  expiresAt: new Date("2026-11-16T12:00:00.001Z"),
  state: { kind: "PENDING" },
  voting: null,
};
const at = new Date("2026-11-15T13:00:00.000Z");
const approved: Approval = {
  ...approval,
  state: {
    kind: "APPROVED",
    at,
    byEmail: "ann@example.com",
    note: "ok",
    edit: "false" as JsonText,
  },
};

test("the body is the contract's, to the byte", () => {
  assert.equal(
    eventBody("request.approved", at, approved).toString(),
    '{"event":"request.approved","createdAt":"2026-11-15T13:00:00.000Z","data":{"id":"req_1","status":"APPROVED","summary":"Pay \\"now\\"","payload":{"2":1.0,"1":9007199254740993},"modifiedPayload":false,"effectivePayload":false,"metadata":1E400,"agentState":["\\u0000"],"reasoning":null,"recentActions":["a"],"agentName":null,"approverEmail":null,"approverGroup":{"key":"finance","name":"Finance"},"resolvedAt":"2026-11-15T13:00:00.000Z","resolvedByEmail":"ann@example.com","resolutionNote":"ok","expiresAt":"2026-11-16T12:00:00.001Z","createdAtRequest":"2026-11-15T12:00:00.001Z"}}',
  );
});

test("request.created shows the pending view however late it is sent", () => {
  const early = eventBody("request.created", createdAt, approval);
  assert.deepEqual(eventBody("request.created", createdAt, approved), early);
  assert.equal(JSON.parse(early.toString()).data.status, "PENDING");
});

test("a test event has the same fields and nothing to execute", () => {
  const test = JSON.parse(testEventBody(at).toString());
  const real = JSON.parse(eventBody("request.created", createdAt, approval).toString());
  assert.equal(test.event, "webhook.test");
  assert.deepEqual(Object.keys(test), Object.keys(real));
  assert.deepEqual(Object.keys(test.data), Object.keys(real.data));
  assert.equal(test.data.status, "PENDING");
  assert.match(test.data.summary, /^A test event\./);
});

test("the body of a test event is the contract's, to the byte", () => {
  assert.equal(
    testEventBody(at).toString(),
    '{"event":"webhook.test","createdAt":"2026-11-15T13:00:00.000Z","data":{"id":"req_test","status":"PENDING","summary":"A test event. No request stands behind it, and there is nothing to do.","payload":{"test":true},"modifiedPayload":null,"effectivePayload":{"test":true},"metadata":null,"agentState":null,"reasoning":null,"recentActions":[],"agentName":"countersign","approverEmail":"nobody@example.com","approverGroup":null,"resolvedAt":null,"resolvedByEmail":null,"resolutionNote":null,"expiresAt":"2026-11-15T13:00:00.000Z","createdAtRequest":"2026-11-15T13:00:00.000Z"}}',
  );
});
