// The parts from which the statements of the dashboard's lists are made: the filter in the form that indexes have, the
// walk along an index in the order of a list, and the columns of a line.

import type { ApprovalStatus, Approver } from "../../domain/approval/approval.ts";
import type { Term } from "../../domain/search/words.ts";
import { pending, toApprover } from "./approvals.ts";
import type { Bind } from "./statement.ts";
import { type AwaitedPerson, waitingWalks, waitsFor } from "./waiting-terms.ts";

/** By age, or by the time that is left: that order lists pending approvals only. */
export type ListOrder = "newest" | "oldest" | "expiry";

/** The last line of a page: the next page begins after it. */
export type ListPlace = { id: string; expiresAt: Date };

/** One line of the list. Past its end it is EXPIRED, whether or not somebody has expired it yet. */
export type ListedApproval = {
  id: string;
  status: ApprovalStatus;
  summary: string;
  agentName: string | null;
  approver: Approver;
  createdAt: Date;
  expiresAt: Date;
  resolvedAt: Date | null;
  resolvedByEmail: string | null;
  isEdited: boolean;
  /** Several people may have a say. */
  hasSeats: boolean;
};

/** The parts of a statement. Text that people typed has been looked up or split into words. */
export type Terms = {
  workspaceId: string;
  status: ApprovalStatus | null;
  agentName: string | null;
  /** An address, or the id of a group. */
  approver: string | null;
  decidedFrom: Date | null;
  decidedBefore: Date | null;
  /** Then the status is PENDING. */
  waitingFor: AwaitedPerson | null;
  /** Only those for which more people were asked, and those that nobody can decide or was told of. */
  isEscalated: boolean;
  isUnreachable: boolean;
  ids: { from: string; until: string };
  order: ListOrder;
  after: ListPlace | null;
  sought: Sought | null;
  limit: number;
};

/** What only the index of words can find: words, and the address of the person who decided. */
export type Sought = { words: readonly Term[]; decidedBy: string | null };

const isOverdue = "(a.status = 'PENDING' and a.expires_at <= now())";
const statusConditions: Record<ApprovalStatus, string[]> = {
  // The sub-select keeps the planner from the indexes of all pending approvals, whose rows must be sorted first.
  PENDING: [`a.status = ${pending} and a.expires_at > now()`],
  APPROVED: ["a.status = 'APPROVED'"],
  REJECTED: ["a.status = 'REJECTED'"],
  EXPIRED: ["a.status = 'EXPIRED'", isOverdue],
  CANCELLED: ["a.status = 'CANCELLED'"],
};
const everyStatus = Object.keys(statusConditions).map((status) => `a.status = '${status}'`);
/** With the bare word, so that the index of pending approvals by their end is walked. */
const byExpiry = ["a.status = 'PENDING' and a.expires_at > now()"];

/** The order of a list, for the columns of `table`. */
export function orderBy(order: ListOrder, table: string): string {
  switch (order) {
    case "newest":
      return `${table}.id desc`;
    case "oldest":
      return `${table}.id`;
    case "expiry":
      return `${table}.expires_at, ${table}.id`;
    default:
      return order satisfies never;
  }
}

/**
 * The first ids that match everything but the words. The indexes by agent and approver are by status too, so each walk
 * meets only the rows it wants. Where any status will do, the walks are merged.
 */
export function walk(terms: Terms, bind: Bind, most: string): string {
  if (terms.waitingFor !== null) return walkWaiting(terms, terms.waitingFor, { bind, most });
  if (terms.isEscalated || terms.isUnreachable) return walkVotings(terms, bind, most);
  if (terms.order === "expiry") return walkByExpiry(terms, bind, most);
  const workspace = bind(terms.workspaceId);
  const common = narrowed(terms, bind).join(" and ");
  const walks = statusesOf(terms).map((condition) => {
    const found = `
      select a.workspace_id, a.id, a.expires_at from approvals a
      where a.workspace_id = ${workspace} and ${condition} and ${common}`;
    return condition === isOverdue
      ? `(${fenced(found)})`
      : `(${found} order by ${orderBy(terms.order, "a")} limit ${most})`;
  });
  return `
    select workspace_id, id, expires_at from (${walks.join(" union all ")}) as walks
    order by ${orderBy(terms.order, "walks")}
    limit ${most}`;
}

/**
 * Workspace, end and id are compared as one row, which only the index of pending approvals by their end knows: by itself
 * the planner sorts all that are pending, since it expects to find next to none.
 */
function walkByExpiry(terms: Terms, bind: Bind, most: string): string {
  const { after } = terms;
  const [end, id] = after === null ? ["now()", "''"] : [bind(after.expiresAt), bind(after.id)];
  const workspace = bind(terms.workspaceId);
  return `
    select a.workspace_id, a.id, a.expires_at from approvals a
    where a.status = 'PENDING' and a.expires_at > now()
      and (a.workspace_id, a.expires_at, a.id) > (${workspace}, ${end}, ${id})
      and (a.workspace_id, a.expires_at) <= (${workspace}, 'infinity')
      and ${narrowed(terms, bind).join(" and ")}
    order by a.workspace_id, a.expires_at, a.id
    limit ${most}`;
}

type Page = { bind: Bind; most: string };

/** By expiry, all that wait for somebody are sorted: they are few beside all that are pending. */
function walkWaiting(terms: Terms, awaited: AwaitedPerson, { bind, most }: Page): string {
  const { order } = terms;
  const walks = waitingWalks(awaited, bind, {
    workspace: bind(terms.workspaceId),
    conditions: narrowed(terms, bind).join(" and "),
    order: (id) => (order === "expiry" ? "" : `order by ${id} ${order === "newest" ? "desc" : ""}`),
    page: order === "expiry" ? "" : `limit ${most}`,
  });
  return `
    select workspace_id, id, expires_at from (${walks.map((each) => `(${each})`).join(" union all ")}) as walks
    order by ${orderBy(order, "walks")}
    limit ${most}`;
}

