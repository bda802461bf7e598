// A stand-in for Inngest's server, written from its SDK specification (docs/SDK_SPEC.md of inngest/inngest, sections 4.4
// and 5): it takes events, calls the function until it has ended, keeps what each step answered, and lets runs wait. The
// other end of it is Inngest's own library. It has retries without end, and no concurrency.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";

type Event = { id?: string; name: string; data: Record<string, unknown> };
type Operation = {
  id: string;
  op: string;
  /** Of a wait, the event. The specification has it in `opts`, the library here. */
  name?: string;
  opts?: { timeout: string; if?: string };
  data?: unknown;
};
type Run = { id: string; event: Event; steps: Record<string, unknown>; output: string | null };
type Waiting = { run: Run; event: string; wake: (event: Event | null) => void };

const functionId = "refunds-refund";

export class Executor {
  readonly runs = new Map<unknown, Run>();
  /** Where the function is served. It may be gone for a while. */
  target = "";
  url = "";
  readonly #waiting = new Set<Waiting>();
  readonly #server: http.Server;
  #hasStopped = false;

  constructor() {
    this.#server = http.createServer(async (request, response) => {
      let text = "";
      for await (const part of request) text += part;
      // The event API: one event or a list.
      const events = request.url?.startsWith("/e/") ? [JSON.parse(text)].flat() : [];
      for (const event of events) this.#take(event);
      const ids = events.map(({ id }) => id ?? randomUUID());
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ ids, status: 200 }));
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#hasStopped = true;
    for (const { wake } of this.#waiting) wake(null);
    this.#server.close().closeAllConnections();
  }

  #take(event: Event): void {
    if (event.name === "refund/asked") {
      const run: Run = { id: randomUUID(), event, steps: {}, output: null };
      this.runs.set(event.data.run, run);
      this.#execute(run);
    }
    // `event.data.run == async.data.run` is the only expression that it knows.
    for (const waiting of this.#waiting) {
      const isSame = waiting.run.event.data.run === event.data.run;
      if (waiting.event === event.name && isSame) waiting.wake(event);
    }
  }

  async #execute(run: Run): Promise<void> {
    while (run.output === null && !this.#hasStopped) {
      const answer = await this.#call(run);
      if (answer === null) await pause(200);
      else if (answer.status === 200) run.output = answer.json as string;
      else for (const operation of answer.json as Operation[]) await this.#apply(run, operation);
    }
  }

  async #apply(run: Run, operation: Operation): Promise<void> {
    const { id, op, data } = operation;
    if (op === "WaitForEvent") run.steps[id] = await this.#wait(run, operation);
    // The specification answers 200 with the output, the library this.
    else if (op === "RunComplete") run.output = data as string;
    else if (op === "StepRun") run.steps[id] = { type: "data", data };
    // A step that failed is called again.
    else if (op === "StepError") await pause(200);
    else throw new Error(`the stand-in has no ${op}`);
  }

  async #wait(run: Run, { name: event, opts }: Operation): Promise<unknown> {
    assert.equal(opts?.if, "event.data.run == async.data.run");
    assert.ok(event !== undefined && opts !== undefined);
    return new Promise((resolve) => {
      const wake = (told: Event | null) => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        resolve(told);
      };
      const waiting: Waiting = { run, event, wake };
      const timer = setTimeout(() => wake(null), msOf(opts.timeout));
      this.#waiting.add(waiting);
    });
  }

  /** One call of the function, or null when nobody answered, or with a failure that is tried again. */
  async #call({ id, event, steps }: Run): Promise<{ status: number; json: unknown } | null> {
    const ctx = {
      run_id: id,
      attempt: 0,
      disable_immediate_execution: false,
      use_api: false,
      stack: { stack: Object.keys(steps), current: Object.keys(steps).length },
      fn_id: functionId,
      env: "test",
    };
    try {
      const url = `${this.target}?fnId=${functionId}&stepId=step`;
      const body = JSON.stringify({ version: 2, event, events: [event], steps, ctx });
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "x-inngest-server-kind": "dev" },
        body,
      });
      const json = await answer.json();
      return answer.status === 200 || answer.status === 206
        ? { status: answer.status, json }
        : null;
    } catch {
      return null;
    }
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Of a time string such as 1h30m or 2s. */
function msOf(text: string): number {
  const units: Record<string, number> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5 };
  const parts = [...text.matchAll(/(\d+)([smhd])/g)];
  if (parts.length === 0) throw new Error(`no time: ${text}`);
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0);
}
