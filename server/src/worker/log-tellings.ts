// Tells owners the checkpoint of the day. Looks now and then: nobody waits for it.

import { type Database, inOneStatement } from "../database/database.ts";
import { checkpointsToldAtOnce, checkpointsToldEveryMs } from "../domain/proof/witness-limits.ts";
import * as logTellings from "../storage/proof/log-tellings.ts";

export type LogTellingsOptions = {
  db: Database;
  onFault: (error: unknown) => void;
  /** Called when mails and webhooks are due. */
  onNotice: () => void;
  everyMs?: number;
};

export class LogTellings {
  readonly #options: LogTellingsOptions;
  #working: Promise<void> | null = null;
  #isStopped = false;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LogTellingsOptions) {
    this.#options = options;
  }

  /** Costs nothing when it is called often. */
  wake(): void {
    if (this.#working !== null || this.#isStopped || performance.now() < this.#nextAtMs) return;
    const { onFault, everyMs = checkpointsToldEveryMs } = this.#options;
    this.#nextAtMs = performance.now() + everyMs;
    this.#working = this.#tell()
      .catch(onFault)
      .finally(() => {
        this.#working = null;
      });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#working;
  }

  async #tell(): Promise<void> {
    const { db, onNotice } = this.#options;
    while (!this.#isStopped) {
      const count = await logTellings.tellDue(inOneStatement(db), checkpointsToldAtOnce);
      if (count > 0) onNotice();
      if (count < checkpointsToldAtOnce) return;
    }
  }
}
