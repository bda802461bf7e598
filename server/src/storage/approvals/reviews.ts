// Finds a reviewer, by their link or as somebody whose address is proven, and as much of the approval as they may see.
// The agent's own data, its state and its metadata, is never read here.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ApprovalState } from "../../domain/approval/approval.ts";
import { reviewCodeTriesMax, reviewOutcomeDays } from "../../domain/limits.ts";
import { othersWaitingMax } from "../../domain/shown/field-limits.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import type { ShownName, Submitted } from "../../domain/shown/submitted-fields.ts";
import { isOwnerSince } from "../workspaces/key-owners.ts";
import { type ApprovalRow, pending, toState } from "./approvals.ts";
import { firstPendingId, isStillAsked, mayStillDecide } from "./may-still-decide.ts";
import {
  bytesOf,
  columnList,
  largeShownColumns,
  type ShownColumns,
  smallShownColumns,
  toShown,
} from "./submitted-columns.ts";

/**
 * How a reader comes to their review: by the link in their mail, or as somebody who has proven to own the address that
 * was asked. Another spelling of it may be another mailbox.
 */
export type ReviewAccess =
  | { kind: "link"; tokenDigest: Buffer }
  | { kind: "person"; reviewerId: string; email: string; via: "inbox" | "slack" };

/** The facts that change, and those needed to open the rest. */
export type ReviewLink = {
  workspaceId: string;
  workspaceName: string;
  approvalId: string;
  reviewer: {
    id: string;
    email: string;
    /** A link needs its code; a proven address needs none. */
    needsCode: boolean;
    codeTries: number;
    secretKeyId: string;
    tokenNonce: Buffer;
    /** The page behind the link has been shown before. */
    hasOpened: boolean;
  };
  state: ApprovalState;
  expiresAt: Date;
  /** Its people have seats, and vote. */
  hasSeats: boolean;
  /** They own the API key that asked, so they may not decide. */
  isKeyOwner: boolean;
  /** Nobody approves it without a passkey. */
  needsSignature: boolean;
  /** Its time has passed and nobody has expired it yet: it must not be shown as it is. */
  isOverdue: boolean;
  /** Other approvals of the workspace that wait for this reviewer, up to a limit. 0 unless asked for. */
  othersWaiting: number;
  /** The database's clock. */
  now: Date;
};

export type Review = ReviewLink &
  Pick<Submitted<JsonText>, ShownName> & { groupName: string | null; createdAt: Date };

/** The approval that a link leads to, and how many bytes of its JSON the link shows. */
export type ReviewWeight = Pick<ReviewLink, "workspaceId" | "approvalId"> & { bytes: number };

type WeightRow = { workspace_id: string; approval_id: string; bytes: number };

type StateColumns = Pick<
  ApprovalRow,
  "status" | "resolved_at" | "resolved_by_email" | "resolution_note" | "edit"
>;

type LinkRow = StateColumns & {
  workspace_id: string;
  workspace_name: string;
  approval_id: string;
  reviewer_id: string;
  email: string;
  needs_code: boolean;
  code_tries: number;
  secret_key_id: string;
  token_nonce: Buffer;
  has_opened: boolean;
  expires_at: Date;
  has_seats: boolean;
  is_key_owner: boolean;
  needs_signature: boolean;
  is_overdue: boolean;
  others_waiting: number;
  has_other_seats: boolean;
  now: Date;
};

type ReviewRow = LinkRow & ShownColumns & Pick<ApprovalRow, "group_name" | "created_at">;

// Counts approvals that ask the reviewer by name, or as a member of a group then and now. It looks at each approver's
// newest, so it costs the same however many wait. The sub-select hides the limit from the planner, which then walks the
// index in order. Where it expects few rows, it would otherwise fetch and sort all: 6 ms instead of 0.2 with 10,000.
const othersWaiting = `
  (select count(*)::int from (
    select from (
      select lower(r.email) as name
      union all
      select m.group_id
      from groups g
      cross join lateral (
        select m.group_id from group_members m
        where m.workspace_id = g.workspace_id and m.group_id = g.id and lower(m.email) = lower(r.email)
        limit 1
      ) as m
      where g.workspace_id = r.workspace_id
    ) as approver
    cross join lateral (
      select other.id, other.group_id, other.expires_at, other.has_seats from approvals other
      where coalesce(other.group_id, lower(other.approver_email)) = approver.name
        and other.status = ${pending} and other.workspace_id = r.workspace_id
      order by other.id desc
      limit (select ${othersWaitingMax + 1})
    ) as other
    where other.id <> a.id and other.expires_at > now() and not other.has_seats
      and (other.group_id is null or exists (
        select from reviewers also
        where also.approval_id = other.id and lower(also.email) = lower(r.email)
          and also.workspace_id = r.workspace_id
      ))
    limit ${othersWaitingMax}
  ) as waiting)`;

// Most people have no seat in any other request. Only where they have one is it counted, by a statement of its own
// (`countSeatsWaiting`): PostgreSQL sets up the whole plan of a statement at every call, also the parts that never run.
const hasOtherSeats = `
  coalesce((
    select true from seats s
    where s.voter = person_of(r.email) and s.workspace_id = r.workspace_id
      and s.approval_id >= ${firstPendingId} and s.approval_id <> a.id
    limit 1
  ), false)`;

