// Refuses to act on a list that may lack some of what matches: an export that looks complete and isn't, or a cancel of
// all that leaves some.

import type { Queryable } from "../../database/database.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import { type ListFilter, mayLackSome } from "../../storage/approvals/approval-lists.ts";

export async function refusePartial(
  db: Queryable,
  workspaceId: string,
  filter: ListFilter,
): Promise<Refusal<"conflict"> | null> {
  if (!(await mayLackSome(db, workspaceId, filter))) return null;
  return refuse(
    "conflict",
    "Some requests are still being indexed, so a search doesn't find all of them yet. Try again in a moment, or leave out the search and who decided.",
  );
}
