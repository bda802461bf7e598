// What the log costs: creates and decisions with the triggers that write down its facts and hold outcomes to the requests,
// beside the same without them. The service is the same process on the same rows, and both take turns. Not measured is
// what proof costs beside the log, which both pay: columns of the request, and the row of evidence with a decision.

import { setTimeout as pause } from "node:timers/promises";
import { type Bench, inTurns, nameOfClients, rampMs } from "../bench.ts";
import { body } from "../example-body.ts";
import { type Figure, waitedOf } from "../figure.ts";
import type { LoadResult } from "../load-process.ts";
import { type Service, type Settings, withService } from "../service.ts";
import { createCalls, dropBacklog, openWorkspace, openWorkspaces } from "../workloads.ts";
import { createMany, openReviews } from "./decisions.ts";

const clientsOf = [1, 64];
const workspacesMax = 64;
/** Many at once are over before the log has had its second turn, so they are more. */
const longerForMany = 3;
/** A tenth is less than what a neighbour of the machine takes now and then: more rounds find the middle. */
const moreRounds = 3;
const triggers = [
  ["events", "events_are_logged"],
  ["events", "events_tell_the_outcome"],
  ["reviewers", "reviewers_opening_is_logged"],
] as const;

type Turns = { clients: number; logged: LoadResult[]; unlogged: LoadResult[] };

/** Alone, as an API process is beside a worker; and with the worker in the same process, which then fills the log. */
export async function measureLog({ plan, ...rest }: Bench): Promise<Figure[]> {
  const bench = { ...rest, plan: { ...plan, rounds: moreRounds * plan.rounds } };
  return [
    ...(await measureWith(bench, { ROLE: "api" }, "")),
    ...(await measureWith(bench, {}, ", and the log filled meanwhile")),
  ];
}

function measureWith(bench: Bench, settings: Settings, suffix: string): Promise<Figure[]> {
  const own = { ...settings, TRUSTED_PROXIES: "127.0.0.1" };
  return withService(bench, own, async (service) => {
    const creates = await makeCreates(bench, service);
    const decisions = await makeDecisions(bench, service, suffix !== "");
    return [
      ...(await measureTurns(bench, service, { work: "log, create", suffix, run: creates })),
      ...(await measureTurns(bench, service, { work: "log, decide", suffix, run: decisions })),
    ];
  });
}

type Run = (clients: number) => Promise<LoadResult>;

async function measureTurns(
  bench: Bench,
  { db }: Service,
  { work, suffix, run }: { work: string; suffix: string; run: Run },
): Promise<Figure[]> {
  const isFilled = suffix !== "";
  const turns: Turns[] = clientsOf.map((clients) => ({ clients, logged: [], unlogged: [] }));
  await run(1);
  await inTurns(bench, `${work}${suffix}`, async (round) => {
    for (const { clients, logged, unlogged } of turns) {
      // Whoever comes first has fewer rows to step over.
      for (const isLogged of round % 2 === 0 ? [true, false] : [false, true]) {
        await setLog(db, isLogged);
        // What one turn left to be filled in would slow down the next.
        if (isFilled) await untilFilled(bench, db);
        (isLogged ? logged : unlogged).push(await run(clients));
      }
    }
  });
  await setLog(db, true);
  return turns.map(
    ({ clients, logged, unlogged }): Figure => ({
      work,
      variant: `${nameOfClients(clients)}${suffix}`,
      unit: "per second",
      ours: logged.map(({ perSecond }) => perSecond),
      ceiling: { name: "without the log", rounds: unlogged.map(({ perSecond }) => perSecond) },
      waited: waitedOf(logged),
      target: { of: "ratio", atLeast: 0.9 },
    }),
  );
}

async function setLog(db: Service["db"], isLogged: boolean): Promise<void> {
  for (const [table, trigger] of triggers) {
    await db.query(`alter table ${table} ${isLogged ? "enable" : "disable"} trigger ${trigger}`);
  }
}

async function untilFilled({ signal }: Pick<Bench, "signal">, db: Service["db"]): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query("select from log_pending limit 1");
    if (rowCount === 0) return;
    await pause(100, undefined, { signal });
  }
}

async function makeCreates({ load, plan, signal }: Bench, service: Service): Promise<Run> {
  const requests = createCalls(await openWorkspaces(service, workspacesMax), body);
  return async (clients) => {
    const { port } = service;
    const call = { kind: "http", port, requests, status: 201, perSecondMax: null } as const;
    const pace = { clients, rampMs, measureMs: plan.measureMs };
    const result = await load.run({ ...call, ...pace }, signal);
    await dropBacklog(service.db);
    return result;
  };
}

async function makeDecisions(
  { load, plan, signal }: Bench,
  service: Service,
  isFilled: boolean,
): Promise<Run> {
  const workspace = await openWorkspace(service);
  return async (clients) => {
    const decisions = plan.decisions * (clients === 1 ? 1 : longerForMany);
    const ids = await createMany(service, workspace, decisions);
    const requests = await openReviews(service, ids);
    // Creates and openings are measured elsewhere: their mails and entries disturb no decision.
    await dropBacklog(service.db);
    if (isFilled) await untilFilled({ signal }, service.db);
    const { port } = service;
    return load.run({ kind: "http once", port, requests, status: 200, clients }, signal);
  };
}
