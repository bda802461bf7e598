// The tables of requests on which several people vote: reading all of one request, and writing what a vote changes. The
// caller holds the lock of the request's row.

import type { Queryable, Transaction } from "../../database/database.ts";
import { approvalsOf, type VotingRecord } from "../../domain/approval/voting-record.ts";
import type { JsonText } from "../../domain/shown/json-text.ts";
import { resolutionChannel } from "../approvals/approval-resolution.ts";
import { absentVoterOf, isInItsTime } from "../approvals/may-still-decide.ts";
import { isColleague } from "../people/colleagues.ts";
import { ownersSince } from "../workspaces/key-owners.ts";

export type Where = { workspaceId: string; approvalId: string };

export type LockedApproval = {
  isPending: boolean;
  expiresAt: Date;
  hasSeats: boolean;
  payload: JsonText | null;
  groupId: string | null;
  groupName: string | null;
  notify: string;
  keyId: string | null;
  /** The workspace's rule when it was created. */
  approverLimit: string;
};

/**
 * Locks a request's row, so that whatever changes its votes, seats and stages happens one after the other. Its time is
 * looked at only once the lock is held. Null when there is no such request.
 */
export async function lock(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
): Promise<LockedApproval | null> {
  const { rowCount } = await tx.query({
    name: "votings.lock",
    text: "select from approvals where workspace_id = $1 and id = $2 for update",
    values: [workspaceId, approvalId],
  });
  if (rowCount === 0) return null;
  type Row = {
    is_pending: boolean;
    expires_at: Date;
    has_seats: boolean;
    payload: JsonText | null;
    group_id: string | null;
    group_name: string | null;
    notify: string;
    key_id: string | null;
    approver_limit: string;
  };
  const { rows } = await tx.query<Row>({
    name: "votings.locked",
    text: `
      select a.status = 'PENDING' and a.expires_at > clock_timestamp() as is_pending, a.expires_at, a.has_seats,
        a.payload, a.group_id, a.group_name, coalesce(a.approver_email, 'group:' || a.group_key) as notify, a.key_id,
        coalesce(a.approver_limit, 'anybody') as approver_limit
      from approvals a where a.workspace_id = $1 and a.id = $2`,
    values: [workspaceId, approvalId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error(`approval ${approvalId} vanished`);
  return {
    isPending: row.is_pending,
    expiresAt: row.expires_at,
    hasSeats: row.has_seats,
    payload: row.payload,
    groupId: row.group_id,
    groupName: row.group_name,
    notify: row.notify,
    keyId: row.key_id,
    approverLimit: row.approver_limit,
  };
}

const ofApproval = (table: string) =>
  `${table}.workspace_id = v.workspace_id and ${table}.approval_id = v.approval_id`;

const groupOf = (table: string) => `
  select coalesce(json_agg(m.email order by m.created_at, m.email), '[]')
  from group_members m where m.workspace_id = ${table}.workspace_id and m.group_id = ${table}.group_id`;

const isInGroup = `
  (s.group_id is null or exists (
    select from group_members m
    where m.workspace_id = s.workspace_id and m.group_id = s.group_id and lower(m.email) = lower(s.person_email)
  ))`;

const ownersUntilNow = `array(
    select unnest(v.later_owners)
    union
    select unnest(${ownersSince("k", "a.created_at")}) from approvals a
    join api_keys k on k.workspace_id = a.workspace_id and k.id = a.key_id
    where a.workspace_id = v.workspace_id and a.id = v.approval_id
    order by 1
  )`;

const recordSql = `
  select v.workspace_id, v.approval_id, a.voting is not null as is_told, v.revision, v.stuck_at is not null as is_stuck,
    w.hand_over, date_trunc('milliseconds', clock_timestamp()) as now,
    array_remove(v.later_owners || array[v.requester, v.key_owner] || case
      when a.status = 'PENDING' and k.id is not null then ${ownersSince("k", "a.created_at")}
    end, null) as excluded,
    (select json_agg(json_build_object(
        'number', s.number, 'notify', s.notify, 'groupId', s.group_id, 'groupName', s.group_name,
        'required', s.required, 'enteredAt', s.entered_at, 'completedAt', s.completed_at,
        'peopleToday', case when s.entered_at is not null then '[]'
          when s.group_id is null then json_build_array(s.notify) else (${groupOf("s")}) end,
        'peopleOfSteps', (
          select coalesce(json_agg(each.email), '[]')
          from steps st
          cross join lateral (
            select st.notify as email where st.group_id is null
            union all
            select m.email from group_members m where m.workspace_id = st.workspace_id and m.group_id = st.group_id
          ) as each
          where ${ofApproval("st")} and st.stage = s.number and st.done_at is null
            and coalesce(st.due_at, now() + st.after_minutes * interval '1 minute') < a.expires_at
        )
      ) order by s.number)
     from stages s where ${ofApproval("s")}) as stages,
    (select coalesce(json_agg(json_build_object(
        'stage', s.stage, 'person', s.person, 'personEmail', s.person_email, 'voter', s.voter,
        'voterEmail', r.email, 'reviewerId', s.reviewer_id, 'groupId', s.group_id, 'reason', s.reason,
        'givenTo', s.given_to,
        'absentVoter', ${absentVoterOf("s")}, 'absenceIds', s.absence_ids,
        'isValid', ${isInGroup} and (s.voter = s.person or ${isColleague("s.workspace_id", "r.email")})
          and ${isInItsTime("s")}
      ) order by s.stage, s.created_at, s.person, s.voter), '[]')
     from seats s
     join reviewers r on r.workspace_id = s.workspace_id and r.id = s.reviewer_id
     where ${ofApproval("s")}) as seats,
    (select coalesce(json_agg(json_build_object(
        'revision', x.revision, 'stage', x.stage, 'person', x.person, 'voter', x.voter, 'voterEmail', x.voter_email,
        'forEmail', x.for_email, 'verdict', x.verdict, 'note', x.note, 'via', x.via, 'at', x.created_at
      ) order by x.created_at, x.revision, x.stage, x.person), '[]')
     from votes x where ${ofApproval("x")}) as votes,
    (select json_build_object('byEmail', r.by_email, 'at', r.created_at)
     from revisions r where ${ofApproval("r")} and r.number = v.revision) as change
  from votings v
  join approvals a on a.workspace_id = v.workspace_id and a.id = v.approval_id
  join workspaces w on w.id = v.workspace_id
  left join api_keys k on k.workspace_id = a.workspace_id and k.id = a.key_id
  where v.workspace_id = $1 and v.approval_id = $2`;

type Dated<Part> = {
  [Name in keyof Part]: Part[Name] extends Date | null ? string | null : Part[Name];
};

type Row = {
  workspace_id: string;
  approval_id: string;
  is_told: boolean;
  revision: number;
  is_stuck: boolean;
  hand_over: VotingRecord["handOver"];
  now: Date;
  excluded: string[];
  stages: Dated<VotingRecord["stages"][number]>[];
  seats: VotingRecord["seats"];
  votes: Dated<VotingRecord["votes"][number]>[];
  change: { byEmail: string; at: string } | null;
};

/** Null for a request without seats. */
export async function find(
  db: Queryable,
  { workspaceId, approvalId }: Where,
): Promise<VotingRecord | null> {
  const { rows } = await db.query<Row>({
    name: "votings.find",
    text: recordSql,
    values: [workspaceId, approvalId],
  });
  const [row] = rows;
  return row === undefined ? null : toRecord(row);
}

export async function get(tx: Transaction, where: Where): Promise<VotingRecord> {
  const found = await find(tx, where);
  if (found === null) throw new Error(`approval ${where.approvalId} has no seats`);
  return found;
}

/** The text of the current revision; null while it is the agent's payload. */
export async function findRevision(
  db: Queryable,
  { workspaceId, approvalId }: Where,
  number: number,
): Promise<JsonText | null> {
  const { rows } = await db.query<{ payload: JsonText }>(
    "select payload from revisions where workspace_id = $1 and approval_id = $2 and number = $3",
    [workspaceId, approvalId, number],
  );
  return rows[0]?.payload ?? null;
}

/** Nobody is removed from a group in whose place this voter votes, until the transaction ends. */
export async function lockMemberships(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  voter: string,
): Promise<void> {
  await tx.query({
    name: "votings.lockMemberships",
    text: `
      select from seats s
      join group_members m on m.workspace_id = s.workspace_id and m.group_id = s.group_id
        and lower(m.email) = lower(s.person_email)
      where s.workspace_id = $1 and s.approval_id = $2 and s.voter = $3
      for key share of m`,
    values: [workspaceId, approvalId, voter],
  });
}

export async function insertVote(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  vote: VotingRecord["votes"][number],
): Promise<void> {
  await tx.query(
    `insert into votes (workspace_id, approval_id, revision, stage, person, voter, voter_email, for_email, verdict,
       note, via, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[workspaceId, approvalId, vote.revision, vote.stage, vote.person, vote.voter],
      ...[vote.voterEmail, vote.forEmail, vote.verdict, vote.note, vote.via, vote.at],
    ],
  );
}

/** The next revision of the payload, as an approver wrote it. */
export async function insertRevision(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  revision: { number: number; payload: JsonText; byEmail: string; at: Date },
): Promise<void> {
  await tx.query(
    `with revision as (
       insert into revisions (workspace_id, approval_id, number, payload, by_email, created_at)
       values ($1, $2, $3, $4, $5, $6)
     )
     update votings set revision = $3 where workspace_id = $1 and approval_id = $2`,
    [workspaceId, approvalId, revision.number, revision.payload, revision.byEmail, revision.at],
  );
}

/** Which stage is open now. Stages before it are complete, those from it on are not. */
export async function setStage(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  { open, at }: { open: number | null; at: Date },
): Promise<void> {
  await tx.query(
    `with stage as (
       update stages s
       set completed_at = case when $3::int is null or s.number < $3 then coalesce(s.completed_at, $4) end
       where s.workspace_id = $1 and s.approval_id = $2 and s.entered_at is not null
     )
     update votings v set unreachable_at = null, later_owners = ${ownersUntilNow},
       stage = coalesce($3, (select max(s.number) from stages s where ${ofApproval("s")}))
     where v.workspace_id = $1 and v.approval_id = $2`,
    [workspaceId, approvalId, open, at],
  );
}

/** Whoever owns the key now never counts in this request again, even if the key is given to somebody else. */
export async function noteKeyOwner(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
): Promise<void> {
  await tx.query(
    `update votings v set later_owners = ${ownersUntilNow}
     where v.workspace_id = $1 and v.approval_id = $2 and v.later_owners <> ${ownersUntilNow}`,
    [workspaceId, approvalId],
  );
}

/** Notes that a stage asks its people from now on, and arms the steps that follow if it stays open. */
export async function enterStage(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  { stage, at }: { stage: number; at: Date },
): Promise<void> {
  await tx.query(
    `with stage as (
       update stages set entered_at = coalesce(entered_at, $4)
       where workspace_id = $1 and approval_id = $2 and number = $3
     )
     update steps set due_at = $4::timestamptz + after_minutes * interval '1 minute'
     where workspace_id = $1 and approval_id = $2 and stage = $3 and done_at is null`,
    [workspaceId, approvalId, stage, at],
  );
}

/** Says whether that is news. */
export async function setStuck(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  isStuck: boolean,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update votings set stuck_at = case when $3 then now_ms() end
     where workspace_id = $1 and approval_id = $2 and (stuck_at is not null) <> $3`,
    [workspaceId, approvalId, isStuck],
  );
  return rowCount === 1;
}

/** Writes what answers tell, as it follows from the tables now, and wakes those who wait. Answers the record. */
export async function publish(tx: Transaction, where: Where): Promise<VotingRecord> {
  const record = await get(tx, where);
  const { workspaceId, approvalId } = where;
  await tx.query({
    name: "votings.publish",
    text: `
      with told as (
        update approvals set voting = $3
        where workspace_id = $1 and id = $2 and voting is not null and status = 'PENDING'
      )
      select pg_notify('${resolutionChannel}', $2)`,
    values: [workspaceId, approvalId, JSON.stringify(approvalsOf(record))],
  });
  return record;
}

function toRecord(row: Row): VotingRecord {
  return {
    workspaceId: row.workspace_id,
    approvalId: row.approval_id,
    isTold: row.is_told,
    excluded: [...new Set(row.excluded)],
    revision: row.revision,
    stages: row.stages.map((stage) => ({
      ...stage,
      enteredAt: toDate(stage.enteredAt),
      completedAt: toDate(stage.completedAt),
    })),
    seats: row.seats,
    votes: row.votes.map((vote) => ({ ...vote, at: new Date(vote.at as string) })),
    change: row.change === null ? null : { ...row.change, at: new Date(row.change.at) },
    isStuck: row.is_stuck,
    handOver: row.hand_over,
    now: row.now,
  };
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
