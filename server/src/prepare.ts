// The work before the first call: the schema, the secret keys, a look at the role, the end of a trial. It waits for a database that is out
// of reach; any other failure ends the start.

import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { isOutOfReach } from "./database/faults.ts";
import { isLoopbackUrl } from "./domain/access/public-url.ts";
import { endTrial, firstOwnerEmail, unmarkTrial } from "./operations/workspaces/first-run.ts";
import { requireSecretKeys } from "./storage/secret-keys.ts";
import { examineRole, flawOfRole } from "./storage/service-rights.ts";
import type { Store } from "./storage/store.ts";

const retryMs = 1_000;

export type Patience = {
  log: Logger;
  signal: AbortSignal;
  /** Called when the database is out of reach, before waiting for it. */
  onAway?: () => void;
};

export async function prepare(
  store: Store,
  { publicUrl, smtpUrl }: { publicUrl: string; smtpUrl: string | null },
  patience: Patience,
): Promise<void> {
  await patiently(() => prepareSchema(store, patience.log), patience);
  await patiently(() => requireSecretKeys(store), patience);
  await patiently(() => warnOfRole(store, patience.log), patience);
  const isForOthers = store.kind === "external" || smtpUrl !== null || !isLoopbackUrl(publicUrl);
  if (isForOthers) await patiently(() => unmarkTrial(store.db), patience);
  if (!isLoopbackUrl(publicUrl)) await patiently(() => leaveTrial(store, patience.log), patience);
}

/** Repeats a step for as long as the database is out of reach. */
export async function patiently<Result>(
  step: () => Promise<Result>,
  { log, signal, onAway }: Patience,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await step();
    } catch (error) {
      if (!isOutOfReach(error) || signal.aborted) throw error;
      if (tries === 1) log.warn({ err: error }, "the database is out of reach; trying again");
      onAway?.();
      await pause(retryMs, undefined, { signal });
    }
  }
}

async function prepareSchema(store: Store, log: Logger): Promise<void> {
  const applied = await store.migrate();
  if (applied.length > 0) log.info({ applied: applied.join(", ") }, "migrated the database");
}

/** Said at the start, because nothing else would ever show it. */
async function warnOfRole({ db }: Store, log: Logger): Promise<void> {
  const flaw = flawOfRole(await examineRole(db));
  if (flaw !== null) log.warn(flaw);
}

async function leaveTrial({ db }: Store, log: Logger): Promise<void> {
  for (const { workspaceId, hasOwner, emptyGroups } of await endTrial(db)) {
    const removed = `${firstOwnerEmail}, the owner while this was tried out on one machine, was removed from ${workspaceId}`;
    const advice = `It has no owner now. Name one: countersign member add --workspace ${workspaceId} --email you@example.com --role owner`;
    log.warn(hasOwner ? removed : `${removed}. ${advice}`);
    for (const { id, key } of emptyGroups) {
      const empty = `the group ${key} of ${workspaceId} has nobody left who could decide`;
      log.warn(`${empty}. Name somebody: countersign group add ${id} you@example.com`);
    }
  }
}
