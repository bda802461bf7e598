// The queue of requests whose people may have become too few.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { Where } from "./votings.ts";

/** `except` are requests that are left out. */
export async function list(
  db: Queryable,
  limit: number,
  except: readonly string[],
): Promise<Where[]> {
  const { rows } = await db.query<{ workspace_id: string; approval_id: string }>({
    name: "votingChecks.list",
    text: `
      select workspace_id, approval_id from voting_checks where approval_id <> all ($2)
      order by workspace_id, approval_id
      limit $1`,
    values: [limit, except],
  });
  return rows.map((row) => ({ workspaceId: row.workspace_id, approvalId: row.approval_id }));
}

/** Says whether it was there: of racing workers, one takes it. */
export async function take(tx: Transaction, { workspaceId, approvalId }: Where): Promise<boolean> {
  const { rowCount } = await tx.query(
    "delete from voting_checks where workspace_id = $1 and approval_id = $2",
    [workspaceId, approvalId],
  );
  return rowCount === 1;
}

/** Queues the pending requests with seats that a key has asked for. */
export async function queueOfKey(
  tx: Transaction,
  { workspaceId, keyId }: { workspaceId: string; keyId: string },
): Promise<void> {
  await tx.query(
    `insert into voting_checks (workspace_id, approval_id)
     select workspace_id, id from approvals
     where workspace_id = $1 and status = 'PENDING' and key_id = $2 and has_seats
     order by id
     on conflict do nothing`,
    [workspaceId, keyId],
  );
}
