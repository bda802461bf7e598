// Merkle trees by RFC 6962: hashing, appending, roots, and proofs of inclusion and of consistency. Hashes of a large tree
// are not kept here: a proof first names the nodes that it needs, and is then made of their hashes.

import { hash } from "node:crypto";

/** A complete subtree: 2^height entries, the index-th of its height. */
export type TreeNode = { readonly height: number; readonly index: number };

/** The entries from `from` up to, and without, `to`. */
export type TreeRange = { readonly from: number; readonly to: number };

/** A hash of a tile: each stands for 256^level entries. */
export type TileHash = { readonly level: number; readonly index: number; readonly hash: Buffer };

/** What appending needs to know of a tree: the complete subtrees that it consists of, from left to right. */
export type Frontier = { readonly size: number; readonly hashes: readonly Buffer[] };

/** C2SP tlog-tiles: a tile holds this many hashes, and is a subtree of this height. */
export const tileWidth = 256;
const tileHeight = 8;

export const emptyRoot: Buffer = hash("sha256", "", "buffer");
export const emptyFrontier: Frontier = { size: 0, hashes: [] };

const leafPrefix = Buffer.from([0]);
const hashBytes = emptyRoot.length;

export function leafHash(entry: Uint8Array): Buffer {
  return hash("sha256", Buffer.concat([leafPrefix, entry]), "buffer");
}

/** Written anew for each hash: allocating would take as long as hashing. */
const nodeText = Buffer.alloc(1 + 2 * hashBytes, 1);

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  if (!isHash(left) || !isHash(right)) throw new Error("a hash of the tree has another length");
  nodeText.set(left, 1);
  nodeText.set(right, 1 + hashBytes);
  return hash("sha256", nodeText, "buffer");
}

/** The tree grown by these leaves, and the hashes of the tiles that became full. */
export function append(
  frontier: Frontier,
  leaves: readonly Buffer[],
): { frontier: Frontier; full: TileHash[] } {
  const hashes = [...frontier.hashes];
  const full: TileHash[] = [];
  let { size } = frontier;
  for (const leaf of leaves) {
    let hash = leaf;
    let index = size;
    for (let height = 1; index % 2 === 1; height += 1) {
      hash = nodeHash(taken(hashes.pop()), hash);
      index = (index - 1) / 2;
      if (height % tileHeight === 0) full.push({ level: height / tileHeight, index, hash });
    }
    hashes.push(hash);
    size += 1;
  }
  return { frontier: { size, hashes }, full };
}

export function rootOf({ hashes }: Frontier): Buffer {
  return hashes.length === 0 ? emptyRoot : folded(hashes);
}

/** The nodes whose hashes are the frontier of a tree of this size. */
export function frontierNodes(size: number): TreeNode[] {
  return subtreesOf({ from: 0, to: size });
}

/** The ranges whose roots prove that this entry is in the tree, from the leaf's sibling up. */
export function inclusionRanges(index: number, size: number): TreeRange[] {
  const path = (from: number, to: number): TreeRange[] => {
    if (to - from === 1) return [];
    const middle = from + split(to - from);
    return index < middle
      ? [...path(from, middle), { from: middle, to }]
      : [...path(middle, to), { from, to: middle }];
  };
  return path(0, size);
}

/** The ranges whose roots prove that the tree of the first size is the beginning of the other's. */
export function consistencyRanges(first: number, second: number): TreeRange[] {
  const path = (from: number, to: number, isKnown: boolean): TreeRange[] => {
    if (to === first) return isKnown ? [] : [{ from, to }];
    const middle = from + split(to - from);
    return first <= middle
      ? [...path(from, middle, isKnown), { from: middle, to }]
      : [...path(middle, to, false), { from, to: middle }];
  };
  return first === 0 || first === second ? [] : path(0, second, true);
}

/** The nodes that roots of these ranges are made of. */
export function nodesOf(ranges: readonly TreeRange[]): TreeNode[] {
  return ranges.flatMap(subtreesOf);
}

