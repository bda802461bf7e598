// Webhooks: how long one takes from its event until it has been received, and how many a second go out while many are
// due. Each is claimed and recorded durably, attempt by attempt; undici beside it only sends the same bodies.

import { setTimeout as pause } from "node:timers/promises";
import { type Bench, inTurns, rampMs } from "../bench.ts";
import { addDue, addDueTests, untilNoneDue, wakeWorkerAt } from "../due.ts";
import { body } from "../example-body.ts";
import { type Figure, quantileOf } from "../figure.ts";
import { type Service, withService } from "../service.ts";
import { create, createCalls, openWorkspace, type Workspace } from "../workloads.ts";

/** So many the service sends to one endpoint, and for one workspace, at the same time. */
const inFlight = { endpoint: 32, workspace: 256 };
const endpointsMax = 50;
/** An agent and a person leave more than this between two events. */
const idleGapMs = 25;
/** Each event goes to 49 receivers that answer and one that hangs. */
const manyGapMs = 120;
const arrivalTimeoutMs = 60_000;

export function measureWebhooks(bench: Bench): Promise<Figure[]> {
  return withService(bench, {}, async (service) => {
    const url = (name: string) => `http://127.0.0.1:${bench.receiver.port}/${name}`;
    const one = await openWorkspace(service, [url("hook")]);
    const urls = Array.from({ length: endpointsMax }, (_, index) => url(`hook/${index}`));
    const many = await openWorkspace(service, urls.with(0, url("hang")));
    const idle = await measureIdle(bench, service, one);
    const single = await measureRate(bench, service, {
      variant: "to 1 endpoint",
      workspace: one,
      urls: [url("hook")],
      clients: inFlight.endpoint,
    });
    if (!bench.plan.isWhole) return [...idle, single];
    const half = await measureHalfLoad(bench, service, one, quantileOf(single.ours, 0.5) / 2);
    const hanging = await measureBesideHanging(bench, service, { one, many });
    const manyHealthy = { ...many, endpointIds: many.endpointIds.slice(1) };
    const rate = await measureRate(bench, service, {
      variant: `to ${endpointsMax} endpoints, one of which hangs`,
      workspace: manyHealthy,
      urls: urls.slice(1),
      clients: inFlight.workspace,
    });
    return [...idle, ...half, ...hanging, single, rate];
  });
}

/** One event after the other, with nothing else to do. */
async function measureIdle(bench: Bench, service: Service, workspace: Workspace) {
  for (let warming = 0; warming < bench.plan.events; warming += 1) await create(service, workspace);
  const turns: number[][] = [];
  await inTurns(bench, "webhooks, idle", async () => {
    turns.push(
      await agesOfArrivals(bench, bench.plan.events, () =>
        createWithPauses(service, workspace, { count: bench.plan.events, gapMs: idleGapMs }),
      ),
    );
  });
  return [
    latency("idle", 0.5, turns, { of: "value", atMost: 10 }),
    latency("idle", 0.99, turns, { of: "value", atMost: 50 }),
  ];
}

/** As many events as half of the webhooks that can be sent. */
async function measureHalfLoad(
  bench: Bench,
  service: Service,
  workspace: Workspace,
  perSecond: number,
): Promise<Figure[]> {
  const { load, plan, signal } = bench;
  const requests = createCalls([workspace], body);
  const turns: number[][] = [];
  await inTurns(bench, "webhooks, half load", async () => {
    turns.push(
      await agesOfArrivals(bench, null, async () => {
        await load.run(
          {
            kind: "http",
            port: service.port,
            requests,
            status: 201,
            clients: 64,
            perSecondMax: perSecond,
            rampMs,
            measureMs: plan.measureMs,
          },
          signal,
        );
        await untilNoneDue(service.db, workspace.endpointIds);
      }),
    );
  });
  const name = `half load`;
  return [latency(name, 0.5, turns, null), latency(name, 0.99, turns, null)];
}

type Workspaces = { one: Workspace; many: Workspace };