const linkColumnsWith = (edit: string) => `
  r.workspace_id, w.name as workspace_name, a.id as approval_id, r.id as reviewer_id, r.email, r.needs_code,
  r.code_tries, r.secret_key_id, r.token_nonce, r.opened_at is not null as has_opened, a.status,
  a.resolved_at, a.resolved_by_email, a.resolution_note, ${edit} as edit, a.expires_at,
  a.has_seats, a.needs_signature, coalesce((
    select ${isOwnerSince("k", "r.email", "a.created_at")} from api_keys k
    where k.workspace_id = a.workspace_id and k.id = a.key_id
  ), false) as is_key_owner,
  (a.status = 'PENDING' and a.expires_at <= now()) as is_overdue, now_ms() as now,
  case when $2 then ${othersWaiting} else 0 end as others_waiting,
  case when $2 then ${hasOtherSeats} else false end as has_other_seats`;

const bytes = `(${bytesOf("a", [...largeShownColumns, "edit"])})`;
const ifWanted = (column: string) =>
  `case when $3::integer is null or ${bytes} <= $3 then ${column} end`;
const shownIfWanted = largeShownColumns.map((name) => `${ifWanted(`a.${name}`)} as ${name}`);

// A review dies when its approval was resolved long ago, and while its reader is not in the group that was asked.
const liveReview = (isTheirs: string) => `
  from reviewers r
  cross join lateral (
    select a.* from approvals a where a.workspace_id = r.workspace_id and a.id = r.approval_id limit 1
  ) as a
  join workspaces w on w.id = r.workspace_id
  where ${isTheirs}
    and (a.resolved_at is null or a.resolved_at >= now() - interval '${reviewOutcomeDays} days')
    and ${isStillAsked("a", "r")}`;

type Lookup = { suffix: string; from: string; values: unknown[] };

/** Where to look, with the values that follow the statement's own. */
function lookupOf(access: ReviewAccess, own: readonly unknown[] = []): Lookup {
  if (access.kind === "link") {
    const from = liveReview("r.token_digest = $1");
    return { suffix: "", from, values: [access.tokenDigest, ...own] };
  }
  const from = liveReview(`r.id = $1 and lower(r.email) = lower($${own.length + 2})`);
  return { suffix: "OfPerson", from, values: [access.reviewerId, ...own, access.email] };
}

type FindOptions = { countsOthers?: boolean };

/** Everything its reader may see; null when the review is unknown or dead. */
export async function find(
  db: Queryable,
  access: ReviewAccess,
  { countsOthers = false }: FindOptions = {},
): Promise<Review | null> {
  const [row] = await findRows(db, access, { countsOthers, bytesMax: null });
  return row === undefined ? null : toReview(row, access);
}

/** The same, but a review with more JSON than `bytesMax` comes as its weight only. */
export async function findUpTo(
  db: Queryable,
  access: ReviewAccess,
  { countsOthers = false, bytesMax }: FindOptions & { bytesMax: number },
): Promise<Review | ReviewWeight | null> {
  const [row] = await findRows(db, access, { countsOthers, bytesMax });
  if (row === undefined) return null;
  return row.bytes > bytesMax ? toWeight(row) : toReview(row, access);
}

async function findRows(
  db: Queryable,
  access: ReviewAccess,
  { countsOthers, bytesMax }: { countsOthers: boolean; bytesMax: number | null },
): Promise<(ReviewRow & WeightRow)[]> {
  const { suffix, from, values } = lookupOf(access, [countsOthers, bytesMax]);
  const { rows } = await db.query<ReviewRow & WeightRow>({
    name: `reviews.find${suffix}`,
    text: `
      select ${linkColumnsWith(ifWanted("a.edit"))}, ${columnList("a", smallShownColumns)}, a.group_name,
        ${shownIfWanted.join(", ")}, a.created_at, ${bytes} as bytes
      ${from}`,
    values,
  });
  return withSeatsCounted(db, rows);
}

/** Adds the approvals in which the reviewer holds a seat that is awaited. */
async function withSeatsCounted<Row extends LinkRow>(db: Queryable, rows: Row[]): Promise<Row[]> {
  const [row] = rows;
  if (row === undefined || !row.has_other_seats) return rows;
  const seats = await countSeatsWaiting(db, row);
  return [{ ...row, others_waiting: Math.min(othersWaitingMax, row.others_waiting + seats) }];
}

