// Merkle trees as in RFC 6962: hashes of leaves and nodes, proofs of inclusion and consistency, and the root of a tree
// that is read leaf by leaf.

import { type Bytes, concat, isEqual } from "./bytes.ts";
import { type HashMany, hashAt, hashBytes, hashWithWebCrypto } from "./hashing.ts";
import { Messages } from "./messages.ts";

const [leafPrefix, nodePrefix] = [Uint8Array.of(0), Uint8Array.of(1)];
const nodeBytes = 1 + 2 * hashBytes;

/** The leaf of each entry, one after the other. */
export async function leavesOf(entries: readonly string[], hashMany: HashMany): Promise<Bytes> {
  const messages = new Messages(entries.reduce((sum, { length }) => sum + 1 + length, 0));
  for (const entry of entries) messages.addBytes(leafPrefix).addText(entry).end();
  return hashMany(messages);
}

export async function leafHash(entry: Uint8Array, hashMany = hashWithWebCrypto): Promise<Bytes> {
  const messages = new Messages(1 + entry.length);
  messages.addBytes(leafPrefix).addBytes(entry).end();
  return hashMany(messages);
}

async function nodeHash(left: Uint8Array, right: Uint8Array, hashMany: HashMany): Promise<Bytes> {
  const messages = new Messages(nodeBytes);
  messages.addBytes(nodePrefix).addBytes(left).addBytes(right).end();
  return hashMany(messages);
}

async function emptyRoot(hashMany: HashMany): Promise<Bytes> {
  const messages = new Messages(0);
  messages.end();
  return hashMany(messages);
}

export type Inclusion = {
  index: number;
  size: number;
  leaf: Uint8Array;
  proof: readonly Uint8Array[];
  root: Uint8Array;
};

/** Whether a leaf is at this place of the tree. RFC 9162, section 2.1.3.2. */
export async function isIncluded(inclusion: Inclusion, hashMany = hashWithWebCrypto) {
  const { index, size, leaf, proof, root } = inclusion;
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes([leaf, root, ...proof])) {
    return false;
  }
  let [place, last, hash] = [BigInt(index), BigInt(size) - 1n, leaf];
  for (const sibling of proof) {
    if (last === 0n) return false;
    if (isOdd(place) || place === last) {
      hash = await nodeHash(sibling, hash, hashMany);
      while (!isOdd(place) && place !== 0n) [place, last] = [place >> 1n, last >> 1n];
    } else {
      hash = await nodeHash(hash, sibling, hashMany);
    }
    [place, last] = [place >> 1n, last >> 1n];
  }
  return last === 0n && isEqual(hash, root);
}

export type Consistency = {
  oldSize: number;
  newSize: number;
  oldRoot: Uint8Array;
  newRoot: Uint8Array;
  proof: readonly Uint8Array[];
};

/** Whether the larger tree only adds to the smaller one. RFC 9162, section 2.1.4.2. */
export async function isConsistent(consistency: Consistency, hashMany = hashWithWebCrypto) {
  const { oldSize, newSize, oldRoot, newRoot, proof } = consistency;
  // Every tree adds to the empty one: a proof of that says nothing.
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize || oldSize === 0) return false;
  if (oldSize === newSize) return proof.length === 0 && isEqual(oldRoot, newRoot);
  if (!areHashes([oldRoot, newRoot, ...proof])) return false;
  let [place, last] = [BigInt(oldSize) - 1n, BigInt(newSize) - 1n];
  while (isOdd(place)) [place, last] = [place >> 1n, last >> 1n];
  // Where the old tree is one whole subtree of the new one, its root is left out of the proof.
  const [first, ...rest] = place === 0n ? [oldRoot, ...proof] : proof;
  if (first === undefined || (place === 0n && proof.length === 0)) return false;
  let [before, after] = [first, first];
  for (const hash of rest) {
    if (last === 0n) return false;
    if (isOdd(place) || place === last) {
      before = await nodeHash(hash, before, hashMany);
      after = await nodeHash(hash, after, hashMany);
      while (!isOdd(place) && place !== 0n) [place, last] = [place >> 1n, last >> 1n];
    } else {
      after = await nodeHash(after, hash, hashMany);
    }
    [place, last] = [place >> 1n, last >> 1n];
  }
  return last === 0n && isEqual(before, oldRoot) && isEqual(after, newRoot);
}

