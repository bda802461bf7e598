// The dashboard's list of approvals: filtered, searched and paged so that a page costs about the same whether a
// workspace has a hundred of them or a million. Large columns are never read here.

import type { Queryable } from "../../database/database.ts";
import type { ApprovalStatus, Approver } from "../../domain/approval/approval.ts";
import { searchGlance } from "../../domain/limits.ts";
import { afterLastId, firstId, firstIdAt, pending, toApprover } from "./approvals.ts";

export type ListFilter = {
  status: ApprovalStatus | null;
  /** Exactly this name; empty for approvals without one. */
  agentName: string | null;
  approver: { kind: "address"; email: string } | { kind: "group"; key: string } | null;
  /** At or after. */
  createdFrom: Date | null;
  createdBefore: Date | null;
  search: { kind: "id"; beginning: string } | { kind: "words"; typed: string } | null;
  /** Only approvals with a smaller id, that is, older ones. */
  beforeId: string | null;
};

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
};

export type ListedPage = { found: ListedApproval[]; hasMore: boolean };

/** Newest first. */
export async function list(
  db: Queryable,
  workspaceId: string,
  filter: ListFilter & { limit: number },
): Promise<ListedPage> {
  const terms = await readTerms(db, workspaceId, filter);
  if (terms === null) return { found: [], hasMore: false };
  if (terms.sought === null) return toPage(await readWalked(db, terms), filter.limit);
  const glance = await readGlance(db, terms);
  const isWhole = glance.found.length > filter.limit || !glance.isCutShort;
  return toPage(isWhole ? glance.found : await readSought(db, terms), filter.limit);
}

/** The database's clock, for callers that show how long something still lasts. */
export async function readNow(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>("select now_ms() as now");
  return (rows[0] as { now: Date }).now;
}

/** The parts of a statement. Text that people typed has been looked up or split into words. */
type Terms = {
  workspaceId: string;
  status: ApprovalStatus | null;
  agentName: string | null;
  /** An address, or the id of a group. */
  approver: string | null;
  ids: { from: string; until: string };
  /** Words to be found as the beginning of words. */
  sought: string[] | null;
  limit: number;
};

/** Null when nothing can match. */
async function readTerms(
  db: Queryable,
  workspaceId: string,
  filter: ListFilter & { limit: number },
): Promise<Terms | null> {
  const { status, agentName, limit, search } = filter;
  const ids = idsOf(filter);
  const approver = await readApprover(db, workspaceId, filter.approver);
  const sought = search?.kind === "words" ? await readSearch(db, search.typed) : null;
  if (ids.from >= ids.until || approver === "" || sought?.length === 0) return null;
  return { workspaceId, status, agentName, approver, ids, sought, limit };
}

/** An id begins with the millisecond of created_at, so a stretch of time is a stretch of the primary key. */
function idsOf({ createdFrom, createdBefore, beforeId, search }: ListFilter) {
  const from = [createdFrom === null ? firstId : firstIdAt(createdFrom.getTime())];
  const until = [createdBefore === null ? afterLastId : firstIdAt(createdBefore.getTime())];
  if (beforeId !== null) until.push(beforeId);
  if (search?.kind === "id") {
    from.push(search.beginning);
    // Hex digits end with f.
    until.push(`${search.beginning}g`);
  }
  return { from: from.sort().at(-1) ?? firstId, until: until.sort()[0] ?? afterLastId };
}

/** The value that the index has for an approver; empty when there is no such group. */
async function readApprover(
  db: Queryable,
  workspaceId: string,
  approver: ListFilter["approver"],
): Promise<string | null> {
  if (approver === null) return null;
  if (approver.kind === "address") return approver.email;
  const { rows } = await db.query<{ id: string }>(
    "select id from groups where workspace_id = $1 and key = $2",
    [workspaceId, approver.key],
  );
  return rows[0]?.id ?? "";
}

