// Installs what the lock files name, once, and builds the pages and the SDK when they have changed, so that `npm start` and
// `npm test` work on a fresh clone. Only with `--tests` it also installs what nothing but tests need.
// Plain JavaScript for the host's Node: the pinned Node 24 is one of the things it installs.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const pinnedNode = join(root, "node_modules", ".bin", "node");
/** Other runtimes, the frameworks that there are adapters for, and Lighthouse: large, and of no use to run the service. */
const foldersOfTests = ["sdk/runtimes", "adapters", "e2e/lighthouse"];

// Whatever the user's settings or NODE_ENV leave out: Node 24 is a dev dependency that an install script
// unpacks, and PostgreSQL's programs are optional ones.
const installOptions = [
  "--include=dev",
  "--include=optional",
  "--ignore-scripts=false",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
];

const isForTests = process.argv.includes("--tests");
await install([".", ...(isForTests ? foldersOfTests : [])]);
if (!existsSync(pinnedNode)) {
  fail("", "npm installed the package node, but not the program: its install script did not run.");
}
await build();

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
  const outcome = await run("npm", ["ci", ...installOptions], join(root, folder));
  if (outcome.code === 0) writeFileSync(stampOf(folder), wantedIn(folder));
  return outcome;
}

function isInstalled(folder) {
  const stamp = stampOf(folder);
  const isStamped = existsSync(stamp) && readFileSync(stamp, "utf8") === wantedIn(folder);
  return isStamped && (folder !== "." || existsSync(pinnedNode));
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
  const { code, output } = await run(pinnedNode, [join(root, "scripts", "build.ts")], root);
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
