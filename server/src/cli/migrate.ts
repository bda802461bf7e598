// countersign migrate

import { Command } from "commander";
import { openCommandStore, type ReadCommandConfig } from "./command.ts";

export function migrateCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("migrate")
    .description("bring the database's schema up to date (`serve` does this, too)")
    .option("--json", "print JSON, for machines");
  return command.action(async () => {
    const store = await openCommandStore(readConfig());
    try {
      const applied = await store.migrate();
      const done = applied.length === 0 ? "Nothing to do." : `Applied ${applied.join(", ")}.`;
      const isJson = command.opts().json === true;
      process.stdout.write(`${isJson ? JSON.stringify({ applied }) : done}\n`);
    } finally {
      await store.close();
    }
  });
}
