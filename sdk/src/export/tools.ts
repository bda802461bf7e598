// How a verifier of exports hashes and verifies, and where its lines come from: Web Crypto by default, and faster ways
// where a program has them.

import { type IsSigned, isSignedByEd25519 } from "../proof/ed25519.ts";
import { type HashMany, hashWithWebCrypto } from "../proof/hashing.ts";

export type ExportTools = { hashMany: HashMany; isSigned: IsSigned };

export const webCryptoTools: ExportTools = {
  hashMany: hashWithWebCrypto,
  isSigned: isSignedByEd25519,
};

/** Lines that begin so, or all others. */
export type LineFilter = { start: string; isWanted: boolean };

/**
 * Lines of an export in their order, some at a time, from the beginning at each call. Lines that the filter doesn't want
 * may be left out, so that a reading is quick.
 */
export type ExportSource = (filter: LineFilter) => AsyncIterable<readonly string[]>;

/** The installation's logs, one after the other: after a restore it goes on under the next name. */
export type InstallationLog = {
  has: (origin: string) => Promise<boolean>;
  /** The entries in their order and some at a time: `size` of them at least, or all. */
  read: (log: { origin: string; size: number }) => AsyncIterable<readonly string[]>;
  /** The newest that comes with the log, if one does. */
  checkpoint: (origin: string) => Promise<string | null>;
};
