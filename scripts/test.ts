// Runs every test against one real PostgreSQL. It ends with the slowest tests, how free the machine was, and how many
// passed. `npm test -- FILE…` runs some files only, `npm test -- --changed` those that a change can break.
// TEST_DATABASE_URL runs them on another PostgreSQL (its role must be allowed to create databases), where TEST_SERVICE_ROLE
// and TEST_SERVICE_PASSWORD name a second role for the service. Browser tests run
// in a Chromium that is looked for once, before all of them (e2e/chromium.ts). Without one they count as skipped, and
// the last lines say so.

import { glob, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import pg from "pg";
import { type ChromiumSearch, findChromium } from "../e2e/chromium.ts";
import { useEmbeddedPostgres } from "../server/src/database/embedded-postgres/embedded-postgres.ts";
import { migrateAsOwner } from "../server/src/storage/service-rights.ts";
import { templateName, withDatabase } from "../server/test/test-database.ts";
import { type PgBouncer, startPoolerOfRun } from "../server/test/test-pgbouncer.ts";
import { asSuperuser, letOwnerWatch } from "../server/test/test-superuser.ts";
import { changedFiles, chooseTests, sourcesOf } from "./changed-tests.ts";
import { measureFreeCores } from "./machine.ts";

const root = join(import.meta.dirname, "..");
const poolMode = process.env.TEST_POOLER ?? "";
const slowestShown = 20;
/** A start takes longer than many a file. More of them in one process would leave a core idle at the end. */
const filesPerProcess = 6;
const ownProcess =
  /node:child_process|-program\.ts|-worker\.ts|embedded-postgres|\bprocess\.|performance\.now|linear-time|watch-thread|setDefaultCACertificates|\bmock\./;

const startedMs = performance.now();
const freeCores = await measureFreeCores();
// The limits of the tests were written for two free cores. The files that run below read this variable.
process.env.TEST_SLOWNESS = String(Math.max(1, 2 / freeCores));
const { testHangMs } = await import("../server/test/patience.ts");
const files = await findFiles();
if (files.length === 0) process.exit();
const chromium = files.some(needsBrowser) ? await searchChromium() : null;
process.env.TEST_CHROMIUM = chromium?.path ?? "";

const folder = await mkdtemp(join(tmpdir(), "countersign-test-"));
// Every file is a process that compiles the same sources: the first one does it for all, and for what they start.
process.env.NODE_COMPILE_CACHE = join(folder, "compile-cache");
const { url, service, release } = await openPostgres();
try {
  process.env.TEST_SERVICE_ROLE = service?.name ?? "";
  process.env.TEST_SERVICE_PASSWORD = service?.password ?? "";
  await makeTemplate(url);
  process.env.TEST_DATABASE_URL = url;
  const pooler = await openPooler();
  try {
    const passed = await runTests();
    process.exitCode = passed && (await isUsed(pooler)) ? 0 : 1;
  } finally {
    await pooler?.pooler.stop();
  }
} finally {
  await release();
  await rm(folder, { recursive: true, force: true });
}

type Postgres = {
  url: string;
  /** The role of the service; null where the service owns its tables. */
  service: { name: string; password: string } | null;
  release: () => Promise<void>;
};

async function openPostgres(): Promise<Postgres> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== "") {
    return { url: given, service: givenService(), release: async () => {} };
  }
  const silent = { info: () => {}, warn: () => {} };
  const dataDir = join(folder, "data");
  const postgres = await useEmbeddedPostgres({ dataDir, purpose: "command", log: silent });
  if ("inUseBy" in postgres) throw new Error("the tests' own PostgreSQL is in use by another");
  const { user, password, host, port, database } = postgres.ownerConnection;
  // Nobody reads this data after a power cut. Tests of crashes have a PostgreSQL of their own, with all its care.
  const careless = ["fsync", "full_page_writes"].map((name) => `alter system set ${name} = off`);
  const statements = [...careless, "select pg_reload_conf()", letOwnerWatch];
  await asSuperuser(dataDir, { host, port }, ...statements);
  const query = new URLSearchParams({ host, port: String(port) });
  return {
    url: `postgres://${user}:${encodeURIComponent(password)}@localhost/${database}?${query}`,
    service: { name: postgres.connection.user, password: postgres.connection.password },
    release: () => postgres.release(),
  };
}

function givenService(): Postgres["service"] {
  const { TEST_SERVICE_ROLE: name = "", TEST_SERVICE_PASSWORD: password = "" } = process.env;
  return name === "" ? null : { name, password };
}

/** Migrated once; each test file works on a copy of it. */
async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`drop database if exists ${templateName}`);
  await client.query(`create database ${templateName}`);
  await client.end();
  await migrateAsOwner(
    { connectionString: withDatabase(url, templateName) },
    service?.name ?? null,
  );
}

