#!/usr/bin/env node
// The command `countersign-mcp`. Published, it runs what was built; in a clone the source itself, for which a Node that
// cannot strip types is replaced by the pinned one.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/mcp/src/main.js", import.meta.url);
const source = new URL("../src/main.ts", import.meta.url);
const pinnedNode = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));

if (existsSync(built)) await import(built.href);
else if (Number(process.versions.node.split(".")[0]) >= 24) await import(source.href);
else runPinned();

function runPinned() {
  const child = spawn(pinnedNode, [fileURLToPath(source)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", () => {
    process.stderr.write("countersign-mcp: run `npm install` in the clone first.\n");
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}
