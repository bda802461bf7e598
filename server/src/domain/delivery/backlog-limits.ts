// The bounds of what metrics look at over all workspaces.

/** Requests that wait are counted up to here: some tens of milliseconds on a large table. */
export const backlogPendingMax = 100_000;

/**
 * What is due first is looked for among this many endpoints, and among this many workspaces of each other channel. Walking
 * five times as many takes a third of a second on a busy machine, and workers that are late are late for all.
 */
export const backlogLanesMax = 1_000;

/**
 * Of the facts that wait for a log, this many are looked at for one that tells its time. A deletion tells none, and
 * retention leaves a hundred of them at a time. In a thousand workspaces at once that costs a third of a second.
 */
export const backlogFactsMax = 200;
