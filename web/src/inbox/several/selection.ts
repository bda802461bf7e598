// Which requests can be decided together: of one agent, each displayed in full to its end on this page, and unedited. One
// that needs a signature is signed by itself.

import type { InboxRow } from "../../../../server/src/wire/inbox-contract.ts";
import type { ReadReview } from "../../review/read-review.ts";
import type { ListedRow } from "../list/listing.ts";

export const severalMax = 20;

/** What was read to its end since this page was loaded, by the person's place. */
export type ReadReviews = ReadonlyMap<string, ReadReview>;

export type Obstacle = "ended" | "unread" | "needs_signature" | "other_agent" | "too_many";

type Choice = { read: ReadReviews; selected: readonly InboxRow[] };

/** Why a row can't be selected; null if it can, or is. */
export function obstacleTo({ row, end }: ListedRow, { read, selected }: Choice): Obstacle | null {
  if (end !== null) return "ended";
  const one = read.get(row.id);
  if (one === undefined) return "unread";
  if (one.review.signing?.needed === true) return "needs_signature";
  if (selected.some(({ id }) => id === row.id)) return null;
  if (selected.some(({ agent }) => agent !== row.agent)) return "other_agent";
  return selected.length >= severalMax ? "too_many" : null;
}

/** The selection as it still holds: what ended, or was typed into, leaves it. Nothing ever joins it by itself. */
export function stillSelected(
  ids: ReadonlySet<string>,
  rows: readonly ListedRow[],
  read: ReadReviews,
): InboxRow[] {
  return rows
    .filter(({ row, end }) => ids.has(row.id) && end === null && read.has(row.id))
    .map(({ row }) => row);
}
