// Creates, beside what PostgreSQL alone does with the very statement that the service runs for one of them.

import type { JsonText } from "../../../server/src/domain/shown/json-text.ts";
import { type Bench, inTurns, nameOfClients, rampMs } from "../bench.ts";
import { body, bodyWithLargeState, largeState } from "../example-body.ts";
import { type Figure, waitedOf } from "../figure.ts";
import type { LoadResult, Pace } from "../load-process.ts";
import { runPgbench } from "../pgbench.ts";
import { openCeilingDatabase, type Service, type Settings, withService } from "../service.ts";
import {
  createCalls,
  createStatement,
  dropBacklog,
  openWorkspaces,
  type Statement,
} from "../workloads.ts";

/** In one workspace creates are counted in one row and wait for each other, for us as for the ceiling. */
const workspacesMax = 64;
/** The embedded PostgreSQL takes 100 connections, and some are the service's. */
const ceilingClientsMax = 64;
const largeClients = 16;

type Sides = {
  bench: Bench;
  service: Service;
  ceiling: Awaited<ReturnType<typeof openCeilingDatabase>>;
};
type Turns = { clients: number; ours: LoadResult[]; ceiling: number[] };

/** Compared with bare statements, behind which nothing is sent, unless a line says otherwise. */
export async function measureCreates(bench: Bench): Promise<Figure[]> {
  const alone = await withSides(bench, { ROLE: "api" }, async (sides) => [
    ...(await measureSmall(sides)),
    ...(bench.plan.isWhole ? await measureWithEndpoints(sides, "64 clients, 3 endpoints") : []),
    ...(bench.plan.isWhole ? await measureLarge(sides) : []),
  ]);
  if (!bench.plan.isWhole) return alone;
  const sending = await withSides(bench, {}, (sides) =>
    measureWithEndpoints(sides, "64 clients, mails and 3 webhooks sent meanwhile"),
  );
  return [...alone, ...sending];
}

function withSides(bench: Bench, settings: Settings, measure: (sides: Sides) => Promise<Figure[]>) {
  return withService(bench, settings, async (service) => {
    const ceiling = await openCeilingDatabase(service);
    try {
      return await measure({ bench, service, ceiling });
    } finally {
      await ceiling.db.end();
    }
  });
}

async function measureSmall(sides: Sides): Promise<Figure[]> {
  const { bench } = sides;
  const turns = await measureTurns(sides, { urls: [], clients: bench.plan.clients });
  const figures = turns.map((turn): Figure => {
    const isBeyond = turn.ceiling.length === 0;
    return {
      ...ofTurns(turn),
      variant: nameOfClients(turn.clients),
      ceiling: isBeyond ? bestOf(bench, turns) : { name: ceilingName(bench), rounds: turn.ceiling },
      target: targetOf(turn.clients),
    };
  });
  const alone = turns.find(({ clients }) => clients === 1);
  return alone === undefined ? figures : [...figures, timeOfOne(bench, alone)];
}

function targetOf(clients: number): Figure["target"] {
  if (clients === 64) return { of: "ratio", atLeast: 0.8 };
  return clients === 256 ? { of: "ratio", atLeast: 1 } : null;
}

function bestOf(bench: Bench, turns: Turns[]) {
  const rounds = Array.from({ length: bench.plan.rounds }, (_, round) =>
    Math.max(...turns.map(({ ceiling }) => ceiling[round] ?? 0)),
  );
  return { name: `${ceilingName(bench)}'s best`, rounds };
}

function timeOfOne(bench: Bench, { ours, ceiling }: Turns): Figure {
  const ms = (perSecond: number) => 1000 / perSecond;
  return {
    work: "create",
    variant: "1 client, time of one",
    unit: "ms",
    ours: ours.map(({ perSecond }) => ms(perSecond)),
    ceiling: { name: ceilingName(bench), rounds: ceiling.map(ms) },
    waited: null,
    target: { of: "ratio", atMost: 3 },
  };
}

