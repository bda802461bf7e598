// Restate: its server with its own storage, and a virtual object that waits for an awakeable. Everything goes through
// the server's ingress; the handlers run in this process, as does the load.

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import * as restate from "@restatedev/restate-sdk";
import { HttpConnection, HttpConnections } from "./http-connection.ts";
import { versionOf } from "./installed-version.ts";
import { type Contender, decision, readsPerJob, type Setup, serveOrders } from "./peer-process.ts";

const nodeName = "peer";
const startTimeoutMs = 30_000;
const stopTimeoutMs = 5_000;

/** Who waits to be told the id of the awakeable that was made under a key, as an approver waits for the mail. */
const asked = new Map<string, (awakeableId: string) => void>();

const approval = restate.object({
  name: "approval",
  handlers: {
    ask: async (ctx: restate.ObjectContext, request: unknown): Promise<unknown> => {
      const { id, promise } = ctx.awakeable();
      ctx.set("request", request);
      // A mail would be sent in this step. It is known to the server once it is awaited, and so is the request.
      await ctx.run("tell the approver", () => {});
      asked.get(ctx.key)?.(id);
      return promise;
    },
    read: restate.handlers.object.shared(
      // Reads need no record that they were made.
      { journalRetention: 0 },
      async (ctx: restate.ObjectSharedContext) => ctx.get<unknown>("request"),
    ),
  },
});

serveOrders(openRestate);

async function openRestate({ body }: Setup): Promise<Contender> {
  const dataDir = await mkdtemp(join(tmpdir(), "restate-"));
  const server = startServer(dataDir);
  const handlers = await serveHandlers();
  const sockets = join(dataDir, nodeName);
  const ingress = new HttpConnections({ path: join(sockets, "ingress.sock") });

  async function close(): Promise<void> {
    ingress.close();
    handlers.close();
    await endServer(server);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  try {
    await register(server, join(sockets, "admin.sock"), handlers.port);
  } catch (error) {
    await close();
    throw error;
  }
  const name = `Restate ${versionOf("@restatedev/restate-server")}`;
  return { name, port: null, runJob: (client) => runJob(ingress.of(client), body), close };
}

async function runJob(ingress: HttpConnection, body: string): Promise<void> {
  const key = randomUUID();
  const told = new Promise<string>((resolve) => asked.set(key, resolve));
  const { body: accepted } = await ingress.call("POST", `/approval/${key}/ask/send`, 202, body);
  const { invocationId }: { invocationId: string } = JSON.parse(accepted);
  const awakeableId = await told;
  asked.delete(key);
  for (let read = 0; read < readsPerJob; read += 1) {
    const { body: kept } = await ingress.call("POST", `/approval/${key}/read`, 200);
    if (kept !== body) throw new Error(`the request was not kept: ${kept}`);
  }
  const resolve = `/restate/awakeables/${awakeableId}/resolve`;
  await ingress.call("POST", resolve, 202, JSON.stringify(decision));
  const attach = `/restate/invocation/${invocationId}/attach`;
  const { body: received } = await ingress.call("GET", attach, 200);
  if (!isDeepStrictEqual(JSON.parse(received), decision))
    throw new Error("nobody got the decision");
}

/** Its defaults, which sync its log before it answers, on sockets that nobody else can have taken. */
function startServer(dataDir: string): ChildProcess {
  const platform = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const program = fileURLToPath(
    new URL(`../node_modules/${platform}/bin/restate-server`, import.meta.url),
  );
  const options = ["--base-dir", dataDir, "--node-name", nodeName, "--listen-mode", "unix"];
  const server = spawn(program, [...options, "--no-logo"], {
    env: {
      ...process.env,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LOG_FILTER: "off,restate=warn",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  // A program that is missing is noticed by its missing process number; without this the event would end the process.
  server.on("error", () => {});
  return server;
}

async function endServer(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  server.kill("SIGTERM");
  const tooLong = setTimeout(() => server.kill("SIGKILL"), stopTimeoutMs);
  await exited;
  clearTimeout(tooLong);
}

async function serveHandlers() {
  const logger = () => {};
  const endpoint = restate.createEndpointHandler({ services: [approval], logger });
  const server = createServer(endpoint).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, close: () => void server.close() };
}

/** Tells the server where the handlers are, as soon as it is there to be told. */
async function register(server: ChildProcess, adminSocket: string, port: number): Promise<void> {
  let reason = "its program cannot be started here";
  const body = JSON.stringify({ uri: `http://127.0.0.1:${port}` });
  for (const endsAt = performance.now() + startTimeoutMs; performance.now() < endsAt; ) {
    if (server.exitCode !== null || server.pid === undefined) break;
    const admin = new HttpConnection({ path: adminSocket }, {});
    try {
      await admin.call("POST", "/deployments", 201, body);
      return;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
      await pause(100);
    } finally {
      admin.close();
    }
  }
  throw new Error(`the server did not come up (${reason})`);
}
