// Programs that a test has started: engines and workers. They write where a reader can find what they said, and they
// die with everything they started.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { until } from "../../server/test/patience.ts";

export type Started = {
  /** Both streams, as they came. */
  output: string;
  said(pattern: RegExp): Promise<RegExpExecArray>;
  /** Without a warning, and with its children. */
  kill(): Promise<void>;
};

export function start(
  command: string,
  words: string[],
  environment: Record<string, string> = {},
): Started {
  const child: ChildProcess = spawn(command, words, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, which is killed as one.
    detached: true,
  });
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      hasEnded = true;
      resolve();
    };
    child.once("close", end).once("error", end);
  });
  const started: Started = {
    output: "",
    said: (pattern) =>
      until(() => {
        const found = pattern.exec(started.output);
        if (found === null && hasEnded) throw new Error(`it ended early: ${started.output}`);
        return found;
      }, `${pattern} in what ${command} says`),
    kill: async () => {
      if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      await ended;
    },
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      started.output += text;
    });
  }
  return started;
}

/** One that runs TypeScript of this folder. */
export function startNode(path: string, environment: Record<string, string>): Started {
  return start(process.execPath, ["--conditions=countersign:source", path], environment);
}

export function isInstalled(program: string): boolean {
  return spawnSync(program, ["--version"]).status === 0;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