/** The root of each range. */
export function proofOf(
  ranges: readonly TreeRange[],
  hashOf: (node: TreeNode) => Buffer,
): Buffer[] {
  return ranges.map((range) => folded(subtreesOf(range).map(hashOf)));
}

/** The hashes of tiles that a node is the root of: those of one level, side by side in one tile. */
export function tileRangeOf({ height, index }: TreeNode): TreeRange & { readonly level: number } {
  const width = 2 ** (height % tileHeight);
  return {
    level: Math.floor(height / tileHeight),
    from: index * width,
    to: (index + 1) * width,
  };
}

/** The root over neighbouring subtrees of one height. */
export function rootOver(hashes: readonly Buffer[]): Buffer {
  let row = hashes;
  while (row.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at + 1 < row.length; at += 2) {
      above.push(nodeHash(taken(row[at]), taken(row[at + 1])));
    }
    if (row.length % 2 === 1) above.push(taken(row.at(-1)));
    row = above;
  }
  return row[0] ?? emptyRoot;
}

export type Inclusion = {
  index: number;
  size: number;
  leaf: Uint8Array;
  proof: readonly Uint8Array[];
  root: Uint8Array;
};

export function isIncluded({ index, size, leaf, proof, root }: Inclusion): boolean {
  if (!isSize(size) || !Number.isSafeInteger(index) || index < 0 || index >= size) return false;
  if (![leaf, root, ...proof].every(isHash)) return false;
  const ranges = inclusionRanges(index, size);
  if (ranges.length !== proof.length) return false;
  let reached: Uint8Array = leaf;
  for (const [at, { from }] of ranges.entries()) {
    const sibling = taken(proof[at]);
    reached = from > index ? nodeHash(reached, sibling) : nodeHash(sibling, reached);
  }
  return isEqual(reached, root);
}

export type Consistency = {
  first: { size: number; root: Uint8Array };
  second: { size: number; root: Uint8Array };
  proof: readonly Uint8Array[];
};

/** Nothing can be proved of an empty tree, which is the beginning of every tree. */
export function isConsistent({ first, second, proof }: Consistency): boolean {
  if (!isSize(first.size) || !isSize(second.size)) return false;
  if (first.size === 0 || first.size > second.size) return false;
  if (first.size === second.size) return proof.length === 0 && isEqual(first.root, second.root);
  if (![first.root, second.root, ...proof].every(isHash)) return false;
  const ranges = consistencyRanges(first.size, second.size);
  if (ranges.length !== proof.length) return false;
  const roots = rootsReached(first, ranges, proof);
  return isEqual(roots.first, first.root) && isEqual(roots.second, second.root);
}

/** Both roots, rebuilt from the proof. */
function rootsReached(
  { size, root }: Consistency["first"],
  ranges: readonly TreeRange[],
  proof: readonly Uint8Array[],
): { first: Uint8Array; second: Uint8Array } {
  // A first tree that is one complete subtree is not in the proof: both sides know its root.
  const isInProof = ranges[0]?.to === size;
  const start = isInProof ? taken(proof[0]) : root;
  const reached = { first: start, second: start };
  for (const [at, { from }] of ranges.entries()) {
    if (at === 0 && isInProof) continue;
    const sibling = taken(proof[at]);
    if (from >= size) {
      reached.second = nodeHash(reached.second, sibling);
    } else {
      reached.first = nodeHash(sibling, reached.first);
      reached.second = nodeHash(sibling, reached.second);
    }
  }
  return reached;
}

/** The largest power of two below this number, which is 2 or more. */
function split(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

/** A range that begins where RFC 6962 splits a tree, in complete subtrees. */
function subtreesOf({ from, to }: TreeRange): TreeNode[] {
  const nodes: TreeNode[] = [];
  let at = from;
  while (at < to) {
    let height = 0;
    let width = 1;
    while (at % (width * 2) === 0 && at + width * 2 <= to) {
      width *= 2;
      height += 1;
    }
    nodes.push({ height, index: at / width });
    at += width;
  }
  return nodes;
}

function folded(hashes: readonly Buffer[]): Buffer {
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === hashBytes;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function taken<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("a hash of the tree is missing");
  return value;
}
