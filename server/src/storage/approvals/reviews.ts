// Finds the reviewer behind a review link, and as much of the approval as its reader may see. The agent's own data, its
// state and its metadata, is never read here.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { ApprovalState } from "../../domain/approval/approval.ts";
import { reviewCodeTriesMax, reviewOutcomeDays } from "../../domain/limits.ts";
import { othersWaitingMax } from "../../domain/shown/field-limits.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import type { ShownName, Submitted } from "../../domain/shown/submitted-fields.ts";
import { type ApprovalRow, pending, toState } from "./approvals.ts";
import { isStillAsked } from "./may-still-decide.ts";
import {
  bytesOf,
  columnList,
  largeShownColumns,
  type ShownColumns,
  smallShownColumns,
  toShown,
} from "./submitted-columns.ts";

/** The facts that change, and those needed to open the rest. */
export type ReviewLink = {
  workspaceId: string;
  workspaceName: string;
  approvalId: string;
  reviewer: {
    id: string;
    email: string;
    needsCode: boolean;
    codeTries: number;
    secretKeyId: string;
    tokenNonce: Buffer;
    /** The page behind the link has been shown before. */
    hasOpened: boolean;
  };
  state: ApprovalState;
  expiresAt: Date;
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
  is_overdue: boolean;
  others_waiting: number;
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
      select other.id, other.group_id, other.expires_at from approvals other
      where coalesce(other.group_id, lower(other.approver_email)) = approver.name
        and other.status = ${pending} and other.workspace_id = r.workspace_id
      order by other.id desc
      limit (select ${othersWaitingMax + 1})
    ) as other
    where other.id <> a.id and other.expires_at > now()
      and (other.group_id is null or exists (
        select from reviewers also
        where also.approval_id = other.id and lower(also.email) = lower(r.email)
          and also.workspace_id = r.workspace_id
      ))
    limit ${othersWaitingMax}
  ) as waiting)`;

const linkColumnsWith = (edit: string) => `
  r.workspace_id, w.name as workspace_name, a.id as approval_id, r.id as reviewer_id, r.email, r.needs_code,
  r.code_tries, r.secret_key_id, r.token_nonce, r.opened_at is not null as has_opened, a.status,
  a.resolved_at, a.resolved_by_email, a.resolution_note, ${edit} as edit, a.expires_at,
  (a.status = 'PENDING' and a.expires_at <= now()) as is_overdue, now_ms() as now,
  case when $2 then ${othersWaiting} else 0 end as others_waiting`;

const bytes = `(${bytesOf("a", [...largeShownColumns, "edit"])})`;
const ifWanted = (column: string) =>
  `case when $3::integer is null or ${bytes} <= $3 then ${column} end`;
const shownIfWanted = largeShownColumns.map((name) => `${ifWanted(`a.${name}`)} as ${name}`);

// A link dies when its approval was resolved long ago, and while its reader is not in the group that was asked.
const liveLink = `
  from reviewers r
  cross join lateral (
    select a.* from approvals a where a.workspace_id = r.workspace_id and a.id = r.approval_id limit 1
  ) as a
  join workspaces w on w.id = r.workspace_id
  where r.token_digest = $1
    and (a.resolved_at is null or a.resolved_at >= now() - interval '${reviewOutcomeDays} days')
    and ${isStillAsked("a", "r.email")}`;

type FindOptions = { countsOthers?: boolean };

/** Everything its reader may see; null when the link is unknown or dead. */
export async function find(
  db: Queryable,
  tokenDigest: Buffer,
  { countsOthers = false }: FindOptions = {},
): Promise<Review | null> {
  const [row] = await findRows(db, [tokenDigest, countsOthers, null]);
  return row === undefined ? null : toReview(row);
}

/** The same, but a review with more JSON than `bytesMax` comes as its weight only. */
export async function findUpTo(
  db: Queryable,
  tokenDigest: Buffer,
  { countsOthers = false, bytesMax }: FindOptions & { bytesMax: number },
): Promise<Review | ReviewWeight | null> {
  const [row] = await findRows(db, [tokenDigest, countsOthers, bytesMax]);
  if (row === undefined) return null;
  return row.bytes > bytesMax ? toWeight(row) : toReview(row);
}

async function findRows(
  db: Queryable,
  values: [tokenDigest: Buffer, countsOthers: boolean, bytesMax: number | null],
): Promise<(ReviewRow & WeightRow)[]> {
  const { rows } = await db.query<ReviewRow & WeightRow>({
    name: "reviews.find",
    text: `
      select ${linkColumnsWith(ifWanted("a.edit"))}, ${columnList("a", smallShownColumns)}, a.group_name,
        ${shownIfWanted.join(", ")}, a.created_at, ${bytes} as bytes
      ${liveLink}`,
    values,
  });
  return rows;
}

/** How many bytes of JSON a link leads to, without reading them; null when it is unknown or dead. */
export async function weigh(db: Queryable, tokenDigest: Buffer): Promise<ReviewWeight | null> {
  const { rows } = await db.query<WeightRow>({
    name: "reviews.weigh",
    text: `select r.workspace_id, a.id as approval_id, ${bytes} as bytes ${liveLink}`,
    values: [tokenDigest],
  });
  return rows.map(toWeight)[0] ?? null;
}

/** Like `find`, but without the fields that may be megabytes and never change. */
export async function findLink(
  db: Queryable,
  tokenDigest: Buffer,
  { countsOthers = false }: FindOptions = {},
): Promise<ReviewLink | null> {
  const { rows } = await db.query<LinkRow>({
    name: "reviews.findLink",
    text: `select ${linkColumnsWith("a.edit")} ${liveLink}`,
    values: [tokenDigest, countsOthers],
  });
  return rows.map(toLink)[0] ?? null;
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

function toReview(row: ReviewRow): Review {
  return {
    ...toLink(row),
    ...toShown(row),
    groupName: row.group_name,
    createdAt: row.created_at,
  };
}

function toLink(row: LinkRow): ReviewLink {
  return {
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    approvalId: row.approval_id,
    reviewer: {
      id: row.reviewer_id,
      email: row.email,
      needsCode: row.needs_code,
      codeTries: row.code_tries,
      secretKeyId: row.secret_key_id,
      tokenNonce: row.token_nonce,
      hasOpened: row.has_opened,
    },
    state: toState(row),
    expiresAt: row.expires_at,
    isOverdue: row.is_overdue,
    othersWaiting: row.others_waiting,
    now: row.now,
  };
}
