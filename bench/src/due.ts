// Puts work into the tables that a service would otherwise take long to come by: webhooks that are due, and requests
// whose time ends, many thousands at the same moment. The rows are those that a create leaves.

import { setTimeout as pause } from "node:timers/promises";
import { type Database, inTransaction } from "../../server/src/database/database.ts";
import { announceDue } from "../../server/src/storage/deliveries/new-deliveries.ts";

/** One statement takes no longer than a connection of ours may. */
const rowsAtOnce = 10_000;
const endTimeoutMs = 60_000;

export type Copies = {
  workspaceId: string;
  /** The approval that they are like. */
  approvalId: string;
  count: number;
};

/** Approvals with their event, and a delivery of it to each endpoint that is due at a time. */
export async function addDue(
  db: Database,
  { workspaceId, approvalId, count }: Copies,
  { endpointIds, dueAt }: { endpointIds: string[]; dueAt: Date },
): Promise<void> {
  for (let added = 0; added < count; added += rowsAtOnce) {
    await db.query(
      `with copied as (${copies}), event as (
         insert into events (workspace_id, approval_id, kind)
         select workspace_id, id, 'request.created' from copied
         returning workspace_id, id
       )
       insert into deliveries (workspace_id, event_id, channel, endpoint_id, due_at)
       select event.workspace_id, event.id, 'webhook', endpoint.id, $4
       from event cross join unnest($5::text[]) as endpoint (id)`,
      [workspaceId, approvalId, Math.min(rowsAtOnce, count - added), dueAt, endpointIds],
    );
  }
}

/** Test events for one endpoint, due now. Behind them are no approvals, which are most of the work of adding others. */
export async function addDueTests(
  db: Database,
  { workspaceId, endpointId, count }: { workspaceId: string; endpointId: string; count: number },
): Promise<void> {
  for (let added = 0; added < count; added += rowsAtOnce) {
    await db.query(
      `with event as (
         insert into events (workspace_id, endpoint_id, kind)
         select $1, $2, 'webhook.test' from generate_series(1, $3)
         returning workspace_id, id, endpoint_id
       )
       insert into deliveries (workspace_id, event_id, channel, endpoint_id)
       select workspace_id, id, 'webhook', endpoint_id from event`,
      [workspaceId, endpointId, Math.min(rowsAtOnce, count - added)],
    );
  }
}

/** Pending approvals whose time ended one by one within the last minute, there all at once. */
export async function addOverdue(
  db: Database,
  { workspaceId, approvalId, count }: Copies,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    for (let added = 0; added < count; added += rowsAtOnce) {
      await tx.query(
        `with copied as (${copies.replace("expires_at from", "now() - random() * interval '1 minute' from")})
         insert into events (workspace_id, approval_id, kind)
         select workspace_id, id, 'request.created' from copied`,
        [workspaceId, approvalId, Math.min(rowsAtOnce, count - added)],
      );
    }
  });
}

const copies = `
  insert into approvals (workspace_id, id, summary, payload, metadata, reasoning, recent_actions,
    agent_name, approver_email, expires_at)
  select workspace_id, new_id('req_'), summary, payload, metadata, reasoning, recent_actions,
    agent_name, approver_email, expires_at from approvals, generate_series(1, $3)
  where workspace_id = $1 and id = $2
  returning workspace_id, id`;

/** Waits for the moment, and then wakes the worker, as a process that made something due would. */
export async function wakeWorkerAt(db: Database, at: Date): Promise<void> {
  await pause(Math.max(0, at.getTime() - Date.now()) + 2);
  await announceDue(db);
}

/** The last of them have been received when this is asked, so few are left. */
export async function untilNoneDue(db: Database, endpointIds: string[]): Promise<void> {
  const until = performance.now() + endTimeoutMs;
  for (;;) {
    const { rowCount } = await db.query(
      "select from deliveries where state = 'due' and endpoint_id = any ($1::text[]) limit 1",
      [endpointIds],
    );
    if (rowCount === 0) return;
    if (performance.now() > until) throw new Error("webhooks are still due");
    await pause(5);
  }
}

export async function countOverdue(db: Database): Promise<number> {
  const { rows } = await db.query<{ overdue: number }>(
    `select count(*)::int as overdue from approvals
     where status = 'PENDING' and expires_at <= now()`,
  );
  return rows[0]?.overdue ?? 0;
}
