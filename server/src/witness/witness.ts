// A witness of logs: remembers the newest checkpoint of each, cosigns what only adds to it, and keeps what contradicts it.
// It needs no database and asks nobody.

import { createPublicKey, hash, type KeyObject, sign } from "node:crypto";
import { OperatorFault } from "../domain/operator-fault.ts";
import { cosign, findCosignature } from "../domain/proof/cosignature.ts";
import {
  type Checkpoint,
  cosignatureV1,
  type NoteSigner,
  parseCheckpoint,
  parseNote,
  type VerifierKey,
  verifierKey,
  withSignatures,
} from "../domain/proof/note.ts";
import {
  flawOfSigning,
  isSplitView,
  judge,
  type WitnessRefusal,
} from "../domain/proof/witness-rules.ts";
import { parseSubmission, type Submission } from "../domain/proof/witness-submission.ts";
import { type KeptHead, keepContrary, keepHead, originHash, readHead } from "./witness-state.ts";

export type WitnessOptions = {
  name: string;
  /** Where its heads are kept. */
  directory: string;
  privateKey: KeyObject;
  /** The keys of the logs that it watches. A key's name is its log's origin; a log may have several. */
  logs: readonly VerifierKey[];
  clock: () => Date;
  /** Hears in a sentence what the operator should know. */
  tell: (text: string) => void;
};

export type WitnessAnswer = { status: number; text: string; type?: string };

type Head = KeptHead & { checkpoint: Checkpoint };

export class Witness {
  readonly key: VerifierKey;
  readonly #options: WitnessOptions;
  readonly #signer: NoteSigner;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(options: WitnessOptions) {
    this.#options = options;
    const { privateKey } = options;
    const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
    const publicKey = Buffer.from(x, "base64url");
    this.#signer = { publicKey, sign: (bytes) => sign(null, bytes, privateKey) };
    this.key = verifierKey(options.name, cosignatureV1, publicKey);
  }

  /** Reads every head once, so that a damaged one is found at the start and not by a log. */
  async examineHeads(): Promise<void> {
    for (const origin of this.#origins()) await this.#readHead(origin);
  }

  /** The body of `POST /add-checkpoint`. */
  async add(body: Uint8Array): Promise<WitnessAnswer> {
    const submission = parseSubmission(body);
    if (submission === null)
      return { status: 400, text: "This is no checkpoint with its proof.\n" };
    const flaw = flawOfSigning(submission, this.#options.logs);
    if (flaw !== null) return answerOf(flaw);
    return this.#inTurn(submission.checkpoint.origin, () => this.#judge(submission));
  }

  /** The newest checkpoint of the log whose origin has this hash. */
  async read(hashOfOrigin: string): Promise<WitnessAnswer> {
    const origin = this.#origins().find((each) => originHash(each) === hashOfOrigin);
    const head = origin === undefined ? null : await this.#readHead(origin);
    return head === null
      ? { status: 404, text: "This witness has cosigned nothing of that log.\n" }
      : { status: 200, text: head.note };
  }

  #origins(): string[] {
    return [...new Set(this.#options.logs.map(({ name }) => name))];
  }

  /** Another process may keep heads in the same place: whoever is later looks again. */
  async #judge(submission: Submission): Promise<WitnessAnswer> {
    for (;;) {
      const head = await this.#readHead(submission.checkpoint.origin);
      const verdict = judge(submission, head?.checkpoint ?? null);
      if (isSplitView(submission, head?.checkpoint ?? null)) {
        await this.#noteContrary("conflict", submission, head);
      } else if (verdict.kind === "inconsistent") {
        await this.#noteContrary("doubt", submission, head);
      }
      if (verdict.kind !== "cosign") return answerOf(verdict);
      const line = cosign(submission.note.text, this.key.name, this.#options.clock(), this.#signer);
      if (!verdict.isNew || (await this.#keep(submission, line, head))) {
        return { status: 200, text: `${line}\n` };
      }
    }
  }

  /** The log's signatures that were verified, and our own. Strangers' would only take room. */
  async #keep(submission: Submission, line: string, earlier: Head | null) {
    const kept = this.#signedByLog(submission, [line]);
    return keepHead(this.#options.directory, submission.checkpoint.origin, { note: kept, earlier });
  }

  #signedByLog({ note }: Submission, more: readonly string[]): string {
    const ofLog = note.signatures.filter(({ name, keyId }) =>
      this.#options.logs.some((key) => key.name === name && key.id.equals(keyId)),
    );
    return withSignatures(`${note.text}\n`, [...ofLog.map((each) => each.line), ...more]);
  }

  async #readHead(origin: string): Promise<Head | null> {
    const { directory, name } = this.#options;
    const kept = await readHead(directory, origin);
    if (kept === null) return null;
    const body = parseNote(kept.note)?.text;
    const checkpoint = body === undefined ? null : parseCheckpoint(body);
    const isOurs = findCosignature(kept.note, this.key) !== null;
    if (checkpoint?.origin === origin && isOurs) return { ...kept, checkpoint };
    throw new OperatorFault(
      `${kept.path} is damaged, or was cosigned by another key or under another name than ${name}. Restore it from a backup: without it the witness can't tell whether ${origin} was rolled back.`,
    );
  }

  /**
   * Two heads of one size prove a split view. A wrong proof proves nothing: anybody can send one with a checkpoint that
   * everybody can read.
   */
  async #noteContrary(
    kind: "conflict" | "doubt",
    submission: Submission,
    head: Head | null,
  ): Promise<void> {
    const { directory, tell } = this.#options;
    const { checkpoint, note } = submission;
    const text = `${this.#signedByLog(submission, [])}\n${head?.note ?? ""}`;
    const name = hash("sha256", note.text).slice(0, 32);
    const path = await keepContrary(directory, { kind, name, text });
    const where = path === null ? "" : ` Both are kept in ${path}.`;
    const [size, known] = [checkpoint.size, head?.checkpoint.size ?? 0];
    const what =
      kind === "conflict"
        ? `a signed checkpoint of size ${size} does not follow from the one of size ${known} that this witness cosigned.`
        : `somebody submitted a signed checkpoint of size ${size} without a proof that it follows from the one of size ${known} that this witness cosigned. If the log itself did, it was changed; from a stranger it says nothing.`;
    tell(`${checkpoint.origin}: ${what}${where}`);
  }

  /** One submission of a log at a time. */
  async #inTurn<Result>(origin: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(origin) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#turns.set(
      origin,
      mine.catch(() => {}),
    );
    return mine;
  }
}

function answerOf(verdict: WitnessRefusal): WitnessAnswer {
  switch (verdict.kind) {
    case "unknown_origin":
      return { status: 404, text: "This witness doesn't know that log.\n" };
    case "not_signed":
      return { status: 403, text: "No key that this witness trusts has signed it.\n" };
    case "old_size_too_large":
      return { status: 400, text: "The old size is larger than the checkpoint's.\n" };
    case "other_size":
      return { status: 409, text: `${verdict.size}\n`, type: "text/x.tlog.size" };
    case "inconsistent":
      return { status: 422, text: "The checkpoint does not follow from the old size.\n" };
  }
}
