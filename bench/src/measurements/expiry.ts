// The expiry of very many requests at once, as after an outage: how many a second the service expires, and how much the
// creates of others slow down during it.

import { setTimeout as pause } from "node:timers/promises";
import { type Bench, inTurns, rampMs } from "../bench.ts";
import { addOverdue, countOverdue } from "../due.ts";
import { body } from "../example-body.ts";
import type { Figure } from "../figure.ts";
import { type Service, withService } from "../service.ts";
import { create, createCalls, dropBacklog, openWorkspaces } from "../workloads.ts";

const workspacesMax = 64;
const clients = 64;
const timeoutMs = 60_000;
/** As many as cannot all expire in the time of one turn. */
const shareOfTurn = 0.5;

type Rates = { alone: number[]; meanwhile: number[]; undisturbed: number[]; disturbed: number[] };

export function measureExpiry(bench: Bench): Promise<Figure[]> {
  return withService(bench, {}, async (service) => {
    const workspaces = await openWorkspaces(service, workspacesMax);
    const requests = createCalls(workspaces, body);
    async function creates(): Promise<number> {
      const call = { kind: "http", port: service.port, requests, status: 201 } as const;
      const measureMs = bench.plan.measureMs * 2;
      const pace = { clients, rampMs, measureMs, perSecondMax: null };
      return (await bench.load.run({ ...call, ...pace }, bench.signal)).perSecond;
    }
    await creates();
    const copied = await create(service, workspaces[0] ?? { apiKey: "" });
    const copies = { workspaceId: workspaces[0]?.id ?? "", approvalId: copied.id };
    async function end(count: number): Promise<void> {
      await dropBacklog(service.db);
      await addOverdue(service.db, { ...copies, count });
      await untilFewerThan(bench, service, count);
    }
    const rates: Rates = { alone: [], meanwhile: [], undisturbed: [], disturbed: [] };
    bench.progress(`${bench.plan.expiring} requests end`);
    await end(bench.plan.expiring);
    await inTurns(bench, "expiry", async () => {
      const isLeft = (await countOverdue(service.db)) > 0;
      if (isLeft) rates.alone.push(await rateDuring(service, () => pause(bench.plan.measureMs)));
    });
    await untilFewerThan(bench, service, 1);
    await inTurns(bench, "expiry and creates", async () => {
      await dropBacklog(service.db);
      rates.undisturbed.push(await creates());
      await end(bench.plan.expiring * shareOfTurn);
      let created = 0;
      const meanwhile = await rateDuring(service, async () => {
        created = await creates();
      });
      rates.meanwhile.push(meanwhile);
      rates.disturbed.push(created);
      await untilFewerThan(bench, service, 1);
    });
    return figuresOf(bench, rates);
  });
}

/** Expired a second while something else is done. */
async function rateDuring(service: Service, work: () => Promise<void>): Promise<number> {
  const before = await countOverdue(service.db);
  const startedAt = performance.now();
  await work();
  const after = await countOverdue(service.db);
  return ((before - after) * 1000) / (performance.now() - startedAt);
}

async function untilFewerThan({ signal }: Bench, service: Service, count: number): Promise<void> {
  const startedAt = performance.now();
  while ((await countOverdue(service.db)) >= count) {
    signal.throwIfAborted();
    if (performance.now() - startedAt > timeoutMs) throw new Error("some requests never expire");
    await pause(50);
  }
}

function figuresOf({ plan }: Bench, rates: Rates): Figure[] {
  const count = plan.expiring.toLocaleString("en");
  const figure = { work: "expiry", unit: "per second", waited: null } as const;
  const fast = { of: "value", atLeast: 5000 } as const;
  return [
    { ...figure, variant: `${count} due at once`, ours: rates.alone, ceiling: null, target: fast },
    {
      ...figure,
      variant: `the same, while ${clients} clients create`,
      ours: rates.meanwhile,
      ceiling: null,
      target: fast,
    },
    {
      ...figure,
      variant: `creates by ${clients} clients meanwhile`,
      ours: rates.disturbed,
      ceiling: { name: "creates without", rounds: rates.undisturbed },
      target: { of: "ratio", atLeast: 0.7 },
    },
  ];
}