/** One receiver of `many` never answers, and has hundreds of thousands due; everybody else's must not notice. */
async function measureBesideHanging(bench: Bench, service: Service, { one, many }: Workspaces) {
  const { plan, progress } = bench;
  progress(`${plan.hanging} due to an endpoint that hangs`);
  const [hanging = ""] = many.endpointIds;
  await addDueTests(service.db, {
    workspaceId: many.id,
    endpointId: hanging,
    count: plan.hanging,
  });
  await wakeWorkerAt(service.db, new Date());
  await pause(2_000);
  const others = many.endpointIds.length - 1;
  const events = Math.ceil(plan.events / 3);
  const alone: number[][] = [];
  const together: number[][] = [];
  await inTurns(bench, "webhooks beside a hanging endpoint", async () => {
    alone.push(
      await agesOfArrivals(bench, plan.events, () =>
        createWithPauses(service, one, { count: plan.events, gapMs: idleGapMs }),
      ),
    );
    together.push(
      await agesOfArrivals(bench, events * others, () =>
        createWithPauses(service, many, { count: events, gapMs: manyGapMs }),
      ),
    );
  });
  const hangs = `beside one that hangs, ${plan.hanging.toLocaleString("en")} due on it`;
  const target = { of: "value", atMost: 25 } as const;
  return [
    latency(`an endpoint of another workspace ${hangs}`, 0.5, alone, null),
    latency(`an endpoint of another workspace ${hangs}`, 0.99, alone, target),
    latency(`${others} endpoints of one event ${hangs}`, 0.5, together, null),
    latency(`${others} endpoints of one event ${hangs}`, 0.99, together, target),
  ];
}

type Pauses = { count: number; gapMs: number };

async function createWithPauses(service: Service, workspace: Workspace, { count, gapMs }: Pauses) {
  for (let event = 0; event < count; event += 1) {
    await create(service, workspace);
    await pause(gapMs);
  }
}

type RateOf = { variant: string; workspace: Workspace; urls: string[]; clients: number };

async function measureRate(
  bench: Bench,
  service: Service,
  { variant, workspace, urls, clients }: RateOf,
): Promise<Figure> {
  const { load, plan, receiver, signal } = bench;
  const { endpointIds } = workspace;
  const ours: number[] = [];
  const bare: number[] = [];
  const approvals = Math.ceil(plan.webhooks / endpointIds.length);
  const webhooks = approvals * endpointIds.length;
  await inTurns(bench, `webhooks ${variant}`, async () => {
    const { id } = await create(service, workspace);
    await untilNoneDue(service.db, endpointIds);
    // Long enough from now for all of them to be there.
    const dueAt = new Date(Date.now() + 500 + webhooks / 5);
    const copies = { workspaceId: workspace.id, approvalId: id, count: approvals };
    await addDue(service.db, copies, { endpointIds, dueAt });
    await receiver.startAgain();
    await wakeWorkerAt(service.db, dueAt);
    const startedAt = performance.now();
    await receiver.untilWebhooks(webhooks, arrivalTimeoutMs);
    await untilNoneDue(service.db, endpointIds);
    ours.push((webhooks * 1000) / (performance.now() - startedAt));
    const pace = { clients, rampMs, measureMs: plan.measureMs };
    const headers = { "content-type": "application/json" };
    const posts = { kind: "posts", urls, headers, body, ...pace } as const;
    bare.push((await load.run(posts, signal)).perSecond);
  });
  return {
    work: "webhooks",
    variant,
    unit: "per second",
    ours,
    ceiling: { name: "bare undici", rounds: bare },
    waited: null,
    target: { of: "ratio", atLeast: 0.5 },
  };
}

/** How old events were when they arrived, of those that `work` caused. */
async function agesOfArrivals(
  { receiver, signal }: Bench,
  expected: number | null,
  work: () => Promise<void>,
): Promise<number[]> {
  await receiver.startAgain();
  await work();
  const until = performance.now() + arrivalTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const { agesMs } = await receiver.arrivals();
    if (expected === null || agesMs.length >= expected) return agesMs;
    if (performance.now() > until) throw new Error(`only ${agesMs.length} of ${expected} arrived`);
    await pause(50);
  }
}

function latency(
  variant: string,
  quantile: number,
  turns: number[][],
  target: Figure["target"],
): Figure {
  return {
    work: "event to received webhook",
    variant: `${variant}, p${quantile * 100}`,
    unit: "ms",
    ours: turns.map((ages) => quantileOf(ages, quantile)),
    ceiling: null,
    waited: null,
    target,
  };
}
