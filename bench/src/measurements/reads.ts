// Reads, beside a bare `node:http` server that runs the same single query for each of them and sends the same bytes.

import { withBareServer } from "../bare-server-process.ts";
import { type Bench, inTurns, nameOfClients, rampMs } from "../bench.ts";
import { body, bodyWithLargeState } from "../example-body.ts";
import { type Figure, waitedOf } from "../figure.ts";
import type { LoadResult } from "../load-process.ts";
import { type Service, withService } from "../service.ts";
import { create, openWorkspace, pathOf, readCall, readStatement } from "../workloads.ts";

/** Both sides read these few again and again. */
const approvalsRead = 8;
const targets: Record<number, number> = { 16: 1, 64: 1.2 };
const largeClients = 16;

export function measureReads(bench: Bench): Promise<Figure[]> {
  return withService(bench, {}, async (service) => [
    ...(await measure(bench, service, {
      json: body,
      clients: bench.plan.clients,
      nameOf: nameOfClients,
      targetOf: (clients) => targets[clients] ?? null,
    })),
    ...(await measure(bench, service, {
      json: bodyWithLargeState,
      clients: [largeClients],
      nameOf: (clients) => `${clients} clients, 200 KB agentState`,
      targetOf: () => 0.8,
    })),
  ]);
}

type Reading = {
  json: string;
  clients: number[];
  nameOf: (clients: number) => string;
  /** The ratio that it is held to; null for none. */
  targetOf: (clients: number) => number | null;
};

async function measure(bench: Bench, service: Service, reading: Reading): Promise<Figure[]> {
  const workspace = await openWorkspace(service);
  const created: { id: string; text: string }[] = [];
  while (created.length < approvalsRead) {
    created.push(await create(service, workspace, reading.json));
  }
  const requests = created.map(({ id }) => readCall(workspace, id));
  const calls = created.map(({ id, text }) => {
    return { url: pathOf(id), statement: readStatement(workspace, id), answer: text };
  });
  const { connection } = service;
  return withBareServer({ connection, calls }, async (barePort) => {
    const turns = reading.clients.map((clients) => {
      return { clients, ours: Array.of<LoadResult>(), bare: Array.of<number>() };
    });
    const run = (port: number, pace: { clients: number; rampMs: number; measureMs: number }) => {
      const call = { kind: "http", port, requests, status: 200, perSecondMax: null } as const;
      return bench.load.run({ ...call, ...pace }, bench.signal);
    };
    for (const port of [service.port, barePort]) {
      await run(port, { clients: 64, rampMs: 0, measureMs: 1000 });
    }
    await inTurns(bench, "read", async () => {
      for (const { clients, ours, bare } of turns) {
        const pace = { clients, rampMs, measureMs: bench.plan.measureMs };
        ours.push(await run(service.port, pace));
        bare.push((await run(barePort, pace)).perSecond);
      }
    });
    return turns.map(({ clients, ours, bare }): Figure => {
      const atLeast = reading.targetOf(clients);
      return {
        work: "read",
        variant: reading.nameOf(clients),
        unit: "per second",
        ours: ours.map(({ perSecond }) => perSecond),
        ceiling: { name: "bare node:http", rounds: bare },
        waited: waitedOf(ours),
        target: atLeast === null ? null : { of: "ratio", atLeast },
      };
    });
  });
}
