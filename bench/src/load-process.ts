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
export type HttpLoad = Pace & { kind: "http"; port: number; requests: string[]; status: number };
export type StatementLoad = Pace & {
  kind: "statements";
  connection: Connection;
  statements: Statement[];
};
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

  async run(load: HttpLoad | StatementLoad, signal: AbortSignal): Promise<LoadResult> {
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