/** Splits the typed text as summaries are split. Empty when it holds no word. */
async function readSearch(db: Queryable, typed: string): Promise<string[]> {
  // The workspace is x here, because no word may be empty there.
  const { rows } = await db.query<{ words: string[] }>(
    "select tsvector_to_array(search_words('x', '', $1)) as words",
    [typed],
  );
  return (rows[0]?.words ?? []).map((word) => word.slice(1)).filter((word) => word !== "");
}

/** The query for one season. The season is empty where a summary itself is searched, not the index. */
function queryOf({ workspaceId, sought }: Terms, season: string): string {
  const start = `${workspaceId.replaceAll("_", "")}${season}`;
  return (sought ?? []).map((word) => `'${quoted(start + word)}':*`).join(" & ");
}

function quoted(lexeme: string): string {
  return lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''");
}

// Statements are made for each call and never prepared: the right index depends on the values.
type Bind = (value: unknown) => string;

function statement(write: (bind: Bind) => string): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const text = write((value) => `$${values.push(value)}`);
  return { text, values };
}

/** Walks an index in the order of the list and stops after a page. */
async function readWalked(db: Queryable, terms: Terms): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow>(
    statement((bind) => {
      const most = bind(terms.limit + 1);
      return `
        with page as (${walk(terms, bind, most)})
        select ${columns}
        from page join approvals a on a.workspace_id = ${bind(terms.workspaceId)} and a.id = page.id
        order by a.id desc`;
    }),
  );
  return rows;
}

/**
 * Looks for words in the newest few approvals alone. Common words fill a page from these, and fetching all that the
 * index knows of a common word would take seconds.
 */
async function readGlance(
  db: Queryable,
  terms: Terms,
): Promise<{ found: ListedRow[]; isCutShort: boolean }> {
  const { rows } = await db.query<ListedRow & { seen: number }>(
    statement((bind) => {
      const workspace = bind(terms.workspaceId);
      return `
        with glance as materialized (${walk(terms, bind, bind(searchGlance))}),
        page as (
          select a.id from glance as a
          where search_words(a.workspace_id, '', a.summary) @@ ${bind(queryOf(terms, ""))}::tsquery
          order by a.id desc
          limit ${bind(terms.limit + 1)}
        )
        select ${columns}, seen
        from (select count(*)::int as seen from glance) as counted
        left join page on true
        left join approvals a on a.workspace_id = ${workspace} and a.id = page.id
        order by a.id desc`;
    }),
  );
  const found = rows.filter(({ id }) => id !== null);
  return { found, isCutShort: (rows[0]?.seen ?? 0) >= searchGlance };
}

/** For rarer words: reads the index of words, one season after the other until the page is full. */
async function readSought(db: Queryable, terms: Terms): Promise<ListedRow[]> {
  const rows: ListedRow[] = [];
  for (const season of await readSeasons(db, terms)) {
    const limit = terms.limit - rows.length;
    rows.push(...(await readSeason(db, { ...terms, limit }, season)));
    if (rows.length > terms.limit) break;
  }
  return rows;
}

/** Every season from the newest approval back to the oldest. */
async function readSeasons(db: Queryable, { workspaceId, ids }: Terms): Promise<string[]> {
  const { rows } = await db.query<{ oldest: string | null; newest: string | null }>(
    `select min(id) as oldest, max(id) as newest from approvals
     where workspace_id = $1 and id >= $2 and id < $3`,
    [workspaceId, ids.from, ids.until],
  );
  const { oldest = null, newest = null } = rows[0] ?? {};
  if (oldest === null || newest === null) return [];
  const [first, last] = [oldest, newest].map((id) => Number.parseInt(seasonOf(id), 16));
  const count = (last ?? 0) - (first ?? 0) + 1;
  return Array.from({ length: count }, (_, at) => ((last ?? 0) - at).toString(16).padStart(4, "0"));
}

function seasonOf(id: string): string {
  return id.slice("req_".length, "req_".length + seasonDigits);
}

const seasonDigits = 4;

