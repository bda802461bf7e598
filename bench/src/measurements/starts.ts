// How long a start takes until the service answers, the first time and later; and what the service's process takes of
// memory, with nothing to do and after much.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Bench, inTurns } from "../bench.ts";
import { body } from "../example-body.ts";
import type { Figure } from "../figure.ts";
import { memoryMb, startService } from "../service.ts";
import { createCalls } from "../workloads.ts";

/** By then the memory of the start has been given back. */
const settleMs = 5_000;
const loadMs = 5_000;

export async function measureStarts(bench: Bench): Promise<Figure[]> {
  const settings = { SMTP_URL: bench.receiver.mailUrl };
  const first: number[] = [];
  const later: number[] = [];
  const idle: number[] = [];
  const loaded: number[] = [];
  const rounds = bench.plan.isWhole ? bench.plan.rounds : 1;
  const own = { ...bench, plan: { ...bench.plan, rounds } };
  await inTurns(own, "start-up and memory", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "countersign-bench-"));
    try {
      const { apiKey } = await start(dataDir, first, async () => {});
      await start(dataDir, later, async ({ port, pid }) => {
        await pause(settleMs);
        idle.push(memoryMb({ pid }));
        const requests = createCalls([{ id: "", apiKey: apiKey ?? "", endpointIds: [] }], body);
        const pace = { clients: 64, rampMs: 0, measureMs: loadMs, perSecondMax: null };
        const load = { kind: "http", port, requests, status: 201, ...pace } as const;
        const during = bench.load.run(load, bench.signal);
        await pause(loadMs - 500);
        loaded.push(memoryMb({ pid }));
        await during;
      });
    } finally {
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    }
  });

  async function start(
    dataDir: string,
    times: number[],
    work: (service: { port: number; pid: number }) => Promise<void>,
  ) {
    const startedAt = performance.now();
    const service = startService(dataDir, settings);
    try {
      const { port, apiKey } = await service.welcome;
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      if (!answer.ok) throw new Error(`the service is not ready: ${answer.status}`);
      times.push((performance.now() - startedAt) / 1000);
      await work({ port, pid: service.child.pid ?? 0 });
      return { apiKey };
    } finally {
      await service.end();
    }
  }

  const start0 = { work: "start", unit: "s", ceiling: null, waited: null, target: null } as const;
  const memory = { work: "memory", unit: "MB", ceiling: null, waited: null } as const;
  return [
    { ...start0, variant: "the first one, with a new database", ours: first },
    { ...start0, variant: "a later one", ours: later },
    { ...memory, variant: "idle", ours: idle, target: { of: "value", atMost: 120 } },
    { ...memory, variant: "while 64 clients create", ours: loaded, target: null },
  ];
}
