// The rows of a live list: merges newly loaded pages with the rows on the screen, so that nothing moves away from the
// reader because something newer came in on top.

type Row = { id: string };

/**
 * The rows after the loaded pages were read again. Within their reach the pages are right: rows that are missing there
 * are gone. Rows further down were pushed out by newer ones, and stay until the reader asks for more.
 */
export function mergeRows<R extends Row>(
  before: readonly R[],
  fresh: readonly R[],
  isEnd: boolean,
): R[] {
  const last = fresh.at(-1);
  if (isEnd || last === undefined) return [...fresh];
  const ids = new Set(fresh.map(({ id }) => id));
  const reach = before.findIndex(({ id }) => id === last.id);
  // Nothing in common: so much is new that keeping the old rows would leave a gap.
  if (reach === -1) return [...fresh];
  return [...fresh, ...before.slice(reach + 1).filter(({ id }) => !ids.has(id))];
}

/** The number of rows that came in on top since the reader saw `newestSeen`. */
export function countNew(rows: readonly Row[], newestSeen: string | null): number {
  if (newestSeen === null) return 0;
  return Math.max(
    0,
    rows.findIndex(({ id }) => id === newestSeen),
  );
}
