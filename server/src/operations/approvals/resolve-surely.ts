// Resolves a request also where the connection is lost in the middle. Nobody knows then whether it was done, so it is
// asked for again, and recognised by what it wrote.

import { type Database, inOneStatement } from "../../database/database.ts";
import { isTurnedAway } from "../../database/faults.ts";
import { isUndone } from "../../database/short-outage.ts";
import * as approvalResolution from "../../storage/approvals/approval-resolution.ts";
import { findReplicated } from "../find-replicated.ts";

/** As `approvalResolution.resolve`. */
export async function resolveSurely(
  db: Database,
  where: approvalResolution.Where,
  ...how: approvalResolution.How
): Promise<Date | null> {
  const tx = inOneStatement(db);
  try {
    return await approvalResolution.resolve(tx, where, ...how);
  } catch (error) {
    if (!isTurnedAway(error) || isUndone(error)) throw error;
  }
  const at = await approvalResolution.resolve(tx, where, ...how);
  if (at !== null) return at;
  const [resolution] = how;
  return findReplicated(db, (again) => approvalResolution.findDone(again, where, resolution));
}