async function measureWithEndpoints(sides: Sides, variant: string): Promise<Figure[]> {
  const { bench } = sides;
  const { port } = bench.receiver;
  const urls = [1, 2, 3].map((number) => `http://127.0.0.1:${port}/hook/${number}`);
  const turns = await measureTurns(sides, { urls, clients: [64] });
  return turns.map((turn) => ({
    ...ofTurns(turn),
    variant,
    ceiling: { name: ceilingName(bench), rounds: turn.ceiling },
    target: null,
  }));
}

/** A value of that size does not fit into an argument of pgbench. */
async function measureLarge({ bench, service, ceiling }: Sides): Promise<Figure[]> {
  const { load, plan, signal } = bench;
  const requests = createCalls(await openWorkspaces(service, workspacesMax), bodyWithLargeState);
  const theirs = await openWorkspaces(ceiling, workspacesMax);
  const statements = [createStatement(theirs, largeState as JsonText)];
  const pace = { clients: largeClients, rampMs, measureMs: plan.measureMs };
  const turns: Turns = { clients: largeClients, ours: [], ceiling: [] };
  await inTurns(bench, "create with 200 KB", async () => {
    turns.ours.push(await callService(bench, service, requests, pace));
    await dropBacklog(service.db);
    const { connection } = ceiling;
    const loop = { kind: "statements", connection, statements, isOnce: false, ...pace } as const;
    turns.ceiling.push((await load.run(loop, signal)).perSecond);
  });
  return [
    {
      ...ofTurns(turns),
      variant: `${largeClients} clients, 200 KB agentState`,
      ceiling: { name: "bare pg", rounds: turns.ceiling },
      target: null,
    },
  ];
}

/** Unsent deliveries are dropped before the ceiling has its turn. */
async function measureTurns(
  { bench, service, ceiling }: Sides,
  { urls, clients }: { urls: string[]; clients: number[] },
): Promise<Turns[]> {
  const requests = createCalls(await openWorkspaces(service, workspacesMax, urls), body);
  const statements = [createStatement(await openWorkspaces(ceiling, workspacesMax, urls))];
  const turns: Turns[] = clients.map((each) => ({ clients: each, ours: [], ceiling: [] }));
  await callService(bench, service, requests, { clients: 64, rampMs: 0, measureMs: 1000 });
  await dropBacklog(service.db);
  const name = urls.length === 0 ? "create" : `create with ${urls.length} endpoints`;
  await inTurns(bench, name, async () => {
    for (const turn of turns) {
      const pace = { clients: turn.clients, rampMs, measureMs: bench.plan.measureMs };
      turn.ours.push(await callService(bench, service, requests, pace));
      await dropBacklog(service.db);
      if (turn.clients > ceilingClientsMax) continue;
      turn.ceiling.push(await runCeiling(bench, ceiling, { statements, clients: turn.clients }));
    }
  });
  return turns;
}

function callService(
  { load, signal }: Bench,
  { port }: Service,
  requests: string[],
  pace: Pace,
): Promise<LoadResult> {
  const call = { kind: "http", port, requests, status: 201, perSecondMax: null } as const;
  return load.run({ ...call, ...pace }, signal);
}

async function runCeiling(
  { load, plan, pgbench, signal }: Bench,
  { connection }: Sides["ceiling"],
  { statements, clients }: { statements: Statement[]; clients: number },
): Promise<number> {
  const measureSeconds = plan.pgbenchSeconds;
  if (pgbench !== null) {
    const run = { program: pgbench, connection, statements, clients, measureSeconds };
    return runPgbench(run, signal);
  }
  const pace = { clients, rampMs: 1000, measureMs: measureSeconds * 1000 };
  const loop = { kind: "statements", connection, statements, isOnce: false, ...pace } as const;
  return (await load.run(loop, signal)).perSecond;
}

function ofTurns({ ours }: Turns) {
  return {
    work: "create",
    unit: "per second" as const,
    ours: ours.map(({ perSecond }) => perSecond),
    waited: waitedOf(ours),
  };
}

function ceilingName({ pgbench }: Bench): string {
  return pgbench === null ? "bare pg" : "pgbench";
}
