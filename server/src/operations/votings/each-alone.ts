// Work of a sweep on many requests: one that fails keeps none of the others from theirs.

/** The requests on which such work failed lately. */
export type RowFaults = {
  /** They are left out for a while. */
  list(): string[];
  note(approvalId: string, error: unknown): void;
  /** Leaves something else out as well. */
  pause(id: string): void;
  /** How far this process has looked for an absence behind a request that failed; null where none did. */
  lookedUpTo(absenceId: string): string | null;
  noteLookedUpTo(absenceId: string, approvalId: string | null): void;
};

/** For callers who want to hear of the first failure. */
export const noFaults: RowFaults = {
  list: () => [],
  note: (_, error) => {
    throw error;
  },
  pause: () => {},
  lookedUpTo: () => null,
  noteLookedUpTo: () => {},
};

/** Answers for which it went well. */
export async function eachAlone<Item extends { approvalId: string }>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  faults: RowFaults,
): Promise<Item[]> {
  const left = new Set(faults.list());
  const done: Item[] = [];
  for (const item of items) {
    if (left.has(item.approvalId)) continue;
    try {
      await work(item);
      done.push(item);
    } catch (error) {
      faults.note(item.approvalId, error);
    }
  }
  return done;
}
