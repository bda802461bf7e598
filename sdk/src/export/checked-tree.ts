// One tree of an export, recomputed from its entries: each leaf, each tile, and the root at the size of each checkpoint.

import { type Bytes, isEqual } from "../proof/bytes.ts";
import { hashAt, hashBytes } from "../proof/hashing.ts";
import { largestOf } from "../proof/note.ts";
import { RememberingTree } from "../proof/tree.ts";
import { doubtOfRevoked, type ExportFile, type KeptCheckpoint, signaturesAtOnce } from "./file.ts";
import type { Findings } from "./findings.ts";
import type { ExportTools } from "./tools.ts";

type Strange = { index: number; leaf: Uint8Array };

const strangeMax = 64;
const levelsOfTile = 8;

export class CheckedTree {
  readonly origin: string;
  readonly #file: ExportFile;
  readonly #findings: Findings;
  readonly #tree: RememberingTree;
  /** How many hashes of each level of tiles have passed. */
  readonly #passed: number[] = [];
  /** Leaves that aren't those of the tiles. */
  readonly #strange: Strange[] = [];
  #strangeCount = 0;
  #isTileStrange = false;

  constructor(origin: string, parts: { file: ExportFile; findings: Findings; tools: ExportTools }) {
    this.origin = origin;
    this.#file = parts.file;
    this.#findings = parts.findings;
    const sizes = (this.#file.checkpoints.get(origin) ?? []).map(({ size }) => size);
    const { hashMany } = parts.tools;
    this.#tree = new RememberingTree(sizes, hashMany, (level, hashes) => this.#see(level, hashes));
  }

  get size(): number {
    return this.#tree.size;
  }

  rootAt(size: number): Uint8Array | null {
    return this.#tree.rootAt(size);
  }

  /** Of leaves that stand one after the other. */
  async append(leaves: Bytes): Promise<void> {
    await this.#tree.append(leaves);
  }

  /** Says what is wrong with the entries and the checkpoints. */
  async check(tools: ExportTools): Promise<void> {
    const all = this.#file.checkpoints.get(this.origin) ?? [];
    const checkpoints = all.filter(({ revokedKey }) => revokedKey === null);
    this.#weighRevoked(all.filter(({ revokedKey }) => revokedKey !== null));
    this.#refuseSplitViews(checkpoints);
    const isRight = this.#checkRoots(checkpoints);
    this.#nameStrange(isRight);
    await this.#checkSignatures(checkpoints, tools);
  }

  #weighRevoked(kept: readonly KeptCheckpoint[]): void {
    const isFit = ({ size, root }: KeptCheckpoint) =>
      isEqual(this.#tree.rootAt(size) ?? new Uint8Array(), root);
    const [fit, others] = [kept.filter(isFit), kept.filter((each) => !isFit(each))];
    const [first] = others;
    if (fit.length > 0)
      this.#findings.notes.push(
        `${fit.length} checkpoints that you kept fit ${this.origin}, and prove nothing: a key signed them that was revoked`,
      );
    if (first !== undefined) this.#findings.doubts.push(doubtOfRevoked(first, others.length));
  }

