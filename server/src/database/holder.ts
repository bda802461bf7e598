// The holder on whose behalf the database is asked. It travels with a call, so that everything the call does counts for
// the same holder. It decides about turns only, never about rights.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Holder } from "../domain/fair-queue.ts";

const holders = new AsyncLocalStorage<Holder>();

/** Null outside of calls: the service's own work. */
export function currentHolder(): Holder {
  return holders.getStore() ?? null;
}

export function asHolder<Result>(holder: Holder, work: () => Result): Result {
  return holders.run(holder, work);
}