/** Along the small index of those votings, since they are rare among all approvals. */
function walkVotings(terms: Terms, bind: Bind, most: string): string {
  const { order, ids, isEscalated, isUnreachable } = terms;
  const workspace = bind(terms.workspaceId);
  const conditions = [
    ...(isEscalated ? [wasEscalated] : []),
    ...(isUnreachable ? [isInTrouble] : []),
  ];
  return `
    select a.workspace_id, a.id, a.expires_at
    from (
      select v.approval_id as id from votings v
      where v.workspace_id = ${workspace} and ${conditions.join(" and ")}
        and v.approval_id >= ${bind(ids.from)} and v.approval_id < ${bind(ids.until)}
    ) as voting
    cross join lateral (
      select a.workspace_id, a.id, a.expires_at from approvals a
      where a.workspace_id = ${workspace} and a.id = voting.id and ${verified(terms, bind).join(" and ")}
      limit 1
    ) as a
    order by ${order === "expiry" ? orderBy(order, "a") : orderBy(order, "voting")}
    limit ${most}`;
}

const wasEscalated = "v.escalated_at is not null";
const isInTrouble = "(v.stuck_at is not null or v.unreachable_at is not null)";

function statusesOf({ status, agentName, approver }: Terms): string[] {
  if (status !== null) return statusConditions[status];
  return agentName !== null || approver !== null ? everyStatus : ["true"];
}

/**
 * Finds overdue approvals by their end: in that order they come first. There are rarely any, so a walk past all
 * pending ones in the order of ids would be in vain. The order keeps the planner to that.
 */
function fenced(overdue: string): string {
  return `
    with overdue as materialized (${overdue} order by a.expires_at)
    select workspace_id, id, expires_at from overdue`;
}

/** All conditions, for a row that was found by its id. */
export function verified(terms: Terms, bind: Bind): string[] {
  const { status, order, sought, waitingFor } = terms;
  const statuses = order === "expiry" ? byExpiry : status === null ? [] : statusConditions[status];
  const decidedBy = sought?.decidedBy ?? null;
  return [
    ...narrowed(terms, bind),
    ...(statuses.length === 0 ? [] : [`(${statuses.join(" or ")})`]),
    ...(waitingFor === null ? [] : [waitsFor(waitingFor, bind)]),
    ...(decidedBy === null ? [] : [`lower(a.resolved_by_email) = lower(${bind(decidedBy)})`]),
  ];
}

/** Everything but the status, the words and the decider, in the form that the indexes have. */
function narrowed(terms: Terms, bind: Bind): string[] {
  const { ids, agentName, approver, decidedFrom, decidedBefore, order, after } = terms;
  const { isEscalated, isUnreachable } = terms;
  const isDecided = decidedFrom !== null || decidedBefore !== null;
  return [
    `a.id >= ${bind(ids.from)} and a.id < ${bind(ids.until)}`,
    ...(agentName === null ? [] : [`coalesce(a.agent_name, '') = ${bind(agentName)}`]),
    ...(approver === null
      ? []
      : [`coalesce(a.group_id, lower(a.approver_email)) = lower(${bind(approver)})`]),
    ...(isDecided ? ["a.resolved_by_email is not null"] : []),
    ...(decidedFrom === null ? [] : [`a.resolved_at >= ${bind(decidedFrom)}`]),
    ...(decidedBefore === null ? [] : [`a.resolved_at < ${bind(decidedBefore)}`]),
    ...(isEscalated ? [hasVoting(wasEscalated)] : []),
    ...(isUnreachable ? [hasVoting(isInTrouble)] : []),
    ...(order === "expiry" && after !== null
      ? [`(a.expires_at, a.id) > (${bind(after.expiresAt)}, ${bind(after.id)})`]
      : []),
  ];
}

function hasVoting(condition: string): string {
  return `exists (
    select from votings v
    where v.workspace_id = a.workspace_id and v.approval_id = a.id and ${condition}
  )`;
}

/** The row of a page's id, by itself: the planner turns plain joins around. */
export function rowOf(page: string, workspace: string): string {
  return `lateral (
    select a.* from approvals a where a.workspace_id = ${workspace} and a.id = ${page}.id limit 1
  ) as a`;
}

export const listedColumns = `
  a.id, case when ${isOverdue} then 'EXPIRED' else a.status end as status, a.summary, a.agent_name,
  a.approver_email, a.group_key, a.group_name, a.created_at, a.expires_at,
  case when ${isOverdue} then a.expires_at else a.resolved_at end as resolved_at, a.resolved_by_email,
  a.edit is not null as is_edited, a.has_seats`;

export type ListedRow = {
  id: string;
  status: ApprovalStatus;
  summary: string;
  agent_name: string | null;
  approver_email: string | null;
  group_key: string | null;
  group_name: string | null;
  created_at: Date;
  expires_at: Date;
  resolved_at: Date | null;
  resolved_by_email: string | null;
  is_edited: boolean;
  has_seats: boolean;
};

export function toListed(row: ListedRow): ListedApproval {
  return {
    id: row.id,
    status: row.status,
    summary: row.summary,
    agentName: row.agent_name,
    approver: toApprover(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    resolvedAt: row.resolved_at,
    resolvedByEmail: row.resolved_by_email,
    isEdited: row.is_edited,
    hasSeats: row.has_seats,
  };
}
