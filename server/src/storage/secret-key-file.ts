// The key that protects secrets at rest, for the embedded default: made once and kept under DATA_DIR.

import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Keyring, parseKeyring, secretKeyBytes } from "../domain/keyring.ts";

export async function readOrMakeSecretKey(dataDir: string): Promise<Keyring> {
  const path = join(dataDir, "secret-key");
  const text = (await readIfThere(path)) ?? (await make(path));
  const keyring = parseKeyring(text.trim());
  if (keyring === null) {
    throw new Error(`${path} does not hold a key of 32 bytes in base64. Restore it from a backup.`);
  }
  return keyring;
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Linked into place whole, so that of two first starts at once both end up with the same key. */
async function make(path: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, `${randomBytes(secretKeyBytes).toString("base64")}\n`, { mode: 0o600 });
  try {
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await rm(draft);
  }
  return readFile(path, "utf8");
}
