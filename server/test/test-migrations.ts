// A folder with the migrations of this program and made-up further ones, as a newer program has them.

import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrationsFolder } from "../src/database/migration-files.ts";

export async function withFurtherMigrations(
  further: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "cs-migrations-"));
  try {
    const names = await readdir(migrationsFolder);
    await Promise.all(
      names.map((name) => copyFile(join(migrationsFolder, name), join(folder, name))),
    );
    for (const [name, sql] of Object.entries(further)) await writeFile(join(folder, name), sql);
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What a migration says that works beside this program. */
export async function newestNumber(): Promise<string> {
  const names = (await readdir(migrationsFolder)).filter((name) => name.endsWith(".sql")).sort();
  return names.at(-1)?.slice(0, 4) ?? "";
}
