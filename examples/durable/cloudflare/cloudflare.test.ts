// The Worker and its Workflow in workerd, the runtime that Cloudflare runs.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Engine, keepsItsGuarantees } from "../guarantees.ts";

keepsItsGuarantees("Cloudflare Workflows", { engine });

function engine(): Engine {
  const folder = mkdtempSync(join(tmpdir(), "countersign-workflows-"));
  const begun: string[] = [];
  let child: ChildProcess | null = null;
  let lines: AsyncIterator<string>;
  let turn: Promise<unknown> = Promise.resolve();

  // One question at a time: the answers come in the order of the lines.
  const ask = (question: object) => {
    const answer = turn.then(async () => {
      child?.stdin?.write(`${JSON.stringify(question)}\n`);
      return read();
    });
    turn = answer.catch(() => {});
    return answer;
  };
  const read = async () => JSON.parse((await lines.next()).value);
  const kill = async () => {
    if (child === null) return;
    const ended = new Promise((resolve) => child?.once("close", resolve));
    // With workerd, which is a process of its own in the same group.
    process.kill(-(child.pid ?? 0), "SIGKILL");
    await ended;
    child = null;
  };
  return {
    runsUsedIds: false,
    boot: async (environment) => {
      const host = join(import.meta.dirname, "host.ts");
      child = spawn(process.execPath, ["--conditions=countersign:source", host, folder], {
        env: { ...process.env, BINDINGS: JSON.stringify(environment) },
        stdio: ["pipe", "pipe", "inherit"],
        detached: true,
      });
      if (child.stdout === null) throw new Error("no output");
      lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const { url } = await read();
      for (const revive of begun) await ask({ revive });
      return url;
    },
    begin: async (run, params) => {
      begun.push(run);
      await ask({ begin: run, params });
    },
    outcomeOf: async (run) => {
      const { status, output, error } = await ask({ look: run });
      if (status === "errored") throw new Error(JSON.stringify(error));
      return status === "complete" ? output : null;
    },
    kill,
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
