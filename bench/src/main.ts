// The benchmark: the service beside the best its machine can do. Service and ceiling take turns, so that a moody
// machine is moody to both.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Bench, nameOfOptions, quick, thorough } from "./bench.ts";
import type { Figure } from "./figure.ts";
import { LoadProcess } from "./load-process.ts";
import { measureCreates } from "./measurements/creates.ts";
import { measureDecisions } from "./measurements/decisions.ts";
import { measureExpiry } from "./measurements/expiry.ts";
import { measureGrowth } from "./measurements/growth.ts";
import { measureLists } from "./measurements/lists.ts";
import { measureLog } from "./measurements/log.ts";
import { measurePeersBesideUs } from "./measurements/peers.ts";
import { measureReads } from "./measurements/reads.ts";
import { measureStarts } from "./measurements/starts.ts";
import { measureWaiting } from "./measurements/waiting.ts";
import { measureWebhooks } from "./measurements/webhooks.ts";
import { joined, readResults, writeResults } from "./page.ts";
import { findPgbench } from "./pgbench.ts";
import { Receiver } from "./receiver-process.ts";
import { describeMachine, type Results, tableOf } from "./report.ts";
import { readPostgresVersion } from "./service.ts";

const always = {
  creates: measureCreates,
  reads: measureReads,
  waiting: measureWaiting,
  lists: measureLists,
  decisions: measureDecisions,
  log: measureLog,
  webhooks: measureWebhooks,
  expiry: measureExpiry,
  starts: measureStarts,
};

const options = readOptions();
const millions = readMillions(options.millions);
const measurements: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  ...always,
  ...(millions.length > 0 ? { growth: (bench) => measureGrowth(bench, millions) } : {}),
  ...(options.peers ? { peers: measurePeersBesideUs } : {}),
};
/** The measurements of a quick run; the others take long. */
const quickNames = ["creates", "reads", "webhooks", "starts"];
const names = chooseMeasurements(options.only);

const resultsFolder = fileURLToPath(new URL("../results", import.meta.url));
const docsFolder = fileURLToPath(new URL("../../docs", import.meta.url));
const before = readResultsToAddTo();

const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => stopping.abort(new Error(`stopped by ${name}`)));
}
const { signal } = stopping;
const startedAt = performance.now();

const load = new LoadProcess();
const receiver = await Receiver.start();
try {
  const pgbench = await findPgbench();
  if (pgbench === null) {
    say(
      "There is no pgbench here (Debian: apt-get install postgresql): a bare pg loop takes its place.",
    );
  }
  const plan = options.quick ? quick : thorough;
  const figures = await measure({ plan, load, receiver, pgbench, signal, progress });
  await report(figures);
} catch (error) {
  const fault = signal.aborted ? signal.reason : error;
  process.stderr.write(`\nbench: ${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
} finally {
  load.stop();
  receiver.stop();
}

async function measure(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of names) figures.push(...((await measurements[name]?.(bench)) ?? []));
  progress("");
  return figures;
}

/** Only a whole run is kept, with later additions: a part, or a quick run, proves nothing later. */
async function report(figures: Figure[]): Promise<void> {
  const machine = describeMachine(await readPostgresVersion());
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  say(`\n${machine}\n\n${tableOf(figures)}\n\nTook ${minutes} minutes.`);
  if (options.quick || (options.only !== undefined && !options.add)) return;
  const at = new Date().toISOString();
  const given = nameOfOptions({ millions: options.millions, peers: options.peers });
  const own = { at, commit: readCommit(), machine, options: given, figures };
  const results = before === null ? own : joined(before, own);
  const written = await writeResults(results, { results: resultsFolder, docs: docsFolder });
  say(`Written:\n${written.map((path) => `  ${path}`).join("\n")}`);
}

/** The long parts may be measured by themselves, of the same program: each is compared within itself anyway. */
function readResultsToAddTo(): Results | null {
  if (!options.add) return null;
  const found = readResults(resultsFolder);
  if (found === null) fail("--add: there are no results yet. Run `npm run bench` first");
  if (found.commit !== readCommit()) {
    fail(`--add: the results are of commit ${found.commit}. Run \`npm run bench\` first`);
  }
  return found;
}

/** The last commit that changed the service. If there are uncommitted changes, it says so. */
function readCommit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
    const isChanged = git("status", "--porcelain", "--", "../../server") !== "";
    return `${git("log", "-1", "--format=%h", "--", "../../server")}${isChanged ? ", changed" : ""}`;
  } catch {
    return "unknown";
  }
}

function chooseMeasurements(only: string | undefined): string[] {
  const all = Object.keys(measurements);
  if (only === undefined) {
    return options.quick ? all.filter((name) => quickNames.includes(name)) : all;
  }
  const chosen = only.split(",");
  const unknown = chosen.find((name) => !all.includes(name));
  if (unknown !== undefined) fail(`--only takes ${all.join(", ")}, not ${unknown}`);
  return all.filter((name) => chosen.includes(name));
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string" },
        millions: { type: "string" },
        peers: { type: "boolean", default: false },
        add: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}. See bench/README.md`);
  }
}

function readMillions(text: string | undefined): number[] {
  if (text === undefined) return [];
  const millions = text.split(",").map(Number);
  const isGood = millions.every((each, at) => each > 0 && each > (millions[at - 1] ?? 0));
  if (!isGood) fail("--millions takes numbers that grow, such as 1 or 1,10");
  return millions;
}

function fail(text: string): never {
  process.stderr.write(`bench: ${text}\n`);
  process.exit(2);
}

function progress(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
  if (process.stderr.isTTY)
    process.stderr.write(`\r\u001b[K${text === "" ? "" : `${seconds} s  ${text}`}`);
  else if (text !== "") process.stderr.write(`${seconds} s  ${text}\n`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
