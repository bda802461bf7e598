// The process that asks. The first line of its standard input is the job, a second one says that nobody waits any more,
// and its end that the hook is gone. It writes one line, the verdict, and exits with 0 only after that.

import { createInterface } from "node:readline";
import { ask, type Job } from "./asking.ts";

const givenUp = new AbortController();
const lines = createInterface({ input: process.stdin });
let isBegun = false;
/** An answer and a cancel take less. */
const lastMs = 10_000;

lines.on("line", (line) => {
  if (isBegun) return giveUp();
  isBegun = true;
  void run(line);
});
// A terminal sends them to every process of the group.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, giveUp);
lines.on("close", () => {
  // Without a reader nothing may be redeemed. The request stays: a hook that is started again goes on waiting for it.
  if (!givenUp.signal.aborted) process.exit(2);
});
process.stdout.on("error", () => process.exit(2));
process.stderr.on("error", () => {});

function giveUp(): void {
  givenUp.abort(new Error("nobody waits any more"));
  setTimeout(() => process.exit(2), lastMs);
}

async function run(line: string): Promise<void> {
  try {
    const verdict = await ask(JSON.parse(line) as Job, givenUp.signal);
    const code = givenUp.signal.aborted ? 2 : 0;
    process.stdout.write(`${JSON.stringify(verdict)}\n`, () => process.exit(code));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(text, () => process.exit(2));
  }
}
