// The rows on the screen when a newer list arrives. No row ever leaves its place while somebody may be about to press it:
// new ones wait or find their place, and ended ones stay, marked, until the list is visited again.

import type { InboxPastRow, InboxRow } from "../../../../server/src/wire/inbox-contract.ts";

export type ListedRow = {
  row: InboxRow;
  /** It no longer waits for the reader. */
  end: RowEnd | null;
  /** It came in while the list was on the screen. */
  isNew: boolean;
};

/** Undefined until it is known; null while the request waits for others. */
export type RowEnd = { outcome: InboxPastRow["outcome"] | undefined };

export type Listing = {
  rows: readonly ListedRow[];
  /** New ones that wait until the reader lets them in. */
  held: readonly InboxRow[];
};

export const emptyListing: Listing = { rows: [], held: [] };

type Fresh = { waiting: readonly InboxRow[]; isMore: boolean };

/** `isHeld`: somebody points at the list, so nothing may come in. */
export function mergeList(before: Listing, fresh: Fresh, isHeld: boolean): Listing {
  const current = new Map(fresh.waiting.map((row) => [row.id, row]));
  const shown = new Set(before.rows.map(({ row }) => row.id));
  const rows = before.rows.map((listed): ListedRow => {
    const row = current.get(listed.row.id);
    if (row !== undefined) return { ...listed, row, end: null };
    if (isBeyond(listed.row, fresh)) return listed;
    return { ...listed, end: listed.end ?? { outcome: undefined } };
  });
  const arrived = fresh.waiting.filter(({ id }) => !shown.has(id));
  return isHeld && rows.length > 0
    ? { rows, held: arrived }
    : { rows: insertAll(rows, arrived, before.rows.length > 0), held: [] };
}

export function letIn({ rows, held }: Listing): Listing {
  return { rows: insertAll(rows, held, true), held: [] };
}

/** The list is looked at anew: what ended is gone, and everything new is in its place. */
export function visitAnew(listing: Listing): Listing {
  const { rows } = letIn(listing);
  const left = rows.filter(({ end }) => end === null);
  return { rows: left.map((listed) => ({ ...listed, isNew: false })), held: [] };
}

export function withOutcomes(listing: Listing, past: readonly InboxPastRow[]): Listing {
  const outcomes = new Map(past.map(({ id, outcome }) => [id, outcome]));
  const rows = listing.rows.map((listed) =>
    listed.end !== null && outcomes.has(listed.row.id)
      ? { ...listed, end: { outcome: outcomes.get(listed.row.id) } }
      : listed,
  );
  return { ...listing, rows };
}

/** Whether a row ended and nobody has said yet how. */
export function isUntold({ rows }: Listing): boolean {
  return rows.some(({ end }) => end !== null && end.outcome === undefined);
}

export function countWaiting({ rows, held }: Listing): number {
  return rows.filter(({ end }) => end === null).length + held.length;
}

/** The service names so many rows at most: later ones may wait still. */
function isBeyond(row: InboxRow, { waiting, isMore }: Fresh): boolean {
  const last = waiting.at(-1);
  return isMore && last !== undefined && isEarlier(last, row);
}

function insertAll(
  rows: readonly ListedRow[],
  arrived: readonly InboxRow[],
  isNew: boolean,
): ListedRow[] {
  const all = [...rows];
  for (const row of arrived) {
    const at = all.findIndex((listed) => isEarlier(row, listed.row));
    all.splice(at === -1 ? all.length : at, 0, { row, end: null, isNew });
  }
  return all;
}

/** The earliest deadline first, as the service lists them. */
function isEarlier(one: InboxRow, other: InboxRow): boolean {
  const [a, b] = [Date.parse(one.expiresAt), Date.parse(other.expiresAt)];
  return a === b ? one.id < other.id : a < b;
}