async function readSeason(db: Queryable, terms: Terms, season: string): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow>(
    statement((bind) => {
      const workspace = bind(terms.workspaceId);
      const statuses = terms.status === null ? [] : [statusConditions[terms.status].join(" or ")];
      const conditions = [...narrowed(terms, bind), ...statuses];
      // Looks at each match by itself, newest first, and at no more of them than fill a page.
      return `
        with matching as materialized (
          select w.approval_id as id from approval_words w
          where w.workspace_id = ${workspace}
            and search_words(w.workspace_id, w.approval_id, w.summary) @@ ${bind(queryOf(terms, season))}::tsquery
        ),
        page as (
          select a.id from matching
          cross join lateral (
            select a.id from approvals a
            where a.workspace_id = ${workspace} and a.id = matching.id
              and ${conditions.map((each) => `(${each})`).join(" and ")}
            limit 1
          ) as a
          order by matching.id desc
          limit ${bind(terms.limit + 1)}
        )
        select ${columns}
        from page join approvals a on a.workspace_id = ${workspace} and a.id = page.id
        order by a.id desc`;
    }),
  );
  return rows;
}

const isOverdue = "(a.status = 'PENDING' and a.expires_at <= now())";
const statusConditions: Record<ApprovalStatus, string[]> = {
  // The sub-select keeps the planner from the index of all pending approvals, whose rows must be sorted first.
  PENDING: [`a.status = ${pending} and a.expires_at > now()`],
  APPROVED: ["a.status = 'APPROVED'"],
  REJECTED: ["a.status = 'REJECTED'"],
  EXPIRED: ["a.status = 'EXPIRED'", isOverdue],
  CANCELLED: ["a.status = 'CANCELLED'"],
};
const everyStatus = Object.keys(statusConditions).map((status) => `a.status = '${status}'`);

/**
 * The newest ids that match everything but the words. The indexes by agent and approver are by status too, so each walk
 * meets only the rows it wants. Where any status will do, the walks are merged.
 */
function walk(terms: Terms, bind: Bind, most: string): string {
  const isByIndex = terms.agentName !== null || terms.approver !== null;
  const anyStatus = isByIndex ? everyStatus : ["true"];
  const conditions = terms.status === null ? anyStatus : statusConditions[terms.status];
  const workspace = bind(terms.workspaceId);
  const common = narrowed(terms, bind).join(" and ");
  const walks = conditions.map((condition) => {
    const found = `
      select a.workspace_id, a.id, a.summary from approvals a
      where a.workspace_id = ${workspace} and ${condition} and ${common}`;
    return condition === isOverdue
      ? `(${fenced(found)})`
      : `(${found} order by a.id desc limit ${most})`;
  });
  return `
    select workspace_id, id, summary from (${walks.join(" union all ")}) as walks
    order by id desc
    limit ${most}`;
}

/**
 * Finds overdue approvals by their end: in that order they come first. There are rarely any, so a walk past all
 * pending ones in the order of ids would be in vain. The order keeps the planner to that.
 */
function fenced(overdue: string): string {
  return `with overdue as materialized (${overdue} order by a.expires_at) select workspace_id, id, summary from overdue`;
}

/** Everything but the status and the words, in the form that the indexes have. */
function narrowed({ ids, agentName, approver }: Terms, bind: Bind): string[] {
  return [
    `a.id >= ${bind(ids.from)} and a.id < ${bind(ids.until)}`,
    ...(agentName === null ? [] : [`coalesce(a.agent_name, '') = ${bind(agentName)}`]),
    ...(approver === null
      ? []
      : [`coalesce(a.group_id, lower(a.approver_email)) = lower(${bind(approver)})`]),
  ];
}

const columns = `
  a.id, case when ${isOverdue} then 'EXPIRED' else a.status end as status, a.summary, a.agent_name,
  a.approver_email, a.group_key, a.group_name, a.created_at, a.expires_at,
  case when ${isOverdue} then a.expires_at else a.resolved_at end as resolved_at, a.resolved_by_email,
  a.edit is not null as is_edited`;

type ListedRow = {
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
};

function toPage(rows: ListedRow[], limit: number): ListedPage {
  return { found: rows.slice(0, limit).map(toListed), hasMore: rows.length > limit };
}

function toListed(row: ListedRow): ListedApproval {
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
  };
}
