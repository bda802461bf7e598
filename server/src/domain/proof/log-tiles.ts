// The addresses of a log's tiles (C2SP tlog-tiles): parsing and writing them, how much of a tile a tree of some size has,
// and the bundles in which entries are handed out.

import { tileWidth } from "./tree.ts";

export type TileAddress = {
  /** Entries themselves, or the level of hashes. */
  level: number | "entries";
  index: number;
  /** 256 for a full tile. */
  width: number;
};

const levelMax = 63;

/** Reads what follows `tile/`. Every tile has one address: another spelling is none. */
export function parseTileAddress(path: string): TileAddress | null {
  const match = /^(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,4}[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/.exec(
    path,
  );
  if (match === null) return null;
  const [, kind = "", digits = "", partial] = match;
  const address: TileAddress = {
    level: kind === "entries" ? kind : Number(kind),
    index: Number(digits.replaceAll(/[x/]/g, "")),
    width: partial === undefined ? tileWidth : Number(partial),
  };
  if (address.level !== "entries" && address.level > levelMax) return null;
  if (partial !== undefined && (address.width < 1 || address.width >= tileWidth)) return null;
  return formatTileAddress(address) === path ? address : null;
}

export function formatTileAddress({ level, index, width }: TileAddress): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, "0");
  const parts = padded.match(/.{3}/g) ?? [];
  const path = parts.map((part, at) => (at < parts.length - 1 ? `x${part}` : part)).join("/");
  return `${level}/${path}${width === tileWidth ? "" : `.p/${width}`}`;
}

/** The hashes or entries of the tile, if a tree of this size has them all. */
export function tileRange(
  { level, index, width }: TileAddress,
  size: number,
): { from: number; to: number } | null {
  const count = Math.floor(size / tileWidth ** (level === "entries" ? 0 : level));
  const from = index * tileWidth;
  return from + width <= count ? { from, to: from + width } : null;
}

/** Each entry behind its length. */
export function entryBundle(entries: readonly string[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      const bytes = Buffer.from(entry);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      return [length, bytes];
    }),
  );
}
