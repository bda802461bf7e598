// Reads a whole list of approvals for a file, a page at a time: however long the list is, only a page is in memory.

import type { Queryable } from "../../database/database.ts";
import type { Approval } from "../../domain/approval/approval.ts";
import { exportBytesMax, exportPageItems } from "../../domain/limits.ts";
import { type ListFilter, list, readNow } from "./approval-lists.ts";
import {
  type ApprovalRow,
  largeBytes,
  largeColumns,
  smallColumns,
  toApproval,
} from "./approvals.ts";

/** Approvals that are created during the export are left out, so that it ends. */
export async function* readPages(
  db: Queryable,
  workspaceId: string,
  filter: ListFilter,
): AsyncGenerator<Approval[]> {
  const now = await readNow(db);
  const { createdBefore } = filter;
  const isOver = createdBefore !== null && createdBefore <= now;
  const bounded = {
    ...filter,
    createdBefore: isOver ? createdBefore : new Date(now.getTime() + 1),
  };
  let after = filter.after;
  do {
    const page = await list(db, workspaceId, { ...bounded, after, limit: exportPageItems });
    yield* readWhole(
      db,
      workspaceId,
      page.found.map(({ id }) => id),
    );
    after = page.last;
  } while (after !== null);
}

/** In parts that fit into memory; a large approval is a part of its own. */
async function* readWhole(
  db: Queryable,
  workspaceId: string,
  ids: readonly string[],
): AsyncGenerator<Approval[]> {
  let rest = ids;
  while (rest.length > 0) {
    const found = await readFitting(db, workspaceId, rest);
    if (found.length === 0) return;
    yield found;
    rest = rest.slice(rest.indexOf(found.at(-1)?.id ?? "") + 1);
  }
}

/** The first of these, in their order, up to the limit of bytes; at least one if any is there. */
async function readFitting(
  db: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<Approval[]> {
  const { rows } = await db.query<ApprovalRow & { is_overdue: boolean }>(
    `with sized as (
       select asked.n, a.id, row_number() over (order by asked.n) as place,
         sum(a.bytes) over (order by asked.n) as bytes
       from unnest($2::text[]) with ordinality as asked (id, n)
       cross join lateral (
         select a.id, ${largeBytes} as bytes from approvals a
         where a.workspace_id = $1 and a.id = asked.id
         limit 1
       ) as a
     )
     select ${smallColumns}, ${largeColumns}, a.status = 'PENDING' and a.expires_at <= now() as is_overdue
     from sized
     cross join lateral (
       select a.* from approvals a where a.workspace_id = $1 and a.id = sized.id limit 1
     ) as a
     where place = 1 or sized.bytes <= ${exportBytesMax}
     order by sized.n`,
    [workspaceId, ids],
  );
  return rows.map((row) => {
    const approval = toApproval(row);
    // Past its end it is expired, whether or not somebody has expired it yet.
    return row.is_overdue
      ? { ...approval, state: { kind: "EXPIRED", at: approval.expiresAt } }
      : approval;
  });
}
