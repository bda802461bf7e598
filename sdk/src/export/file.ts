// The lines of an exported log, but for its entries: keys, trees, checkpoints, tiles, requests, and the installation's
// part. They are read first, so that entries can be checked while they stream by.

import { type Bytes, fromBase64Url } from "../proof/bytes.ts";
import { hashBytes } from "../proof/hashing.ts";
import { publicKeyOf, thumbprintOf } from "../proof/key-set.ts";
import {
  type Checkpoint,
  isSignedNote,
  type NoteKey,
  noteKeyOf,
  parseCheckpoint,
  parseNote,
  type SignedNote,
} from "../proof/note.ts";
import type { Findings } from "./findings.ts";
import type { ExportTools } from "./tools.ts";

export type ExportKey = {
  kid: string;
  publicKey: Bytes;
  isRevoked: boolean;
};

export type ExportTree = { origin: string; size: number; previous: string | null };

export type KeptCheckpoint = Checkpoint & {
  note: SignedNote;
  from: "export" | "outside";
  /**
   * Of one from outside, the revoked key that alone signed it: it accuses nobody and proves nothing, because who stole
   * the key can sign any. What the export itself holds is its author's word, revoked or not.
   */
  revokedKey: string | null;
};

/** Either somebody who stole the key made it, or the log was changed. */
export function doubtOfRevoked(
  { size, origin, revokedKey }: KeptCheckpoint,
  count: number,
): string {
  const more = count === 1 ? "" : ` and ${count - 1} more`;
  return `the checkpoint of ${size} entries of ${origin} that you kept${more} doesn't fit, and accuses nobody: it is signed by the revoked key ${revokedKey}, and who has that key can sign any. Give one that another key signed`;
}

export type InstallationLine = {
  checkpoint: string;
  entries: { index: number; entry: string; salt: string; fact: string; proof: string }[];
};

/** A checkpoint of the workspace in the installation's log, and what opens it. */
export type InstalledLine = {
  /** The origin of the installation's log. */
  log: string;
  index: number;
  entry: string;
  salt: string;
  fact: string;
};

/** As it was exported; texts whose bytes matter are texts. */
export type RequestLine = {
  id: string;
  status: string;
  payload: string | null;
  effective: string | null;
  resolvedAt: string | null;
  by: string[];
  receipt: string | null;
};

export type EntryLine = {
  origin: string;
  index: number;
  entry: string;
  salt: string | null;
  fact: string | null;
};

export type Deletions = {
  /** When, by the request's id, as the log says. */
  deleted: ReadonlyMap<string, string>;
  /** What the export alone says: the log may be about to say it, or somebody hides the entries. */
  saidDeleted: ReadonlySet<string>;
  /** When the export was written: none of them was deleted later. */
  writtenAt: string;
};

/** A program may verify several on as many cores. */
export const signaturesAtOnce = 1_024;

export type Parsed = Record<string, unknown>;

export function isEntryLine(line: Parsed): line is EntryLine & Parsed {
  const { origin, index, entry, salt, fact } = line;
  return [origin, entry].every(isText) && isCount(index) && [salt, fact].every(isTextOrNull);
}

/** What each type of line must have: a forger writes whatever confuses a reader. */
const shapes: Record<string, (line: Parsed) => boolean> = {
  export: ({ workspace, origin, size, at }) =>
    [workspace, at].every(isText) && isTextOrNull(origin) && isCount(size),
  key: ({ kty, crv, x, kid }) => [kty, crv, x, kid].every(isText),
  tree: ({ origin, size, previous }) => isText(origin) && isCount(size) && isTextOrNull(previous),
  checkpoint: ({ note }) => isText(note),
  tile: ({ origin, level, index, hashes }) =>
    isText(origin) && isCount(level) && level < levelsMax && isCount(index) && areTexts(hashes),
  request: ({ id, status, payload, effective, resolvedAt, receipt, by }) =>
    [id, status].every(isText) &&
    areTexts(by) &&
    [payload, effective, resolvedAt, receipt].every(isTextOrNull),
  deleted: ({ request }) => isText(request),
  installation: ({ checkpoint, entries }) =>
    isText(checkpoint) && Array.isArray(entries) && entries.every(isProven),
  installed: (line) => isText(line.log) && isOpened(line),
  end: ({ entries, requests, later }) => [entries, requests, later].every(isCount),
};

