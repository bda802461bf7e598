// The dashboard's list of approvals: filtered, searched, sorted and paged so that a page costs about the same whether a
// workspace has a hundred of them or a million. Large columns are never read here.

import type { Queryable } from "../../database/database.ts";
import type { ApprovalStatus } from "../../domain/approval/approval.ts";
import { termsOf } from "../../domain/search/words.ts";
import { ttlMinutesMax } from "../../domain/shown/field-limits.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import { isBehind, search } from "./approval-search.ts";
import { afterLastId, firstId, firstIdAt } from "./approvals.ts";
import {
  type ListedApproval,
  type ListedRow,
  type ListOrder,
  type ListPlace,
  listedColumns,
  orderBy,
  rowOf,
  type Sought,
  type Terms,
  toListed,
  walk,
} from "./list-terms.ts";
import { statement } from "./statement.ts";

export type ListFilter = {
  status: ApprovalStatus | null;
  /** Exactly this name; empty for approvals without one. */
  agentName: string | null;
  approver: { kind: "address"; email: string } | { kind: "group"; key: string } | null;
  /** At or after. */
  createdFrom: Date | null;
  createdBefore: Date | null;
  /** The address of the person who approved or rejected, and when: at or after, and before. */
  decidedBy: string | null;
  decidedFrom: Date | null;
  decidedBefore: Date | null;
  /** The address of a person who can still decide or vote. */
  waitingFor: string | null;
  /** Only those for which more people were asked, because a stage stayed open. */
  isEscalated: boolean;
  /** Only those for which too few people are left, or to whose people no mail could be delivered. */
  isUnreachable: boolean;
  search: { kind: "id"; beginning: string } | { kind: "words"; typed: string } | null;
  order: ListOrder;
  /** Only approvals that come later in this order. */
  after: ListPlace | null;
};

/** Every approval, newest first. */
export const everything: ListFilter = {
  status: null,
  agentName: null,
  approver: null,
  createdFrom: null,
  createdBefore: null,
  decidedBy: null,
  decidedFrom: null,
  decidedBefore: null,
  waitingFor: null,
  isEscalated: false,
  isUnreachable: false,
  search: null,
  order: "newest",
  after: null,
};

/** `last` is the place after which the next page begins; null when there is none. */
export type ListedPage = { found: ListedApproval[]; last: ListPlace | null };

export async function list(
  db: Queryable,
  workspaceId: string,
  filter: ListFilter & { limit: number },
): Promise<ListedPage> {
  const terms = await readTerms(db, workspaceId, filter);
  if (terms === null) return { found: [], last: null };
  const { sought } = terms;
  const rows = sought === null ? await readWalked(db, terms) : await search(db, terms, sought);
  const found = rows.slice(0, filter.limit).map(toListed);
  return { found, last: rows.length > filter.limit ? (found.at(-1) ?? null) : null };
}

/** Whether approvals that match may be missing, because the words of some are not written yet. */
export async function mayLackSome(
  db: Queryable,
  workspaceId: string,
  filter: ListFilter,
): Promise<boolean> {
  const sought = soughtOf(filter);
  if (sought === null || sought === "nothing") return false;
  return isBehind(db, { workspaceId, ids: idsOf(filter) });
}

/** The database's clock, for callers that show how long something still lasts. */
export async function readNow(db: Queryable): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>("select now_ms() as now");
  return (rows[0] as { now: Date }).now;
}

/** Only the id is known, so the workspaces are asked in turn. */
export async function findWorkspaceOf(db: Queryable, id: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    "select w.id from workspaces w join approvals a on a.workspace_id = w.id and a.id = $1",
    [id],
  );
  return rows[0]?.id ?? null;
}

/** Null when nothing can match. */
async function readTerms(
  db: Queryable,
  workspaceId: string,
  filter: ListFilter & { limit: number },
): Promise<Terms | null> {
  const { agentName, decidedFrom, decidedBefore, order, after, limit } = filter;
  const { waitingFor, isEscalated, isUnreachable } = filter;
  // Nothing waits for anybody once it was resolved.
  const status = waitingFor === null ? filter.status : (filter.status ?? "PENDING");
  const isOver = status !== null && status !== "PENDING";
  const ids = idsOf(filter);
  const sought = soughtOf(filter);
  const isVain = (order === "expiry" || waitingFor !== null) && isOver;
  if (ids.from >= ids.until || sought === "nothing" || isVain) return null;
  const approver = await readApprover(db, workspaceId, filter.approver);
  if (approver === "") return null;
  const common = { workspaceId, status, agentName, approver, decidedFrom, decidedBefore };
  const voting = {
    waitingFor: waitingFor === null ? null : { email: waitingFor, person: personOf(waitingFor) },
    ...{ isEscalated, isUnreachable },
  };
  return { ...common, ...voting, ids, order, after, sought, limit };
}

/** "nothing" when the typed text holds no word. */
function soughtOf({ search: typed, decidedBy }: ListFilter): Sought | null | "nothing" {
  const words = typed?.kind === "words" ? termsOf(typed.typed) : null;
  if (words?.length === 0) return "nothing";
  return words === null && decidedBy === null ? null : { words: words ?? [], decidedBy };
}

/**
 * An id begins with the millisecond of created_at, so a stretch of time is a stretch of the primary key. A decision
 * comes after the create, by no more than the longest time a request may be given.
 */
function idsOf(filter: ListFilter) {
  const { createdFrom, createdBefore, decidedFrom, decidedBefore, search: sought } = filter;
  const from = [firstId];
  const until = [afterLastId];
  if (createdFrom !== null) from.push(firstIdAt(createdFrom.getTime()));
  if (createdBefore !== null) until.push(firstIdAt(createdBefore.getTime()));
  if (decidedFrom !== null) from.push(firstIdAt(decidedFrom.getTime() - ttlMinutesMax * 60_000));
  if (decidedBefore !== null) until.push(firstIdAt(decidedBefore.getTime()));
  if (sought?.kind === "id") {
    from.push(sought.beginning);
    // Hex digits end with f.
    until.push(`${sought.beginning}g`);
  }
  const { order, after } = filter;
  if (after !== null && order === "newest") until.push(after.id);
  // All ids have one length, so nothing lies between an id and the same with one more digit.
  if (after !== null && order === "oldest") from.push(`${after.id}0`);
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

/** Walks an index in the order of the list and stops after a page. */
async function readWalked(db: Queryable, terms: Terms): Promise<ListedRow[]> {
  const { rows } = await db.query<ListedRow>(
    statement((bind) => {
      const most = bind(terms.limit + 1);
      return `
        with page as (${walk(terms, bind, most)})
        select ${listedColumns}
        from page cross join ${rowOf("page", bind(terms.workspaceId))}
        order by ${orderBy(terms.order, "a")}`;
    }),
  );
  return rows;
}
