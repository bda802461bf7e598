// Where everything starts: reads the configuration, and runs the command that was asked for.

import { CommanderError } from "commander";
import { CommandFault } from "./cli/command.ts";
import { buildProgram } from "./cli/program.ts";
import { ConfigFault, readConfig, variables } from "./config.ts";
import { ServeFault, serve } from "./serve.ts";
import { isOutOfReach } from "./storage/database.ts";
import { EmbeddedPostgresFault } from "./storage/embedded-postgres.ts";
import { MigrationFault } from "./storage/migrations.ts";

const program = buildProgram({ readConfig, serve: () => serve(readConfig()), variables });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode);
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}

function messageOf(error: unknown): string {
  const isExpected = [
    CommandFault,
    ConfigFault,
    ServeFault,
    EmbeddedPostgresFault,
    MigrationFault,
  ].some((kind) => error instanceof kind);
  if (isExpected && error instanceof Error) return `countersign: ${error.message}`;
  if (isOutOfReach(error) && error instanceof Error) {
    return `countersign: the database cannot be reached (${error.message || error.name}). Check DATABASE_URL and whether PostgreSQL runs.`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
