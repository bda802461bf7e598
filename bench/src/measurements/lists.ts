// The dashboard's list of requests, as the page asks for it: 50 lines with what is pending and the time.

import type { Bench } from "../bench.ts";
import { inTurns, nameOfClients, rampMs } from "../bench.ts";
import { body } from "../example-body.ts";
import { type Figure, waitedOf } from "../figure.ts";
import type { LoadResult } from "../load-process.ts";
import { withService } from "../service.ts";
import { listCalls } from "../visitors.ts";
import { createCalls, openWorkspace } from "../workloads.ts";

export function measureLists(bench: Bench): Promise<Figure[]> {
  return withService(bench, {}, async (service) => {
    const { load, plan, signal } = bench;
    const workspace = await openWorkspace(service);
    const { port } = service;
    const some = createCalls(
      Array.from({ length: 200 }, () => workspace),
      body,
    );
    await load.run({ kind: "http once", port, requests: some, status: 201, clients: 8 }, signal);
    const requests = await listCalls(service, workspace);
    const turns = plan.clients
      .filter((clients) => clients <= 64)
      .map((clients) => ({ clients, ours: Array.of<LoadResult>() }));
    await inTurns(bench, "list of the dashboard", async () => {
      for (const { clients, ours } of turns) {
        const pace = { clients, rampMs, measureMs: plan.measureMs, perSecondMax: null };
        const call = { kind: "http", port, requests, status: 200, ...pace } as const;
        ours.push(await load.run(call, signal));
      }
    });
    return turns.map(
      ({ clients, ours }): Figure => ({
        work: "list of the dashboard",
        variant: nameOfClients(clients),
        unit: "per second",
        ours: ours.map(({ perSecond }) => perSecond),
        ceiling: null,
        waited: waitedOf(ours),
        target: null,
      }),
    );
  });
}
