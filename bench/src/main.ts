// The benchmark: creates and reads a second through HTTP, as a ratio to what PostgreSQL can do with the
// same statements. Service and ceiling take turns, so that a moody machine is moody to both.

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { openDatabase } from "../../server/src/storage/database.ts";
import { LoadProcess, type LoadResult, type Pace } from "./load-process.ts";
import { findPgbench, runPgbench } from "./pgbench.ts";
import { describeMachine, summarise, tableOf } from "./report.ts";
import { type Service, withService } from "./service.ts";
import { prepareWorkloads, type Workload } from "./workloads.ts";

const thorough = { clients: [1, 16, 64, 256], rounds: 3, measureMs: 1200, ceilingSeconds: 2 };
const quick = { clients: [1, 64, 256], rounds: 2, measureMs: 500, ceilingSeconds: 1 };
const rampMs = 250;
const warmUp = { clients: 64, rampMs: 0, measureMs: 1000 };
/** The embedded PostgreSQL takes 100 connections, and some are the service's. */
const ceilingClientsMax = 64;
const runMsMax = 180_000;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean" },
    workspaces: { type: "string", default: "64" },
    save: { type: "string" },
  },
});
const plan = options.quick ? quick : thorough;
const workspaces = Number(options.workspaces);
if (!(workspaces >= 1)) throw new Error("--workspaces takes a number from 1 on");

const howToRead = `Medians of ${plan.rounds} rounds in one run; load, service and PostgreSQL share the machine: read the ratios.`;

const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => stopping.abort(new Error(`stopped by ${name}`)));
}
const tooLong = setTimeout(
  () => stopping.abort(new Error(`stopped after ${runMsMax / 1000} s`)),
  runMsMax,
);
const { signal } = stopping;

const load = new LoadProcess();
try {
  await withService(signal, measureAndReport);
} catch (error) {
  const fault = signal.aborted ? signal.reason : error;
  process.stderr.write(`\nbench: ${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
} finally {
  load.stop();
  clearTimeout(tooLong);
}

type Ceiling = { name: string; measure(workload: Workload, clients: number): Promise<number> };

async function measureAndReport(service: Service): Promise<void> {
  const { connection } = service;
  const db = openDatabase({ connection, connectionsMax: 1, onIdleFault: () => {} });
  try {
    const { rows } = await db.query<{ server_version: string }>("show server_version");
    const machine = describeMachine(rows[0]?.server_version ?? "unknown");
    process.stdout.write(`${machine}\n`);
    const workloads = await prepareWorkloads(service, db, workspaces);
    const ceiling = await openCeiling(service);
    const lines = summarise(await measureAll(service, workloads, ceiling));
    process.stdout.write(`${tableOf(lines, ceiling.name)}\n${howToRead}\n`);
    if (options.save === undefined) return;
    const results = { at: new Date().toISOString(), machine, ceiling: ceiling.name, lines };
    await writeFile(options.save, `${JSON.stringify(results, null, 2)}\n`);
  } finally {
    await db.end();
  }
}

async function openCeiling({ connection }: Service): Promise<Ceiling> {
  const program = await findPgbench();
  const measureSeconds = plan.ceilingSeconds;
  if (program !== null) {
    return {
      name: "pgbench",
      measure: ({ statements }, clients) =>
        runPgbench({ program, connection, statements, clients, measureSeconds }, signal),
    };
  }
  process.stdout.write(
    "There is no pgbench here (Debian: apt-get install postgresql), so a bare pg loop takes its place.\n",
  );
  const pace = { rampMs: 1000, measureMs: measureSeconds * 1000 };
  return {
    name: "bare pg",
    measure: async ({ statements }, clients) =>
      (await load.run({ kind: "statements", connection, statements, clients, ...pace }, signal))
        .perSecond,
  };
}

async function measureAll(service: Service, workloads: Workload[], ceiling: Ceiling) {
  for (const workload of workloads) await measureService(service, workload, warmUp);
  const measurements = workloads.flatMap((workload) =>
    plan.clients.map((clients) => {
      const results = { service: Array.of<LoadResult>(), ceiling: Array.of<number>() };
      return { workload, clients, ...results };
    }),
  );
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const { workload, clients, ...results } of measurements) {
      showProgress(`round ${round} of ${plan.rounds}: ${workload.name}, ${clients} clients`);
      const pace = { clients, rampMs, measureMs: plan.measureMs };
      results.service.push(await measureService(service, workload, pace));
      if (clients > ceilingClientsMax) continue;
      results.ceiling.push(await ceiling.measure(workload, clients));
    }
  }
  showProgress("");
  return measurements.map((each) => ({ ...each, workload: each.workload.name }));
}

function measureService(service: Service, workload: Workload, pace: Pace): Promise<LoadResult> {
  const { requests, status } = workload;
  return load.run({ kind: "http", port: service.port, requests, status, ...pace }, signal);
}

function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${text}`);
}
