// Callers, approvers and sweeps race to end one request at the very moment its time is over. There is one end: one
// state, one event, one delivery to each endpoint, and every caller is told the same.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import * as approvalResolution from "../src/storage/approvals/approval-resolution.ts";
import { until } from "./patience.ts";
import { resolveNow } from "./test-evidence.ts";
import { insist, makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "./test-worker.ts";

const service = await startService();
const otherNode = await startNode(service.database);
const nodes = [service, otherNode];
const { db } = service;
const receivers = [await startReceiver(), await startReceiver()];
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await otherNode.stop();
  await service.stop();
});

const racers = 200;
/** When the request's time is over, seen from the start of the race: before it, in the middle of it, after it. */
const roundsEndInMs = [-1, 2, 5, 10, 20, 40, 80, 160, 320, 60_000];

/** One racer's result: whether it ended the request itself, and what it was told about the request, if anything. */
type Finding = { isMine: boolean; told: Told | null };
type Told = { status: string; resolvedAt: string | null };

type Race = { workspaceId: string; key: string; id: string };

async function setUp(): Promise<Race> {
  const { id: workspaceId, key } = await makeWorkspace(db);
  for (const { url } of receivers) await makeEndpoint(db, workspaceId, url);
  const body = { ...minimalBody, payload: { amount: 1 } };
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  return { workspaceId, key, id: json.id };
}

const ways = ["cancel", "get", "sweep", "approve", "reject"] as const;

async function run({ workspaceId, key, id }: Race, n: number): Promise<Finding> {
  const way = ways[n % ways.length] as (typeof ways)[number];
  const node = nodes[Math.floor(n / ways.length) % nodes.length] ?? service;
  const tx = inOneStatement(node.db);
  const where = { workspaceId, id };
  const decision = { byEmail: `racer${n}@example.com`, note: null };
  switch (way) {
    case "cancel": {
      const { status, json } = await insist(node, "POST", `/v1/requests/${id}/cancel`, { key });
      assert.ok(status === 200 || status === 409, `${status}`);
      return status === 200 ? { isMine: true, told: json } : { isMine: false, told: null };
    }
    case "get": {
      const { json } = await insist(node, "GET", `/v1/requests/${id}`, { key });
      return { isMine: false, told: json };
    }
    case "sweep":
      await approvalResolution.expireOverdue(tx, { from: null, limit: 10 });
      return { isMine: false, told: null };
    case "approve": {
      const resolution = { status: "APPROVED", ...decision, edit: null } as const;
      return findingOf("APPROVED", await resolveNow(tx, where, resolution));
    }
    case "reject": {
      const resolution = { status: "REJECTED", ...decision } as const;
      return findingOf("REJECTED", await resolveNow(tx, where, resolution));
    }
    default:
      return way satisfies never;
  }
}

function findingOf(status: string, at: Date | null): Finding {
  if (at === null) return { isMine: false, told: null };
  return { isMine: true, told: { status, resolvedAt: at.toISOString() } };
}

async function finalEventsOf({ workspaceId, id }: Race) {
  const { rows } = await db.query(
    `select ev.kind, ev.created_at, array_agg(d.endpoint_id order by d.endpoint_id) as endpoint_ids
     from events ev left join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id
     where ev.workspace_id = $1 and ev.approval_id = $2 and ev.kind <> 'request.created'
     group by ev.id, ev.kind, ev.created_at`,
    [workspaceId, id],
  );
  return rows;
}

async function endpointIdsOf({ workspaceId }: Race): Promise<string[]> {
  const { rows } = await db.query("select id from endpoints where workspace_id = $1 order by id", [
    workspaceId,
  ]);
  return rows.map(({ id }) => id);
}

/** Runs one race, and returns the request in the end, as GET answers it. */
async function assertOneEnd(race: Race, endsInMs: number) {
  await db.query(
    `update approvals set created_at = now_ms() - interval '1 hour',
       expires_at = now_ms() + $3 * interval '1 millisecond'
     where workspace_id = $1 and id = $2`,
    [race.workspaceId, race.id, endsInMs],
  );
  const findings = await Promise.all(Array.from({ length: racers }, (_, n) => run(race, n)));
  const { json } = await service.call("GET", `/v1/requests/${race.id}`, { key: race.key });

  assert.notEqual(json.status, "PENDING");
  const winners = findings.filter(({ isMine }) => isMine);
  assert.equal(winners.length, json.status === "EXPIRED" ? 0 : 1);
  // Every racer that was told of an end was told of this one.
  const ends = findings.flatMap(({ told }) =>
    told === null || told.status === "PENDING" ? [] : [[told.status, told.resolvedAt]],
  );
  for (const end of ends) assert.deepEqual(end, [json.status, json.resolvedAt]);
  // Nobody has decided after the end.
  assert.ok(json.resolvedAt <= json.expiresAt);
  if (json.status === "EXPIRED") assert.equal(json.resolvedAt, json.expiresAt);

  assert.deepEqual(await finalEventsOf(race), [
    {
      kind: `request.${json.status.toLowerCase()}`,
      created_at: new Date(json.resolvedAt),
      endpoint_ids: await endpointIdsOf(race),
    },
  ]);
  return json;
}

test("200 racing cancels, expiries and decisions leave one state, one event and one webhook to each endpoint, which agrees with GET", async (t) => {
  const ended: { status: string; id: string; [field: string]: unknown }[] = [];
  for (const endsInMs of roundsEndInMs) ended.push(await assertOneEnd(await setUp(), endsInMs));
  const statuses = ended.map(({ status }) => status);
  t.diagnostic(`ends: ${statuses.join(", ")}`);
  assert.equal(statuses.at(0), "EXPIRED");
  assert.notEqual(statuses.at(-1), "EXPIRED");

  const worker = startWorker(service.database);
  t.after(() => worker.stop());
  // Each request is told of twice: when it was created, and when it ended.
  const expected = ended.length * 2;
  await until(() => receivers.every(({ heard }) => heard.length >= expected), "the webhooks");
  for (const { heard } of receivers) {
    assert.equal(heard.length, expected);
    for (const approval of ended) {
      const told = heard.filter(({ json }) => json.data.id === approval.id);
      const final = told.filter(({ json }) => json.event !== "request.created");
      assert.equal(final.length, 1);
      const { event, createdAt, data } = final[0]?.json ?? {};
      assert.equal(event, `request.${approval.status.toLowerCase()}`);
      assert.equal(createdAt, approval.resolvedAt);
      const { createdAtRequest, ...fields } = data;
      const same = Object.keys(fields).map((field) => [field, approval[field]]);
      assert.deepEqual(fields, Object.fromEntries(same));
      assert.equal(createdAtRequest, approval.createdAt);
    }
  }
});
