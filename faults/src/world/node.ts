// One process of the service, from its start over each of its ends to the next start. Everything that it writes is kept.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Point } from "./points.ts";

const program = fileURLToPath(new URL("../../../server/bin/countersign.mjs", import.meta.url));
const clockShift = fileURLToPath(new URL("clock-shift.ts", import.meta.url));
const killedAt = fileURLToPath(new URL("killed-at.ts", import.meta.url));
const stopWithinMs = 30_000;

export type NodeSettings = {
  name: string;
  role: "api" | "worker";
  port: number;
  env: Record<string, string>;
};

export class ServiceNode {
  readonly name: string;
  readonly role: "api" | "worker";
  readonly port: number;
  readonly #env: Record<string, string>;
  #child: ChildProcess | null = null;
  #output = "";
  #clockShiftMs = 0;
  #starts = 0;

  constructor({ name, role, port, env }: NodeSettings) {
    this.name = name;
    this.role = role;
    this.port = port;
    this.#env = env;
  }

  get output(): string {
    return this.#output;
  }

  get starts(): number {
    return this.#starts;
  }

  /** By how much the process's clock is ahead when it starts the next time. */
  shiftClock(ms: number): void {
    this.#clockShiftMs = ms;
  }

  start(): void {
    if (this.#child !== null) return;
    const shift = this.#clockShiftMs === 0 ? [] : ["--import", clockShift];
    const preloads = [...shift, "--import", killedAt];
    const child = spawn(process.execPath, [...preloads, program, "serve"], {
      env: {
        ...{ PATH: process.env.PATH, HOST: "127.0.0.1", ROLE: this.role },
        ...{ LOG_FORMAT: "json", LOG_LEVEL: "info", CLOCK_SHIFT_MS: String(this.#clockShiftMs) },
        ...(this.role === "api" ? { PORT: String(this.port) } : { PROBE_PORT: String(this.port) }),
        ...this.#env,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const note = (text: string) => {
      this.#output += text;
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", note);
    }
    child.on("error", (error) => note(`not started: ${error.message}\n`));
    child.on("exit", (code, signal) => {
      note(`ended with ${signal ?? code}\n`);
      if (this.#child === child) this.#child = null;
    });
    this.#child = child;
    this.#starts += 1;
  }

  get isRunning(): boolean {
    return this.#child !== null;
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** The process kills itself the next time it gets there. Null takes that back. */
  killAt(point: Point | null): void {
    // A process that ends meanwhile gets there no more.
    if (this.#child?.connected === true) this.#child.send(point as object, () => {});
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    const tooLong = setTimeout(() => child.kill("SIGKILL"), stopWithinMs);
    await ended;
    clearTimeout(tooLong);
  }

  async isReady(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(2_000);
      const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`, { signal });
      await answer.arrayBuffer();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  async untilReady(withinMs: number): Promise<void> {
    for (const end = Date.now() + withinMs; !(await this.isReady()); await pause(50)) {
      if (Date.now() > end)
        throw new Error(`${this.name} isn't ready: ${this.#output.slice(-2_000)}`);
    }
  }
}

/** A port that nobody uses now, and that a process keeps over its restarts. */
export async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
