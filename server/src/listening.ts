// Takes ports: the service's own, and one for probes alone where an operator names it.

import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { withoutWaiting } from "./database/database.ts";
import { Readiness } from "./database/readiness.ts";
import { localUrl } from "./domain/access/public-url.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import { healthRoutes } from "./http/api/health.ts";
import { buildApp } from "./http/frame/app.ts";
import { onceStarted } from "./http/frame/once-started.ts";
import type { Store } from "./storage/store.ts";

export type ProbeParts = {
  config: Config;
  store: Store;
  isStarted: () => boolean;
  isDraining: () => boolean;
  log: Logger;
};

/** Answers load balancers and process managers alone. A worker has no other port. */
export function assembleProbes(parts: ProbeParts): FastifyInstance | null {
  const { config, store, isStarted, isDraining, log } = parts;
  if (config.probePort === null) return null;
  const readiness = new Readiness(withoutWaiting(store.db), log);
  const findUnreadiness = () => readiness.reasonAgainst();
  return buildApp({
    routes: onceStarted(healthRoutes({ isDraining, findUnreadiness }), isStarted),
    origin: config,
    rateLimit: null,
    trustedProxies: [],
    clock: () => performance.now(),
    isDraining,
    log,
  });
}

/** At the very end, when there is nothing left to say. */
export async function closeProbes(probes: FastifyInstance): Promise<void> {
  const closed = probes.close();
  probes.server.closeAllConnections();
  await closed;
}

/** Answers with the address. `setting` is the variable by which an operator chooses the port. */
export async function listen(
  app: FastifyInstance,
  { host, port, setting = "PORT" }: { host: string; port: number; setting?: string },
): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EADDRINUSE") {
      throw new OperatorFault(
        `Port ${port} on ${host} is in use. Choose another one: ${setting}=${port + 1} npm start`,
      );
    }
    if (code === "EACCES" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new OperatorFault(
        `Cannot listen on ${host}:${port} (${code}). Set HOST and ${setting}.`,
      );
    }
    throw error;
  }
  const { port: actualPort } = app.server.address() as AddressInfo;
  return localUrl(host, actualPort);
}
