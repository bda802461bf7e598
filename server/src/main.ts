// Where everything starts: reads the configuration, and runs the command that was asked for.

import { CommanderError } from "commander";
import pg from "pg";
import { buildProgram } from "./cli/program.ts";
import { readConfig, variables } from "./config.ts";
import { OperatorFault } from "./domain/operator-fault.ts";
import { isOutOfReach } from "./storage/database.ts";

const program = buildProgram({
  readConfig,
  // Loaded on demand: most commands need no server, and start faster without one.
  serve: async () => (await import("./serve.ts")).serve(readConfig()),
  variables,
});

// pg throws some faults of signing in where nobody can catch them.
process.on("uncaughtException", fail);

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
  if (error instanceof OperatorFault) return `countersign: ${error.message}`;
  if (isOutOfReach(error)) {
    return `countersign: the database cannot be reached (${error.message || error.name}). Check DATABASE_URL and whether PostgreSQL runs.`;
  }
  if (isSignInRefused(error)) {
    return `countersign: the database refuses (${error.message}). Check DATABASE_URL.`;
  }
  return error.stack ?? error.message;
}

/** Class 28: wrong role or password. Class 3D: no such database. */
function isSignInRefused(error: Error): boolean {
  if (error instanceof pg.DatabaseError) return /^(28|3D)/.test(error.code ?? "");
  return error.message.startsWith("SASL");
}
