// What waits for one person in all workspaces, and what is over: by the address that they have proven, and no other
// spelling of it. Large columns are never read here.

import type { Queryable } from "../../database/database.ts";
import type { ApprovalState } from "../../domain/approval/approval.ts";
import {
  inboxLookedAtMax,
  inboxPastMax,
  inboxWaitingMax,
} from "../../domain/channels/inbox-limits.ts";
import { reviewOutcomeDays } from "../../domain/limits.ts";
import { ttlMinutesMax } from "../../domain/shown/field-limits.ts";
import { isOwnerOfItsKey } from "../workspaces/key-owners.ts";
import {
  firstIdWithin,
  firstPendingReviewerId,
  isAwaited,
  isOpen,
  isStillAsked,
} from "./may-still-decide.ts";

/** A place of the person: the request, and as whom they were asked. */
export type InboxPlace = {
  reviewerId: string;
  approvalId: string;
  workspaceId: string;
  workspaceName: string;
  summary: string;
  agentName: string | null;
  keyId: string | null;
  createdAt: Date;
  expiresAt: Date;
  groupName: string | null;
  /** Whom they stand in for. */
  forEmail: string | null;
};

export type WaitingPlace = InboxPlace & {
  /** Approvals of the current text in the open stage, where several people or stages were asked for. */
  progress: { stage: number; stages: number; approvals: number; required: number } | null;
};

export type PastPlace = InboxPlace & {
  /** PENDING while others are asked. Past its end it is EXPIRED, whether or not somebody has expired it yet. */
  status: ApprovalState["kind"];
  endedAt: Date | null;
  byEmail: string | null;
};

type PlaceRow = {
  id: string;
  approval_id: string;
  workspace_id: string;
  workspace_name: string;
  summary: string;
  agent_name: string | null;
  key_id: string | null;
  created_at: Date;
  expires_at: Date;
  group_name: string | null;
  for_email: string | null;
};

const placeColumns = `
  r.id, a.id as approval_id, r.workspace_id, w.name as workspace_name, a.summary, a.agent_name, a.key_id, a.created_at,
  a.expires_at, case when a.has_seats then seat.group_name else a.group_name end as group_name, seat.for_email`;

// The request of a place `r`. The limit keeps the planner from reading all requests of a workspace.
const itsApproval = `
  cross join lateral (
    select a.* from approvals a where a.workspace_id = r.workspace_id and a.id = r.approval_id limit 1
  ) as a`;

/** A seat in their own place before one for somebody else, and one in the open stage before others. */
const itsSeat = `
  left join lateral (
    select g.name as group_name, case when s.voter <> s.person then s.person_email end as for_email
    from seats s
    join votings v on v.workspace_id = s.workspace_id and v.approval_id = s.approval_id
    left join groups g on g.workspace_id = s.workspace_id and g.id = s.group_id
    where a.has_seats and s.workspace_id = a.workspace_id and s.approval_id = a.id and s.reviewer_id = r.id
    order by s.stage = v.stage desc, s.given_to is null desc, s.voter = s.person desc, s.stage, s.person
    limit 1
  ) as seat on true`;

const itsProgress = `
  left join lateral (
    select v.stage::int as stage, s.required::int as required,
      (select count(*)::int from stages each
       where each.workspace_id = v.workspace_id and each.approval_id = v.approval_id) as stages,
      (select count(*)::int from votes x
       where x.workspace_id = v.workspace_id and x.approval_id = v.approval_id and x.revision = v.revision
         and x.stage = v.stage and x.verdict = 'approve') as approvals
    from votings v
    join stages s on s.workspace_id = v.workspace_id and s.approval_id = v.approval_id and s.number = v.stage
    where a.voting is not null and v.workspace_id = a.workspace_id and v.approval_id = a.id
    limit 1
  ) as progress on true`;

/** The earliest deadline first. `isMore` when others wait, or more places were asked than are looked at. */
export async function listWaiting(
  db: Queryable,
  email: string,
): Promise<{ waiting: WaitingPlace[]; isMore: boolean; now: Date }> {
  type Row = PlaceRow & {
    stage: number | null;
    stages: number;
    approvals: number;
    required: number;
  };
  // The open ones are sorted before anybody's right is checked, which takes longer and ends with the page.
  const { rows } = await db.query<{ now: Date; is_cut: boolean; places: null } & Row>({
    name: "inbox.listWaiting",
    text: `
      with place as materialized (
        select r.workspace_id, r.id, r.approval_id, r.email from reviewers r
        where lower(r.email) = lower($1) and r.id >= ${firstPendingReviewerId}
        order by lower(r.email) desc, r.id desc
        limit ${inboxLookedAtMax}
      ), opened as materialized (
        select r.id, r.workspace_id, r.approval_id, r.email, a.expires_at
        from place r
        cross join lateral (
          select a.status, a.expires_at from approvals a
          where a.workspace_id = r.workspace_id and a.id = r.approval_id limit 1
        ) as a
        where ${isOpen("a")}
        order by a.expires_at, r.id
      ), told as (
        select now_ms() as now, (select count(*) from place) >= ${inboxLookedAtMax} as is_cut
      )
      select told.now, told.is_cut, waiting.*
      from told
      left join lateral (
        select ${placeColumns}, progress.stage, progress.stages, progress.approvals, progress.required
        from opened r
        ${itsApproval}
        join workspaces w on w.id = r.workspace_id
        ${itsSeat}
        ${itsProgress}
        where ${isOpen("a")} and ${isAwaited("a", "r")} and not ${isOwnerOfItsKey("r.email")}
        order by r.expires_at, r.id
        limit ${inboxWaitingMax + 1}
      ) as waiting on true
      order by waiting.expires_at, waiting.id`,
    values: [email],
  });
  const [first] = rows;
  if (first === undefined) throw new Error("a list told nothing");
  const found = rows.filter(({ id }) => id !== null);
  return {
    waiting: found.slice(0, inboxWaitingMax).map((row) => ({
      ...toPlace(row),
      progress:
        row.stage === null
          ? null
          : {
              ...{ stage: row.stage, stages: row.stages },
              ...{ approvals: row.approvals, required: row.required },
            },
    })),
    isMore: found.length > inboxWaitingMax || first.is_cut,
    now: first.now,
  };
}

