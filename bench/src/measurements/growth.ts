// The same work with millions of finished requests in the tables as with none: two services side by side, an empty one
// and one that was filled, take turns.

import { setTimeout as pause } from "node:timers/promises";
import { type Bench, inTurns, rampMs } from "../bench.ts";
import { addDue, addOverdue, countOverdue, untilNoneDue, wakeWorkerAt } from "../due.ts";
import { body } from "../example-body.ts";
import type { Figure } from "../figure.ts";
import { fillWithFinished } from "../fill.ts";
import { type Service, withService } from "../service.ts";
import { listCalls } from "../visitors.ts";
import {
  create,
  createCalls,
  dropBacklog,
  openWorkspace,
  openWorkspaces,
  readCall,
  type Workspace,
} from "../workloads.ts";

const workspacesMax = 64;
const clients = 64;
const idsRead = 512;
const timeoutMs = 60_000;
/** No more than this slower. */
const ratioMin = 1 / 1.25;

const works = [
  "creates, 64 clients",
  "reads, 64 clients",
  "list of the dashboard, 16 clients",
  "webhooks",
  "expiry",
] as const;
type Work = (typeof works)[number];
type Rates = Record<Work, number>;

/** Everything that both sides need to do the same work. */
type Side = {
  service: Service;
  creates: string[];
  reads: string[];
  lists: string[];
  workspace: Workspace;
};

export function measureGrowth(bench: Bench, millions: number[]): Promise<Figure[]> {
  return withService(bench, {}, (empty) =>
    withService(bench, {}, async (grown) => {
      const emptySide = await prepare(bench, empty, await openAll(bench, empty));
      const workspaces = await openAll(bench, grown);
      const figures: Figure[] = [];
      let filled = 0;
      for (const million of millions) {
        const { signal, progress } = bench;
        const workspaceIds = workspaces.map(({ id }) => id);
        const count = million * 1_000_000 - filled;
        await whileStopped(grown, () =>
          fillWithFinished(grown.db, { workspaceIds, count, signal, progress }),
        );
        filled += count;
        const side = await prepare(bench, grown, workspaces);
        figures.push(...(await compare(bench, million, { empty: emptySide, grown: side })));
      }
      return figures;
    }),
  );
}

/** Without indexes the worker would read millions of rows each time it looks for something due, and hold up the filling. */
async function whileStopped({ pid }: Service, work: () => Promise<void>): Promise<void> {
  process.kill(pid, "SIGSTOP");
  try {
    await work();
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

/** One of them has an endpoint, for the webhooks; finished requests of all others have a mail only. */
async function openAll({ receiver }: Bench, service: Service): Promise<Workspace[]> {
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const first = await openWorkspace(service, [url]);
  return [first, ...(await openWorkspaces(service, workspacesMax - 1))];
}

async function prepare(bench: Bench, service: Service, workspaces: Workspace[]): Promise<Side> {
  const [workspace, ...others] = workspaces;
  const lister = others[0];
  if (workspace === undefined || lister === undefined) throw new Error("there is no workspace");
  const creates = createCalls(others, body);
  const { port } = service;
  // Enough for a full page of each list, and for reads of as many different ones on both sides.
  const some = Array.from({ length: 1024 }, (_, at) => creates[at % 8] ?? "");
  await bench.load.run(
    { kind: "http once", port, requests: some, status: 201, clients: 32 },
    bench.signal,
  );
  await dropBacklog(service.db);
  return {
    service,
    creates,
    reads: await readsOf(service, others.slice(0, 8)),
    lists: await listCalls(service, lister),
    workspace,
  };
}

/** Of requests of all ages: ids begin with their time, so every so-manieth of the workspace's key is one of each age. */
async function readsOf({ db }: Service, workspaces: Workspace[]): Promise<string[]> {
  const calls: string[] = [];
  for (const workspace of workspaces) {
    const { rows } = await db.query<{ id: string }>(
      `select id from (
         select id, row_number() over (order by id) as nth, count(*) over () as count
         from approvals where workspace_id = $1
       ) as numbered
       where nth % greatest(1, count / $2) = 0 limit $2`,
      [workspace.id, idsRead / workspaces.length],
    );
    calls.push(...rows.map(({ id }) => readCall(workspace, id)));
  }
  return calls;
}

async function compare(
  bench: Bench,
  million: number,
  sides: { empty: Side; grown: Side },
): Promise<Figure[]> {
  const rates = { empty: Array.of<Rates>(), grown: Array.of<Rates>() };
  for (const side of [sides.empty, sides.grown]) await measureSide(bench, side);
  await inTurns(bench, `growth, ${million} million`, async () => {
    rates.grown.push(await measureSide(bench, sides.grown));
    rates.empty.push(await measureSide(bench, sides.empty));
  });
  return works.map((work) => ({
    work: "growth",
    variant: `${million} million finished, ${work}`,
    unit: "per second",
    ours: rates.grown.map((each) => each[work]),
    ceiling: { name: "empty tables", rounds: rates.empty.map((each) => each[work]) },
    waited: null,
    target: { of: "ratio", atLeast: ratioMin },
  }));
}

async function measureSide(bench: Bench, side: Side): Promise<Rates> {
  const { service, creates, reads, lists } = side;
  const { db } = service;
  const rates = {
    "reads, 64 clients": await call(bench, service, reads, { status: 200, clients }),
    "list of the dashboard, 16 clients": await call(bench, service, lists, {
      status: 200,
      clients: 16,
    }),
    "creates, 64 clients": await call(bench, service, creates, { status: 201, clients }),
  };
  await dropBacklog(db);
  const webhooks = await sendDue(bench, side);
  const expiry = await expireOverdue(bench, side);
  await dropBacklog(db);
  return { ...rates, webhooks, expiry };
}

async function call(
  { load, plan, signal }: Bench,
  { port }: Service,
  requests: string[],
  { status, clients }: { status: number; clients: number },
): Promise<number> {
  const pace = { clients, rampMs, measureMs: plan.measureMs, perSecondMax: null };
  return (await load.run({ kind: "http", port, requests, status, ...pace }, signal)).perSecond;
}

async function sendDue({ plan, receiver }: Bench, { service, workspace }: Side): Promise<number> {
  const { db } = service;
  const { endpointIds } = workspace;
  const { id: approvalId } = await create(service, workspace);
  const count = Math.ceil(plan.webhooks / 2);
  const dueAt = new Date(Date.now() + 500 + count / 3);
  await addDue(db, { workspaceId: workspace.id, approvalId, count }, { endpointIds, dueAt });
  await receiver.startAgain();
  await wakeWorkerAt(db, dueAt);
  const startedAt = performance.now();
  await receiver.untilWebhooks(count, timeoutMs);
  await untilNoneDue(db, endpointIds);
  return (count * 1000) / (performance.now() - startedAt);
}

async function expireOverdue({ plan }: Bench, { service, workspace }: Side): Promise<number> {
  const { db } = service;
  const { id: approvalId } = await create(service, workspace);
  const count = Math.ceil(plan.expiring / 5);
  await addOverdue(db, { workspaceId: workspace.id, approvalId, count });
  const startedAt = performance.now();
  while ((await countOverdue(db)) === count) {
    if (performance.now() - startedAt > timeoutMs) throw new Error("nothing expires");
    await pause(20);
  }
  const left = await countOverdue(db);
  const begunAt = performance.now();
  while ((await countOverdue(db)) > 0) {
    if (performance.now() - begunAt > timeoutMs) throw new Error("some never expire");
    await pause(100);
  }
  return (left * 1000) / (performance.now() - begunAt);
}