  #checkRoots(checkpoints: readonly KeptCheckpoint[]): boolean {
    const ordered = checkpoints.toSorted((one, other) => one.size - other.size);
    let good = 0;
    for (const { size, root, from } of ordered) {
      const found = this.#tree.rootAt(size);
      if (found === null) {
        this.#addRollback(size);
      } else if (isEqual(found, root)) {
        good = size;
      } else if (from === "outside" || !this.#findings.hasAny(this.origin, "root_differs")) {
        // The export's own of this very size may be right.
        this.#addDifference({ size, from, good: good < size ? good : 0 });
      }
    }
    const flaws = ["root_differs", "rolled_back", "split_view"] as const;
    return !this.#findings.hasAny(this.origin, ...flaws);
  }

  #addDifference({ size, from, good }: { size: number; from: string; good: number }): void {
    const index = good;
    const where = from === "outside" ? "a checkpoint that you kept" : "a signed checkpoint";
    this.#findings.add(
      from === "outside" ? "split_view" : "root_differs",
      `${where} of ${size} entries has another root: an entry from ${good} to ${size - 1} is not the one that was signed`,
      { origin: this.origin, index },
    );
  }

  #addRollback(size: number): void {
    const words = `a checkpoint of ${size} entries was signed, and ${this.size} are here`;
    this.#findings.add("rolled_back", words, { origin: this.origin, index: this.size });
  }

  #refuseSplitViews(checkpoints: readonly KeptCheckpoint[]): void {
    const roots = new Map<number, Bytes>();
    for (const { size, root } of checkpoints) {
      const known = roots.get(size);
      if (known !== undefined && !isEqual(known, root)) {
        const message = `two checkpoints of ${size} entries have other roots: the log was shown in two ways`;
        this.#findings.add("split_view", message, { origin: this.origin, index: size - 1 });
      }
      roots.set(size, root);
    }
  }

  /** The newest of all must be signed by a key that still counts: it covers the others. An empty log covers nothing. */
  async #checkSignatures(
    checkpoints: readonly KeptCheckpoint[],
    tools: ExportTools,
  ): Promise<void> {
    const last = this.#file.trees.findLast(({ size }) => size > 0);
    const isLast = last?.origin === this.origin;
    const newest = largestOf(checkpoints);
    for (let from = 0; from < checkpoints.length; from += signaturesAtOnce) {
      const some = checkpoints.slice(from, from + signaturesAtOnce);
      const signers = await Promise.all(some.map((each) => this.#file.signerOf(each, tools)));
      some.forEach(({ size }, at) => {
        const signer = signers[at] ?? null;
        if (signer !== null && !(signer.isRevoked && isLast && size === newest)) return;
        const why = signer === null ? "no key of the history" : `the revoked key ${signer.kid}`;
        const message = `the checkpoint of ${size} entries is signed by ${why}`;
        this.#findings.add("checkpoint_unsigned", message, { origin: this.origin });
      });
    }
  }

  /** Holds the recomputed hashes against the exported tiles. Level 8 of the tree is level 1 of the tiles, and so on. */
  #see(level: number, hashes: Bytes): void {
    if (level % levelsOfTile !== 0) return;
    const tileLevel = level / levelsOfTile;
    const tiles = this.#file.hashesOf(this.origin, tileLevel);
    const start = this.#passed[tileLevel] ?? 0;
    const count = hashes.length / hashBytes;
    this.#passed[tileLevel] = start + count;
    if (tiles === undefined) return;
    for (let at = 0; at < count; at += 1) {
      const hash = hashAt(hashes, at);
      if (isHashAt(tiles, start + at, hash)) continue;
      if (tileLevel > 0) this.#isTileStrange = true;
      else this.#addStrange({ index: start + at, leaf: hash });
    }
  }

  #addStrange(strange: Strange): void {
    this.#strangeCount += 1;
    if (this.#strange.length < strangeMax) this.#strange.push(strange);
  }

  /** Says by its place what happened to an entry. If all roots are right, the tiles are wrong, and not the entries. */
  #nameStrange(isRight: boolean): void {
    const { origin } = this;
    const count = this.#file.hashesOf(origin, 0)?.length ?? 0;
    if (count > 0 && count / 32 > this.size && this.#strangeCount === 0) {
      const index = this.size;
      this.#findings.add("entry_missing", `entry ${index} and what follows is missing`, {
        origin,
        index,
      });
    }
    if (isRight) {
      if (this.#strangeCount === 0 && !this.#isTileStrange) return;
      const index = this.#strange[0]?.index ?? 0;
      this.#findings.add(
        "tile_differs",
        `the tiles are not those of the entries, from ${index} on`,
        { origin },
      );
      return;
    }
    const [first, second] = this.#strange;
    if (first !== undefined) this.#nameFirst(first, second);
  }

  #nameFirst(first: Strange, second: Strange | undefined): void {
    const { origin } = this;
    const tiles = this.#file.hashesOf(origin, 0) as Bytes;
    const { index } = first;
    const isNext = isHashAt(tiles, index + 1, first.leaf);
    const isFollowed = second?.index === index + 1 && isHashAt(tiles, index, second.leaf);
    const add = (code: Parameters<Findings["add"]>[0], words: string) =>
      this.#findings.add(code, words, { origin, index });
    if (isNext && isFollowed) {
      add("entries_swapped", `entries ${index} and ${index + 1} are swapped`);
    } else if (isFollowed) {
      add("entry_inserted", `entry ${index} was inserted`);
    } else if (isNext) {
      add("entry_missing", `entry ${index} is missing`);
    } else {
      for (const { index: place } of this.#strange) {
        this.#findings.add("entry_changed", `entry ${place} is not the one that was signed`, {
          ...{ origin, index: place },
        });
      }
    }
  }
}

function isHashAt(hashes: Bytes, index: number, hash: Uint8Array): boolean {
  return isEqual(hashAt(hashes, index), hash);
}
