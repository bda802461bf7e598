// The same job on other ways to wait for a person: create a durable pending approval, read it five times, resolve it.
// Each peer runs in a process of its own out of bench/peers and takes turns with Countersign: A B A B. Both begin with
// nothing, each on a store of its own, and neither has anything under way in the turns of the other.

import assert from "node:assert/strict";
import { type ChildProcess, fork, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { useEmbeddedPostgres } from "../../server/src/database/embedded-postgres/embedded-postgres.ts";
import type {
  History,
  JobResult,
  Opened,
  Order,
  Pace,
  Report,
  Setup,
} from "../peers/src/peer-process.ts";
import { body } from "./example-body.ts";
import { type Figure, spreadOf } from "./figure.ts";
import type { Connection, Service } from "./service.ts";

export type PeersBench = {
  /**
   * A new one each time. Of ROLE=api, so that no mails of its own turns are sent during the turns of others, who send
   * none.
   */
  withService<Result>(work: (service: Service) => Promise<Result>): Promise<Result>;
  clients: number[];
  rounds: number;
  measureMs: number;
  signal: AbortSignal;
  progress(text: string): void;
};

type Peer = { file: string; name: string; usesPostgres: boolean; isLibrary: boolean };

const peers: Peer[] = [
  { file: "langgraph", name: "LangGraph", usesPostgres: true, isLibrary: true },
  { file: "dbos", name: "DBOS", usesPostgres: true, isLibrary: true },
  { file: "restate", name: "Restate", usesPostgres: false, isLibrary: false },
];

const folder = fileURLToPath(new URL("../peers/", import.meta.url));
const stamp = join(folder, "node_modules", ".countersign-setup");
const rampMs = 250;
/** The jobs of each side before anything counts: nobody's tables are empty, nobody's code is cold. */
const historyJobs = 800;
/** A machine is quiet if less of one core was busy for as long. A busy one must not hold up the run. */
const quiet = { busyCores: 0.2, forMs: 250, withinMs: 1000 };
/** A job that never ends must not hold up the run. */
const orderTimeoutMs = 60_000;
const closeTimeoutMs = 15_000;
const installTimeoutMs = 300_000;

/** A peer that cannot be had, does not start or fails at the job is told of and has no figures. */
export async function measurePeers(bench: PeersBench): Promise<Figure[]> {
  const fault = await install(bench);
  if (fault !== null) {
    warn(`The peers are left out, because their packages cannot be installed: ${fault}`);
    return [];
  }
  const figures: Figure[] = [];
  for (const peer of peers) {
    bench.progress(`starting Countersign and ${peer.name}`);
    figures.push(...(await bench.withService((service) => measurePeer(bench, peer, service))));
  }
  return figures;
}

async function measurePeer(bench: PeersBench, peer: Peer, service: Service): Promise<Figure[]> {
  const ours = new ContenderProcess("countersign", bench.signal);
  try {
    await ours.open(setupOf(service, service.connection));
    return await withStore(peer, (store) => measureBeside(bench, { ours, service, peer, store }));
  } finally {
    await ours.close();
  }
}

/** Where a peer keeps what it is told, if that is PostgreSQL; null if the peer brings a store along. */
type Store = Connection | null;
type Pair = { ours: ContenderProcess; service: Service; peer: Peer; store: Store };

async function measureBeside(bench: PeersBench, pair: Pair): Promise<Figure[]> {
  const { ours, service, peer, store } = pair;
  const { signal } = bench;
  const theirs = new ContenderProcess(peer.file, signal);
  const callers = peer.isLibrary ? new ContenderProcess("library-callers", signal) : null;
  try {
    const setup = setupOf(service, store ?? service.connection);
    const { name, port } = await theirs.open(setup);
    if (callers === null || port === null) {
      const sides = [{ name, contender: theirs, variant: "" }];
      return await takeTurns(bench, ours, sides);
    }
    await callers.open({ ...setup, service: { ...setup.service, port } });
    const sides = [
      { name, contender: theirs, variant: ", within its process" },
      { name, contender: callers, variant: ", behind bare HTTP" },
    ];
    return await takeTurns(bench, ours, sides);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ContenderFault) || error.of === ours) throw error;
    warn(`${peer.name} is left out: ${error.message}`);
    return [];
  } finally {
    await callers?.close();
    await theirs.close();
  }
}

