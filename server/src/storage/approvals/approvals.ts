// The approvals table: reading approvals one by one and in lists. Creating, reminding of and resolving them are
// statements of their own, in approval-creation.ts, reminding.ts and approval-resolution.ts.

import type { Queryable } from "../../database/database.ts";
import {
  type Approval,
  type ApprovalState,
  type ApprovalStatus,
  type Approver,
  approvalStatuses,
} from "../../domain/approval/approval.ts";
import { gatheredReadBytesMax, listBytesMax } from "../../domain/limits.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import {
  bytesOf,
  columnList,
  largeSubmittedColumns,
  type SubmittedColumns,
  smallSubmittedColumns,
  toAdditions,
} from "./submitted-columns.ts";

export type ApprovalRow = SubmittedColumns & {
  id: string;
  status: ApprovalStatus;
  edit: string | null;
  approver_email: string | null;
  group_key: string | null;
  group_name: string | null;
  created_at: Date;
  expires_at: Date;
  resolved_at: Date | null;
  resolved_by_email: string | null;
  resolution_note: string | null;
  voting: string | null;
};

export const smallColumns = `
  a.id, a.status, ${columnList("a", smallSubmittedColumns)}, a.approver_email,
  a.group_key, a.group_name, a.created_at, a.expires_at, a.resolved_at, a.resolved_by_email,
  a.resolution_note, a.voting`;
const large = [...largeSubmittedColumns, "edit"];
export const largeColumns = columnList("a", large);
export const largeBytes = bytesOf("a", large);
/** The large columns of rows that have no more bytes than this in them; nulls for the others. */
export const largeColumnsUpTo = (bytesMax: number) =>
  large
    .map((name) => `case when ${largeBytes} <= ${bytesMax} then a.${name} end as ${name}`)
    .join(",\n    ");
/**
 * For statements that find their rows by id. With the bare word, the planner would walk the index of pending approvals,
 * because its statistics say there are next to none, and look at all of them for a single row.
 */
export const pending = "(select 'PENDING')";
const isOverdue = "(a.status = 'PENDING' and a.expires_at <= now())";

/** An approval as a caller may read it, by the database's clock. */
export type FoundApproval = {
  approval: Approval;
  /** Its time has passed and nobody has expired it yet: it must not be shown as it is. */
  isOverdue: boolean;
  expiresInMs: number;
};

export type ApprovalLookup = { keyDigest: Buffer; id: string };
export type ApprovalLookupResult =
  | { kind: "unknown_key" }
  | { kind: "not_found"; workspaceId: string }
  | { kind: "large"; workspaceId: string }
  | ({ kind: "found"; workspaceId: string } & FoundApproval);

type FoundRow = ApprovalRow & { is_overdue: boolean; expires_in_ms: string };

/**
 * Looks up many approvals, each with the API key of its caller, in one statement: the key is checked
 * where the row is read, so there is no cache that a revoked key could outlive.
 */
export async function findByKeys(
  db: Queryable,
  lookups: ApprovalLookup[],
): Promise<ApprovalLookupResult[]> {
  const { rows } = await db.query<
    FoundRow & { workspace_id: string | null; found_id: string | null; is_large: boolean }
  >({
    name: "approvals.findByKeys",
    text: findByKeysSql,
    values: [lookups.map(({ keyDigest }) => keyDigest), lookups.map(({ id }) => id)],
  });
  return rows.map((row) => {
    const workspaceId = row.workspace_id;
    if (workspaceId === null) return { kind: "unknown_key" };
    if (row.found_id === null) return { kind: "not_found", workspaceId };
    if (row.is_large) return { kind: "large", workspaceId };
    return { kind: "found", workspaceId, ...toFoundApproval(row) };
  });
}

