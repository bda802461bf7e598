// A thousand callers that wait for a decision: what they cost while nothing happens, and how soon they learn of it.

import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { type Figure, quantileOf } from "../figure.ts";
import { memoryMb, type Service, withService } from "../service.ts";
import { create, openWorkspace, pathOf, type Workspace } from "../workloads.ts";

const waitSeconds = 60;
/** PostgreSQL adds up what a connection did up to so much later, when the connection has nothing more to do. */
const statisticsDelayMs = 11_000;
const requestsWaitedFor = 100;

export function measureWaiting(bench: Bench): Promise<Figure[]> {
  return withService(bench, {}, async (service) => {
    const { plan, progress } = bench;
    const workspace = await openWorkspace(service);
    const ids: string[] = [];
    while (ids.length < requestsWaitedFor) ids.push((await create(service, workspace)).id);
    // Their mails are sent, and the first calls over, before anything is looked at.
    await pause(3_000);
    const memoryBefore = memoryMb(service);
    progress(`${plan.waitingCallers} callers wait`);
    const callers = await openCallers(service, workspace, ids, plan.waitingCallers);
    try {
      await pause(statisticsDelayMs);
      const before = await countTransactions(service);
      const startedAt = performance.now();
      await pause(plan.waitingSeconds * 1000);
      const queries = (await countTransactions(service)) - before;
      const seconds = (performance.now() - startedAt) / 1000;
      const memoryAfter = memoryMb(service);
      const wakeMs = await resolveAll(service, workspace, ids, callers);
      const work = `${plan.waitingCallers.toLocaleString("en")} waiting callers`;
      const figure = { work, ceiling: null, waited: null };
      return [
        {
          ...figure,
          variant: "queries of the whole service",
          unit: "queries per second",
          ours: [queries / seconds],
          target: { of: "value", atMost: 1 },
        },
        {
          ...figure,
          variant: "memory that they take",
          unit: "MB",
          ours: [memoryAfter - memoryBefore],
          target: { of: "value", atMost: 150 },
        },
        ...[0.5, 0.99].map(
          (quantile): Figure => ({
            ...figure,
            variant: `from the end of a request to the answer, p${quantile * 100}`,
            unit: "ms",
            ours: [quantileOf(wakeMs, quantile)],
            target: null,
          }),
        ),
      ];
    } finally {
      for (const { socket } of callers) socket.destroy();
    }
  });
}

type Caller = { socket: Socket; answeredAt: Promise<number> };

async function openCallers(
  { port }: Service,
  { apiKey }: Workspace,
  ids: string[],
  count: number,
): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (let index = 0; index < count; index += 1) {
    const path = `${pathOf(ids[index % ids.length] ?? "")}?wait=${waitSeconds}`;
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    const answered = Promise.withResolvers<number>();
    socket.once("data", () => answered.resolve(performance.now()));
    socket.on("error", answered.reject);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
    );
    callers.push({ socket, answeredAt: answered.promise });
    if (index % 50 === 49) await pause(10);
  }
  return callers;
}

/** Every statement of the service is a transaction, and the few longer transactions have several. */
async function countTransactions({ db }: Service): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select xact_commit + xact_rollback as count from pg_stat_database
     where datname = current_database()`,
  );
  return Number(rows[0]?.count);
}

/** Milliseconds from the answer to a cancel until each caller who waited for that request has its own answer. */
async function resolveAll(
  { port }: Service,
  { apiKey }: Workspace,
  ids: string[],
  callers: Caller[],
): Promise<number[]> {
  const wakeMs: number[] = [];
  for (const [index, id] of ids.entries()) {
    const sentAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}${pathOf(id)}/cancel`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}` },
    });
    if (!answer.ok) throw new Error(`a request could not be cancelled: ${await answer.text()}`);
    for (let at = index; at < callers.length; at += ids.length) {
      wakeMs.push(((await callers[at]?.answeredAt) ?? Number.NaN) - sentAt);
    }
  }
  return wakeMs;
}
