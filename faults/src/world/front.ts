// A load balancer before the API nodes, as an operator would set it up: HAProxy, which asks each node whether it is ready.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findPort } from "./node.ts";

const program = "/usr/sbin/haproxy";

export function hasBalancer(): boolean {
  return existsSync(program);
}

export class Front {
  readonly port: number;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
    this.#process = spawn(program, ["-db", "-f", join(folder, "haproxy.cfg")], { stdio: "ignore" });
  }

  static async open(ports: readonly number[]): Promise<Front> {
    const folder = await mkdtemp(join(tmpdir(), "countersign-front-"));
    const port = await findPort();
    const config = [
      ...["global", "  maxconn 1000", "defaults", "  mode http", "  timeout connect 2s"],
      ...["  timeout client 70s", "  timeout server 70s", "  timeout check 2s"],
      ...["listen api", `  bind 127.0.0.1:${port}`, "  balance roundrobin", "  option redispatch"],
      ...["  option httpchk GET /readyz", "  http-check expect status 200"],
      "  default-server check inter 500ms fall 1 rise 2",
      ...ports.map((each, n) => `  server api${n + 1} 127.0.0.1:${each}`),
      "",
    ];
    await writeFile(join(folder, "haproxy.cfg"), config.join("\n"));
    return new Front(port, folder);
  }

  /** It believes a node only after two good answers. */
  async untilOpen(withinMs: number): Promise<void> {
    for (const end = Date.now() + withinMs; ; await pause(100)) {
      const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.status === 200) return;
      if (Date.now() > end) throw new Error("the load balancer finds no node");
    }
  }

  async close(): Promise<void> {
    this.#process.kill("SIGKILL");
    await rm(this.#folder, { recursive: true, force: true });
  }
}
