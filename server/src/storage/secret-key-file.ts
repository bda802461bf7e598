// The key that protects secrets at rest, for the embedded default: made once, for a database with nothing in it, and
// kept under DATA_DIR. A lost key is never replaced: that would look like any other start.

import { randomBytes } from "node:crypto";
import { link, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  findSecretKey,
  type Keyring,
  parseKeyring,
  secretKeyBytes,
} from "../domain/access/keyring.ts";
import { OperatorFault } from "../domain/operator-fault.ts";

const fileName = "secret-key";

/** A database in use has had its key. A first start that was interrupted has left neither workspace nor key. */
export async function readOrMakeSecretKey(
  dataDir: string,
  isDatabaseInUse: () => Promise<boolean>,
): Promise<Keyring> {
  const path = join(dataDir, fileName);
  const text = (await readIfThere(path)) ?? (await makeUnlessInUse(path, isDatabaseInUse));
  const keyring = parseKeyring(text.trim());
  if (keyring === null) {
    throw new OperatorFault(
      `${path} does not hold a key of 32 bytes in base64. Restore it from a backup.`,
    );
  }
  return keyring;
}

async function makeUnlessInUse(
  path: string,
  isDatabaseInUse: () => Promise<boolean>,
): Promise<string> {
  if (!(await isDatabaseInUse())) return make(path);
  // Of two first starts at once, the other may have made the key and its workspace a moment ago.
  const made = await readIfThere(path);
  if (made !== null) return made;
  throw new OperatorFault(
    `There is neither ${path} nor a SECRET_KEY, and the database beside it is in use: its webhook secrets and links need their key. If the service is started with SECRET_KEY, set it here too. Otherwise restore the file from the backup. If the key is lost for good, set SECRET_KEY to a new key (openssl rand -base64 32); the next start says what is lost and how to go on.`,
  );
}

/** The given keys, then the key that was made here before any was given, so that old secrets still open. */
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
  await writeDurably(draft, `${randomBytes(secretKeyBytes).toString("base64")}\n`);
  try {
    await link(draft, path);
    await flush(dirname(path));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await rm(draft);
  }
  return readFile(path, "utf8");
}

/** After a power failure the database still has what the key protects, so the key must be there too. */
async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flush(directory: string): Promise<void> {
  const opened = await open(directory);
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