/** A PostgreSQL with the settings of the service's: neither side's log, cache or vacuuming is the other's. */
async function withStore<Result>(
  { usesPostgres }: Peer,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  if (!usesPostgres) return work(null);
  const dataDir = await mkdtemp(join(tmpdir(), "countersign-bench-peer-"));
  try {
    const log = { info: () => {}, warn };
    const postgres = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
    assert("connection" in postgres);
    try {
      return await work(postgres.ownerConnection);
    } finally {
      await postgres.release();
      await rm(postgres.ownerConnection.host, { recursive: true, force: true });
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** With the key of the service, because the approver's link is derived here as it is for the mail. */
function setupOf({ port, apiKey, keyring }: Service, connection: Connection): Setup {
  const secretKey = keyring.current.keyObject.export().toString("base64");
  return { connection, service: { port, apiKey, secretKey }, body };
}

/** One way to reach a peer. */
type Side = { name: string; contender: ContenderProcess; variant: string };
type Turns = { clients: number; ours: JobResult[]; theirs: JobResult[][] };

async function takeTurns(
  bench: PeersBench,
  ours: ContenderProcess,
  sides: Side[],
): Promise<Figure[]> {
  const { rounds, measureMs, progress } = bench;
  const name = sides[0]?.name ?? "";
  progress(`warming up Countersign and ${name}`);
  await makeHistory(bench, [ours]);
  await makeHistory(
    bench,
    sides.map(({ contender }) => contender),
  );
  const all = bench.clients.map((clients): Turns => ({ clients, ours: [], theirs: [] }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const turns of all) {
      progress(`round ${round} of ${rounds}: whole job beside ${name}, ${turns.clients} at a time`);
      const pace = { clients: turns.clients, rampMs, measureMs };
      turns.ours.push(await takeTurn(ours, pace));
      const results: JobResult[] = [];
      for (const { contender } of sides) results.push(await takeTurn(contender, pace));
      turns.theirs.push(results);
    }
  }
  return sides.flatMap((side, at) => all.map((turns) => figureOf(side, at, turns)));
}

/** As many jobs for each store, however many contenders there are to it. */
async function makeHistory({ clients }: PeersBench, contenders: ContenderProcess[]): Promise<void> {
  const jobs = historyJobs / contenders.length;
  for (const contender of contenders) {
    await contender.makeHistory({ clients: Math.max(...clients), jobs });
  }
}

/** Work that the side before left behind must not be paid for in this turn. */
async function takeTurn(contender: ContenderProcess, pace: Pace): Promise<JobResult> {
  const endsAt = performance.now() + quiet.withinMs;
  while (performance.now() < endsAt && (await busyCores(quiet.forMs)) > quiet.busyCores);
  return contender.measure(pace);
}

async function busyCores(forMs: number): Promise<number> {
  const before = busyMs();
  const startedAt = performance.now();
  await pause(forMs);
  return (busyMs() - before) / (performance.now() - startedAt);
}

/** Of all cores together, since the machine was started. */
function busyMs(): number {
  return cpus().reduce(
    (sum, { times }) => sum + times.user + times.nice + times.sys + times.irq,
    0,
  );
}

function figureOf({ name, variant }: Side, at: number, { clients, ours, theirs }: Turns): Figure {
  const medianOf = (key: "p50Ms" | "p99Ms") => spreadOf(ours.map((each) => each[key])).median;
  return {
    work: `whole job beside ${name.split(" ")[0]}`,
    variant: `${clients} client${clients === 1 ? "" : "s"}${variant}`,
    unit: "per second",
    ours: ours.map(({ perSecond }) => perSecond),
    ceiling: { name, rounds: theirs.map((results) => results[at]?.perSecond ?? Number.NaN) },
    waited: { p50: medianOf("p50Ms"), p99: medianOf("p99Ms") },
    target: { of: "ratio", atLeast: 1 },
  };
}

/** A fault in one contender's process: of a peer it costs its figures, of Countersign the run. */
class ContenderFault extends Error {
  readonly of: ContenderProcess;

  constructor(message: string, of: ContenderProcess) {
    super(message);
    this.of = of;
  }
}

/** The outer side of a contender's process: starts it, hands it orders, waits for reports. */
class ContenderProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;

  constructor(file: string, signal: AbortSignal) {
    const settings = { LANGSMITH_TRACING: "false", LANGCHAIN_TRACING_V2: "false" };
    this.#child = fork(join(folder, "src", `${file}.ts`), {
      env: { ...process.env, ...settings, NODE_ENV: "production" },
      // Output of libraries goes to the benchmark's own warnings, and never between the lines of its report.
      stdio: ["ignore", 2, 2, "ipc"],
    });
    this.#exited = once(this.#child, "exit");
    this.#child.on("exit", () => this.#ended.abort());
    this.#signal = signal;
  }

  async open(setup: Setup): Promise<Opened> {
    const report = await this.#order({ open: setup });
    assert("opened" in report);
    return report.opened;
  }

  async makeHistory(history: History): Promise<void> {
    await this.#order({ makeHistory: history });
  }

  async measure(pace: Pace): Promise<JobResult> {
    const report = await this.#order({ measure: pace });
    assert("measured" in report);
    return report.measured;
  }

  /** Hanging up is what ends it, so that it ends by itself too when this process is killed. */
  async close(): Promise<void> {
    const tooLong = setTimeout(() => this.#child.kill("SIGKILL"), closeTimeoutMs);
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
    clearTimeout(tooLong);
  }

  async #order(order: Order): Promise<Report> {
    const tooLong = AbortSignal.timeout(orderTimeoutMs);
    const signal = AbortSignal.any([this.#signal, this.#ended.signal, tooLong]);
    try {
      const answer = once(this.#child, "message", { signal });
      this.#child.send(order);
      const [report]: Report[] = await answer;
      if (report === undefined || "fault" in report) throw new Error(report?.fault);
      return report;
    } catch (error) {
      this.#signal.throwIfAborted();
      if (this.#ended.signal.aborted) throw new ContenderFault("its process ended by itself", this);
      if (tooLong.aborted) throw new ContenderFault("it takes too long", this);
      throw new ContenderFault(error instanceof Error ? error.message : String(error), this);
    }
  }
}

/** Not as progress, which the next step may write over. */
function warn(text: string): void {
  process.stderr.write(`\n${text}\n`);
}

/** Installs what the lock file of the peers names, once, until it changes. Returns what went wrong. */
async function install({ signal, progress }: PeersBench): Promise<string | null> {
  const wanted = createHash("sha256")
    .update(await readFile(join(folder, "package-lock.json")))
    .update(`${process.platform}-${process.arch}`)
    .digest("hex");
  if (existsSync(stamp) && (await readFile(stamp, "utf8")) === wanted) return null;
  progress("installing the peers (this happens once)");
  await rm(stamp, { force: true });
  const fault = await runNpmCi(signal);
  if (fault === null) await writeFile(stamp, wanted);
  return fault;
}

/** Without install scripts: one of them reports to its makers, and none is needed. */
async function runNpmCi(signal: AbortSignal): Promise<string | null> {
  const options = ["--include=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
  const child = spawn("npm", ["ci", ...options, "--loglevel=error"], {
    cwd: folder,
    // The Node that runs this is the one whose packages npm is to choose.
    env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` },
    stdio: ["ignore", "ignore", "pipe"],
    signal: AbortSignal.any([signal, AbortSignal.timeout(installTimeoutMs)]),
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  try {
    const [code] = await once(child, "close");
    return code === 0 ? null : errors.trim();
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  }
}
