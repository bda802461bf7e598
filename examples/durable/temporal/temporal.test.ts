// The workflow on a real Temporal server where its program is installed, and in any case on the history of such a run.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Engine, keepsItsGuarantees } from "../guarantees.ts";
import { freePort, isInstalled, type Started, start, startNode } from "../started.ts";

const folder = import.meta.dirname;
const workflowsPath = join(folder, "workflow.ts");
const program = process.env.TEMPORAL_PROGRAM ?? "temporal";
const noLibrary = existsSync(join(folder, "node_modules", "@temporalio"))
  ? false
  : "Temporal's libraries are not installed here: npm run engines";
const noServer = isInstalled(program) ? false : "there is no program temporal here";

keepsItsGuarantees("Temporal", { engine, skip: noLibrary || noServer });

test("goes the way of a recorded run: asked, signalled, read, paid", {
  skip: noLibrary,
}, async () => {
  const { Runtime, Worker } = await import("@temporalio/worker");
  Runtime.install({ logger: silent });
  const history = JSON.parse(readFileSync(join(folder, "history.json"), "utf8"));
  // Throws when the workflow, as it is now, would do anything else than it did then.
  await Worker.runReplayHistory({ workflowsPath }, history, "run-recorded");
});

/** How history.json was made: TEMPORAL_RECORD names the file for the last run that was woken by a signal. */
function record(run: string, address: string): void {
  const { TEMPORAL_RECORD } = process.env;
  if (TEMPORAL_RECORD === undefined) return;
  const words = ["workflow", "show", "--workflow-id", run, "--address", address, "-o", "json"];
  const { stdout } = spawnSync(program, words, { encoding: "utf8" });
  if (!stdout.includes("WORKFLOW_EXECUTION_SIGNALED")) return;
  writeFileSync(TEMPORAL_RECORD, stdout.replace(/("identity": )"[^"]*"/g, '$1"recorded"'));
}

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

function engine(): Engine {
  const data = mkdtempSync(join(tmpdir(), "countersign-temporal-"));
  let server: Started | null = null;
  let worker: Started | null = null;
  let address = "";
  let lookAfter = "";
  const connect = async () => {
    const { Client, Connection } = await import("@temporalio/client");
    const connection = await Connection.connect({ address });
    return { client: new Client({ connection }), connection };
  };
  let connected: ReturnType<typeof connect> | null = null;
  const client = async () => {
    connected ??= connect();
    return (await connected).client;
  };
  const kill = async () => worker?.kill();
  return {
    runsUsedIds: true,
    boot: async (environment) => {
      lookAfter = environment.LOOK_AFTER ?? "";
      if (server === null) {
        address = `127.0.0.1:${await freePort()}`;
        const [, port = ""] = address.split(":");
        const words = ["server", "start-dev", "--headless", "--port", port];
        server = start(program, [...words, "--db-filename", join(data, "temporal.db")]);
        await server.said(/Server:/);
      }
      const port = String(await freePort());
      const own = { TEMPORAL_ADDRESS: address, PORT: port };
      worker = startNode(join(folder, "worker.ts"), { ...environment, ...own });
      await worker.said(/RUNNING/);
      return `http://127.0.0.1:${port}/`;
    },
    begin: async (run, refund) => {
      const options = { taskQueue: "refunds", workflowId: run, args: [refund, lookAfter] };
      await (await client()).workflow.start("refund", options);
    },
    outcomeOf: async (run) => {
      const handle = (await client()).workflow.getHandle(run);
      const { name } = (await handle.describe()).status;
      if (name === "RUNNING") return null;
      record(run, address);
      return handle.result();
    },
    kill: async () => {
      await kill();
    },
    stop: async () => {
      await kill();
      await (await connected)?.connection.close();
      await server?.kill();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
