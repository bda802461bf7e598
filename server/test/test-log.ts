// A log in memory that signs what a test wants: grown, rolled back, forked. And a witness in a folder of its own.

import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import {
  checkpointBody,
  ed25519,
  type NoteSigner,
  signNote,
  type VerifierKey,
  verifierKey,
} from "../src/domain/proof/note.ts";
import {
  append,
  consistencyRanges,
  emptyFrontier,
  leafHash,
  proofOf,
  rootOf,
  rootOver,
} from "../src/domain/proof/tree.ts";
import { submissionBody } from "../src/domain/proof/witness-submission.ts";
import { Witness, type WitnessOptions } from "../src/witness/witness.ts";
import { makeWitnessServer } from "../src/witness/witness-server.ts";
import { openWitnessKey } from "../src/witness/witness-state.ts";

export function makeSigner(): NoteSigner {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  return {
    publicKey: Buffer.from(x, "base64url"),
    sign: (bytes) => sign(null, bytes, privateKey),
  };
}

export class TestLog {
  readonly origin: string;
  readonly signer: NoteSigner;
  readonly key: VerifierKey;
  readonly #leaves: Buffer[];

  constructor(origin: string, signer = makeSigner(), leaves: readonly Buffer[] = []) {
    this.origin = origin;
    this.signer = signer;
    this.key = verifierKey(origin, ed25519, signer.publicKey);
    this.#leaves = [...leaves];
  }

  get size(): number {
    return this.#leaves.length;
  }

  grow(...entries: string[]): this {
    for (const entry of entries) this.#leaves.push(leafHash(Buffer.from(entry)));
    return this;
  }

  /** The same log as it was, which may then grow in another way. */
  copyAt(size: number): TestLog {
    return new TestLog(this.origin, this.signer, this.#leaves.slice(0, size));
  }

  rootAt(size: number): Buffer {
    return rootOf(append(emptyFrontier, this.#leaves.slice(0, size)).frontier);
  }

  checkpoint(size = this.size): string {
    const body = checkpointBody({ origin: this.origin, size, root: this.rootAt(size) });
    return signNote(body, this.origin, this.signer);
  }

  proof(oldSize: number, size = this.size): Buffer[] {
    return proofOf(consistencyRanges(oldSize, size), ({ height, index }) =>
      rootOver(this.#leaves.slice(index * 2 ** height, (index + 1) * 2 ** height)),
    );
  }

  /** What it submits to a witness that knows the old size. */
  submission(oldSize: number, size = this.size): string {
    return submissionBody(oldSize, this.proof(oldSize, size), this.checkpoint(size));
  }
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cs-witness-"));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export type TestWitness = { witness: Witness; folder: string; told: string[] };

export async function openWitness(
  logs: readonly VerifierKey[],
  options: Partial<WitnessOptions> = {},
): Promise<TestWitness> {
  const { directory: folder = makeFolder() } = options;
  const told: string[] = [];
  const witness = new Witness({
    name: "witness.example/one",
    directory: folder,
    privateKey: await openWitnessKey(folder),
    logs,
    clock: () => new Date("2026-11-18T12:00:00Z"),
    tell: (text) => told.push(text),
    ...options,
  });
  await witness.examineHeads();
  return { witness, folder, told };
}

/** Listens until the test file ends. */
export async function serveWitness(
  witness: Pick<Witness, "add" | "read">,
  options: { timeoutMs?: number; onFault?: (error: unknown) => void } = {},
): Promise<string> {
  const server = makeWitnessServer({ witness: witness as Witness, onFault: () => {}, ...options });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
