// Heavy work one after the other, a turn for each holder.

import { turnWaitMs } from "../../domain/limits.ts";
import type { FairBudget } from "./fair-budget.ts";

/** Null when too many wait already, the wait was long, or the caller went away. */
export async function inTurn<Result>(
  turns: FairBudget,
  { holder, signal }: { holder: string; signal: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result | null> {
  const turn =
    turns.take(holder, 1) ??
    (await turns.wait(holder, 1, AbortSignal.any([signal, AbortSignal.timeout(turnWaitMs)])));
  if (turn === null) return null;
  try {
    return await work();
  } finally {
    // Small calls that came meanwhile get their turn before the next heavy one.
    setImmediate(() => turn.release());
  }
}
