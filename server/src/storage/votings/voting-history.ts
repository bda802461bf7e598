// What happened to a request on which several people vote, beside the votes themselves: revisions, stages, steps, and
// who stands in for whom. It is read for the dashboard only.

import type { Queryable } from "../../database/database.ts";
import { historyEntriesMax } from "../../domain/limits.ts";
import type { Where } from "./votings.ts";

export type VotingHistory = {
  approverLimit: "anybody" | "members" | "domains";
  stuckAt: Date | null;
  unreachableAt: Date | null;
  /** From 2 on. */
  revisions: { number: number; byEmail: string; at: Date }[];
  steps: VotingHistoryStep[];
  /** Seats that were passed on, or in which somebody stands in for a person who is away. */
  standIns: { reason: "away" | "handed_over"; email: string; toEmail: string; at: Date }[];
  notes: { kind: "stage_entered" | "stuck" | "unreachable"; stage: number; at: Date }[];
};

export type VotingHistoryStep = {
  stage: number;
  afterMinutes: number;
  /** As the caller wrote it, and the group's name. */
  notify: string;
  groupName: string | null;
  dueAt: Date | null;
  doneAt: Date | null;
  outcome: "asked" | "nobody_new" | "moot" | null;
};

type Told<Part> = {
  [Name in keyof Part]: Part[Name] extends Date
    ? string
    : Part[Name] extends Date | null
      ? string | null
      : Part[Name];
};

type Row = {
  approver_limit: VotingHistory["approverLimit"];
  stuck_at: Date | null;
  unreachable_at: Date | null;
  revisions: Told<VotingHistory["revisions"][number]>[];
  steps: Told<VotingHistoryStep>[];
  stand_ins: Told<VotingHistory["standIns"][number]>[];
  notes: Told<VotingHistory["notes"][number]>[];
};

const of = (table: string) =>
  `${table}.workspace_id = v.workspace_id and ${table}.approval_id = v.approval_id`;

// A seat that was passed on names the address to which; of several stages and people it is told once. The colleague who
// took it may be away themselves.
const historySql = `
  select v.approver_limit, v.stuck_at, v.unreachable_at,
    (select coalesce(json_agg(json_build_object('number', r.number, 'byEmail', r.by_email, 'at', r.created_at)
        order by r.number), '[]')
     from revisions r where ${of("r")}) as revisions,
    (select coalesce(json_agg(json_build_object(
        'stage', s.stage, 'afterMinutes', s.after_minutes, 'notify', s.notify, 'groupName', (
          select g.name from groups g where g.workspace_id = s.workspace_id and g.id = s.group_id
        ), 'dueAt', s.due_at, 'doneAt', s.done_at, 'outcome', s.outcome
      ) order by s.stage, s.after_minutes, s.number), '[]')
     from steps s where ${of("s")}) as steps,
    (select coalesce(json_agg(json_build_object(
        'reason', each.reason, 'email', each.email, 'toEmail', each.to_email, 'at', each.at
      ) order by each.at, each.to_email), '[]')
     from (
       select s.reason, coalesce(giver.email, s.person_email) as email, r.email as to_email, min(s.created_at) as at
       from seats s
       join reviewers r on r.workspace_id = s.workspace_id and r.id = s.reviewer_id
       left join lateral (
         select gr.email from seats g
         join reviewers gr on gr.workspace_id = g.workspace_id and gr.id = g.reviewer_id
         where ${of("g")} and g.stage = s.stage and g.person = s.person
           and case s.reason when 'handed_over' then lower(g.given_to) = lower(r.email)
             else g.reason = 'handed_over' and g.created_at = s.created_at end
         limit 1
       ) as giver on true
       where ${of("s")} and s.reason in ('away', 'handed_over')
       group by 1, 2, 3
     ) as each) as stand_ins,
    (select coalesce(json_agg(json_build_object('kind', each.kind, 'stage', each.stage, 'at', each.at)
        order by each.at), '[]')
     from (
       select substr(e.kind, 9) as kind, coalesce((e.detail ->> 'stage')::int, 1) as stage, e.created_at as at
       from events e
       where e.approval_id = v.approval_id and e.workspace_id = v.workspace_id
         and e.kind in ('request.stage_entered', 'request.stuck', 'request.unreachable')
       order by e.created_at
       limit ${historyEntriesMax}
     ) as each) as notes
  from votings v
  where v.workspace_id = $1 and v.approval_id = $2`;

/** The workspace's rule about approvers when the request was created; null where anybody could be asked. */
export async function findLimit(
  db: Queryable,
  { workspaceId, approvalId }: Where,
): Promise<"members" | "domains" | null> {
  const { rows } = await db.query<{ approver_limit: "members" | "domains" | null }>(
    "select approver_limit from approvals where workspace_id = $1 and id = $2",
    [workspaceId, approvalId],
  );
  return rows[0]?.approver_limit ?? null;
}

/** Null for a request without seats. */
export async function find(
  db: Queryable,
  { workspaceId, approvalId }: Where,
): Promise<VotingHistory | null> {
  const { rows } = await db.query<Row>(historySql, [workspaceId, approvalId]);
  const [row] = rows;
  if (row === undefined) return null;
  return {
    approverLimit: row.approver_limit,
    stuckAt: row.stuck_at,
    unreachableAt: row.unreachable_at,
    revisions: row.revisions.map((each) => ({ ...each, at: new Date(each.at) })),
    steps: row.steps.map((step) => ({
      ...step,
      dueAt: step.dueAt === null ? null : new Date(step.dueAt),
      doneAt: step.doneAt === null ? null : new Date(step.doneAt),
    })),
    standIns: row.stand_ins.map((each) => ({ ...each, at: new Date(each.at) })),
    notes: row.notes.map((note) => ({ ...note, at: new Date(note.at) })),
  };
}
