// Writes texts to a file or to standard output, no faster than they are taken.

import { once } from "node:events";
import { createWriteStream, rmSync } from "node:fs";
import { readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { OperatorFault } from "../../domain/operator-fault.ts";

/** The file is there when it is whole. Until then an earlier one of that name stays as it is. */
export async function writeFileWhole(name: string, texts: AsyncIterable<string>): Promise<void> {
  const path = await realpath(name).catch(() => name);
  const earlier = await stat(path).catch(() => null);
  try {
    // A pipe or a device can't be replaced.
    if (earlier !== null && !earlier.isFile()) await write(path, texts, "w");
    else await writeBeside(path, texts);
  } catch (error) {
    if (!isFileFault(error)) throw error;
    throw new OperatorFault(`${name} can't be written (${error.message})`);
  }
}

async function writeBeside(path: string, texts: AsyncIterable<string>): Promise<void> {
  await removeLeftOver(path);
  const beside = `${path}.${process.pid}.part`;
  const release = removeWhenEnded(beside);
  try {
    await write(beside, texts, "wx");
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    release();
  }
}

/** Parts of this file whose process was killed, or whose machine lost power: nothing else could remove them. */
async function removeLeftOver(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  // The write says what is wrong with a folder that can't be read.
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(start) && /^([0-9]+)\.part$/.exec(name.slice(start.length))?.[1];
    if (pid && !isRunning(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

/** True also for a process that this one may not signal. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Removes the file when a signal ends this process. Call the result when that is no longer wanted. */
function removeWhenEnded(path: string): () => void {
  const release = () => {
    for (const signal of endingSignals) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    release();
    rmSync(path, { force: true });
    // With the listener gone, the signal ends the process as if there had been none.
    process.kill(process.pid, signal);
  };
  for (const signal of endingSignals) process.on(signal, end);
  return release;
}

async function write(path: string, texts: AsyncIterable<string>, flags: string): Promise<void> {
  await pipeline(Readable.from(texts), createWriteStream(path, { flags }));
}

/** A fault of the database has no path. */
function isFileFault(error: unknown): error is Error {
  return hasCode(error, "ENOSPC") || (error instanceof Error && "path" in error);
}

/** Ends early, and quietly, when the reader has seen enough (`… | head`). */
export async function print(texts: AsyncIterable<string>): Promise<void> {
  const { stdout } = process;
  let fault: unknown = null;
  const note = (error: unknown) => {
    fault = error;
  };
  stdout.on("error", note);
  try {
    for await (const text of texts) {
      if (!stdout.write(text)) await once(stdout, "drain");
      if (fault !== null) throw fault;
    }
  } catch (error) {
    if (error !== fault || !hasCode(error, "EPIPE")) throw error;
  } finally {
    stdout.off("error", note);
  }
}

function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && "code" in error && error.code === code;
}
