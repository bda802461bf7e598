// Deletes a few of a workspace's requests that are older than it keeps them. Their days are counted first, so that the
// figures stay.

import { type Database, inOneStatement } from "../../database/database.ts";
import * as retention from "../../storage/approvals/retention.ts";
import { readFigures } from "./read-figures.ts";

export type Deletion = {
  deleted: number;
  /** Whether any were old enough. Some may have to wait: for the log, or for others who hold them just now. */
  wereOld: boolean;
};

export async function deleteOldRequests(
  db: Database,
  workspaceId: string,
  limit: number,
): Promise<Deletion> {
  const days = await retention.listDaysOfOld(db, workspaceId, limit);
  if (days.length === 0) return { deleted: 0, wereOld: false };
  // All requests of such a day have ended, since none is open for longer than a week: what is counted now is kept.
  for (const day of days) await readFigures(db, workspaceId, () => [day]);
  const deleted = await retention.deleteOld(inOneStatement(db), workspaceId, limit);
  return { deleted, wereOld: true };
}
