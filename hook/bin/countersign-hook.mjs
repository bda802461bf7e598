#!/usr/bin/env node
// The command `countersign-hook`. Published, it runs what was built; in a clone the source itself, for which a Node that
// cannot strip types is replaced by the pinned one. Whatever fails here exits with 2, the code by which every harness
// blocks the call.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/hook/src/main.js", import.meta.url);
const source = new URL("../src/main.ts", import.meta.url);
const pinnedNode = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));

try {
  if (existsSync(built)) await import(built.href);
  else if (Number(process.versions.node.split(".")[0]) >= 24) await import(source.href);
  else runPinned();
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}

function runPinned() {
  const args = [fileURLToPath(source), ...process.argv.slice(2)];
  const child = spawn(pinnedNode, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", () => fail("run `npm install` in the clone first"));
  child.on("exit", (code) => process.exit(code ?? 2));
}

function fail(reason) {
  process.stderr.write(`countersign-hook: not approved, because the hook failed: ${reason}\n`);
  // Some harnesses let a call pass if they can't write all of it.
  const end = () => process.exit(2);
  if (process.stdin.isTTY) end();
  for (const event of ["end", "close", "error"]) process.stdin.on(event, end);
  setTimeout(end, 3_000);
  process.stdin.resume();
}
