// Unpacks the one tar that a base backup is: plain files and folders with short names. Anything else is refused.

import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { OperatorFault } from "../../domain/operator-fault.ts";

const blockBytes = 512;

/** Everything unpacked is for this user alone; `own` gives it to another one. */
export async function unpackTar(
  tar: AsyncIterable<Buffer>,
  directory: string,
  own: (path: string) => Promise<void>,
): Promise<void> {
  const bytes = new Bytes(tar);
  const made = new Set([directory]);
  const makeDirectory = async (path: string): Promise<void> => {
    if (made.has(path)) return;
    await makeDirectory(dirname(path));
    await mkdir(path, { mode: 0o700 });
    await own(path);
    made.add(path);
  };
  for (;;) {
    const header = await bytes.take(blockBytes);
    if (header === null || header.every((byte) => byte === 0)) break;
    const { name, kind, size } = readHeader(header);
    // Without the slash at the end of a folder's name.
    const path = resolve(directory, name);
    if (kind === "directory") {
      await makeDirectory(path);
      continue;
    }
    await makeDirectory(dirname(path));
    const file = await open(path, "wx", 0o600);
    try {
      for (let left = size; left > 0; ) {
        const some = await bytes.takeSome(left);
        if (some === null) throw new OperatorFault(`The backup ends within ${name}.`);
        await file.writeFile(some);
        left -= some.length;
      }
    } finally {
      await file.close();
    }
    await own(path);
    await bytes.take((blockBytes - (size % blockBytes)) % blockBytes);
  }
  // What the archive is padded with, to its end: its reader sees there whether it was whole.
  while ((await bytes.takeSome(blockBytes)) !== null);
}

type Entry = { name: string; kind: "file" | "directory"; size: number };

function readHeader(header: Buffer): Entry {
  const text = (from: number, length: number) => {
    const field = header.subarray(from, from + length);
    const end = field.indexOf(0);
    return field.toString("utf8", 0, end === -1 ? length : end);
  };
  const name = [text(345, 155), text(0, 100)].filter((part) => part !== "").join("/");
  const type = text(156, 1);
  const isDirectory = type === "5";
  const isPlain = type === "0" || type === "";
  const steps = name.split("/");
  if (
    text(257, 5) !== "ustar" ||
    !(isDirectory || isPlain) ||
    name.startsWith("/") ||
    steps.includes("..")
  ) {
    throw new OperatorFault(`The backup holds ${name}, which no backup of Countersign has.`);
  }
  const size = Number.parseInt(text(124, 12).trim() || "0", 8);
  return { name, kind: isDirectory ? "directory" : "file", size: isDirectory ? 0 : size };
}

/** A stream of chunks, read by the lengths that its reader wants. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** At most this many; null at the end. */
  async takeSome(bytesMax: number): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#source.next();
      if (done === true) return null;
      this.#rest = value;
    }
    const some = this.#rest.subarray(0, bytesMax);
    this.#rest = this.#rest.subarray(some.length);
    return some;
  }

  /** Exactly this many; null at the end. */
  async take(length: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const some = await this.takeSome(left);
      if (some === null) return null;
      parts.push(some);
      left -= some.length;
    }
    return Buffer.concat(parts);
  }
}
