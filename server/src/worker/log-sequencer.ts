// Moves facts into the logs, and signs the heads. It looks every second, works for half of the time at most, or for a
// tenth beside callers who keep the process busy, and takes nothing that a create waits for. Any number of workers share
// the work: a log grows in one of them at a time.

import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../database/database.ts";
import type { Keyring } from "../domain/access/keyring.ts";
import { logBatch, logSharedBatch, logsAtOnce } from "../domain/proof/log-limits.ts";
import type { Signer } from "../domain/proof/signing-key.ts";
import { mendLogs, resealLogs } from "../operations/proof/mend-logs.ts";
import { type Sequenced, sequenceLogs } from "../operations/proof/sequence-log.ts";
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
/** A rest is no shorter than this, and this many times as long as the work before it. */
const restMsMin = 5;
const restShare = 1;
/** Facts can wait for some seconds, and callers can't: many facts at once also cost less each. */
const restShareBesideCallers = 9;
const restBesideCallersMsMax = 3_000;
/** Of the time since the last turn, in which the process had something to do. */
const callersUtilization = 0.7;
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
  #isResealed = false;
  #utilizationSeen = performance.eventLoopUtilization();

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
    const signer = await this.#findSigner();
    if (signer === null) return [];
    const sequenced = await this.#sequence(owners, limit);
    if (sequenced === null) {
      // One that can't grow holds up no other.
      if (owners.length > 1) await this.#oneByOne(owners, limit);
      return [];
    }
    if (sequenced.length === 0) return [];
    await signLogs(
      this.#options,
      signer,
      sequenced.map(({ treeId }) => treeId),
    ).catch(this.#options.onFault);
    for (const each of sequenced) this.#note(each);
    await this.#restAfter(startedAt);
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
    const signer = treeIds.length === 0 ? null : await this.#findSigner();
    for (let at = 0; signer !== null && at < treeIds.length; at += logsAtOnce) {
      const some = treeIds.slice(at, at + logsAtOnce);
      await signLogs(this.#options, signer, some).catch(this.#options.onFault);
    }
    // Keys of SECRET_KEY come with the start of a process.
    if (!this.#isResealed) faults.push(...(await resealLogs(this.#options)));
    this.#isResealed = true;
    for (const fault of faults) this.#options.onFault(fault);
    await this.#restAfter(startedAt);
    return treeIds.length > 0;
  }

  /** Null while SECRET_KEY lacks the key that opens it: facts wait until there is a process that can sign them. */
  async #findSigner(): Promise<Signer | null> {
    const { db, keyring, log } = this.#options;
    const signer = await currentSigner(db, keyring);
    if (signer === null && !this.#isSignerAwaited) {
      log.warn("the log waits: SECRET_KEY lacks the key of the signing key");
    }
    this.#isSignerAwaited = signer === null;
    return signer;
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

  /** Our own turn keeps the process busy, too, but mostly waits for PostgreSQL. */
  async #restAfter(startedAt: number): Promise<void> {
    const workedMs = performance.now() - startedAt;
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#utilizationSeen);
    this.#utilizationSeen = now;
    const ms =
      utilization < callersUtilization
        ? restShare * workedMs
        : Math.min(restBesideCallersMsMax, restShareBesideCallers * workedMs);
    await this.#rest(Math.max(restMsMin, ms));
  }

  async #rest(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
