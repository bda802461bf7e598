// The function, served by Inngest's own library and driven by a stand-in for its server.

import { join } from "node:path";
import { type Engine, keepsItsGuarantees } from "../guarantees.ts";
import { freePort, type Started, startNode } from "../started.ts";
import { Executor } from "./executor.ts";

keepsItsGuarantees("Inngest, its library with a stand-in of its server", { engine: standIn });
function standIn(): Engine {
  const executor = new Executor();
  let served: Started | null = null;
  return {
    runsUsedIds: true,
    boot: async (environment) => {
      if (executor.url === "") await executor.start();
      const functionsPort = String(await freePort());
      const { started, url } = await serve(
        { ...environment, FUNCTIONS_PORT: functionsPort },
        executor.url,
      );
      served = started;
      executor.target = `http://127.0.0.1:${functionsPort}/api/inngest`;
      return url;
    },
    begin: async (run, refund) => {
      await send(executor.url, run, refund);
    },
    outcomeOf: async (run) => executor.runs.get(run)?.output ?? null,
    kill: async () => served?.kill(),
    stop: async () => {
      await served?.kill();
      executor.stop();
    },
  };
}

async function serve(environment: Record<string, string>, engineUrl: string) {
  const PORT = String(await freePort());
  const started = startNode(join(import.meta.dirname, "server.ts"), {
    ...environment,
    INNGEST_DEV: engineUrl,
    INNGEST_EVENT_KEY: "test",
    PORT,
  });
  const url = `http://127.0.0.1:${PORT}/`;
  await listening(started, url);
  return { started, url };
}

async function listening(started: Started, url: string): Promise<void> {
  for (let turn = 0; turn < 600; turn += 1) {
    const answer = await fetch(url, { method: "POST", body: "{}" }).catch(() => null);
    if (answer !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(started.output);
}

async function send(url: string, run: string, refund: object): Promise<string> {
  const body = JSON.stringify({ name: "refund/asked", data: { run, ...refund } });
  const answer = await fetch(`${url}/e/test`, { method: "POST", body });
  const { ids } = (await answer.json()) as { ids: string[] };
  return ids[0] ?? "";
}
