// Where everything starts: reads the configuration, and runs the command that was asked for.

import { CommanderError } from "commander";
import { buildProgram } from "./cli/program.ts";
import { readConfig, variables } from "./config.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import { toVisibleText } from "./domain/visible-text.ts";
import { isOutOfReach, isSignInRefused } from "./storage/database.ts";

const program = buildProgram({
  readConfig,
  // Loaded on demand: most commands need no server, and start faster without one.
  serve: async ({ isJson }) => {
    const { serve } = await import("./serve.ts");
    const config = readConfig();
    await serve(isJson ? { ...config, logFormat: "json" } : config);
  },
  variables,
});

// pg throws some faults of signing in where nobody can catch them.
process.on("uncaughtException", fail);
// Whoever read our output has gone away (`… | head`): a server stops as if told to, a command just ends.
process.stdout.on("error", () => process.emit("SIGTERM", "SIGTERM"));

try {
  await program.parseAsync();
} catch (error) {
  fail(error);
}

function fail(error: unknown): never {
  if (error instanceof CommanderError) {
    // A command without its sub-command has printed its help, which is what was needed.
    process.exit(error.code === "commander.help" ? 0 : error.exitCode);
  }
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorFault) return `countersign: ${toVisibleText(error.message)}`;
  if (isSignInRefused(error)) {
    return `countersign: the database refuses (${error.message}). Check DATABASE_URL.`;
  }
  if (isOutOfReach(error)) {
    return `countersign: the database cannot be reached (${error.message || error.name}). Check DATABASE_URL and whether PostgreSQL runs.`;
  }
  return error.stack ?? error.message;
}
