// Turns metrics on, where they are set: on a port of their own, or on the service's with a token. Without the setting
// nothing of them is loaded.

import type { Logger } from "pino";
import { type Database, useOf, withoutWaiting } from "./database/database.ts";
import type { Listener } from "./database/listener.ts";
import type { MetricsSettings } from "./domain/access/metrics-settings.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import type { Recorder } from "./domain/recorder.ts";
import type { Scrape } from "./metrics/scrape.ts";
import { readBacklog } from "./storage/deliveries/backlog.ts";

export type Measuring = {
  recorder: Recorder;
  /** For the service's own port; null when metrics have theirs. */
  scrape: Scrape | null;
  /** Once, when the parts of the process are there and before the listener starts. */
  watch(parts: Measured): void;
  /** Takes the port of their own, if they have one. */
  listen(): Promise<void>;
  stop(): Promise<void>;
};

export type Measured = {
  db: Database;
  /** Null where nothing works. */
  workerDb: Database | null;
  listener: Listener;
  /** Null where no calls are served. */
  waitingCallers: (() => number) | null;
};

export async function openMeasuring(
  settings: MetricsSettings | null,
  log: Logger,
): Promise<Measuring | null> {
  if (settings === null) return null;
  const [{ Metrics }, { makeScrape, ScrapeServer }] = await Promise.all([
    import("./metrics/prometheus.ts"),
    import("./metrics/scrape.ts"),
  ]);
  const metrics = new Metrics();
  const { contentType } = metrics;
  const scrape = makeScrape(
    async () => ({ text: await metrics.text(), contentType }),
    settings.token,
  );
  const onFault = (error: unknown) => log.error({ err: error }, "the metrics could not be read");
  const server = settings.port === null ? null : new ScrapeServer(scrape, onFault);
  let isListening = false;
  return {
    recorder: metrics.recorder,
    scrape: server === null ? scrape : null,
    watch: ({ db, workerDb, listener, waitingCallers }) => {
      listener.onChange(() => metrics.listenerChanged(listener.isListening));
      metrics.watch({
        readBacklog: () => readBacklog(withoutWaiting(db)),
        pools: {
          calls: () => useOf(db),
          ...(workerDb === null ? {} : { worker: () => useOf(workerDb) }),
        },
        isListening: () => listener.isListening,
        waitingCallers,
      });
    },
    listen: async () => {
      if (server === null || settings.port === null) return;
      const port = await server.listen(settings.host, settings.port).catch(explain(settings));
      isListening = true;
      log.info({ host: settings.host, port }, "metrics are served");
    },
    stop: async () => {
      if (isListening) await server?.stop();
    },
  };
}

function explain({ host, port }: MetricsSettings) {
  return (error: unknown): never => {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new OperatorFault(
      `Cannot serve metrics on ${host}:${port} (${code}). Set METRICS_HOST and METRICS_PORT.`,
      { cause: error },
    );
  };
}
