// The function, served by Inngest's own library, driven by a stand-in for its server; and by the server itself where its
// program is installed (INNGEST_PROGRAM).

import { join } from "node:path";
import { type Engine, keepsItsGuarantees } from "../guarantees.ts";
import { freePort, isInstalled, type Started, start, startNode } from "../started.ts";
import { Executor } from "./executor.ts";

const program = process.env.INNGEST_PROGRAM ?? "inngest";

keepsItsGuarantees("Inngest, its library with a stand-in of its server", { engine: standIn });
keepsItsGuarantees("Inngest, its dev server", {
  engine: devServer,
  skip: isInstalled(program) ? false : "there is no program inngest here",
});

function standIn(): Engine {
  const executor = new Executor();
  let served: Started | null = null;
  return {
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

function devServer(): Engine {
  const ids = new Map<string, string>();
  let server: Started | null = null;
  let served: Started | null = null;
  let url = "";
  let functionsPort = "";
  return {
    boot: async (environment) => {
      if (server === null) {
        functionsPort = String(await freePort());
        const port = String(await freePort());
        url = `http://127.0.0.1:${port}`;
        const functions = `http://127.0.0.1:${functionsPort}/api/inngest`;
        const words = [
          "dev",
          "--no-discovery",
          "--host",
          "127.0.0.1",
          "--port",
          port,
          "-u",
          functions,
        ];
        server = start(program, words);
        await server.said(/service starting|starting server|dev server online/i);
      }
      const own = { ...environment, FUNCTIONS_PORT: functionsPort };
      const answer = await serve(own, url);
      served = answer.started;
      await untilSynced(`http://127.0.0.1:${functionsPort}/api/inngest`);
      return answer.url;
    },
    begin: async (run, refund) => {
      ids.set(run, await send(url, run, refund));
    },
    outcomeOf: async (run) => {
      const answer = await fetch(`${url}/v1/events/${ids.get(run)}/runs`);
      const { data } = (await answer.json()) as { data: { status: string; output: string }[] };
      return data[0]?.status === "Completed" ? data[0].output : null;
    },
    kill: async () => served?.kill(),
    stop: async () => {
      await served?.kill();
      await server?.kill();
    },
  };
}

/** A PUT asks the library to tell the server what it serves. */
async function untilSynced(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url, { method: "PUT" }).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
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