/** TEST_POOLER=transaction: what calls and commands ask goes through PgBouncer in that mode (decision 62). */
async function openPooler(): Promise<StartedPooler | null> {
  if (poolMode === "") return null;
  if (service === null) throw new Error("TEST_POOLER needs a role of the service's own");
  const pooler = await startPoolerOfRun(poolMode);
  process.env.TEST_POOLER_HOST = pooler.host;
  process.env.TEST_POOLER_PORT = pooler.port;
  return { pooler, transactionsOfStart: await pooler.countTransactions() };
}

type StartedPooler = { pooler: PgBouncer; transactionsOfStart: number };

/** A pooled run in which nothing went through the pooler shows nothing. */
async function isUsed(started: StartedPooler | null): Promise<boolean> {
  if (started === null) return true;
  const transactions = (await started.pooler.countTransactions()) - started.transactionsOfStart;
  tell(`${transactions} transactions went through PgBouncer in ${poolMode} mode.`);
  return transactions > 0;
}

async function findFiles(): Promise<string[]> {
  const named = process.argv.slice(2);
  if (named.includes("--changed")) return longestFirst(await findChanged());
  if (named.length > 0) return named.map((file) => join(process.cwd(), file));
  const all = await longestFirst(await findSources(".test.ts"));
  if (poolMode === "") return all;
  const isLed = await Promise.all(all.map(startsService));
  return all.filter((_, at) => isLed[at]);
}

async function findSources(ending: string): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob(
    `{server,web,sdk,mcp,hook,action,verify,n8n,python,adapters,examples,docs,e2e,bench,faults,scripts}/**/*${ending}`,
    {
      cwd: root,
      exclude: (name) => name === "node_modules" || name === "dist",
    },
  )) {
    found.push(join(root, file));
  }
  return found;
}

async function findChanged(): Promise<string[]> {
  const sources = await Promise.all(
    (await findSources(".{ts,tsx}")).map(async (file) => ({
      path: relative(root, file),
      text: await readFile(file, "utf8"),
    })),
  );
  const packages = new Map<string, string>();
  for await (const file of glob("{sdk,mcp,adapters/*}/package.json", { cwd: root })) {
    const exported = sourcesOf(dirname(file), await readFile(join(root, file), "utf8"));
    for (const [name, path] of exported) packages.set(name, path);
  }
  const { chosen, leftOut, unmet } = chooseTests(sources, await changedFiles(root), packages);
  tell(`Runs ${chosen.length} test files that import what has changed.`);
  if (leftOut.length > 0) {
    tell(`Leaves out ${leftOut.length} that meet it only in a running service or a browser.`);
  }
  for (const path of unmet)
    tell(`No chosen test imports or reads ${path}: only npm test tells whether it works.`);
  return chosen.map((path) => join(root, path));
}

/** Puts large files first, so that none runs alone at the end. A larger file takes longer, so its size is enough. */
async function longestFirst(paths: string[]): Promise<string[]> {
  const sized = await Promise.all(paths.map(async (path) => ({ path, bytes: await weigh(path) })));
  sized.sort((one, other) => other.bytes - one.bytes);
  return sized.map(({ path }) => path);
}

/** Its size, with the tables of cases that it goes through. */
async function weigh(path: string): Promise<number> {
  const text = await readFile(path, "utf8");
  const tables = [...text.matchAll(/from "\.\/([a-z-]*(?:table|texts)\.ts)"/g)].map(([, name]) =>
    stat(join(dirname(path), name ?? "")),
  );
  return (await Promise.all(tables)).reduce((bytes, { size }) => bytes + size, text.length);
}

/** Every test in e2e/ opens a browser, except that of the search for one. */
function needsBrowser(file: string): boolean {
  const path = relative(root, file);
  return path.startsWith(join("e2e", "/")) && basename(path) !== "chromium.test.ts";
}

/** These open browsers in ways of their own. The other journeys share one (e2e/journey.ts). */
function sharesBrowser(file: string): boolean {
  return needsBrowser(file) && !["browser.test.ts", "lighthouse.test.ts"].includes(basename(file));
}

/** The helpers that it starts the service by lead it through the pooler. */
async function startsService(file: string): Promise<boolean> {
  const isOurs = relative(root, file).startsWith(join("server", "test", "/"));
  return isOurs && /\b(startService|startNode|environmentOn)\b/.test(await readFile(file, "utf8"));
}

/** A pure rule needs neither a database nor a process of its own, which would take longer than most of them do. */
function isRule(file: string): boolean {
  return /^(server|web)\/src\//.test(relative(root, file));
}

/** A file that starts programs, changes its process or measures it has a process of its own. */
async function needsProcess(file: string): Promise<boolean> {
  return needsBrowser(file) || ownProcess.test(await readFile(file, "utf8"));
}

