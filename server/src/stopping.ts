// Stops a process that was told to: every call that has arrived is carried out, and nothing else is waited for.

import { setTimeout as pause } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Service } from "./service.ts";

/** How long connections get to end by themselves when the service stops, and answers to leave. */
const connectionGraceMs = 3_000;
/** A call that has arrived is carried out: its statement may take 15 seconds. */
const callGraceMs = 18_000;
/** A stop that takes longer than this, after the drain, is cut short. */
const stopTimeoutMs = 24_000;

export async function closeApp({ app, callsUnderWay }: Service): Promise<void> {
  const closed = new AbortController();
  const impatience = cutOff(app, callsUnderWay, closed.signal);
  await app.close();
  closed.abort();
  await impatience;
}

/** A request that never arrives whole would delay the stop for as long as its sender likes. */
async function cutOff(
  app: FastifyInstance,
  callsUnderWay: () => number,
  signal: AbortSignal,
): Promise<void> {
  const patience = performance.now() + callGraceMs;
  const waiting = (ms: number) => pause(ms, undefined, { signal }).catch(() => {});
  await waiting(connectionGraceMs);
  const isWaiting = () => callsUnderWay() > 0 && performance.now() < patience && !signal.aborted;
  while (isWaiting()) {
    while (isWaiting()) await waiting(50);
    // Their answers leave, and a call that has arrived meanwhile is waited for, too.
    await waiting(connectionGraceMs);
  }
  if (!signal.aborted) app.server.closeAllConnections();
}

/** npm passes on a Ctrl-C that the terminal has sent already, so the same signal may come twice. */
export function stopOnSignal(
  log: Logger,
  { stop, drainMs }: { stop: (isAwaited: boolean) => Promise<void>; drainMs: number },
): void {
  let isStopping = false;
  const onSignal = (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info(`stopping (${signal})`);
    setTimeout(() => {
      log.error("stopping took too long and was cut short");
      process.exit(1);
    }, drainMs + stopTimeoutMs).unref();
    // Whoever pressed Ctrl-C waits for it.
    stop(signal === "SIGINT").then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
}
