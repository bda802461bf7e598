// The program as processes of its own: commands that end by themselves, and servers that are told to.

import assert from "node:assert/strict";
import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { hangMs, testHangMs, until } from "./patience.ts";
import { asServiceUrl, throughPooler } from "./test-database.ts";
import { testKeyring } from "./test-service.ts";

const program = join(import.meta.dirname, "..", "bin", "countersign.mjs");
/** Each costs a start of Node; more at once than this only wait for each other. */
const commandsAtOnce = 3;

const folder = mkdtempSync(join(tmpdir(), "cs-program-"));
const programs: Program[] = [];

after(() => {
  for (const { child } of programs) child.kill("SIGKILL");
  host?.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

export type Environment = Record<string, string>;
export type Outcome = { code: number; stdout: string; stderr: string };

/** The environment that a process, which runs as the service's role, needs to share a database and its secrets with the test. */
export function environmentOn(databaseUrl: string): Environment {
  const serviceUrl = asServiceUrl(databaseUrl);
  const pooledUrl = throughPooler(serviceUrl);
  return {
    ...(pooledUrl === null
      ? { DATABASE_URL: serviceUrl }
      : { DATABASE_URL: pooledUrl, DATABASE_DIRECT_URL: serviceUrl }),
    DRAIN_SECONDS: "0",
    SECRET_KEY: testKeyring.current.keyObject.export().toString("base64"),
    // A program that went for the embedded database by mistake would leave a trace there.
    DATA_DIR: join(folder, "unused"),
  };
}

let host: ChildProcess | null = null;
let lastCommand: Promise<unknown> = Promise.resolve();

/** A command that ends by itself, in a process that all commands of a test file share. */
export function runCommand(environment: Environment, words: string[]): Promise<Outcome> {
  const outcome = lastCommand.then(() => runInHost(environment, words));
  lastCommand = outcome.catch(() => {});
  return outcome;
}

async function runInHost(environment: Environment, words: string[]): Promise<Outcome> {
  host ??= fork(join(import.meta.dirname, "command-host.ts"), {
    cwd: folder,
    env: withPath({}),
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const signal = AbortSignal.timeout(hangMs);
  const told = once(host, "message", { signal });
  host.send({ environment, words });
  const [outcome] = await told;
  return outcome as Outcome;
}

let running = 0;
const queue: (() => void)[] = [];

/** A command as an operator runs it: a process of its own. */
export async function runProcess(environment: Environment, words: string[]): Promise<Outcome> {
  if (running >= commandsAtOnce) await new Promise<void>((resolve) => queue.push(resolve));
  else running += 1;
  try {
    return await execute(environment, words);
  } finally {
    // The next in the queue takes the place over.
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

function execute(environment: Environment, words: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: withPath(environment), timeout: hangMs };
    execFile(process.execPath, [program, ...words], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** A command whose reader takes the first of its output and leaves. */
export async function runCut(
  environment: Environment,
  words: string[],
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: withPath(environment),
    timeout: hangMs,
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = await once(child, "close");
  return { code, stderr };
}

export function jsonOf(outcome: Outcome) {
  assert.match(textOf(outcome), /^[^\n]+$/, "JSON is one line");
  return JSON.parse(outcome.stdout);
}

export function textOf({ code, stdout, stderr }: Outcome): string {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  assert.ok(stdout.endsWith("\n"));
  return stdout.slice(0, -1);
}

export function assertRefused({ code, stdout, stderr }: Outcome, pattern: RegExp): void {
  assert.ok(code > 0, `must fail: ${stdout}`);
  assert.equal(stdout, "");
  assert.match(stderr, /^[^\n]+\n$/, "exactly one line");
  assert.match(stderr, pattern);
}

export type Program = {
  child: ChildProcess;
  /** All that it has written so far. */
  output: string;
  errors: string;
  ended: Promise<{ code: number | null; signal: string | null }>;
};

/** `countersign serve` on a port that the system chooses, or another command that goes on until it is told to end. */
export function startProgram(
  environment: Environment,
  words: string[] = ["serve"],
  file = program,
): Program {
  const child = spawn(process.execPath, [file, ...words], {
    cwd: folder,
    env: { PORT: "0", ...withPath(environment) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close", { signal: AbortSignal.timeout(testHangMs) });
  const started: Program = {
    child,
    output: "",
    errors: "",
    ended: ended.then(([code, signal]) => ({ code, signal })),
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    started.output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    started.errors += text;
  });
  programs.push(started);
  return started;
}

/** Waits for the program to write something, and fails early when it ends instead. */
export function untilWritten(started: Program, pattern: RegExp): Promise<RegExpExecArray> {
  return until(() => {
    assert.equal(started.child.exitCode, null, `it ended: ${started.errors}${started.output}`);
    return pattern.exec(started.output);
  }, String(pattern));
}

/**
 * Adds only PATH and Node's compile cache of the test run's own environment. The code that Node has compiled for
 * another file halves the cost of a start.
 */
function withPath(environment: Environment) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...environment };
}