/** In the open stage, and nobody has voted for it. It looks at the newest only, like the count of the others. */
async function countSeatsWaiting(
  db: Queryable,
  { workspace_id: workspaceId, email, approval_id: approvalId }: LinkRow,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: "reviews.countSeatsWaiting",
    text: `
      select count(distinct approval_id)::int as count from (
        select seat.approval_id from (
          select s.approval_id, s.reviewer_id from seats s
          where s.voter = person_of($2) and s.workspace_id = $1
            and s.approval_id >= ${firstPendingId} and s.approval_id <> $3
          order by s.approval_id desc
          limit (select ${othersWaitingMax + 1})
        ) as seat
        cross join lateral (
          select other.workspace_id, other.id, other.status, other.expires_at, other.has_seats, other.group_id
          from approvals other
          where other.workspace_id = $1 and other.id = seat.approval_id
          limit 1
        ) as other
        cross join lateral (select seat.reviewer_id as id, $1::text as workspace_id, $2::text as email) as also
        where ${mayStillDecide("other", "also")}
      ) as waiting`,
    values: [workspaceId, email, approvalId],
  });
  return rows[0]?.count ?? 0;
}

/** How many bytes of JSON a review has, without reading them; null when it is unknown or dead. */
export async function weigh(db: Queryable, access: ReviewAccess): Promise<ReviewWeight | null> {
  const { suffix, from, values } = lookupOf(access);
  const { rows } = await db.query<WeightRow>({
    name: `reviews.weigh${suffix}`,
    text: `select r.workspace_id, a.id as approval_id, ${bytes} as bytes ${from}`,
    values,
  });
  return rows.map(toWeight)[0] ?? null;
}

/** Like `find`, but without the fields that may be megabytes and never change. */
export async function findLink(
  db: Queryable,
  access: ReviewAccess,
  { countsOthers = false }: FindOptions = {},
): Promise<ReviewLink | null> {
  const { suffix, from, values } = lookupOf(access, [countsOthers]);
  const { rows } = await db.query<LinkRow>({
    name: `reviews.findLink${suffix}`,
    text: `select ${linkColumnsWith("a.edit")} ${from}`,
    values,
  });
  const [row] = await withSeatsCounted(db, rows);
  return row === undefined ? null : toLink(row, access);
}

/** The makings of a reviewer's link, as their mail is made of them. */
export type LinkSeed = { email: string; secretKeyId: string; tokenNonce: Buffer };

/** Everybody who was asked about an approval, in the order of their addresses. */
export async function listLinkSeeds(db: Queryable, approvalId: string): Promise<LinkSeed[]> {
  type Row = { email: string; secret_key_id: string; token_nonce: Buffer };
  const { rows } = await db.query<Row>(
    `select email, secret_key_id, token_nonce from reviewers
     where approval_id = $1 order by lower(email), id`,
    [approvalId],
  );
  return rows.map(({ email, secret_key_id, token_nonce }) => ({
    email,
    secretKeyId: secret_key_id,
    tokenNonce: token_nonce,
  }));
}

/** Notes the first time only; later calls change nothing. */
export async function noteOpened(
  tx: Transaction,
  { workspaceId, reviewerId }: { workspaceId: string; reviewerId: string },
): Promise<void> {
  await tx.query({
    name: "reviews.noteOpened",
    text: `
      update reviewers set opened_at = now_ms()
      where workspace_id = $1 and id = $2 and opened_at is null`,
    values: [workspaceId, reviewerId],
  });
}

/** Counts a wrong code, and says how many that makes; null when the link was locked before. */
export async function countWrongCode(
  tx: Transaction,
  { workspaceId, reviewerId }: { workspaceId: string; reviewerId: string },
): Promise<number | null> {
  const { rows } = await tx.query<{ code_tries: number }>({
    name: "reviews.countWrongCode",
    text: `
      update reviewers set code_tries = code_tries + 1
      where workspace_id = $1 and id = $2 and code_tries < ${reviewCodeTriesMax}
      returning code_tries`,
    values: [workspaceId, reviewerId],
  });
  return rows[0]?.code_tries ?? null;
}

/** Whether a right code may still count. It queues up behind wrong ones that are being counted. */
export async function lockUnlessLocked(
  tx: Transaction,
  { workspaceId, reviewerId }: { workspaceId: string; reviewerId: string },
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: "reviews.lockUnlessLocked",
    text: `
      select from reviewers
      where workspace_id = $1 and id = $2 and code_tries < ${reviewCodeTriesMax}
      for no key update`,
    values: [workspaceId, reviewerId],
  });
  return rowCount === 1;
}

function toWeight(row: WeightRow): ReviewWeight {
  return { workspaceId: row.workspace_id, approvalId: row.approval_id, bytes: row.bytes };
}

function toReview(row: ReviewRow, access: ReviewAccess): Review {
  return {
    ...toLink(row, access),
    ...toShown(row),
    groupName: row.group_name,
    createdAt: row.created_at,
  };
}

function toLink(row: LinkRow, { kind }: ReviewAccess): ReviewLink {
  return {
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    approvalId: row.approval_id,
    reviewer: {
      id: row.reviewer_id,
      email: row.email,
      needsCode: row.needs_code && kind === "link",
      codeTries: row.code_tries,
      secretKeyId: row.secret_key_id,
      tokenNonce: row.token_nonce,
      hasOpened: row.has_opened,
    },
    state: toState(row),
    expiresAt: row.expires_at,
    hasSeats: row.has_seats,
    isKeyOwner: row.is_key_owner,
    needsSignature: row.needs_signature,
    isOverdue: row.is_overdue,
    othersWaiting: row.others_waiting,
    now: row.now,
  };
}
