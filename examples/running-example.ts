// An example that a test has started, as a process of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { until } from "../server/test/patience.ts";

export type Environment = Record<string, string>;

export type Example = {
  child: ChildProcess;
  /** Both streams, as they came. */
  output: string;
  ended: Promise<number | null>;
};

const started: Example[] = [];

/** Of the test run's own environment only the way to the programs, and to what Node has compiled of them already. */
const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;

export function startExample(command: string, words: string[], environment: Environment): Example {
  const child = spawn(command, words, {
    cwd: join(import.meta.dirname, ".."),
    env: { PATH, NODE_COMPILE_CACHE, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  const example: Example = { child, output: "", ended };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      example.output += text;
    });
  }
  started.push(example);
  return example;
}

export function killAll(): void {
  for (const { child } of started) child.kill("SIGKILL");
}

export async function written(example: Example, pattern: RegExp): Promise<RegExpExecArray> {
  return until(() => pattern.exec(example.output), `${pattern} in ${example.output}`);
}

/** The id of the request that an example says it has made. */
export async function askedFor(example: Example): Promise<string> {
  return (await written(example, /about (req_\w+)/))[1] ?? "";
}
