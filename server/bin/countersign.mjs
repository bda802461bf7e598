#!/usr/bin/env node
// The command `countersign`. Plain JavaScript: whatever Node runs it, the pinned Node 24 runs the program.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pinnedNode = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));

if (process.argv[2] === "hook") {
  // A command of its own, which chooses its Node itself.
  process.argv.splice(2, 1);
  await import("../../hook/bin/countersign-hook.mjs");
} else if (Number(process.versions.node.split(".")[0]) >= 24 && process.argv[2] === "verify") {
  // It needs neither settings nor a database, and is also handed out as a file of its own.
  process.argv.splice(2, 1);
  await import("../../verify/src/main.ts");
} else if (Number(process.versions.node.split(".")[0]) >= 24) {
  const { keepCompiled } = await import("./compile-cache.mjs");
  keepCompiled();
  await import("../src/main.ts");
} else if (existsSync(pinnedNode)) {
  runPinned();
} else {
  process.stderr.write("countersign: needs Node 24 or newer; `npm install` brings its own.\n");
  process.exitCode = 1;
}

function runPinned() {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(pinnedNode, args, { stdio: "inherit" });
  // A signal from the terminal reaches the child by itself; this one only has to outlive it.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}
