// Runs heavy work one piece at a time, a turn for each holder.

import { turnWaitMs } from "../../domain/limits.ts";
import type { FairBudget } from "./fair-budget.ts";

/** Null when too many wait already, the wait took too long, or the caller left. */
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
    // Small calls that arrived during this work run before the next heavy one.
    setImmediate(() => turn.release());
  }
}
