// Heavy work one after the other, a turn for each holder.

import type { FairBudget } from "./fair-budget.ts";

/** Null when too many wait already, or the caller went away. */
export async function inTurn<Result>(
  turns: FairBudget,
  { holder, signal }: { holder: string; signal: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result | null> {
  const turn = await turns.wait(holder, 1, signal);
  if (turn === null) return null;
  try {
    return await work();
  } finally {
    // Small calls that came meanwhile get their turn before the next heavy one.
    setImmediate(() => turn.release());
  }
}
