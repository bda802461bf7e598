// The file of a backup: two lines that say what it is, the cluster as a compressed tar, and a last line with the digest
// of everything before it. A file that is cut short lacks the last line.

import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, link, open, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { z } from "zod";
import { OperatorFault } from "../domain/operator-fault.ts";

const title =
  "Countersign backup of an embedded PostgreSQL. Restore it with: countersign restore FILE";
const lastLineBytes = "sha256 \n".length + 64;
const headBytesMax = 4096;
const compressionLevel = 3;

const factsSchema = z.object({
  format: z.literal(1),
  madeAt: z.iso.datetime(),
  /** The newest migration of its database: its version. */
  migration: z.string().regex(/^[0-9]{4}_[a-z0-9_]+\.sql$/),
  /** The major version of its PostgreSQL. */
  postgres: z.string(),
  /** Its files fit this kind of machine. */
  platform: z.string(),
});

export type BackupFacts = z.infer<typeof factsSchema>;

/** The file appears when it is whole and on the disk, and never in place of another. Answers its size. */
export async function writeBackup(
  path: string,
  facts: Omit<BackupFacts, "format">,
  tar: AsyncIterable<Buffer>,
): Promise<number> {
  const target = resolve(path);
  await refuseTaken(target);
  const draft = `${target}.${randomBytes(6).toString("hex")}.part`;
  const file = await open(draft, "wx", 0o600).catch(explainUnusable(path));
  try {
    const size = await writeAll(file, facts, tar);
    await file.sync();
    await link(draft, target).catch(explainUnusable(path));
    await flush(dirname(target));
    return size;
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

async function writeAll(
  file: FileHandle,
  facts: Omit<BackupFacts, "format">,
  tar: AsyncIterable<Buffer>,
): Promise<number> {
  const digest = createHash("sha256");
  let size = 0;
  const write = async (bytes: Buffer) => {
    digest.update(bytes);
    await file.writeFile(bytes);
    size += bytes.length;
  };
  await write(Buffer.from(`${title}\n${JSON.stringify({ format: 1, ...facts })}\n`));
  const gzip = createGzip({ level: compressionLevel });
  const feeding = feed(gzip, tar);
  // Its fault ends the reading, too, and is thrown there.
  feeding.catch(() => {});
  for await (const bytes of gzip) await write(bytes);
  await feeding;
  await write(Buffer.from(`sha256 ${digest.copy().digest("hex")}\n`));
  return size;
}

async function feed(gzip: ReturnType<typeof createGzip>, tar: AsyncIterable<Buffer>) {
  try {
    for await (const bytes of tar) {
      if (!gzip.write(bytes)) await new Promise<void>((go) => gzip.once("drain", go));
    }
    gzip.end();
  } catch (error) {
    gzip.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

export type Backup = { facts: BackupFacts; readTar(): AsyncIterable<Buffer> };

/** Reads the whole file once, so that nothing is begun with one that is not whole. */
export async function openBackup(path: string): Promise<Backup> {
  const file = await open(path, "r").catch(explainUnusable(path));
  try {
    const { size } = await file.stat();
    const head = await readAt(file, 0, Math.min(size, headBytesMax));
    const titleEnd = head.indexOf("\n");
    const factsEnd = head.indexOf("\n", titleEnd + 1);
    if (factsEnd === -1 || head.toString("utf8", 0, titleEnd) !== title) {
      throw new OperatorFault(`${path} is no backup that \`countersign backup\` has made.`);
    }
    const end = size - lastLineBytes;
    const said = await readAt(file, Math.max(end, 0), lastLineBytes);
    if (said.toString() !== `sha256 ${await digestOf(path, end)}\n`) {
      throw new OperatorFault(
        `${path} was cut short or changed: its digest is not the one in its last line. Take another copy or another backup.`,
      );
    }
    const facts = readFacts(path, head.toString("utf8", titleEnd + 1, factsEnd));
    const readTar = () => unzipped(createReadStream(path, { start: factsEnd + 1, end: end - 1 }));
    return { facts, readTar };
  } finally {
    await file.close();
  }
}

function unzipped(source: Readable): AsyncIterable<Buffer> {
  const gunzip = createGunzip();
  source.on("error", (error) => gunzip.destroy(error));
  return source.pipe(gunzip);
}

function readFacts(path: string, line: string): BackupFacts {
  const parsed = factsSchema.safeParse(JSON.parse(line));
  if (parsed.success) return parsed.data;
  throw new OperatorFault(
    `${path} was made by a newer version of Countersign, in a form that this one doesn't know.`,
  );
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function digestOf(path: string, end: number): Promise<string> {
  const digest = createHash("sha256");
  if (end > 0) {
    for await (const bytes of createReadStream(path, { end: end - 1 })) digest.update(bytes);
  }
  return digest.digest("hex");
}

async function refuseTaken(path: string): Promise<void> {
  const found = await open(path, "r").catch(() => null);
  if (found === null) return;
  await found.close();
  throw new OperatorFault(`${path} exists. A backup never writes over a file: name another.`);
}

function explainUnusable(path: string): (error: Error) => never {
  return (error) => {
    throw new OperatorFault(`${path} can't be used (${error.message}).`, { cause: error });
  };
}

async function flush(directory: string): Promise<void> {
  const opened = await open(directory);
  await opened.sync().finally(() => opened.close());
}
