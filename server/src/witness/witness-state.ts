// What a witness keeps: its key, and the newest checkpoint it cosigned of each log. A head is a file of its own, written
// whole and flushed, whose name counts up. Linking the next name fails if another submission, also of another process,
// was first: so a head is never replaced by an older one, and no lock can be left behind.

import {
  createPrivateKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorFault } from "../domain/operator-fault.ts";
import { witnessConflictsKeptMax } from "../domain/proof/witness-limits.ts";

const keyFile = "witness-key.pem";

/** A head as it was read: the note, and the count that the next one must beat. */
export type KeptHead = { note: string; generation: number; path: string };

/** Made at the first start. Other starts read it. */
export async function openWitnessKey(directory: string): Promise<KeyObject> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeDrafts(directory);
  const path = join(directory, keyFile);
  const pem = (await readIfThere(path)) ?? (await makeKey(directory, path));
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // The sentence below is for both.
  }
  throw new OperatorFault(`${path} holds no Ed25519 key in PEM. Restore it from a backup.`);
}

/** A key beside heads that another one cosigned would make them unreadable, and the witness would begin anew. */
async function makeKey(directory: string, path: string): Promise<string> {
  if ((await readdir(directory)).some((name) => headName.test(name))) {
    throw new OperatorFault(
      `${path} is missing, and ${directory} holds checkpoints that it cosigned. Restore it from a backup, or begin anew with another directory.`,
    );
  }
  const { privateKey } = generateKeyPairSync("ed25519");
  await linkWhole(directory, path, String(privateKey.export({ type: "pkcs8", format: "pem" })));
  return readFile(path, "utf8");
}

/** Null before the first checkpoint of that log. */
export async function readHead(directory: string, origin: string): Promise<KeptHead | null> {
  for (;;) {
    const generation = (await listGenerations(directory, origin)).at(-1);
    if (generation === undefined) return null;
    const path = pathOf(directory, origin, generation);
    const note = await readIfThere(path);
    // A newer one came between the two looks, and this one was removed.
    if (note !== null) return { note, generation, path };
  }
}

/** False if another head was kept since `earlier` was read. True means that this one outlives a power failure. */
export async function keepHead(
  directory: string,
  origin: string,
  head: { note: string; earlier: KeptHead | null },
): Promise<boolean> {
  const generation = (head.earlier?.generation ?? 0) + 1;
  const path = pathOf(directory, origin, generation);
  if (!(await linkWhole(directory, path, head.note))) return false;
  const generations = await listGenerations(directory, origin);
  // A name that was free because later heads have replaced it.
  if (generations.at(-1) !== generation) return false;
  for (const older of generations.slice(0, -1)) {
    await rm(pathOf(directory, origin, older), { force: true });
  }
  return true;
}

/** The log's name in addresses, too (tlog-witness). */
export function originHash(origin: string): string {
  return hash("sha256", origin);
}

/** Where it is kept; null if enough are. */
export async function keepContrary(
  directory: string,
  { kind, name, text }: { kind: "conflict" | "doubt"; name: string; text: string },
): Promise<string | null> {
  const start = `${kind}.`;
  const kept = (await readdir(directory)).filter((each) => each.startsWith(start));
  const path = join(directory, `${start}${name}`);
  if (kept.length >= witnessConflictsKeptMax) {
    return kept.includes(`${start}${name}`) ? path : null;
  }
  await linkWhole(directory, path, text);
  return path;
}

const draftStart = "draft.";
/** No write takes as long: a draft this old is of a process that was killed. */
const draftAgeMsMax = 3_600_000;
const headName = /^([0-9a-f]{64})\.([0-9]{1,15})$/;

function pathOf(directory: string, origin: string, generation: number): string {
  return join(directory, `${originHash(origin)}.${generation}`);
}

/** In ascending order. */
async function listGenerations(directory: string, origin: string): Promise<number[]> {
  const hash = originHash(origin);
  return (await readdir(directory))
    .flatMap((name) => {
      const [, of, generation] = headName.exec(name) ?? [];
      return of === hash ? [Number(generation)] : [];
    })
    .sort((a, b) => a - b);
}

/** False if that name is taken. The name never stands for half of a text. */
async function linkWhole(directory: string, path: string, text: string): Promise<boolean> {
  const draft = join(directory, `${draftStart}${randomBytes(6).toString("hex")}`);
  await writeFlushed(draft, text);
  try {
    await link(draft, path);
    await flush(directory);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(draftStart)) continue;
    const path = join(directory, name);
    const draft = await stat(path).catch(() => null);
    const isOld = draft !== null && Date.now() - draft.mtimeMs > draftAgeMsMax;
    if (isOld) await rm(path, { force: true });
  }
}

async function writeFlushed(path: string, text: string): Promise<void> {
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

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
