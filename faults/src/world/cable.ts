// A cable between a process and what it calls: a TCP proxy that can be cut, slowed, narrowed, half closed, or made to
// swallow everything.

import type { AddressInfo } from "node:net";
import {
  createConnection,
  createServer,
  type NetConnectOpts,
  type Server,
  type Socket,
} from "node:net";

export type Trouble =
  | "none"
  /** New connections are closed at once, and those that are there are reset. */
  | "cut"
  /** What comes in is passed on later. */
  | "slow"
  /** A few bytes at a time. */
  | "drip"
  /** The far end seems to have ended its side. */
  | "half closed"
  /** Nothing is passed on in either direction, and nobody is told. */
  | "black hole"
  /** As a black hole, for connections that listen for announcements alone. */
  | "deaf";

const slowMs = 400;
const dripBytes = 7;
const dripMs = 4;

type Line = { near: Socket; far: Socket; isListener: boolean };

export class Cable {
  readonly #target: NetConnectOpts;
  readonly #lines = new Set<Line>();
  readonly #server: Server;
  #trouble: Trouble = "none";

  constructor(target: NetConnectOpts) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#take(near));
  }

  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  set(trouble: Trouble): void {
    const before = this.#trouble;
    this.#trouble = trouble;
    for (const line of this.#lines) {
      if (trouble === "cut") this.#end(line);
      else if (trouble === "half closed") line.near.end();
      else if (isSwallowing(before, line) && !isSwallowing(trouble, line)) {
        // What was swallowed is gone: such a connection never comes back.
        this.#end(line);
      }
    }
  }

  async close(): Promise<void> {
    for (const line of this.#lines) this.#end(line);
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #take(near: Socket): void {
    near.on("error", () => {});
    if (this.#trouble === "cut") {
      near.resetAndDestroy();
      return;
    }
    const far = createConnection({ ...this.#target, allowHalfOpen: true });
    const line: Line = { near, far, isListener: false };
    this.#lines.add(line);
    near.once("data", (first) => {
      // PostgreSQL's first message names the program, if its text comes in one piece.
      line.isListener = first.includes("countersign listen");
    });
    this.#pass(line, near, far);
    this.#pass(line, far, near);
  }

  #pass(line: Line, from: Socket, to: Socket): void {
    let last: Promise<unknown> = Promise.resolve();
    from.on("data", (bytes: Buffer) => {
      if (isSwallowing(this.#trouble, line)) return;
      from.pause();
      last = last.then(() => this.#write(to, bytes)).then(() => from.resume());
    });
    from.on("end", () => void last.then(() => to.end()));
    from.on("error", () => this.#end(line));
    from.on("close", () => this.#end(line));
  }

  async #write(to: Socket, bytes: Buffer): Promise<void> {
    if (this.#trouble === "slow") await wait(slowMs);
    if (this.#trouble !== "drip") {
      await written(to, bytes);
      return;
    }
    for (let at = 0; at < bytes.length; at += dripBytes) {
      if (this.#trouble !== "drip") {
        await written(to, bytes.subarray(at));
        return;
      }
      await written(to, bytes.subarray(at, at + dripBytes));
      await wait(dripMs);
    }
  }

  #end(line: Line): void {
    if (!this.#lines.delete(line)) return;
    // Only TCP knows a reset.
    if (this.#trouble === "cut" && !line.near.destroyed) line.near.resetAndDestroy();
    line.near.destroy();
    line.far.destroy();
  }
}

function isSwallowing(trouble: Trouble, { isListener }: Line): boolean {
  return trouble === "black hole" || (trouble === "deaf" && isListener);
}

function written(to: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (to.destroyed || to.writableEnded) resolve();
    else to.write(bytes, () => resolve());
  });
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
