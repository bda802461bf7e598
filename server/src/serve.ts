// Starts the service, tells the person at the terminal what to do next, and stops it cleanly.

import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import { openLog } from "./log.ts";
import { runFirst } from "./operations/first-run.ts";
import { assembleService } from "./service.ts";
import { isOutOfReach } from "./storage/database.ts";
import { migrate } from "./storage/migrations.ts";
import { openStore, type Store } from "./storage/store.ts";
import { welcome } from "./welcome.ts";

const migrationRetryMs = 1_000;
/** How long connections get to end by themselves when the service stops. */
const connectionGraceMs = 3_000;
/** A stop that takes longer than this is cut short. */
const stopTimeoutMs = 15_000;

export async function serve(config: Config): Promise<void> {
  const log = openLog({ level: config.logLevel, format: config.logFormat });
  const stopping = new AbortController();
  const opening = openStore({ ...config, purpose: "serve", log });
  let app: FastifyInstance | null = null;
  const stop = async () => {
    stopping.abort();
    // A request that never arrives whole would hold up the stop for as long as its sender likes.
    const impatience = setTimeout(() => app?.server.closeAllConnections(), connectionGraceMs);
    await app?.close();
    clearTimeout(impatience);
    const opened = await opening;
    if (!("inUseBy" in opened)) await opened.close();
  };
  stopOnSignal(log, stop);
  const store = await opening;
  if (stopping.signal.aborted) return;
  if ("inUseBy" in store) throw new OperatorFault(alreadyServed(config, store.inUseBy));
  app = assembleService({ ...store, rateLimit: config.rateLimit, log }).app;
  try {
    const isMigrated = migrateWithPatience(store, log, stopping.signal);
    // Awaited below in every case; until then a failure must not count as unhandled.
    isMigrated.catch(() => {});
    // With an embedded database everything is ready before the first call; an external one may be away.
    if (store.kind === "embedded") await isMigrated;
    const address = await listen(app, config);
    // Only now, when nothing can keep it from being shown: the first key is shown once.
    const firstKey = store.kind === "embedded" ? await runFirst(store.db) : null;
    showWelcome(config, store, { address, firstKey }, log);
    await isMigrated;
  } catch (error) {
    if (stopping.signal.aborted) return;
    await stop();
    throw error;
  }
}

async function migrateWithPatience(store: Store, log: Logger, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const applied = await migrate(store.connection);
      if (applied.length > 0) log.info({ applied: applied.join(", ") }, "migrated the database");
      return;
    } catch (error) {
      if (!isOutOfReach(error) || signal.aborted) throw error;
      if (tries === 1) log.warn({ err: error }, "the database is out of reach; trying again");
      await pause(migrationRetryMs, undefined, { signal });
    }
  }
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EADDRINUSE") {
      throw new OperatorFault(
        `Port ${port} on ${host} is in use. Choose another one: PORT=${port + 1} npm start`,
      );
    }
    if (code === "EACCES" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new OperatorFault(`Cannot listen on ${host}:${port} (${code}). Set HOST and PORT.`);
    }
    throw error;
  }
  const { port: actualPort } = app.server.address() as AddressInfo;
  return `http://${host === "127.0.0.1" || host === "0.0.0.0" ? "localhost" : host}:${actualPort}`;
}

function showWelcome(
  config: Config,
  store: Store,
  facts: { address: string; firstKey: string | null },
  log: Logger,
): void {
  if (store.kind === "embedded" || config.logFormat === "text") {
    process.stdout.write(welcome({ ...facts, kind: store.kind, dataDir: config.dataDir }));
  } else {
    log.info({ address: facts.address }, "serving");
  }
}

function alreadyServed(config: Config, pid: number | null): string {
  const who = pid === null ? "Another process" : `The process ${pid}`;
  return `${who} already serves ${config.dataDir}. Stop it first, or start this one with another DATA_DIR and PORT.`;
}

/** npm passes a Ctrl-C on that the terminal has sent already, so the same signal may come twice. */
function stopOnSignal(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false;
  const onSignal = (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info(`stopping (${signal})`);
    setTimeout(() => {
      log.error("stopping took too long and was cut short");
      process.exit(1);
    }, stopTimeoutMs).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
}
