// One run of the hook: reads the call, looks at the rules, has a person asked, and answers in the harness's own words. It
// answers before the harness's limit. Everything unexpected exits with 2, by which every harness blocks the call.

import { fstatSync, writeSync } from "node:fs";
import { type Asking, startAsking } from "./asking-process.ts";
import { decide } from "./deciding.ts";
import { harnesses, inexactNumberIn, readCall } from "./harnesses.ts";
import { readRules } from "./rules.ts";
import { type Answer, type HarnessName, outputBytesMax, type Verdict } from "./tool-call.ts";

export type HookOptions = {
  format: HarnessName | null;
  rulesPath: string;
  /** Null is what fits the harness's own default. */
  waitSeconds: number | null;
  isDeferring: boolean;
  /** `COUNTERSIGN_API_KEY`. */
  apiKey: string | null;
  /** `SHELL`. */
  shell: string | null;
};

/** Larger calls are denied. */
const inputBytesMax = 8 * 1_048_576;
const parentLookMs = 1_000;
/** Less than the time between our limit and the harness's. */
const drainMs = 3_000;
const tooLong =
  "the answer is too long for the harness; the request's page on the dashboard has it";

let isAnswered = false;
let asking: Asking | null = null;

export async function runHook(options: HookOptions): Promise<void> {
  guard();
  if (isUnread()) throw new Error("nobody reads the hook's standard output");
  const shortest = Math.min(...Object.values(harnesses).map(({ waitSeconds }) => waitSeconds));
  let timer = startTimer(options.waitSeconds ?? shortest);
  const text = await readInput();
  const call = readCall(text, options.format);
  const waitSeconds = options.waitSeconds ?? harnesses[call.harness].waitSeconds;
  clearTimeout(timer);
  timer = startTimer(waitSeconds);
  const decided = decide(call, inexactNumberIn(text), readRules(options.rulesPath), {
    ...options,
    waitSeconds,
    leftMs: remainingMs(waitSeconds),
  });
  const verdict = "job" in decided ? await askFor(decided.job) : decided.verdict;
  // A process that stood still may see the verdict before its timer.
  if (remainingMs(waitSeconds) === 0) fail("the time is over");
  else reply(harnesses[call.harness].write(verdict));
}

/** Node opens /dev/null in the place of a closed standard output. A "no" that is written there would be none. */
function isUnread(): boolean {
  return fstatSync(1).isCharacterDevice() && !process.stdout.isTTY;
}

async function askFor(job: Parameters<typeof startAsking>[0]): Promise<Verdict> {
  asking = startAsking(job);
  const verdict = await asking.verdict;
  asking = null;
  return verdict;
}

function startTimer(waitSeconds: number): NodeJS.Timeout {
  return setTimeout(() => fail("the time is over"), remainingMs(waitSeconds));
}

/** Counted from the start of the process, because the harness has counted since then. */
function remainingMs(waitSeconds: number): number {
  return Math.max(0, waitSeconds * 1_000 - performance.now());
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // To its end, also if it is too large: some harnesses let a call pass if they can't write all of it.
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    if (bytes <= inputBytesMax) chunks.push(chunk);
  }
  if (bytes > inputBytesMax) throw new Error(`the call has more than ${inputBytesMax} bytes`);
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

function reply({ code, text }: Answer): void {
  if (isAnswered) return;
  if (Buffer.byteLength(text) > outputBytesMax) {
    fail(tooLong);
    return;
  }
  isAnswered = true;
  if (text === "") process.exit(code);
  const stream = code === 0 ? process.stdout : process.stderr;
  stream.write(`${text}\n`, (error) => process.exit(error ? 2 : code));
}

/** For everything that is no verdict. Codex and Gemini CLI block only if there is a text. */
export function fail(reason: string): void {
  if (isAnswered) return;
  isAnswered = true;
  asking?.kill();
  process.stderr.write(failureText(reason), () => drain(() => process.exit(2)));
}

/** Reads the rest of the call, which nobody looks at, for as long as a harness that is writing may need. */
function drain(then: () => void): void {
  const { readableEnded, destroyed, isTTY } = process.stdin;
  if (readableEnded || destroyed || isTTY) {
    then();
    return;
  }
  for (const event of ["end", "close", "error"]) process.stdin.on(event, then);
  setTimeout(then, drainMs);
  process.stdin.resume();
}

function failureText(reason: string): string {
  return `Not approved, and not carried out: ${reason.replace(/[.?!]+$/, "")}. (countersign-hook)\n`;
}

function guard(): void {
  process.exitCode = 2;
  process.on("uncaughtException", (error) => fail(error.message));
  process.on("unhandledRejection", (error) => fail(String(error)));
  process.stdout.on("error", () => process.exit(2));
  process.stderr.on("error", () => process.exit(2));
  process.on("exit", () => {
    if (!isAnswered) writeSync(2, failureText("the hook ended without an answer"));
  });
  const giveUp = (reason: string) => {
    asking?.giveUp();
    asking = null;
    fail(reason);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => giveUp(`the hook was ended by ${signal}`));
  }
  // A harness that gives up may end its shell alone. Then nobody reads the answer.
  const parent = process.ppid;
  const look = () => process.ppid !== parent && giveUp("the harness is gone");
  setInterval(look, parentLookMs).unref();
}
