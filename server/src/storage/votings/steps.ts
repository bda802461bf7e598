// The steps of stages that stay open: which are due, whom they ask, and that each is taken once.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { Candidate } from "../../domain/approval/seating.ts";
import type { Where } from "./votings.ts";

export type DueStep = Where & {
  stage: number;
  number: number;
  notify: string;
  groupId: string | null;
  afterMinutes: number;
};

/** `except` are requests that are left out. */
export async function listDue(
  db: Queryable,
  limit: number,
  except: readonly string[],
): Promise<DueStep[]> {
  type Row = {
    workspace_id: string;
    approval_id: string;
    stage: number;
    number: number;
    notify: string;
    group_id: string | null;
    after_minutes: number;
  };
  const { rows } = await db.query<Row>({
    name: "steps.listDue",
    text: `
      select workspace_id, approval_id, stage, number, notify, group_id, after_minutes
      from steps where done_at is null and due_at <= now() and approval_id <> all ($2)
      order by due_at
      limit $1`,
    values: [limit, except],
  });
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    approvalId: row.approval_id,
    stage: row.stage,
    number: row.number,
    notify: row.notify,
    groupId: row.group_id,
    afterMinutes: row.after_minutes,
  }));
}

/** Whom the step asks, at this moment. */
export async function listPeople(
  tx: Transaction,
  { workspaceId, groupId, notify }: DueStep,
): Promise<Candidate[]> {
  if (groupId === null) return [{ email: notify, groupId }];
  const { rows } = await tx.query<{ email: string }>(
    `select email from group_members where workspace_id = $1 and group_id = $2
     order by created_at, email`,
    [workspaceId, groupId],
  );
  return rows.map(({ email }) => ({ email, groupId }));
}

const theStep = `workspace_id = $1 and approval_id = $2 and stage = $3 and number = $4
       and done_at is null and due_at <= clock_timestamp()`;

/** Says whether this call did it: of racing workers, one does. */
export async function finish(
  tx: Transaction,
  { workspaceId, approvalId, stage, number }: DueStep,
  outcome: "asked" | "nobody_new" | "moot",
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update steps set done_at = now_ms(), outcome = $5 where ${theStep}`,
    [workspaceId, approvalId, stage, number, outcome],
  );
  return rowCount === 1;
}

/** Its stage is not open any more. If it opens again, the step is armed again. */
export async function unarm(
  tx: Transaction,
  { workspaceId, approvalId, stage, number }: DueStep,
): Promise<void> {
  await tx.query(`update steps set due_at = null where ${theStep}`, [
    ...[workspaceId, approvalId, stage, number],
  ]);
}

export async function noteEscalated(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
): Promise<void> {
  await tx.query(
    `update votings set escalated_at = coalesce(escalated_at, now_ms())
     where workspace_id = $1 and approval_id = $2`,
    [workspaceId, approvalId],
  );
}
