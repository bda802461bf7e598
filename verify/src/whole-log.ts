// The installation's logs, whole: from the service's address (C2SP tlog-tiles), or from a file that was exported there.

import { access } from "node:fs/promises";
import type { InstallationLog } from "../../sdk/src/export/tools.ts";
import { type Checkpoint, parseCheckpoint, parseNote } from "../../sdk/src/proof/note.ts";
import { CannotTell, fetchBytes, fetchText, findText } from "./given.ts";
import { tilePath, tileWidth } from "./log-tiles.ts";
import { linesOf } from "./node-tools.ts";

const bundlesAtOnce = 8;
const entryStart = '{"type":"entry"';

export function wholeLog(place: string): InstallationLog {
  return /^https?:\/\//.test(place) ? servedLog(place) : savedLog(place);
}

function servedLog(url: string): InstallationLog {
  const start = url.replace(/\/+$/, "");
  const placeOf = (origin: string) => `${start}${/\/log(\/[1-9]\d*)?$/.exec(origin)?.[1] ?? ""}`;
  const checkpoint = (origin: string) => findText(`${placeOf(origin)}/checkpoint`);
  return {
    checkpoint,
    has: async (origin) => isOf(origin, await checkpoint(origin)),
    read: async function* read({ origin, size }) {
      const newest = parseHead(await fetchText(`${placeOf(origin)}/checkpoint`))?.size ?? 0;
      const all = Math.max(size, newest);
      const count = Math.ceil(all / tileWidth);
      for (let from = 0; from < count; from += bundlesAtOnce) {
        const length = Math.min(bundlesAtOnce, count - from);
        const bundles = Array.from({ length }, (_, at) => {
          const index = from + at;
          const bundle = `${placeOf(origin)}/tile/entries/${tilePath(index)}`;
          return fetchBundle(bundle, all - index * tileWidth);
        });
        yield (await Promise.all(bundles)).flat();
      }
    },
  };
}

/** A checkpoint is believed only as far as the log proves itself. */
function parseHead(text: string): Checkpoint | null {
  const note = parseNote(text);
  return note === null ? null : parseCheckpoint(note.text);
}

function isOf(origin: string, text: string | null): boolean {
  return text !== null && parseHead(text)?.origin === origin;
}

/** A log that has grown since may have no part of a bundle any more, and then has the full one. */
async function fetchBundle(url: string, left: number): Promise<string[]> {
  const width = Math.min(left, tileWidth);
  const bytes =
    width === tileWidth
      ? await fetchBytes(url)
      : await fetchBytes(`${url}.p/${width}`).catch(() => fetchBytes(url));
  const entries = entriesIn(bytes);
  if (entries.length < width) throw new CannotTell(`${url} is too short`);
  return entries.slice(0, width);
}

/** Each entry has its length in front, in two bytes. */
function entriesIn(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: string[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const end = at + 2 + view.getUint16(at);
    if (end > bytes.length) return entries;
    entries.push(new TextDecoder().decode(bytes.subarray(at + 2, end)));
    at = end;
  }
  return entries;
}

type EntryLine = { origin: string; index: number; entry: string };

function savedLog(path: string): InstallationLog {
  let origins: Promise<Set<string>> | null = null;
  return {
    has: async (origin) => {
      origins ??= originsIn(path);
      return (await origins).has(origin);
    },
    checkpoint: (origin) => savedCheckpoint(path, origin),
    read: async function* read({ origin, size }) {
      let next = 0;
      for await (const entries of entryLinesIn(path)) {
        const own = entries.filter((line) => line.origin === origin);
        for (const { index } of own) {
          if (index !== next) throw new CannotTell(`${path} lacks entry ${next} of ${origin}`);
          next += 1;
        }
        yield own.map(({ entry }) => entry);
      }
      if (next < size) throw new CannotTell(`${path} has ${next} of ${size} entries of ${origin}`);
    },
  };
}

/** The largest that is saved with the log. */
async function savedCheckpoint(path: string, origin: string): Promise<string | null> {
  const start = '{"type":"checkpoint"';
  let newest: { note: string; size: number } | null = null;
  for await (const lines of linesOf(path)({ start, isWanted: true })) {
    for (const line of lines.filter((each) => each.startsWith(start))) {
      const { note } = parseObject(path, line);
      const head = parseHead(String(note));
      if (head?.origin === origin && head.size >= (newest?.size ?? 0))
        newest = { note: String(note), size: head.size };
    }
  }
  return newest?.note ?? null;
}

async function originsIn(path: string): Promise<Set<string>> {
  const origins = new Set<string>();
  for await (const entries of entryLinesIn(path)) {
    for (const { origin } of entries) origins.add(origin);
  }
  return origins;
}

async function* entryLinesIn(path: string): AsyncGenerator<EntryLine[]> {
  await access(path).catch(() => {
    throw new CannotTell(`${path} can't be read`);
  });
  for await (const lines of linesOf(path)({ start: entryStart, isWanted: true })) {
    yield lines.filter((line) => line.startsWith(entryStart)).map((line) => parseLine(path, line));
  }
}

function parseLine(path: string, line: string): EntryLine {
  const { origin, index, entry } = parseObject(path, line) as EntryLine;
  return { origin, index, entry: String(entry) };
}

function parseObject(path: string, line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    throw new CannotTell(`a line of ${path} is no JSON`);
  }
}
