// Submits a checkpoint of the installation's log to each witness, and keeps their cosignatures. In each slot of ten seconds
// all workers submit the same one to all witnesses, so that their cosignatures gather on it. Witnesses don't wait for each
// other, and nothing waits for them: one that is away is asked again less and less often, and caught up.

import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import { witnessPaceMs, witnessPauseMsMax } from "../domain/proof/witness-limits.ts";
import type { WitnessSetting } from "../domain/proof/witness-settings.ts";
import {
  keepCosignature,
  noteContradiction,
  proveGrowth,
} from "../operations/proof/witness-log.ts";
import type { AddCheckpoint, AddCheckpointOutcome } from "../outbound/add-checkpoint.ts";
import * as logCosignatures from "../storage/proof/log-cosignatures.ts";

export type LogWitnessesOptions = {
  db: Database;
  witnesses: readonly WitnessSetting[];
  addCheckpoint: AddCheckpoint;
  log: Logger;
  onFault: (error: unknown) => void;
  /** Called when mails to owners are due. */
  onNotice: () => void;
  /** The length of a slot. */
  paceMs?: number;
};

export class LogWitnesses {
  readonly #posts: readonly WitnessPost[];

  constructor(options: LogWitnessesOptions) {
    this.#posts = options.witnesses.map((witness) => new WitnessPost(witness, options));
  }

  /** There may be a new checkpoint. Costs nothing when it is called often. */
  wake(): void {
    for (const post of this.#posts) post.wake();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#posts.map((post) => post.stop()));
  }
}

/** One witness. */
class WitnessPost {
  readonly #witness: WitnessSetting;
  readonly #options: LogWitnessesOptions;
  #timer: NodeJS.Timeout | null = null;
  #working: Promise<void> | null = null;
  #isStopped = false;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #toldReason: string | null = null;

  constructor(witness: WitnessSetting, options: LogWitnessesOptions) {
    this.#witness = witness;
    this.#options = options;
  }

  wake(): void {
    if (this.#timer !== null || this.#working !== null || this.#isStopped) return;
    const waitMs = Math.max(0, this.#nextAtMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#working = this.#submit()
        .catch((error: unknown) => this.#options.onFault(error))
        .finally(() => {
          this.#working = null;
        });
    }, waitMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#working;
  }

  async #submit(): Promise<void> {
    const { db, paceMs = witnessPaceMs } = this.#options;
    const witness = this.#witness.key.name;
    const head = await logCosignatures.findHead(db, { witness, slotMs: paceMs });
    if (head === null || head.cosignedSize >= head.size) return;
    const isDone = await this.#submitHead(head);
    this.#failures = isDone ? 0 : this.#failures + 1;
    // Until the next slot there is no other head.
    const pauseMs = isDone ? 0 : Math.min(paceMs * 2 ** this.#failures, witnessPauseMsMax);
    this.#nextAtMs = performance.now() + pauseMs;
  }

  /** A witness may know more than we remember, from before a crash: its own size then begins the proof. */
  async #submitHead(head: logCosignatures.WitnessedHead): Promise<boolean> {
    const first = await this.#send(head, head.cosignedSize);
    if (first.kind !== "knows") return this.#conclude(head, head.cosignedSize, first);
    if (first.size > head.size) return this.#doubt(head, first.size);
    if (this.#isStopped) return false;
    const second = await this.#send(head, first.size);
    return this.#conclude(head, first.size, second);
  }

  async #send(head: logCosignatures.WitnessedHead, oldSize: number): Promise<AddCheckpointOutcome> {
    const { db, addCheckpoint } = this.#options;
    const proof = await proveGrowth(db, head.treeId, { from: oldSize, to: head.size });
    return addCheckpoint(this.#witness, { oldSize, proof, note: head.note });
  }

  async #conclude(
    head: logCosignatures.WitnessedHead,
    oldSize: number,
    outcome: AddCheckpointOutcome,
  ): Promise<boolean> {
    switch (outcome.kind) {
      case "cosigned": {
        const { treeId, size } = head;
        const witness = this.#witness.key.name;
        await keepCosignature(this.#options.db, { treeId, size, witness, line: outcome.line });
        this.#tellEnd();
        return true;
      }
      case "knows":
        // Another process was faster. The next look begins with what it kept.
        return outcome.size > head.size ? this.#doubt(head, outcome.size) : true;
      case "contradicted":
        if (oldSize === 0) return this.#fail("it refuses a first checkpoint (422)");
        return this.#contradict(head, oldSize);
      case "failed":
        return this.#fail(outcome.reason);
    }
  }

  /** Another process may have signed and submitted a larger head since we looked. */
  async #doubt(head: logCosignatures.WitnessedHead, witnessedSize: number): Promise<boolean> {
    const witness = this.#witness.key.name;
    const now = await logCosignatures.findHead(this.#options.db, { witness });
    if (now === null || now.treeId !== head.treeId || now.size >= witnessedSize) return true;
    return this.#contradict(now, witnessedSize);
  }

  /** Something was taken out of our log, or changed in it, since this witness saw it. */
  async #contradict(
    { treeId, origin, size }: logCosignatures.WitnessedHead,
    witnessedSize: number,
  ): Promise<boolean> {
    const { db, log, onNotice } = this.#options;
    const witness = this.#witness.key.name;
    const isNews = await noteContradiction(db, { treeId, origin, witness, witnessedSize, size });
    log.error(
      { witness, origin, size, witnessedSize },
      "a witness contradicts the log: it was rolled back or changed",
    );
    if (isNews) onNotice();
    return false;
  }

  /** Not logged at every attempt. */
  #fail(reason: string): false {
    if (reason === this.#toldReason) return false;
    this.#toldReason = reason;
    const witness = this.#witness.key.name;
    this.#options.log.warn({ witness, reason }, "a witness did not cosign; it is asked again");
    return false;
  }

  #tellEnd(): void {
    if (this.#toldReason === null) return;
    this.#toldReason = null;
    this.#options.log.info({ witness: this.#witness.key.name }, "a witness cosigns again");
  }
}
