// A request as the message about it is drawn: what its readers may see, how it stands, and whether somebody still waits
// for the message. A payload that is too large to be shown in a message is not read.

import type { Queryable } from "../../database/database.ts";
import type { ApprovalState } from "../../domain/approval/approval.ts";
import type { VotingRecord } from "../../domain/approval/voting-record.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import type { ShownName, Submitted } from "../../domain/shown/submitted-fields.ts";
import { type ApprovalRow, toState } from "../approvals/approvals.ts";
import { isAwaited, isOpen, isStillAsked } from "../approvals/may-still-decide.ts";
import {
  bytesOf,
  columnList,
  largeShownColumns,
  type ShownColumns,
  smallShownColumns,
  toShown,
} from "../approvals/submitted-columns.ts";
import * as votings from "../votings/votings.ts";

export type DrawnRequest = Pick<Submitted<JsonText>, ShownName> & {
  approvalId: string;
  workspaceName: string;
  groupName: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** The database's clock. */
  now: Date;
  state: ApprovalState;
  isEdited: boolean;
  voting: VotingRecord | null;
  /** What an approver made of the payload; null while it is the agent's. */
  change: { revision: number; payload: JsonText; byEmail: string; at: Date } | null;
  /** Only a passkey approves it. */
  needsSignature: boolean;
  /** All JSON was read. */
  isWhole: boolean;
  /** The channels that the caller allows; null allows all. */
  channels: readonly string[] | null;
  /** Somebody whom the message is for is asked just now, and hasn't voted. */
  isAwaited: boolean;
  /** Somebody whom the message is for may still see the request, as behind their link. */
  isSeen: boolean;
};

type Where = {
  workspaceId: string;
  approvalId: string;
  /** Whom the message is for: a person, in lower case, or a group. */
  reader: { email: string } | { groupId: string };
};

type Row = ShownColumns &
  Pick<
    ApprovalRow,
    "id" | "status" | "resolved_at" | "resolved_by_email" | "resolution_note" | "group_name"
  > & {
    workspace_name: string;
    created_at: Date;
    expires_at: Date;
    now: Date;
    is_edited: boolean;
    has_seats: boolean;
    needs_signature: boolean;
    is_whole: boolean;
    is_awaited: boolean;
    is_seen: boolean;
    channels: string[] | null;
  };

const isWhole = `(${bytesOf("a", largeShownColumns)}) <= $5`;
const large = largeShownColumns.map((name) => `case when ${isWhole} then a.${name} end as ${name}`);

const drawnSql = `
  select a.id, w.name as workspace_name, a.group_name, a.created_at, a.expires_at, now_ms() as now, a.status,
    a.resolved_at, a.resolved_by_email, a.resolution_note, a.edit is not null as is_edited, a.has_seats, a.channels,
    a.needs_signature,
    ${columnList("a", smallShownColumns)}, ${large.join(", ")}, ${isWhole} as is_whole,
    $3::text is null or exists (
      select from reviewers r
      where r.workspace_id = a.workspace_id and r.approval_id = a.id and lower(r.email) = $3
        and ${isStillAsked("a", "r")}
    ) as is_seen,
    ${isOpen("a")} and exists (
      select from reviewers r
      where r.workspace_id = a.workspace_id and r.approval_id = a.id and ($3::text is null or lower(r.email) = $3)
        and ${isAwaited("a", "r")}
        and ($4::text is null or a.group_id = $4 and not a.has_seats or exists (
          select from seats own
          where own.workspace_id = a.workspace_id and own.approval_id = a.id and own.reviewer_id = r.id
            and own.group_id = $4
        ))
    ) as is_awaited
  from approvals a
  join workspaces w on w.id = a.workspace_id
  where a.workspace_id = $1 and a.id = $2`;

/** Null when there is no such request. */
export async function find(
  db: Queryable,
  { workspaceId, approvalId, reader }: Where,
  jsonBytesMax: number,
): Promise<DrawnRequest | null> {
  const [email, groupId] = "email" in reader ? [reader.email, null] : [null, reader.groupId];
  const { rows } = await db.query<Row>({
    name: "drawnRequests.find",
    text: drawnSql,
    values: [workspaceId, approvalId, email, groupId, jsonBytesMax],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const where = { workspaceId, approvalId };
  const voting = row.has_seats ? await votings.find(db, where) : null;
  const change = await findChange(db, where, voting, jsonBytesMax);
  return {
    ...toShown(row),
    approvalId: row.id,
    workspaceName: row.workspace_name,
    groupName: row.group_name,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    now: row.now,
    state: toState({ ...row, edit: null }),
    isEdited: row.is_edited,
    voting,
    change: change === "too_large" ? null : change,
    needsSignature: row.needs_signature,
    isWhole: row.is_whole && change !== "too_large",
    channels: row.channels,
    isAwaited: row.is_awaited,
    isSeen: row.is_seen,
  };
}

async function findChange(
  db: Queryable,
  { workspaceId, approvalId }: { workspaceId: string; approvalId: string },
  voting: VotingRecord | null,
  jsonBytesMax: number,
): Promise<DrawnRequest["change"] | "too_large"> {
  const { change = null, revision = 1 } = voting ?? {};
  if (change === null) return null;
  const { rows } = await db.query<{ payload: JsonText }>({
    name: "drawnRequests.findChange",
    text: `
      select payload from revisions
      where workspace_id = $1 and approval_id = $2 and number = $3 and octet_length(payload) <= $4`,
    values: [workspaceId, approvalId, revision, jsonBytesMax],
  });
  const [row] = rows;
  return row === undefined ? "too_large" : { ...change, revision, payload: row.payload };
}
