// The benchmark's side of the load generator: starts the process, hands it loads, waits for results.

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Connection } from "./service.ts";
import type { Statement } from "./workloads.ts";

/** Asked after each call: notes when it was sent and answered, and says whether to go on. */
export type NoteCall = (sentAt: number) => boolean;

/** Calls are made from the start, and counted once the ramp is over. */
export type Pace = { clients: number; rampMs: number; measureMs: number };

/** Whole HTTP requests, in turn. */
export type HttpLoad = Pace & {
  kind: "http";
  port: number;
  requests: string[];
  status: number;
  /** No more calls a second than this, of all clients together; null for as many as they get answered. */
  perSecondMax: number | null;
};
/** Each request once. */
export type HttpOnceLoad = Omit<HttpLoad, "kind" | keyof Pace | "perSecondMax"> & {
  kind: "http once";
  clients: number;
};
/** The same statements through `pg`, without HTTP around them. */
export type StatementLoad = Pace & {
  kind: "statements";
  connection: Connection;
  statements: Statement[];
  /** Each statement once. */
  isOnce: boolean;
};
/** The same bodies through undici, without a database behind them. */
export type PostLoad = Pace & {
  kind: "posts";
  urls: string[];
  headers: Record<string, string>;
  body: string;
};
export type Load = HttpLoad | HttpOnceLoad | StatementLoad | PostLoad;

export type LoadResult = { perSecond: number; p50Ms: number; p99Ms: number };

export class LoadProcess {
  readonly #child = fork(fileURLToPath(new URL("load.ts", import.meta.url)), {
    serialization: "advanced",
  });
  readonly #ended = new AbortController();

  constructor() {
    const fault = new Error("the load generator ended by itself");
    this.#child.on("exit", () => this.#ended.abort(fault));
  }

  async run(load: Load, signal: AbortSignal): Promise<LoadResult> {
    const either = AbortSignal.any([signal, this.#ended.signal]);
    const answer = once(this.#child, "message", { signal: either });
    this.#child.send(load);
    const result: LoadResult | { fault: string } = (await answer)[0];
    if ("fault" in result) throw new Error(result.fault);
    return result;
  }

  stop(): void {
    this.#child.kill();
  }
}
