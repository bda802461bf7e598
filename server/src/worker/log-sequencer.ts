// Moves facts into the logs, and signs the heads. It looks every second, never works for more than half of the time, and
// takes nothing that a create waits for. Any number of workers share the work: a log grows in one of them at a time.

import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { logBatch, logSharedBatch, logsAtOnce } from "../domain/proof/log-limits.ts";
import { mendLogs } from "../operations/proof/mend-logs.ts";
import { type Head, type Sequenced, sequenceLogs } from "../operations/proof/sequence-log.ts";
import { signLogs } from "../operations/proof/sign-log.ts";
import { currentSigner } from "../operations/proof/signing-keys.ts";
import { installation, type LogOwner, listOwners } from "../storage/proof/log-pending.ts";

export type LogSequencerOptions = {
  db: Database;
  keyring: Keyring;
  origin: { readonly publicUrl: string };
  log: Logger;
  onFault: (error: unknown) => void;
  /** Tests that count statements look more or less often. */
  lookEveryMs?: number;
};

const lookEveryDefaultMs = 1_000;
/** A rest is at least as long as the work before it, and no shorter than this. */
const restMsMin = 5;
/** How often heads are looked for that a worker left unsigned. */
const mendEveryMs = 5_000;
/** A log that couldn't grow is left alone for a while: others wait for their turn. */
const faultyForMs = 10_000;
const tellLagEveryMs = 60_000;

export class LogSequencer {
  readonly #options: LogSequencerOptions;
  readonly #stopping = new AbortController();
  readonly #faultyUntil = new Map<LogOwner, number>();
  #working: Promise<void> | null = null;
  #mendedAtMs = Number.NEGATIVE_INFINITY;
  #toldLagAtMs = Number.NEGATIVE_INFINITY;
  #lagMsMax = 0;
  #entries = 0;
  #isSignerAwaited = false;

  constructor(options: LogSequencerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#working ??= this.#work();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { lookEveryMs = lookEveryDefaultMs, onFault } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now();
      const isBusy = await this.#look().catch((error: unknown) => {
        onFault(error);
        return false;
      });
      this.#tellLag();
      const passed = performance.now() - startedAt;
      await this.#rest(isBusy ? restMsMin : Math.max(restMsMin, lookEveryMs - passed));
    }
  }

  /** One turn of every log that has something to do; workspaces first, whose checkpoints the installation's then holds. */
  async #look(): Promise<boolean> {
    let isBusy = false;
    let hasGrown = false;
    let after: LogOwner | null = null;
    do {
      const listed: LogOwner[] = await listOwners(this.#options.db, { after, limit: logsAtOnce });
      const owners = listed.filter((owner) => owner !== installation);
      const isAlone = after === null && listed.length < logsAtOnce && owners.length === 1;
      isBusy = (await this.#turns(owners, isAlone ? logBatch : logSharedBatch)) || isBusy;
      hasGrown ||= listed.length > 0;
      after = listed.length < logsAtOnce ? null : (listed.at(-1) ?? null);
    } while (after !== null && !this.#stopping.signal.aborted);
    hasGrown = (await this.#mend()) || hasGrown;
    return (hasGrown && (await this.#turns([installation], logBatch))) || isBusy;
  }

  /** A share of each log in one commit; then logs that have more, each by itself. Whether more may still be waiting. */
  async #turns(owners: readonly LogOwner[], limit: number): Promise<boolean> {
    const now = performance.now();
    const ready = owners.filter((owner) => (this.#faultyUntil.get(owner) ?? 0) <= now);
    if (ready.length === 0) return false;
    const share = Math.min(limit, Math.floor(logBatch / ready.length));
    const unfinished = await this.#turn(ready, share);
    return share === limit ? unfinished.length > 0 : this.#oneByOne(unfinished, limit);
  }

  async #oneByOne(owners: readonly LogOwner[], limit: number): Promise<boolean> {
    let isBusy = false;
    for (const owner of owners) isBusy = (await this.#turn([owner], limit)).length > 0 || isBusy;
    return isBusy;
  }

  /** Answers the logs of which more may be waiting. */
  async #turn(owners: readonly LogOwner[], limit: number): Promise<LogOwner[]> {
    if (this.#stopping.signal.aborted) return [];
    const startedAt = performance.now();
    const sequenced = await this.#sequence(owners, limit);
    if (sequenced === null) {
      // One that can't grow holds up no other.
      if (owners.length > 1) await this.#oneByOne(owners, limit);
      return [];
    }
    if (sequenced.length === 0) return [];
    const made = sequenced.map(({ head }) => head);
    await this.#sign(
      made.map(({ id }) => id),
      made,
    ).catch(this.#options.onFault);
    for (const each of sequenced) this.#note(each);
    await this.#rest(Math.max(restMsMin, performance.now() - startedAt));
    return sequenced.filter(({ count }) => count >= limit).map(({ owner }) => owner);
  }

  /** Null if it failed. A fault is told of the log that has it. */
  async #sequence(owners: readonly LogOwner[], limit: number): Promise<Sequenced[] | null> {
    try {
      const sequenced = await sequenceLogs(this.#options, owners, limit);
      for (const owner of owners) this.#faultyUntil.delete(owner);
      return sequenced;
    } catch (error) {
      const [owner, ...others] = owners;
      if (owner === undefined || others.length > 0) return null;
      this.#faultyUntil.set(owner, performance.now() + faultyForMs);
      this.#options.onFault(error);
      return null;
    }
  }

  /** Signs heads whose worker died, and leaves logs that were restored from a backup. Whether there were any. */
  async #mend(): Promise<boolean> {
    if (performance.now() - this.#mendedAtMs < mendEveryMs) return false;
    const startedAt = performance.now();
    this.#mendedAtMs = startedAt;
    const { treeIds, faults } = await mendLogs(this.#options);
    for (const fault of faults) this.#options.onFault(fault);
    for (let at = 0; at < treeIds.length; at += logsAtOnce) {
      await this.#sign(treeIds.slice(at, at + logsAtOnce)).catch(this.#options.onFault);
    }
    await this.#rest(performance.now() - startedAt);
    return treeIds.length > 0;
  }

  async #sign(treeIds: readonly number[], made: readonly Head[] = []): Promise<void> {
    const { db, keyring, log } = this.#options;
    const signer = await currentSigner(db, keyring);
    if (signer === null) {
      if (!this.#isSignerAwaited) {
        log.warn("the log grows without checkpoints: SECRET_KEY lacks the key of the signing key");
      }
      this.#isSignerAwaited = true;
      return;
    }
    this.#isSignerAwaited = false;
    await signLogs(db, signer, treeIds, made);
  }

  /** Between two clocks: good enough for a line in the log. */
  #note({ count, oldestAt }: Sequenced): void {
    this.#entries += count;
    if (oldestAt === null) return;
    this.#lagMsMax = Math.max(this.#lagMsMax, Date.now() - oldestAt.getTime());
  }

  #tellLag(): void {
    if (this.#entries === 0 || performance.now() - this.#toldLagAtMs < tellLagEveryMs) return;
    this.#toldLagAtMs = performance.now();
    const facts = { lagMs: this.#lagMsMax, entries: this.#entries };
    this.#options.log.info(facts, "the log has grown");
    this.#lagMsMax = 0;
    this.#entries = 0;
  }

  async #rest(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
