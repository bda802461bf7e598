// A log as its tiles are served over HTTP (C2SP tlog-tiles), and the proof that one of its sizes only adds to another.

import { Messages } from "../../sdk/src/proof/messages.ts";
import { CannotTell, fetchBytes } from "./given.ts";
import { nodeTools } from "./node-tools.ts";

export const tileWidth = 256;
const levelsOfTile = 8;

export class ServedTiles {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #size: number;
  readonly #tiles = new Map<string, Promise<Uint8Array>>();

  constructor(url: string, { size, headers }: { size: number; headers: Record<string, string> }) {
    this.#url = url.replace(/\/+$/, "");
    this.#size = size;
    this.#headers = headers;
  }

  /** RFC 6962, section 2.1.2. */
  async consistency(oldSize: number): Promise<Uint8Array[]> {
    return Promise.all(
      consistencyRanges(oldSize, { start: 0, end: this.#size }, true).map((range) =>
        this.#root(range),
      ),
    );
  }

  async #root({ start, end }: Range): Promise<Uint8Array> {
    const width = end - start;
    if (Number.isInteger(Math.log2(width))) return this.#node(Math.log2(width), start / width);
    const split = start + splitOf(width);
    const [left, right] = [
      await this.#root({ start, end: split }),
      await this.#root({ start: split, end }),
    ];
    return join(left, right);
  }

  /** A whole subtree of 2^level entries. */
  async #node(level: number, index: number): Promise<Uint8Array> {
    const tileLevel = Math.floor(level / levelsOfTile);
    const width = 2 ** (level % levelsOfTile);
    const first = index * width;
    const tile = await this.#tile(tileLevel, Math.floor(first / tileWidth));
    const start = (first % tileWidth) * 32;
    let row = Array.from({ length: width }, (_, at) =>
      tile.subarray(start + at * 32, start + (at + 1) * 32),
    );
    if (row.some((hash) => hash.length !== 32))
      throw new CannotTell("a tile of the log is too short");
    while (row.length > 1) {
      row = Array.from({ length: row.length / 2 }, (_, at) =>
        join(row[2 * at] as Uint8Array, row[2 * at + 1] as Uint8Array),
      );
    }
    return row[0] as Uint8Array;
  }

  #tile(level: number, index: number): Promise<Uint8Array> {
    const width = Math.min(
      Math.floor(this.#size / tileWidth ** level) - index * tileWidth,
      tileWidth,
    );
    const partial = width === tileWidth ? "" : `.p/${width}`;
    const url = `${this.#url}/tile/${level}/${tilePath(index)}${partial}`;
    const known = this.#tiles.get(url);
    if (known !== undefined) return known;
    const tile = fetchBytes(url, this.#headers);
    this.#tiles.set(url, tile);
    return tile;
  }
}

type Range = { start: number; end: number };

function consistencyRanges(size: number, { start, end }: Range, isWhole: boolean): Range[] {
  const width = end - start;
  if (size === width) return isWhole ? [] : [{ start, end }];
  const split = splitOf(width);
  const [left, right] = [
    { start, end: start + split },
    { start: start + split, end },
  ];
  return size <= split
    ? [...consistencyRanges(size, left, isWhole), right]
    : [...consistencyRanges(size - split, right, false), left];
}

/** The largest power of two below. */
function splitOf(width: number): number {
  let split = 1;
  while (split * 2 < width) split *= 2;
  return split;
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  const messages = new Messages(1 + left.length + right.length);
  messages.addBytes(Uint8Array.of(1)).addBytes(left).addBytes(right).end();
  return nodeTools.hashMany(messages);
}

/** 1234067 is x001/x234/067. */
export function tilePath(index: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/\d{3}/g) ?? [];
  return groups.map((group, at) => (at === groups.length - 1 ? group : `x${group}`)).join("/");
}
