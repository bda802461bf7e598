// Runs every test against one real PostgreSQL and ends with a line that counts them.
// `npm test -- FILE…` runs some files only; TEST_DATABASE_URL runs them on another PostgreSQL (its role must be
// allowed to create databases). Browser tests run in a Chromium that is looked for once, before all of them
// (e2e/chromium.ts); where there is none they count as skipped, and the last lines say so.

import { glob, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import pg from "pg";
import { type ChromiumSearch, findChromium } from "../e2e/chromium.ts";
import { useEmbeddedPostgres } from "../server/src/storage/embedded-postgres.ts";
import { migrate } from "../server/src/storage/migrations.ts";
import { templateName, withDatabase } from "../server/test/test-database.ts";

const root = join(import.meta.dirname, "..");
const testTimeoutMs = 120_000;
/**
 * Browsers keep processors busy, other tests mostly wait for timers, mails and processes, so both kinds run side by side.
 * With more files at a time, tests that look at the clock no longer keep to their limits on two processors.
 */
const browserFilesAtOnce = 2;
const otherFilesAtOnce = 1;

const files = await findFiles();
const chromium = files.some(needsBrowser) ? await searchChromium() : null;
process.env.TEST_CHROMIUM = chromium?.path ?? "";

const folder = await mkdtemp(join(tmpdir(), "countersign-test-"));
// Every file is a process that compiles the same sources: the first one does it for all, and for what they start.
process.env.NODE_COMPILE_CACHE = join(folder, "compile-cache");
const { url, release } = await openPostgres();
try {
  await makeTemplate(url);
  process.env.TEST_DATABASE_URL = url;
  const passed = await runTests();
  process.exitCode = passed ? 0 : 1;
} finally {
  await release();
  await rm(folder, { recursive: true, force: true });
}

async function openPostgres(): Promise<{ url: string; release: () => Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== "") return { url: given, release: async () => {} };
  const silent = { info: () => {}, warn: () => {} };
  const dataDir = join(folder, "data");
  const postgres = await useEmbeddedPostgres({ dataDir, purpose: "command", log: silent });
  if ("inUseBy" in postgres) throw new Error("the tests' own PostgreSQL is in use by another");
  const { user, password, host, port, database } = postgres.connection;
  const query = new URLSearchParams({ host, port: String(port) });
  return {
    url: `postgres://${user}:${encodeURIComponent(password)}@localhost/${database}?${query}`,
    release: () => postgres.release(),
  };
}

/** Migrated once; each test file works on a copy of it. */
async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`drop database if exists ${templateName}`);
  await client.query(`create database ${templateName}`);
  await client.end();
  await migrate({ connectionString: withDatabase(url, templateName) });
}

async function findFiles(): Promise<string[]> {
  const named = process.argv.slice(2).map((file) => join(process.cwd(), file));
  if (named.length > 0) return named;
  const found: string[] = [];
  for await (const file of glob(
    "{server,web,sdk,mcp,adapters,examples,docs,e2e,bench,scripts}/**/*.test.ts",
    {
      cwd: root,
      exclude: (name) => name === "node_modules",
    },
  )) {
    found.push(join(root, file));
  }
  return longestFirst(found);
}

/**
 * None is left to run alone at the end. How long a file takes need not be known for that: what runs on a database takes
 * longer than rules, and a larger file longer than a smaller one.
 */
async function longestFirst(paths: string[]): Promise<string[]> {
  const rankOf = (path: string) => {
    const isRule = /^(server|web)\/src\//.test(relative(root, path));
    return isRule ? 1 : 0;
  };
  const ranked = await Promise.all(
    paths.map(async (path) => ({ path, rank: rankOf(path), bytes: (await stat(path)).size })),
  );
  ranked.sort((one, other) => one.rank - other.rank || other.bytes - one.bytes);
  return ranked.map(({ path }) => path);
}

/** Every test in e2e/ opens a browser, except that of the search for one. */
function needsBrowser(file: string): boolean {
  const path = relative(root, file);
  return path.startsWith(join("e2e", "/")) && basename(path) !== "chromium.test.ts";
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
  const others = files.filter((file) => !needsBrowser(file));
  const counted = await Promise.all([
    runFiles(files.filter(needsBrowser), browserFilesAtOnce),
    runFiles(others, otherFilesAtOnce),
  ]);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of counted) {
    counts.passed += passed;
    counts.failed += failed;
    counts.skipped += skipped;
  }
  if (chromium?.path === null) process.stdout.write(`${chromium.reason}\n`);
  const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
  return counts.failed === 0 && counts.passed > 0;
}

type Counts = { passed: number; failed: number; skipped: number };

async function runFiles(paths: string[], concurrency: number): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  if (paths.length === 0) return counts;
  const stream = run({ files: paths, concurrency, timeout: testTimeoutMs });
  stream.on("test:fail", ({ details, todo }) => {
    // A suite or file fails with its tests, which are counted themselves.
    if (details.type !== "suite" && todo === undefined) counts.failed += 1;
  });
  stream.on("test:summary", (summary) => {
    // The summary without a file is the one of the whole run.
    if (summary.file !== undefined) return;
    counts.passed = summary.counts.passed;
    counts.skipped = summary.counts.skipped;
    if (!summary.success) counts.failed = Math.max(1, counts.failed);
  });
  for await (const text of stream.compose(new spec())) process.stdout.write(text);
  return counts;
}
