// Reads the numbered SQL files, and what each says of itself in lines of its first comment:
//   -- works beside: 0032        programs whose newest migration is this one or a later one work with the schema after it
//   -- works beside: none        no program from before this migration does
//   -- without a transaction     it is one statement, such as `create index concurrently`, that may be repeated

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export const migrationsFolder = join(import.meta.dirname, "..", "..", "migrations");
const namePattern = /^[0-9]{4}_[a-z0-9_]+\.sql$/;

export type Migration = {
  name: string;
  sql: string;
  checksum: string;
  /** The number of the newest migration of the oldest program that works with the schema after this one; null: none. */
  worksBeside: string | null;
  hasTransaction: boolean;
  /** The index that it builds without a transaction. */
  index: string | null;
};

const namesOf = new Map<string, readonly string[]>();

/** Read once: a probe asks every few seconds, also when the process has no file descriptor left. */
export async function listMigrationNames(folder: string): Promise<readonly string[]> {
  const known = namesOf.get(folder);
  if (known !== undefined) return known;
  const names = (await readdir(folder)).filter((name) => namePattern.test(name)).sort();
  namesOf.set(folder, names);
  return names;
}

export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = await listMigrationNames(folder);
  return Promise.all(
    names.map(async (name) => toMigration(name, await readFile(join(folder, name), "utf8"))),
  );
}

/** 0032 of `0032_deleting_beside_indexing.sql`. Numbers have four digits, so they compare as texts. */
export function numberOf(name: string): string {
  return name.slice(0, 4);
}

export function toMigration(name: string, sql: string): Migration {
  const checksum = createHash("sha256").update(sql).digest("hex");
  const said = firstCommentOf(sql);
  const worksBeside = /^-- works beside: ([0-9]{4})$/m.exec(said)?.[1] ?? null;
  const hasTransaction = !/^-- without a transaction$/m.test(said);
  const index = hasTransaction ? null : (indexPattern.exec(sql)?.[1] ?? null);
  return { name, sql, checksum, worksBeside, hasTransaction, index };
}

const indexPattern = /^create (?:unique )?index concurrently if not exists ([a-z0-9_]+)\b/m;

function firstCommentOf(sql: string): string {
  const lines = sql.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("--"));
  return lines.slice(0, end === -1 ? lines.length : end).join("\n");
}
