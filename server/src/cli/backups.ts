// countersign backup, countersign restore: the embedded database as one file.

import { access } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { DatabaseClient } from "../database/database-client.ts";
import { useEmbeddedPostgres } from "../database/embedded-postgres/embedded-postgres.ts";
import { majorVersion, stageCluster } from "../database/embedded-postgres/restored-cluster.ts";
import { compareSchema } from "../database/migrations.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { OperatorFault } from "../domain/operator-fault.ts";
import { type Held, holdAfterRestore } from "../operations/deliveries/hold-after-restore.ts";
import { type BackupFacts, openBackup, writeBackup } from "../storage/backup-file.ts";
import { readOrMakeSecretKey, withSecretKeyOfFile } from "../storage/secret-key-file.ts";
import { requireSecretKeys } from "../storage/secret-keys.ts";
import { openStore } from "../storage/store.ts";
import { type CommandConfig, type ReadCommandConfig, toJsonLine } from "./command.ts";

const platform = `${process.platform}-${process.arch}`;
const migrations = join(import.meta.dirname, "..", "..", "migrations");
const log = {
  info: () => {},
  warn: (message: string) => void process.stderr.write(`${message}\n`),
};

export function backupCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("backup")
    .description("write the embedded database to a file, while the service runs or not")
    .argument("<file>", "the file; it must not exist")
    .option("--json", "print JSON, for machines")
    .addHelpText(
      "after",
      `
The file holds everything but the secret key: keep DATA_DIR/secret-key (or SECRET_KEY) apart from it.
Back up an external PostgreSQL by its own means; docs/operating.md says which.`,
    );
  return command.action(async (file: string, { json = false }: { json?: boolean }) => {
    const { facts, bytes } = await backUp(readConfig(), file);
    const text = `Wrote ${file}: ${bytes} bytes, as of ${facts.madeAt}. The secret key is not in it: keep it apart.`;
    process.stdout.write(`${json ? toJsonLine({ file, bytes, ...facts }) : text}\n`);
  });
}

export function restoreCommand(readConfig: ReadCommandConfig): Command {
  const command = new Command("restore")
    .description("make DATA_DIR, which must be new or empty, of a file that `backup` has written")
    .argument("<file>", "the file")
    .option("--send-again", "send what was due when the backup was made, though it may have been")
    .option("--json", "print JSON, for machines")
    .addHelpText(
      "after",
      `
Put the secret key in place first: SECRET_KEY, or the file DATA_DIR/secret-key.
What was due is held, until \`countersign delivery release\` sends it.`,
    );
  type Flags = { sendAgain?: boolean; json?: boolean };
  return command.action(async (file: string, { sendAgain = false, json = false }: Flags) => {
    const config = readConfig();
    const { facts, held } = await restore(config, file, { isSentAgain: sendAgain });
    const { dataDir } = config;
    const result = { dataDir, madeAt: facts.madeAt, held };
    const text = `Restored ${dataDir} as of ${facts.madeAt}.\n${describeHeld(held)}`;
    process.stdout.write(`${json ? toJsonLine(result) : text}\n`);
  });
}

export function describeHeld(held: Held | null): string {
  if (held === null) return "What was due is sent at the next start.";
  const { deliveries, messages } = held;
  if (deliveries + messages === 0) return "Nothing was due, so nothing is held.";
  const skipped =
    messages === 0 ? "" : ` ${messages} messages to Slack, Teams or browsers are skipped.`;
  return `${deliveries} deliveries were due and may have been sent since, so they are held.${skipped} To send them: countersign delivery release`;
}

