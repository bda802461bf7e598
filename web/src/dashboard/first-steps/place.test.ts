import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestRow } from "../../../../server/src/wire/dashboard-contract.ts";
import type { ApiKey } from "../../../../server/src/wire/dashboard-keys.ts";
import { placeOf, requestsMax, stepStates } from "./place.ts";

const key: ApiKey = {
  id: "key_1",
  name: "First steps",
  lastFour: "abcd",
  createdAt: "2026-11-15T10:00:00.000Z",
  lastUsedAt: null,
  revokedAt: null,
  defaultApprover: null,
  owner: null,
};

function row(status: RequestRow["status"], id = "req_1"): RequestRow {
  return {
    id,
    status,
    summary: "Refund order 1042",
    agentName: null,
    approverEmail: "owner@localhost",
    approverGroup: null,
    createdAt: "2026-11-15T10:00:00.000Z",
    expiresAt: "2026-11-15T11:00:00.000Z",
    resolvedAt: null,
    resolvedByEmail: null,
    isEdited: false,
  };
}

function kindOf(keys: ApiKey[], items: RequestRow[], nextCursor: string | null = null) {
  return placeOf({ keys, page: { items, nextCursor } }).kind;
}

test("the place follows from the keys and requests that are there", () => {
  assert.equal(kindOf([], []), "key");
  assert.equal(kindOf([key], []), "ask");
  assert.equal(kindOf([key], [row("PENDING")]), "approve");
  assert.equal(kindOf([key], [row("APPROVED")]), "done");
  assert.equal(kindOf([key], [row("REJECTED")]), "done");
});

test("a revoked key cannot ask, and what was asked with it still counts", () => {
  const revoked = { ...key, revokedAt: "2026-11-15T10:01:00.000Z" };
  assert.equal(kindOf([revoked], []), "key");
  assert.equal(kindOf([revoked], [row("PENDING")]), "approve");
});

test("a request that ended without a decision leads back to asking, and says so", () => {
  const place = placeOf({ keys: [key], page: { items: [row("EXPIRED")], nextCursor: null } });
  assert.ok(place.kind === "ask" && place.lapsed?.status === "EXPIRED");
});

test("an approval counts more than a rejection, and a decision more than a waiting request", () => {
  const page = {
    items: [row("PENDING", "3"), row("REJECTED", "2"), row("APPROVED", "1")],
    nextCursor: null,
  };
  const place = placeOf({ keys: [key], page });
  assert.ok(place.kind === "done" && place.request.id === "1");
});

test("a workspace in use is not guided", () => {
  const many = Array.from({ length: requestsMax + 1 }, (_, at) => row("PENDING", `req_${at}`));
  assert.equal(kindOf([key], many), "over");
  assert.equal(kindOf([key], [row("APPROVED")], "next"), "over");
});

test("there is one step to do now until all are done", () => {
  assert.deepEqual(stepStates({ kind: "key" }), ["now", "later", "later"]);
  assert.deepEqual(stepStates({ kind: "approve", request: row("PENDING") }), [
    "done",
    "done",
    "now",
  ]);
  assert.deepEqual(stepStates({ kind: "done", request: row("APPROVED") }), [
    "done",
    "done",
    "done",
  ]);
});
