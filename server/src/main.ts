// The start of the program: reads the configuration and runs the command.

import { readConfig, variables } from "./config.ts";
import { isOutOfReach, isSignInRefused, isUnavailable } from "./database/faults.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import { toTerminalText } from "./domain/shown/text/visible-text.ts";

let isServing = false;
// pg may throw a lost connection or a refused sign-in where nobody can catch it. The next call finds out by itself.
process.on("uncaughtException", (error) => {
  if (isServing && isUnavailable(error)) warn(error);
  else fail(error);
});
// The reader of our output has gone away (`… | head`): a server stops as if told to, a command just ends.
process.stdout.on("error", () => process.emit("SIGTERM", "SIGTERM"));

const words = process.argv.slice(2).join(" ");
try {
  // A service that runs for months is loaded without the commands and their parser. It needs only its name from them.
  if (words === "serve") await runService({ isJson: false });
  else if (words === "serve --json") await runService({ isJson: true });
  else await runCommand();
} catch (error) {
  fail(error);
}

/** Loaded on demand: most commands need no server, and start faster without one. */
async function runService({ isJson }: { isJson: boolean }): Promise<void> {
  const { serve } = await import("./serve.ts");
  const config = readConfig();
  isServing = true;
  await serve(isJson ? { ...config, logFormat: "json" } : config);
}

async function runCommand(): Promise<void> {
  const { runProgram } = await import("./cli/program.ts");
  const { exitCode } = await runProgram({ readConfig, serve: runService, variables });
  if (exitCode !== null) process.exit(exitCode);
}

function fail(error: unknown): never {
  warn(error);
  process.exit(1);
}

function warn(error: unknown): void {
  process.stderr.write(`${messageOf(error)}\n`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorFault) return `countersign: ${toTerminalText(error.message)}`;
  if (isSignInRefused(error)) {
    return `countersign: the database refuses (${error.message}). Check DATABASE_URL.`;
  }
  if (isOutOfReach(error)) {
    return `countersign: the database cannot be reached (${error.message || error.name}). Check DATABASE_URL and whether PostgreSQL runs.`;
  }
  return error.stack ?? error.message;
}