async function backUp(
  { databaseUrl, dataDir }: CommandConfig,
  file: string,
): Promise<{ facts: Omit<BackupFacts, "format">; bytes: number }> {
  requireEmbedded(databaseUrl);
  const isThere = await access(join(dataDir, "postgres", "data")).then(
    () => true,
    () => false,
  );
  if (!isThere) throw new OperatorFault(`There is no database in ${dataDir}. Check DATA_DIR.`);
  const postgres = await useEmbeddedPostgres({ dataDir, purpose: "command", log });
  if ("inUseBy" in postgres) throw new OperatorFault("the embedded database is in use");
  try {
    const client = new DatabaseClient(postgres.connection);
    await client.connect();
    const facts = await readFacts(client).finally(() => client.end());
    return { facts, bytes: await writeBackup(file, facts, postgres.readBaseBackup()) };
  } finally {
    await postgres.release();
  }
}

async function readFacts(client: DatabaseClient): Promise<Omit<BackupFacts, "format">> {
  const { rows } = await client.query<{ migration: string; made_at: Date }>(
    "select max(name) as migration, now() as made_at from migrations",
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the database told no version");
  const { migration, made_at } = row;
  return { madeAt: made_at.toISOString(), migration, postgres: await majorVersion(), platform };
}

async function restore(
  config: CommandConfig,
  file: string,
  { isSentAgain }: { isSentAgain: boolean },
): Promise<{ facts: BackupFacts; held: Held | null }> {
  requireEmbedded(config.databaseUrl);
  const { facts, readTar } = await openBackup(file);
  await requireFitting(facts);
  const keyring = await keyringFor(config);
  const staged = await stageCluster(config.dataDir, readTar);
  try {
    const held = await bringUpToDate({ ...config, keyring, dataDir: staged.dataDir }, isSentAgain);
    await staged.install();
    return { facts, held };
  } finally {
    await staged.discard();
  }
}

/** On a database that nobody else knows of yet. */
async function bringUpToDate(config: CommandConfig, isSentAgain: boolean): Promise<Held | null> {
  const store = await openStore({ ...config, purpose: "command", log });
  if ("inUseBy" in store) throw new OperatorFault("the embedded database is in use");
  try {
    const { unknown } = await compareSchema(store.db);
    if (unknown[0] !== undefined) throw new OperatorFault(newerThanThis(unknown[0]));
    await store.migrate();
    await requireSecretKeys(store);
    return isSentAgain ? null : await holdAfterRestore(store.db);
  } finally {
    await store.close();
  }
}

async function requireFitting(facts: BackupFacts): Promise<void> {
  await access(join(migrations, facts.migration)).catch((cause: unknown) => {
    throw new OperatorFault(newerThanThis(facts.migration), { cause });
  });
  const ours = await majorVersion();
  if (facts.postgres !== ours) {
    throw new OperatorFault(
      `The backup is of PostgreSQL ${facts.postgres}, and this version of Countersign brings ${ours}, which can't read its files. Restore it with the version that made it.`,
    );
  }
  if (facts.platform !== platform) {
    throw new OperatorFault(
      `The backup was made on ${facts.platform}. PostgreSQL's files don't fit ${platform}: restore it on a machine of that kind.`,
    );
  }
}

function newerThanThis(migration: string): string {
  return `The backup is of a newer version of Countersign: this one doesn't know ${migration}. Restore it with that version, or a newer one.`;
}

/** The next start needs it anyway, and says so at a worse moment. */
async function keyringFor({ keyring, dataDir }: CommandConfig): Promise<Keyring> {
  if (keyring !== null) return withSecretKeyOfFile(keyring, dataDir);
  const isThere = await access(join(dataDir, "secret-key")).then(
    () => true,
    () => false,
  );
  if (isThere) return readOrMakeSecretKey(dataDir, async () => true);
  throw new OperatorFault(
    `The secret key is missing, and no backup holds it. Set SECRET_KEY, or put the file secret-key into ${dataDir}, and restore again. If it is lost for good, set SECRET_KEY to a new key (openssl rand -base64 32): the refusal that follows says what is lost and how to go on.`,
  );
}

function requireEmbedded(databaseUrl: string | null): void {
  if (databaseUrl === null) return;
  throw new OperatorFault(
    "DATABASE_URL leads to an external PostgreSQL: back it up and restore it by its own means (pg_dump, continuous archiving, snapshots), and run `countersign delivery hold` after a restore, before the first start.",
  );
}
