// Expires approvals whose time has passed, with their events and deliveries, each exactly once.

import { type Database, inOneStatement, type Transaction } from "../../database/database.ts";
import * as approvalResolution from "../../storage/approvals/approval-resolution.ts";
import * as approvals from "../../storage/approvals/approvals.ts";

export async function expireApprovals(
  db: Database,
  workspaceId: string,
  ids: string[],
): Promise<void> {
  await approvalResolution.expire(inOneStatement(db), workspaceId, ids);
}

/** Reads an approval that is never PENDING past its time: an overdue one is expired first. */
export async function findWithExpiry(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<approvals.FoundApproval | null> {
  return findWithExpiryIn(inOneStatement(db), workspaceId, id);
}

/** As part of a transaction. */
export async function findWithExpiryIn(
  tx: Transaction,
  workspaceId: string,
  id: string,
): Promise<approvals.FoundApproval | null> {
  const found = await approvals.find(tx, workspaceId, id);
  if (found === null || !found.isOverdue) return found;
  await approvalResolution.expire(tx, workspaceId, [id]);
  return approvals.find(tx, workspaceId, id);
}