/** Of tiles, 256 times as wide each: more than any log has. */
const levelsMax = 7;

function isProven(value: unknown): boolean {
  const line = (value ?? {}) as Parsed;
  return isText(line.proof) && isOpened(line);
}

function isOpened({ index, entry, salt, fact }: Parsed): boolean {
  return isCount(index) && [entry, salt, fact].every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value);
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export class ExportFile {
  header: { workspace: string; origin: string | null; size: number; at: string } | null = null;
  end: { entries: number; requests: number; later: number } | null = null;
  installation: InstallationLine | null = null;
  readonly installed: InstalledLine[] = [];
  /** Requests of which the export alone says that they were deleted: the log hasn't signed it yet, or never will. */
  readonly saidDeleted = new Set<string>();
  /** Those that were revoked come last. */
  readonly keys: ExportKey[] = [];
  readonly trees: ExportTree[] = [];
  readonly checkpoints = new Map<string, KeptCheckpoint[]>();
  readonly #tiles = new Map<string, { bytes: Bytes; used: number }>();
  readonly #findings: Findings;
  readonly #revoked: ReadonlySet<string>;
  readonly #noteKeys = new Map<string, NoteKey>();

  /** `revoked` are keys of which the issuer says so, whatever the export says. */
  constructor(findings: Findings, revoked: ReadonlySet<string> = new Set()) {
    this.#findings = findings;
    this.#revoked = revoked;
  }

  /** What must be read before the keys and the trees of all lines are known waits. */
  async readLine(line: Parsed): Promise<RequestLine | null> {
    if (this.#isRepeated(line) || this.#isMalformed(line)) return null;
    switch (line.type) {
      case "export":
        this.header = line as unknown as NonNullable<ExportFile["header"]>;
        return null;
      case "key":
        await this.#readKey(line);
        return null;
      case "tree":
        this.trees.push(line as ExportTree);
        return null;
      case "checkpoint":
        this.addCheckpoint(String(line.note), "export");
        return null;
      case "tile":
        this.#readTile(line as unknown as TileLine);
        return null;
      case "request":
        return line as RequestLine & Parsed;
      case "deleted":
        this.saidDeleted.add(String(line.request));
        return null;
      case "installation":
        this.installation = line as unknown as InstallationLine;
        return null;
      case "installed":
        this.installed.push(line as InstalledLine);
        return null;
      case "end":
        this.end = line as unknown as NonNullable<ExportFile["end"]>;
        return null;
      default:
        return null;
    }
  }

  /** What is there twice would be read by others in one way, and checked by us in another. */
  #isRepeated({ type, origin }: Record<string, unknown>): boolean {
    const isRepeated =
      (type === "export" && this.header !== null) ||
      (type === "end" && this.end !== null) ||
      (type === "installation" && this.installation !== null) ||
      (type === "tree" && this.trees.some((tree) => tree.origin === origin)) ||
      // Entries begin with their type, or nobody has looked at them.
      type === "entry";
    if (isRepeated)
      this.#findings.add("line_malformed", `a line of type ${type} has no place here`);
    return isRepeated;
  }

  /** Types that we don't know say nothing. */
  #isMalformed(line: Parsed): boolean {
    const { type } = line;
    const isShaped = isText(type) && (!Object.hasOwn(shapes, type) || shapes[type]?.(line));
    if (!isShaped) {
      const message = `a line of type ${type} lacks a part: ${String(line.id ?? line.origin)}`;
      this.#findings.add("line_malformed", message);
    }
    return !isShaped;
  }

  addCheckpoint(text: string, from: KeptCheckpoint["from"]): KeptCheckpoint | null {
    const note = parseNote(text);
    const checkpoint = note === null ? null : parseCheckpoint(note.text);
    if (note === null || checkpoint === null) {
      this.#findings.add("checkpoint_malformed", "a checkpoint can't be read");
      return null;
    }
    const kept = { ...checkpoint, note, from, revokedKey: null };
    const list = this.checkpoints.get(kept.origin);
    if (list === undefined) this.checkpoints.set(kept.origin, [kept]);
    else list.push(kept);
    return kept;
  }

  /** Once all keys are known. */
  async findRevoked(kept: readonly KeptCheckpoint[], tools: ExportTools): Promise<void> {
    if (!this.keys.some(({ isRevoked }) => isRevoked)) return;
    for (let from = 0; from < kept.length; from += signaturesAtOnce) {
      const some = kept.slice(from, from + signaturesAtOnce);
      const signers = await Promise.all(some.map((each) => this.signerOf(each, tools)));
      for (const [at, each] of some.entries()) {
        const signer = signers[at] ?? null;
        each.revokedKey = signer?.isRevoked ? signer.kid : null;
      }
    }
  }

  /** The key of the history that signed the checkpoint, or null. Of several, one that still counts. */
  async signerOf(
    { note, origin }: { note: SignedNote; origin: string },
    { isSigned }: ExportTools,
  ): Promise<ExportKey | null> {
    for (const key of this.keys) {
      if (await isSignedNote(note, await this.#noteKey(origin, key), isSigned)) return key;
    }
    return null;
  }

  async #noteKey(origin: string, { kid, publicKey }: ExportKey): Promise<NoteKey> {
    const name = `${kid} ${origin}`;
    const known = this.#noteKeys.get(name) ?? (await noteKeyOf(origin, publicKey));
    this.#noteKeys.set(name, known);
    return known;
  }

  async #readKey(line: Record<string, unknown>): Promise<void> {
    const key = line as { kty: string; crv: string; x: string; kid: string; revokedAt?: unknown };
    const publicKey = publicKeyOf(key);
    if (publicKey === null || (await thumbprintOf(publicKey)) !== key.kid) {
      this.#findings.add("key_invalid", `the key ${key.kid} is not the one of that name`);
      return;
    }
    if (this.keys.some(({ kid }) => kid === key.kid)) {
      this.#findings.add("line_malformed", `the key ${key.kid} is in the export twice`);
      return;
    }
    const isSaid = key.revokedAt !== null && key.revokedAt !== undefined;
    const isRevoked = isSaid || this.#revoked.has(key.kid);
    const read = { kid: key.kid, publicKey, isRevoked };
    if (isRevoked) this.keys.push(read);
    else this.keys.unshift(read);
  }

  /** The hashes of a level of tiles, one after the other. */
  hashesOf(origin: string, level: number): Bytes | undefined {
    const tiles = this.#tiles.get(tileName(origin, level));
    return tiles?.bytes.subarray(0, tiles.used * hashBytes);
  }

  /** Tiles follow each other. Room grows with what comes, and not with what is claimed. */
  #readTile({ origin, level, index, hashes }: TileLine): void {
    const name = tileName(origin, level);
    const tiles = this.#tiles.get(name) ?? { bytes: new Uint8Array(), used: 0 };
    this.#tiles.set(name, tiles);
    const read = hashes.map(fromBase64Url);
    const isNext = index * tileWidth === tiles.used && hashes.length <= tileWidth;
    if (!isNext || !read.every((hash) => hash?.length === hashBytes)) {
      this.#findings.add("tile_differs", `tile ${level}/${index} is none`, { origin });
      return;
    }
    const needed = (tiles.used + read.length) * hashBytes;
    if (needed > tiles.bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * tiles.bytes.length));
      larger.set(tiles.bytes.subarray(0, tiles.used * hashBytes));
      tiles.bytes = larger;
    }
    for (const hash of read) {
      tiles.bytes.set(hash as Bytes, tiles.used * hashBytes);
      tiles.used += 1;
    }
  }
}

type TileLine = { origin: string; level: number; index: number; hashes: string[] };

export const tileWidth = 256;

function tileName(origin: string, level: number): string {
  return `${level} ${origin}`;
}
