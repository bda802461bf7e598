// Prepares the package in the current folder for `npm pack`: builds `dist` afresh and puts the licence beside it. On a
// fresh clone it first installs what building needs. Plain JavaScript for the host's Node.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const compiler = join(root, "node_modules", ".bin", "tsc");

if (!existsSync(compiler)) run(process.execPath, [join(root, "scripts", "setup.mjs")]);
// A file whose source is gone must not be published.
rmSync("dist", { recursive: true, force: true });
if (existsSync("bundle.vite.mjs")) {
  // One file without imports, for hosts that install nothing.
  const bundler = join(root, "node_modules", ".bin", "vite");
  run(bundler, ["build", "--config", "bundle.vite.mjs", "--logLevel", "warn"]);
} else {
  run(compiler, [
    "-p",
    existsSync("tsconfig.build.json") ? "tsconfig.build.json" : "tsconfig.json",
  ]);
}
// The SDK's testing kit.
if (existsSync("tsconfig.testing.json")) run(compiler, ["-p", "tsconfig.testing.json"]);
copyFileSync(join(root, "LICENSE"), "LICENSE");

/** Writes to standard error alone: `npm pack --json` writes the other for programs. */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  process.stderr.write(
    `${error === undefined ? "" : `${error.message}\n`}The package could not be built: the lines above say why.\n`,
  );
  process.exit(1);
}
