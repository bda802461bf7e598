// The benchmark's side of the receiver: starts the process, and asks it what has arrived.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const pollMs = 10;

/** Times are milliseconds since 1970, with fractions. */
export type Arrivals = {
  webhooks: number;
  mails: number;
  firstAt: number;
  lastAt: number;
  /** From the event's own time, which is before its commit, until the whole webhook had come. */
  agesMs: number[];
};

export type ReceiverQuestion = "start again" | "how many webhooks" | "what has arrived";

export class Receiver {
  readonly #child: ChildProcess;
  readonly port: number;
  readonly mailUrl: string;

  static async start(): Promise<Receiver> {
    const child = fork(fileURLToPath(new URL("receiver.ts", import.meta.url)), {
      serialization: "advanced",
    });
    const [ports] = await once(child, "message");
    return new Receiver(child, ports);
  }

  private constructor(child: ChildProcess, ports: { port: number; mailPort: number }) {
    this.#child = child;
    this.port = ports.port;
    this.mailUrl = `smtp://127.0.0.1:${ports.mailPort}`;
  }

  startAgain(): Promise<unknown> {
    return this.#ask("start again");
  }

  /** Costs next to nothing, unlike asking the database. */
  async untilWebhooks(count: number, timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      const arrived = (await this.#ask("how many webhooks")) as number;
      if (arrived >= count) return;
      if (performance.now() > until) {
        throw new Error(`only ${arrived} of ${count} webhooks have arrived`);
      }
      await pause(pollMs);
    }
  }

  arrivals(): Promise<Arrivals> {
    return this.#ask("what has arrived") as Promise<Arrivals>;
  }

  async #ask(question: ReceiverQuestion): Promise<unknown> {
    const answer = once(this.#child, "message");
    this.#child.send(question);
    return (await answer)[0];
  }

  stop(): void {
    this.#child.kill();
  }
}
