// Cuts the entries of a large container into chunks that are each quick to draw.

import {
  keyAt,
  kindOf,
  nextOf,
  type Outline,
  textAt,
} from "../../../server/src/domain/shown/json-outline.ts";

/** Drawing this many values takes a few milliseconds. */
const valuesPerChunk = 40;
/** A larger container is drawn in steps. A smaller one, even if it is one deep chain, is drawn at once. */
const valuesPerEntry = 128;
/** A longer entry gets its own chunk. */
const charactersPerEntry = 2_000;
const charactersPerChunk = 8_000;

export type Chunk = {
  /** The number of its first entry in the document's outline. */
  value: number;
  /** The place of its first entry in the container. */
  index: number;
  /** The number of its entries. */
  count: number;
  /** The number of values in it, at any depth. */
  size: number;
  /** One entry that is too large to draw at once: it grows by itself. */
  isHeavy: boolean;
};

export type ChunkList = {
  outline: Outline;
  isObject: boolean;
  chunks: Chunk[];
  /** How many entries the container has. */
  count: number;
};

export type Entry = { step: string | number; value: number; text: string };

/** Whether a container is small enough to need no chunks. */
export function isSmall(outline: Outline, container: number): boolean {
  return nextOf(outline, container) - container <= valuesPerEntry;
}

export function chunksOf(outline: Outline, container: number): ChunkList {
  const chunks: Chunk[] = [];
  const end = nextOf(outline, container);
  let index = 0;
  let last: Chunk | null = null;
  let characters = 0;
  for (let value = container + 1; value < end; value = nextOf(outline, value)) {
    const size = nextOf(outline, value) - value;
    const length = lengthOf(outline, container, value);
    const isHeavy = size > valuesPerEntry || length > charactersPerEntry;
    const hasRoom =
      last !== null &&
      !last.isHeavy &&
      last.size + size <= valuesPerChunk &&
      characters + length <= charactersPerChunk;
    if (last === null || isHeavy || !hasRoom) {
      last = { value, index, count: 0, size: 0, isHeavy };
      chunks.push(last);
      characters = 0;
    }
    last.count += 1;
    last.size += size;
    characters += length;
    index += 1;
  }
  const isObject = kindOf(outline, container) === "object";
  return { outline, isObject, chunks, count: index };
}

/** The first `count` entries of a chunk. */
export function entriesIn(list: ChunkList, chunk: Chunk, count = chunk.count): Entry[] {
  const { outline, isObject } = list;
  let value = chunk.value;
  return Array.from({ length: Math.min(count, chunk.count) }, (_, at) => {
    const entry = {
      step: isObject ? keyAt(outline, value) : chunk.index + at,
      value,
      text: textAt(outline, value),
    };
    value = nextOf(outline, value);
    return entry;
  });
}

/** The JSON of a chunk, with keys: equal text draws the same. */
export function textOfChunk({ outline, isObject }: ChunkList, chunk: Chunk): string {
  const { text, keyStarts, starts, ends } = outline;
  let last = chunk.value;
  for (let at = 1; at < chunk.count; at += 1) last = nextOf(outline, last);
  return text.slice(isObject ? keyStarts[chunk.value] : starts[chunk.value], ends[last]);
}

/** The number of chunks that hold the first `entryCount` entries. */
export function chunksFor({ chunks }: ChunkList, entryCount: number): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chunks[middle]?.index ?? 0) < entryCount) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of an entry in the document's outline. */
export function entryValue(list: ChunkList, index: number): number {
  const chunk = list.chunks[chunksFor(list, index + 1) - 1];
  let value = chunk?.value ?? 0;
  for (let at = chunk?.index ?? index; at < index; at += 1) value = nextOf(list.outline, value);
  return value;
}

function lengthOf({ starts, ends, keyStarts, text }: Outline, container: number, value: number) {
  const isMember = text[starts[container] ?? 0] === "{";
  return (ends[value] ?? 0) - ((isMember ? keyStarts : starts)[value] ?? 0);
}
