// Installs what the lock file names, once, and builds the pages when they have changed, so that `npm start` and
// `npm test` work on a fresh clone.
// Plain JavaScript for the host's Node: the pinned Node 24 is one of the things it installs.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stamp = join(root, "node_modules", ".countersign-setup");
const pinnedNode = join(root, "node_modules", ".bin", "node");

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

const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform}-${process.arch}`)
  .digest("hex");

if (!isInstalled()) await install();
await buildPages();

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && existsSync(pinnedNode);
}

async function install() {
  rmSync(stamp, { force: true });
  const started = Date.now();
  const stopProgress = showProgress(started);
  const { code, output } = await run("npm", ["ci", ...installOptions]);
  stopProgress();
  if (code !== 0 || !existsSync(pinnedNode)) {
    process.stderr.write(`${output}\n`);
    process.stderr.write(
      "Installing the dependencies failed; the lines above say why. Once that is mended, run the same command again.\n",
    );
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  process.stdout.write(`Installed the dependencies in ${seconds} s.\n`);
}

async function buildPages() {
  const { code, output } = await run(pinnedNode, [join(root, "scripts", "build-web.ts")]);
  if (code === 0) return;
  process.stderr.write(`${output}\n`);
  process.stderr.write("Building the pages failed; the lines above say why.\n");
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

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
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
