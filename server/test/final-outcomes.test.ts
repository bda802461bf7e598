// A request has one outcome, and the facts about it say that one: PostgreSQL refuses others, whoever writes them.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db, servicePool } = service;
const { ask, vote } = makeVoters(service);
after(() => service.stop());

const outcomes = ["approved", "rejected", "expired", "cancelled"].map((each) => `request.${each}`);
const integrity = (error: { code?: string }) => error.code?.startsWith("23") === true;

async function addEvent(workspaceId: string, id: string, kind: string): Promise<void> {
  await servicePool.query(
    "insert into events (workspace_id, approval_id, kind) values ($1, $2, $3)",
    [workspaceId, id, kind],
  );
}

test("no second outcome is added to a decided request", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { id } = await ask(key, minimalBody);
  await vote(id, minimalBody.notify, {});
  for (const kind of outcomes) {
    await assert.rejects(addEvent(workspaceId, id, kind), integrity, kind);
  }
});

test("a request that nobody decided has no outcome", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { id } = await ask(key, minimalBody);
  for (const kind of outcomes) {
    await assert.rejects(addEvent(workspaceId, id, kind), /is PENDING/, kind);
  }
});

test("no one says that a request was deleted while it is there, nor tells the log what rows tell", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { id } = await ask(key, minimalBody);
  await vote(id, minimalBody.notify, {});
  const tell = (detail: object) =>
    servicePool.query(
      "insert into log_pending (workspace_id, source, subject, detail) values ($1, 'd', $2, $3)",
      [workspaceId, id, detail],
    );
  await assert.rejects(tell({ kind: "request.deleted", request: id }), integrity);
  const kinds = ["request.approved", "activity.member.added", "log.opened", "checkpoint"];
  for (const kind of kinds) await assert.rejects(tell({ kind }), integrity, kind);
  await tell({ kind: "test.fact" });
});
