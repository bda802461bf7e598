// The workspaces table, the plans that workspaces are on, and how much of them was used this month.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ApproverLimit } from "../../domain/workspace/approver-limit.ts";
import type { HandOver, WorkspaceSettings } from "../../domain/workspace/workspace-settings.ts";

export type Workspace = WorkspaceSettings & { id: string; createdAt: Date };

/** With what its members want to know: whether its plan has groups, and whether anything was ever asked in it. */
export type WorkspaceInUse = Workspace & { hasGroups: boolean; isEmpty: boolean };

export type WorkspaceUsage = Workspace & { requestsThisMonth: number };

type WorkspaceRow = {
  id: string;
  name: string;
  plan: string;
  included: number | null;
  cap: number | null;
  expiry_minutes: number;
  reminder_percent: number | null;
  review_code: boolean;
  default_approver: string | null;
  approver_limit: ApproverLimit | null;
  approver_domains: string[];
  hand_over: HandOver;
  requires_signature: boolean;
  receipt_hours: number;
  retention_days: number | null;
  created_at: Date;
};

const columns = `
  id, name, plan, included, cap, expiry_minutes, reminder_percent, review_code, default_approver,
  case when approver_limit_chosen then approver_limit end as approver_limit, approver_domains, hand_over,
  requires_signature, receipt_hours, retention_days, created_at`;

export async function exists(db: Queryable): Promise<boolean> {
  const { rows } = await db.query("select 1 from workspaces limit 1");
  return rows.length > 0;
}

export async function find(db: Queryable, id: string): Promise<Workspace | null> {
  const { rows } = await db.query<WorkspaceRow>(`select ${columns} from workspaces where id = $1`, [
    id,
  ]);
  return rows.map(toWorkspace)[0] ?? null;
}

export async function findInUse(db: Queryable, id: string): Promise<WorkspaceInUse | null> {
  const { rows } = await db.query<WorkspaceRow & { has_groups: boolean; is_empty: boolean }>(
    `select ${columns},
       (select p.has_groups from plans p where p.name = plan) as has_groups,
       not exists (select from approvals a where a.workspace_id = $1) as is_empty
     from workspaces where id = $1`,
    [id],
  );
  return (
    rows.map((row) => ({
      ...toWorkspace(row),
      hasGroups: row.has_groups,
      isEmpty: row.is_empty,
    }))[0] ?? null
  );
}

/** The plan of a workspace and whether it has groups; null when there is no such workspace. */
export async function findPlan(
  db: Queryable,
  id: string,
): Promise<{ name: string; hasGroups: boolean } | null> {
  const { rows } = await db.query<{ name: string; has_groups: boolean }>(
    `select p.name, p.has_groups from workspaces w join plans p on p.name = w.plan where w.id = $1`,
    [id],
  );
  return rows.map((row) => ({ name: row.name, hasGroups: row.has_groups }))[0] ?? null;
}

export async function list(db: Queryable): Promise<WorkspaceUsage[]> {
  const { rows } = await db.query<WorkspaceRow & { requests: number }>(
    `select ${columns}, coalesce((
       select u.requests from monthly_usage u
       where u.workspace_id = workspaces.id
         and u.month = date_trunc('month', now() at time zone 'utc')::date
     ), 0) as requests
     from workspaces order by id`,
  );
  return rows.map((row) => ({ ...toWorkspace(row), requestsThisMonth: row.requests }));
}

export async function listPlanNames(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    "select name from plans order by included nulls last",
  );
  return rows.map(({ name }) => name);
}

export async function insert(tx: Transaction, settings: WorkspaceSettings): Promise<Workspace> {
  const { rows } = await tx.query<WorkspaceRow>(
    `insert into workspaces (
       name, plan, included, cap, expiry_minutes, reminder_percent, review_code, default_approver,
       approver_limit, approver_limit_chosen, approver_domains, hand_over, requires_signature, receipt_hours, retention_days
     )
     values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, 'anybody'), $9 is not null, $10, $11, $12, $13, $14)
     returning ${columns}`,
    toValues(settings),
  );
  return rows.map(toWorkspace)[0] as Workspace;
}

export async function update(
  tx: Transaction,
  id: string,
  settings: WorkspaceSettings,
): Promise<Workspace> {
  const { rows } = await tx.query<WorkspaceRow>(
    `update workspaces
     set name = $2, plan = $3, included = $4, cap = $5, expiry_minutes = $6, reminder_percent = $7,
       review_code = $8, default_approver = $9, approver_limit = coalesce($10, 'anybody'),
       approver_limit_chosen = $10 is not null, approver_domains = $11, hand_over = $12,
       requires_signature = $13, receipt_hours = $14, retention_days = $15
     where id = $1
     returning ${columns}`,
    [id, ...toValues(settings)],
  );
  return rows.map(toWorkspace)[0] as Workspace;
}

/** Whether the database is marked as one that is only tried out. */
export async function hasTrial(db: Queryable): Promise<boolean> {
  const { rows } = await db.query("select 1 from workspaces where is_trial limit 1");
  return rows.length > 0;
}

export async function markTrial(tx: Transaction, id: string): Promise<void> {
  await tx.query("update workspaces set is_trial = true where id = $1", [id]);
}

export async function unmarkTrials(tx: Transaction): Promise<void> {
  await tx.query("update workspaces set is_trial = false where is_trial");
}

/** The workspaces where somebody is a member or in a group, or is asked by default, for all or for one key. */
export async function listIdsOf(db: Queryable, email: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select workspace_id as id from members where lower(email) = lower($1)
     union select workspace_id from group_members where lower(email) = lower($1)
     union select id from workspaces where lower(default_approver) = lower($1)
     union select workspace_id from api_keys
       where lower(default_approver) = lower($1) and revoked_at is null
     order by id`,
    [email],
  );
  return rows.map(({ id }) => id);
}

/** Locks a workspace against changes by others until the transaction ends. */
export async function lock(tx: Transaction, id: string): Promise<Workspace | null> {
  const { rows } = await tx.query<WorkspaceRow>(
    `select ${columns} from workspaces where id = $1 for no key update`,
    [id],
  );
  return rows.map(toWorkspace)[0] ?? null;
}

function toValues(settings: WorkspaceSettings): unknown[] {
  const { name, plan, included, cap, expiryMinutes, reminderPercent, reviewCode } = settings;
  return [
    name,
    plan,
    included,
    cap,
    expiryMinutes,
    reminderPercent,
    reviewCode,
    settings.defaultApprover,
    settings.approverLimit,
    settings.approverDomains,
    settings.handOver,
    settings.requiresSignature,
    settings.receiptHours,
    settings.retentionDays,
  ];
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    included: row.included,
    cap: row.cap,
    expiryMinutes: row.expiry_minutes,
    reminderPercent: row.reminder_percent,
    reviewCode: row.review_code,
    defaultApprover: row.default_approver,
    approverLimit: row.approver_limit,
    approverDomains: row.approver_domains,
    handOver: row.hand_over,
    requiresSignature: row.requires_signature,
    receiptHours: row.receipt_hours,
    retentionDays: row.retention_days,
    createdAt: row.created_at,
  };
}