async function searchChromium(): Promise<ChromiumSearch> {
  try {
    return await findChromium();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}

async function runTests(): Promise<boolean> {
  const { passed, failed, skipped, tests } = await runFiles(files);
  if (chromium?.path === null) tell(chromium.reason);
  tellSlowest(tests);
  await tellMachine();
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const skips = skipped === 0 ? "" : `, ${skipped} skipped`;
  tell(
    `${passed} passed, ${failed} failed${skips} in ${Math.floor(seconds / 60)} min ${seconds % 60} s`,
  );
  return failed === 0 && passed > 0;
}

type TestTime = { name: string; file: string; ms: number };
type Result = { passed: number; failed: number; skipped: number; tests: TestTime[] };

async function runFiles(paths: string[]): Promise<Result> {
  const result: Result = { passed: 0, failed: 0, skipped: 0, tests: [] };
  const stream = run({
    files: await processes(paths),
    // More than the free cores: most tests wait for timers, mails and processes. With twice as many as cores the suite took
    // as long, and each test longer.
    concurrency: Math.max(2, Math.round(1.5 * freeCores)),
    timeout: testHangMs,
    execArgv: [
      // A package of ours that another imports by its name is its source, and not what was last built of it.
      "--conditions=countersign:source",
      "--import",
      join(import.meta.dirname, "orphan.ts"),
    ],
  });
  stream.on("test:fail", ({ details, todo }) => {
    // A suite or file fails with its tests, which are counted themselves.
    if (details.type !== "suite" && todo === undefined) result.failed += 1;
  });
  stream.on("test:complete", ({ name, file, details, tags }) => {
    if (details.type === "suite" || file === undefined || name === file) return;
    // A journey is declared in e2e/journey.ts, and tagged with the file that it belongs to.
    result.tests.push({ name, file: relative(root, tags[0] ?? file), ms: details.duration_ms });
  });
  stream.on("test:summary", (summary) => {
    // The summary without a file is the one of the whole run.
    if (summary.file !== undefined) return;
    result.passed = summary.counts.passed;
    result.skipped = summary.counts.skipped;
    if (!summary.success) result.failed = Math.max(1, result.failed);
  });
  for await (const text of stream.compose(new spec())) process.stdout.write(text);
  return result;
}

/**
 * The processes: one with journeys that share a browser per free core, one for all rules, one for every few files that
 * can share it, one for each other file.
 */
async function processes(paths: string[]): Promise<string[]> {
  const journeys = paths.filter(sharesBrowser);
  const rules = paths.filter(isRule);
  const others = paths.filter((path) => !sharesBrowser(path) && !isRule(path));
  const isAlone = await Promise.all(others.map(needsProcess));
  const alone = others.filter((_, at) => isAlone[at]);
  const shared = others.filter((_, at) => !isAlone[at]);
  const lanes = deal(journeys, Math.max(1, Math.round(freeCores)));
  const hands = deal(shared, Math.ceil(shared.length / filesPerProcess));
  return [
    ...(await Promise.all(lanes.map(writeLane))),
    // A browser takes long to start, and Lighthouse to look.
    ...alone.filter(needsBrowser),
    ...alone.filter((path) => !needsBrowser(path)),
    ...(await Promise.all(deal(rules, 1).map((files) => writeInTurn(files, "rules")))),
    ...(await Promise.all(hands.map(writeInTurn))),
  ];
}

/** Forth and back, so that each hand has as much to do. */
function deal(paths: readonly string[], many: number): string[][] {
  const hands = Array.from({ length: many }, (): string[] => []);
  for (const [at, path] of paths.entries()) {
    const turn = at % (2 * many);
    hands[Math.min(turn, 2 * many - 1 - turn)]?.push(path);
  }
  return hands.filter((files) => files.length > 0);
}

/** A journey is listed under the file that declares it. */
async function writeLane(paths: string[], at: number): Promise<string> {
  const lines = paths.map((path) => {
    const name = JSON.stringify(path);
    return `process.argv[1] = ${name};\nawait import(${name});\n`;
  });
  return write(`journeys-${at}`, lines);
}

async function writeInTurn(paths: string[], name: string | number): Promise<string> {
  const module = JSON.stringify(join(import.meta.dirname, "in-turn.ts"));
  const lines = paths.map((path) => `runInTurn(${JSON.stringify(path)});\n`);
  return write(`files-${name}`, [`import { runInTurn } from ${module};\n`, ...lines]);
}

async function write(name: string, lines: string[]): Promise<string> {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, lines.join(""));
  return file;
}

function tellSlowest(tests: TestTime[]): void {
  const slowest = tests.toSorted((one, other) => other.ms - one.ms).slice(0, slowestShown);
  tell(`The ${slowest.length} slowest tests:`);
  for (const { name, file, ms } of slowest) {
    tell(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}: ${name}`);
  }
}

/** A failure on a busy machine is a failure; this tells where the time went. */
async function tellMachine(): Promise<void> {
  const cores = availableParallelism();
  const atEnd = await measureFreeCores();
  const isBusy = Math.min(freeCores, atEnd) < 0.75 * cores;
  tell(
    `The machine was ${isBusy ? "busy with other work" : "quiet"}: ${freeCores.toFixed(1)} of ${cores} cores were free at the start, ${atEnd.toFixed(1)} at the end.`,
  );
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