// Rows too large to travel with others come back without their large columns, and are read again alone.
// The arrays stand in sub-selects because the planner would look at their length otherwise, find a plan for
// just this length cheaper each time, and so plan every single read anew: half the speed at low load. And the limit
// keeps it from joining with all approvals, which it would while there are few (decision 14).
export const findByKeysSql = `
  select k.workspace_id, a.id as found_id, ${smallColumns},
    ${largeBytes} > ${gatheredReadBytesMax} as is_large,
    ${largeColumnsUpTo(gatheredReadBytesMax)},
    ${isOverdue} as is_overdue,
    extract(epoch from a.expires_at - now()) * 1000 as expires_in_ms
  from unnest((select $1::bytea[]), (select $2::text[])) with ordinality as lookup (key_digest, id, n)
  left join api_keys k on k.digest = lookup.key_digest and k.revoked_at is null
  left join lateral (
    select a.* from approvals a where a.workspace_id = k.workspace_id and a.id = lookup.id limit 1
  ) as a on true
  order by lookup.n`;

export async function find(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<FoundApproval | null> {
  const { rows } = await db.query<FoundRow>({
    name: "approvals.find",
    text: `
      select ${smallColumns}, ${largeColumns}, ${isOverdue} as is_overdue,
        extract(epoch from a.expires_at - now()) * 1000 as expires_in_ms
      from approvals a
      where a.workspace_id = $1 and a.id = $2`,
    values: [workspaceId, id],
  });
  const [row] = rows;
  return row === undefined ? null : toFoundApproval(row);
}

/** Where its outcome is sent beside the webhooks. Approvals don't carry it, so that no answer can tell it. */
export async function findCallbackUrl(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<string | null> {
  const { rows } = await db.query<{ callback_url: string | null }>(
    "select callback_url from approvals where workspace_id = $1 and id = $2",
    [workspaceId, id],
  );
  return rows[0]?.callback_url ?? null;
}

/** The approval that a caller's idempotency key was used for; null when there is none or the key is unknown. */
export async function findByIdempotencyKey(
  db: Queryable,
  lookup: { keyDigest: Buffer; idempotencyKey: string; bodyDigest: Buffer },
): Promise<{ workspaceId: string; id: string; isSameBody: boolean } | null> {
  const { rows } = await db.query<{ workspace_id: string; id: string; is_same_body: boolean }>({
    name: "approvals.findByIdempotencyKey",
    text: `
      select a.workspace_id, a.id, a.body_digest = $3 as is_same_body
      from api_keys k
      cross join lateral (
        select a.* from approvals a
        where a.workspace_id = k.workspace_id and a.idempotency_key = $2
        limit 1
      ) as a
      where k.digest = $1 and k.revoked_at is null`,
    values: [lookup.keyDigest, lookup.idempotencyKey, lookup.bodyDigest],
  });
  const [row] = rows;
  return row === undefined
    ? null
    : { workspaceId: row.workspace_id, id: row.id, isSameBody: row.is_same_body };
}

export type ApprovalFilter = {
  status: ApprovalStatus | null;
  agentName: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  /** Only approvals with a smaller id, that is, older ones. */
  beforeId: string | null;
};

/**
 * Lists a workspace's approvals, newest first. Ids begin with their time of creation, so the primary
 * key is the order. Fewer than `limit` come back when their JSON would be too much for one answer.
 */
export async function list(
  db: Queryable,
  workspaceId: string,
  filter: ApprovalFilter & { limit: number },
): Promise<{ found: FoundApproval[]; hasMore: boolean }> {
  const { rows } = await db.query<FoundRow & { has_more: boolean }>({
    name: `approvals.list.${filter.status ?? "any"}${filter.agentName === null ? "" : ".of_agent"}`,
    text: listSql(filter),
    values: [workspaceId, filter.agentName, ...idBounds(filter), filter.limit],
  });
  return { found: rows.map(toFoundApproval), hasMore: rows[0]?.has_more ?? false };
}

// A statement for each status, so that each walks an index in its order and stops after a page. An approval
// whose time has passed counts as EXPIRED here even when nobody has expired it yet: two walks, merged.
const statusConditions: Record<ApprovalStatus | "any", string[]> = {
  any: ["true"],
  PENDING: [`a.status = ${pending} and a.expires_at > now()`],
  APPROVED: ["a.status = 'APPROVED'"],
  REJECTED: ["a.status = 'REJECTED'"],
  EXPIRED: ["a.status = 'EXPIRED'", isOverdue],
  CANCELLED: ["a.status = 'CANCELLED'"],
};

/** The index by agent is in order within each status only. */
const statusConditionsOfAgent = approvalStatuses.map((status) => `a.status = '${status}'`);

function listSql({ status, agentName }: ApprovalFilter): string {
  const conditions =
    status === null && agentName !== null
      ? statusConditionsOfAgent
      : statusConditions[status ?? "any"];
  const ofAgent =
    agentName === null
      ? "$2::text is null"
      : "coalesce(a.agent_name, '') = $2 and a.agent_name is not null";
  const walks = conditions.map(
    (condition) => `(
      select a.id, ${largeBytes} as bytes
      from approvals a
      where a.workspace_id = $1 and ${condition}
        and a.id >= $3 and a.id < $4
        and ${ofAgent}
      order by a.id desc
      limit $5 + 1)`,
  );
  return `
  with candidates as (
    select id, bytes from (${walks.join(" union all ")}) as walks
    order by id desc
    limit $5 + 1
  ),
  page as (
    select id, count(*) over () as candidates,
      row_number() over (order by id desc) as place,
      sum(bytes) over (order by id desc) - bytes as bytes_before
    from candidates
  ),
  fitting as (
    select id, candidates, count(*) over () as fitting
    from page
    where place <= $5 and (place = 1 or bytes_before < ${listBytesMax})
  )
  select ${smallColumns}, ${largeColumns}, ${isOverdue} as is_overdue,
    extract(epoch from a.expires_at - now()) * 1000 as expires_in_ms,
    candidates > fitting as has_more
  from fitting
  join approvals a on a.workspace_id = $1 and a.id = fitting.id
  order by a.id desc`;
}

/** An id begins with the millisecond of created_at, so a stretch of time is a stretch of the primary key. */
function idBounds({ createdAfter, createdBefore, beforeId }: ApprovalFilter): [string, string] {
  const from = createdAfter === null ? firstId : firstIdAt(createdAfter.getTime() + 1);
  const until = createdBefore === null ? afterLastId : firstIdAt(createdBefore.getTime());
  return [from, beforeId !== null && beforeId < until ? beforeId : until];
}

export const firstId = "req_";
/** Greater than any id: hex digits end with f. */
export const afterLastId = "req_g";
const timeDigits = 12;

/** The smallest id that an approval created in this millisecond, or later, can have. */
export function firstIdAt(ms: number): string {
  if (ms < 0) return firstId;
  const digits = ms.toString(16).padStart(timeDigits, "0");
  return digits.length > timeDigits ? afterLastId : `req_${digits}`;
}

function toFoundApproval(row: FoundRow): FoundApproval {
  return {
    approval: toApproval(row),
    isOverdue: row.is_overdue,
    expiresInMs: Number(row.expires_in_ms),
  };
}

export function toApproval(row: ApprovalRow): Approval {
  return {
    id: row.id,
    summary: row.summary,
    payload: row.payload as JsonText | null,
    metadata: row.metadata as JsonText | null,
    agentState: row.agent_state as JsonText | null,
    reasoning: row.reasoning,
    recentActions: JSON.parse(row.recent_actions) as string[],
    agentName: row.agent_name,
    approver: toApprover(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    state: toState(row),
    voting: row.voting as JsonText | null,
    ...toAdditions(row),
  };
}

export function toApprover(
  row: Pick<ApprovalRow, "approver_email" | "group_key" | "group_name">,
): Approver {
  return row.approver_email === null
    ? { kind: "group", key: row.group_key as string, name: row.group_name as string }
    : { kind: "address", email: row.approver_email };
}

// The schema's constraints promise which columns are there in which state.
export function toState(
  row: Pick<
    ApprovalRow,
    "status" | "resolved_at" | "resolved_by_email" | "resolution_note" | "edit"
  >,
): ApprovalState {
  const at = row.resolved_at as Date;
  const byEmail = row.resolved_by_email as string;
  const note = row.resolution_note;
  switch (row.status) {
    case "PENDING":
      return { kind: "PENDING" };
    case "APPROVED":
      return { kind: "APPROVED", at, byEmail, note, edit: row.edit as JsonText | null };
    case "REJECTED":
      return { kind: "REJECTED", at, byEmail, note };
    case "EXPIRED":
      return { kind: "EXPIRED", at };
    case "CANCELLED":
      return { kind: "CANCELLED", at };
    default:
      return row.status satisfies never;
  }
}
