// The key that protects secrets at rest, for the embedded default: made once and kept under DATA_DIR.

import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findSecretKey, type Keyring, parseKeyring, secretKeyBytes } from "../domain/keyring.ts";

const fileName = "secret-key";

export async function readOrMakeSecretKey(dataDir: string): Promise<Keyring> {
  const path = join(dataDir, fileName);
  const text = (await readIfThere(path)) ?? (await make(path));
  const keyring = parseKeyring(text.trim());
  if (keyring === null) {
    throw new Error(`${path} does not hold a key of 32 bytes in base64. Restore it from a backup.`);
  }
  return keyring;
}

/** The keys given, and behind them the one that was made here before anybody gave any: old secrets still open. */
export async function withSecretKeyOfFile(keyring: Keyring, dataDir: string): Promise<Keyring> {
  const text = await readIfThere(join(dataDir, fileName));
  const kept = text === null ? null : parseKeyring(text.trim());
  const missing = kept?.all.filter((key) => findSecretKey(keyring, key.id) === null) ?? [];
  return { current: keyring.current, all: [...keyring.all, ...missing] };
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