/** Told of all hashes of a level, in their order, level 0 being the leaves. */
type OnNodes = (level: number, hashes: Bytes) => void;

/** A tree that grows by its leaves' hashes, and knows its root at each size. Keeps one hash for each bit of its size. */
export class GrowingTree {
  size = 0;
  readonly #hashMany: HashMany;
  /** The subtree of 2^level leaves that waits for its neighbour. */
  readonly #waiting: (Bytes | null)[] = [];
  readonly #onNodes: OnNodes | undefined;

  constructor(hashMany: HashMany, onNodes?: OnNodes) {
    this.#hashMany = hashMany;
    this.#onNodes = onNodes;
  }

  /** Of leaves that stand one after the other. */
  async append(leaves: Bytes): Promise<void> {
    this.size += leaves.length / hashBytes;
    let hashes = leaves;
    for (let level = 0; hashes.length > 0; level += 1) {
      this.#onNodes?.(level, hashes);
      const waiting = this.#waiting[level] ?? null;
      const row = waiting === null ? hashes : concat(waiting, hashes);
      const isOneLeft = (row.length / hashBytes) % 2 === 1;
      this.#waiting[level] = isOneLeft ? row.slice(-hashBytes) : null;
      if (row.length < 2 * hashBytes) return;
      hashes = await this.#pairUp(row);
    }
  }

  async root(): Promise<Uint8Array> {
    let root: Bytes | null = null;
    for (const hash of this.#waiting) {
      if (hash === null) continue;
      root = root === null ? hash : await nodeHash(hash, root, this.#hashMany);
    }
    return root ?? emptyRoot(this.#hashMany);
  }

  #pairUp(row: Bytes): Bytes | Promise<Bytes> {
    const pairs = Math.floor(row.length / (2 * hashBytes));
    const messages = new Messages(pairs * nodeBytes);
    for (let at = 0; at < pairs; at += 1) {
      messages
        .addBytes(nodePrefix)
        .addBytes(hashAt(row, 2 * at))
        .addBytes(hashAt(row, 2 * at + 1))
        .end();
    }
    return this.#hashMany(messages);
  }
}

/** A tree that keeps its root at these sizes. */
export class RememberingTree extends GrowingTree {
  readonly #roots = new Map<number, Uint8Array>();
  readonly #wanted: number[];
  /** How many of the sizes have come. */
  #reached = 0;

  constructor(sizes: Iterable<number>, ...parts: ConstructorParameters<typeof GrowingTree>) {
    super(...parts);
    this.#wanted = [...new Set(sizes)].sort((one, other) => one - other);
  }

  override async append(leaves: Bytes): Promise<void> {
    let rest = leaves;
    for (;;) {
      const next = this.#wanted[this.#reached];
      if (next === undefined || next > this.size + rest.length / hashBytes) break;
      const bytes = (next - this.size) * hashBytes;
      await super.append(rest.subarray(0, bytes));
      this.#roots.set(next, await this.root());
      this.#reached += 1;
      rest = rest.subarray(bytes);
    }
    await super.append(rest);
  }

  /** Null unless it was asked for and has come. */
  rootAt(size: number): Uint8Array | null {
    return this.#roots.get(size) ?? null;
  }
}

function isOdd(number: bigint): boolean {
  return (number & 1n) === 1n;
}

function isSize(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

function areHashes(list: readonly Uint8Array[]): boolean {
  return list.every(({ length }) => length === hashBytes);
}