const isOverdue = "(a.status = 'PENDING' and a.expires_at <= now())";

/** They voted on some text of it, or passed their vote on. */
const hasActed = `(a.has_seats and (
    exists (
      select from votes x
      where x.workspace_id = a.workspace_id and x.approval_id = a.id and x.voter = person_of(r.email)
    ) or exists (
      select from seats s
      where s.workspace_id = a.workspace_id and s.approval_id = a.id and s.reviewer_id = r.id
        and s.given_to is not null
    )
  ))`;

/** Asked last first. `next` is the place after which the next page begins; null when there is none. */
export async function listPast(
  db: Queryable,
  email: string,
  before: string | null,
): Promise<{ past: PastPlace[]; next: string | null }> {
  type Row = PlaceRow & {
    status: PastPlace["status"];
    ended_at: Date | null;
    by_email: string | null;
  };
  const { rows } = await db.query<Row>({
    name: "inbox.listPast",
    text: `
      select ${placeColumns}, case when ${isOverdue} then 'EXPIRED' else a.status end as status,
        case when ${isOverdue} then a.expires_at else a.resolved_at end as ended_at, a.resolved_by_email as by_email
      from (
        select r.workspace_id, r.id, r.approval_id, r.email from reviewers r
        where lower(r.email) = lower($1) and r.id < $2
          and r.id >= ${firstIdWithin("rev_", ttlMinutesMax + reviewOutcomeDays * 24 * 60)}
        order by lower(r.email) desc, r.id desc
        limit ${inboxLookedAtMax}
      ) as r
      ${itsApproval}
      join workspaces w on w.id = r.workspace_id
      ${itsSeat}
      where (
          a.resolved_at >= now() - interval '${reviewOutcomeDays} days' or ${isOverdue}
          or (${hasActed} and not ${isAwaited("a", "r")})
        ) and ${isStillAsked("a", "r")}
      order by r.id desc
      limit ${inboxPastMax + 1}`,
    values: [email, before ?? "rev_g"],
  });
  const past = rows.slice(0, inboxPastMax).map((row) => ({
    ...toPlace(row),
    status: row.status,
    endedAt: row.ended_at,
    byEmail: row.by_email,
  }));
  return { past, next: rows.length > inboxPastMax ? (past.at(-1)?.reviewerId ?? null) : null };
}

/** The person's place in a request that they may see; null when there is none. */
export async function findPlace(
  db: Queryable,
  email: string,
  approvalId: string,
): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>({
    name: "inbox.findPlace",
    text: `
      select r.id from reviewers r
      ${itsApproval}
      where r.approval_id = $2 and lower(r.email) = lower($1)
        and (a.resolved_at is null or a.resolved_at >= now() - interval '${reviewOutcomeDays} days')
        and ${isStillAsked("a", "r")}
      limit 1`,
    values: [email, approvalId],
  });
  return rows[0]?.id ?? null;
}

/** Of which agent each of these places of the person is. Unknown ones are left out. */
export async function listAgents(
  db: Queryable,
  email: string,
  ids: readonly string[],
): Promise<
  { reviewerId: string; workspaceId: string; keyId: string | null; agentName: string | null }[]
> {
  type Row = Pick<PlaceRow, "id" | "workspace_id" | "key_id" | "agent_name">;
  const { rows } = await db.query<Row>({
    name: "inbox.listAgents",
    text: `
      select r.id, r.workspace_id, a.key_id, a.agent_name
      from unnest($2::text[]) as asked (id)
      cross join lateral (
        select r.id, r.workspace_id, r.approval_id from reviewers r
        where lower(r.email) = lower($1) and r.id = asked.id limit 1
      ) as r
      ${itsApproval}`,
    values: [email, ids],
  });
  return rows.map(({ id, workspace_id, key_id, agent_name }) => ({
    reviewerId: id,
    workspaceId: workspace_id,
    keyId: key_id,
    agentName: agent_name,
  }));
}

function toPlace(row: PlaceRow): InboxPlace {
  return {
    reviewerId: row.id,
    approvalId: row.approval_id,
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    summary: row.summary,
    agentName: row.agent_name,
    keyId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    groupName: row.group_name,
    forEmail: row.for_email,
  };
}
