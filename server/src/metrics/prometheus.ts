// What is measured, in the text format of Prometheus. Loaded only where it is turned on. No label names a workspace, a
// person, an address or an id: each has few values, whatever callers send.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { PoolUse } from "../database/database.ts";
import { backlogPendingMax } from "../domain/delivery/backlog-limits.ts";
import type { CalledRoute, Recorder } from "../domain/recorder.ts";
import { type Backlog, backlogChannels } from "../storage/deliveries/backlog.ts";
import { BacklogSample } from "./backlog-sample.ts";

/** What is looked at when somebody scrapes. */
export type Sources = {
  readBacklog: () => Promise<Backlog>;
  /** By name. */
  pools: Record<string, () => PoolUse>;
  isListening: () => boolean;
  /** Callers of `?wait=`; null where no calls are served. */
  waitingCallers: (() => number) | null;
};

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const firstAttemptBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];
const batchBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export class Metrics {
  readonly recorder: Recorder;
  readonly #registry = new Registry();
  readonly #listenerLosses;

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    this.#countBusyTime();
    this.recorder = this.#makeRecorder();
    this.#listenerLosses = this.#counter(
      "countersign_listener_losses_total",
      "How often the connection that hears announcements was lost.",
      [],
    );
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The listening connection is there, or is lost. */
  listenerChanged(isListening: boolean): void {
    if (!isListening) this.#listenerLosses.inc();
  }

  /** Once, when the parts of the process are there. */
  watch({ readBacklog, pools, isListening, waitingCallers }: Sources): void {
    this.#watchPools(pools);
    this.#watchBacklog(new BacklogSample(readBacklog));
    this.#gauge(
      "countersign_listener_connected",
      "1 while the connection that hears announcements stands; polling is slower.",
      (gauge) => gauge.set(isListening() ? 1 : 0),
    );
    if (waitingCallers === null) return;
    this.#gauge("countersign_waiting_callers", "Calls that wait for a decision.", (gauge) =>
      gauge.set(waitingCallers()),
    );
  }

  #makeRecorder(): Recorder {
    const calls = this.#counter(
      "countersign_calls_total",
      "Calls by the pattern of their route, method and class of status.",
      ["route", "method", "status"],
    );
    const callSeconds = this.#histogram(
      "countersign_call_seconds",
      "Seconds until a call was answered; wait=yes for calls that asked to be kept waiting.",
      { labelNames: ["route", "method", "wait"], buckets: callBuckets },
    );
    const attempts = this.#counter(
      "countersign_attempts_total",
      "Attempts to deliver, by channel and outcome; mail and messages of Slack, Teams and push included.",
      ["channel", "outcome"],
    );
    const firstAttempts = this.#histogram(
      "countersign_first_attempt_seconds",
      "Seconds from an event to the first attempt to deliver it. Mail may wait on purpose.",
      { labelNames: ["channel"], buckets: firstAttemptBuckets },
    );
    const leases = this.#counter(
      "countersign_leases_lost_total",
      "Attempts that ended after another worker had taken them over.",
      ["channel"],
    );
    const batches = this.#histogram("countersign_batch_items", "Calls that shared one statement.", {
      labelNames: ["statement"],
      buckets: batchBuckets,
    });
    return {
      called: (call) => {
        const { route, ms, isWait } = call;
        const method = methodOf(call);
        calls.inc({ route, method, status: `${Math.floor(call.status / 100)}xx` });
        callSeconds.observe({ route, method, wait: isWait ? "yes" : "no" }, ms / 1_000);
      },
      attempted: (channel, outcome) => attempts.inc({ channel, outcome }),
      begunAfter: (channel, ms) => firstAttempts.observe({ channel }, Math.max(0, ms) / 1_000),
      lostLease: (channel) => leases.inc({ channel }),
      gathered: (statement, items) => batches.observe({ statement }, items),
    };
  }

  /** Its rate is the utilisation of the event loop, whoever scrapes and how often. */
  #countBusyTime(): void {
    const busy: Counter = new Counter({
      name: "countersign_event_loop_busy_seconds_total",
      help: "Seconds in which the event loop had something to do; their rate is its utilisation.",
      registers: [this.#registry],
      collect: () => {
        busy.reset();
        busy.inc(performance.eventLoopUtilization().active / 1_000);
      },
    });
  }

  #watchPools(pools: Sources["pools"]): void {
    const states = ["in_use", "idle", "waiting", "max"] as const;
    this.#gauge(
      "countersign_pool_connections",
      "Connections to the database by pool: in use, idle, callers waiting for one, and the most there may be.",
      (gauge) => {
        for (const [pool, useOf] of Object.entries(pools)) {
          const { total, idle, waiting, max } = useOf();
          const values = { in_use: total - idle, idle, waiting, max };
          for (const state of states) gauge.set({ pool, state }, values[state]);
        }
      },
      ["pool", "state"],
    );
  }

  #watchBacklog(sample: BacklogSample): void {
    const add = (
      name: string,
      help: string,
      set: (gauge: Gauge, backlog: Backlog) => void,
      labelNames: string[] = [],
    ) => {
      const read = async (gauge: Gauge) => {
        const { backlog } = await sample.show();
        // A figure with labels is empty after this, and one without is 0, which would be a claim.
        gauge.reset();
        if (backlog !== null) set(gauge, backlog);
        else if (labelNames.length === 0) gauge.remove();
      };
      this.#gauge(name, help, read, labelNames);
    };
    this.#gauge(
      "countersign_database_answers",
      "1 if the database answered when it was last asked for these figures.",
      async (gauge) => gauge.set((await sample.show()).isAnswered ? 1 : 0),
    );
    add(
      "countersign_pending_requests",
      `Requests that wait for a decision, counted up to ${backlogPendingMax}; the same from every process.`,
      (gauge, { pending }) => gauge.set(pending),
    );
    add(
      "countersign_expiry_lag_seconds",
      "How long the oldest request that should have expired is overdue.",
      (gauge, { overdueSeconds }) => gauge.set(overdueSeconds),
    );
    add(
      "countersign_oldest_due_seconds",
      "How long what is due first waits already, by channel, under way or not.",
      (gauge, { dueSeconds }) => {
        for (const channel of backlogChannels) gauge.set({ channel }, dueSeconds[channel]);
      },
      ["channel"],
    );
    add(
      "countersign_log_lag_seconds",
      "How long the oldest fact waits for the log.",
      (gauge, { logLagSeconds }) => gauge.set(logLagSeconds),
    );
    add(
      "countersign_database_clock_ahead_seconds",
      "By how much the database's clock is ahead of this process's; negative when it is behind.",
      (gauge, { clockAheadSeconds }) => gauge.set(clockAheadSeconds),
    );
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram(
    name: string,
    help: string,
    { labelNames, buckets }: { labelNames: string[]; buckets: number[] },
  ): Histogram {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }

  #gauge(
    name: string,
    help: string,
    read: (gauge: Gauge) => void | Promise<void>,
    labelNames: string[] = [],
  ): void {
    const gauge: Gauge = new Gauge({
      ...{ name, help, labelNames },
      registers: [this.#registry],
      collect: () => read(gauge),
    });
  }
}

/** Strangers may send any method that HTTP knows. */
function methodOf({ method }: CalledRoute): string {
  return methods.has(method) ? method : "other";
}
