// What becomes of a pool's connection after its use: whether its commit counts, and whether it is fit for the next user.

import pg from "pg";
import type { DatabaseClient } from "./database-client.ts";

/** Throws if the commit just made may be lost with the primary. */
export function requireReplicated(client: pg.PoolClient): void {
  ours(client).requireReplicated();
}

/** Refused for what was asked: by values, constraints, rights, a trigger, or because others were faster. */
export function isMereRefusal(fault: unknown): boolean {
  if (!(fault instanceof pg.DatabaseError)) return false;
  return /^(22|23|40|P0|42501$|55P03$)/.test(fault.code ?? "");
}

/** Our own patience ended, so PostgreSQL may still be at it. */
export function isUnanswered(fault: unknown): boolean {
  return fault instanceof Error && fault.message === "Query read timeout";
}

/** Its server became a standby, or read-only, and so it did for every other connection there. */
export function isReadOnlyFault(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "25006";
}

/** Closes the connection unless it is fit for the next one, and ends what PostgreSQL still does on it. */
export function giveBack(client: pg.PoolClient, fault: unknown, isFit: boolean): void {
  const reason = fault instanceof Error ? fault : true;
  if (isFit) client.release();
  else if (!isUnanswered(fault)) client.release(reason);
  // First the word to end, because a pooler in between forgets what a closed connection was doing.
  else
    void ours(client)
      .cancelStatement()
      .then(() => client.release(reason));
}

/** A pool of ours makes no others. */
function ours(client: pg.PoolClient): DatabaseClient {
  return client as unknown as DatabaseClient;
}
