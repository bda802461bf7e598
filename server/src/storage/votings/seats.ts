// Who may vote for whom: the rows of seats, with a link of their own for each voter, and who is asked by a name.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { Away } from "../../domain/approval/seating.ts";
import type { SeatRecord, StageRecord } from "../../domain/approval/voting-record.ts";
import type { NewReviewer } from "../approvals/approval-creation.ts";
import { isColleague, mayBeAsked } from "../people/colleagues.ts";
import type { Where } from "./votings.ts";

/** Gives each address a link to the request, unless it has one, and answers the links' ids by address in lower case. */
export async function ensureReviewers(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  reviewers: readonly NewReviewer[],
  secretKeyId: string,
): Promise<ReadonlyMap<string, string>> {
  const emails = reviewers.map(({ email }) => email);
  await tx.query(
    `insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest, needs_code)
     select w.id, $2, each.email, $3, each.nonce, each.digest, w.review_code
     from unnest($4::text[], $5::bytea[], $6::bytea[]) as each (email, nonce, digest)
     join workspaces w on w.id = $1
     on conflict (approval_id, lower(email), workspace_id) do nothing`,
    [
      ...[workspaceId, approvalId, secretKeyId, emails],
      reviewers.map(({ tokenNonce }) => tokenNonce),
      reviewers.map(({ tokenDigest }) => tokenDigest),
    ],
  );
  const { rows } = await tx.query<{ id: string; address: string }>(
    `select id, lower(email) as address from reviewers
     where approval_id = $2 and lower(email) = any (select lower(unnest($3::text[]))) and workspace_id = $1`,
    [workspaceId, approvalId, emails],
  );
  return new Map(rows.map(({ id, address }) => [address, id]));
}

export type NewSeat = Pick<
  SeatRecord,
  "stage" | "person" | "personEmail" | "voter" | "reviewerId" | "groupId" | "reason" | "absenceIds"
>;

/** A seat that was worth nothing any more is asked anew, whatever became of it before. */
export async function insert(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  seats: readonly NewSeat[],
): Promise<void> {
  await tx.query(
    `insert into seats (
       workspace_id, approval_id, stage, person, person_email, voter, reviewer_id, group_id, reason, absence_ids
     )
     select $1, $2, each.stage, each.person, each.person_email, each.voter, each.reviewer_id, each.group_id, each.reason,
       string_to_array(each.absence_ids, ' ')
     from unnest(
       $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]
     ) as each (stage, person, person_email, voter, reviewer_id, group_id, reason, absence_ids)
     on conflict (workspace_id, approval_id, stage, person, voter) do update set
       person_email = excluded.person_email, reviewer_id = excluded.reviewer_id, group_id = excluded.group_id,
       reason = excluded.reason, given_to = null, absence_ids = excluded.absence_ids`,
    [
      ...[workspaceId, approvalId, seats.map(({ stage }) => stage)],
      ...[seats.map(({ person }) => person), seats.map(({ personEmail }) => personEmail)],
      ...[seats.map(({ voter }) => voter), seats.map(({ reviewerId }) => reviewerId)],
      ...[seats.map(({ groupId }) => groupId), seats.map(({ reason }) => reason)],
      seats.map(({ absenceIds = null }) => absenceIds?.join(" ") ?? null),
    ],
  );
}

/** Everybody who was asked about a plain request has a seat in its one stage. Marks the request. */
export async function insertForReviewers(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  groupId: string | null,
): Promise<void> {
  await tx.query(
    `with seat as (
       insert into seats (workspace_id, approval_id, stage, person, person_email, voter, reviewer_id, group_id, reason)
       select r.workspace_id, r.approval_id, 1, person_of(r.email), r.email, person_of(r.email), r.id, $3, 'asked'
       from reviewers r where r.approval_id = $2 and r.workspace_id = $1
       on conflict do nothing
     ), stage as (
       update stages s set entered_at = a.created_at
       from approvals a
       where s.workspace_id = $1 and s.approval_id = $2 and a.workspace_id = $1 and a.id = $2
     )
     update approvals set has_seats = true where workspace_id = $1 and id = $2`,
    [workspaceId, approvalId, groupId],
  );
}

/** The voter has passed the seat to somebody, and can't vote for it any more. */
export async function give(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  seat: { stage: number; person: string; voter: string },
  to: string,
): Promise<void> {
  await tx.query(
    `update seats set given_to = $6
     where workspace_id = $1 and approval_id = $2 and stage = $3 and person = $4 and voter = $5`,
    [workspaceId, approvalId, seat.stage, seat.person, seat.voter, to],
  );
}

export type NewVoting = {
  requester: string | null;
  keyOwner: string | null;
  approverLimit: string;
  stages: readonly Pick<StageRecord, "notify" | "groupId" | "groupName" | "required">[];
  /** For each stage. */
  steps: readonly { notify: string; groupId: string | null; afterMinutes: number }[];
};

/** The rows of a request that becomes one with seats. Its stages are entered by themselves. */
export async function insertVoting(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
  voting: NewVoting,
): Promise<void> {
  const { requester, keyOwner, approverLimit, stages, steps } = voting;
  await tx.query(
    `insert into votings (workspace_id, approval_id, requester, key_owner, approver_limit)
     values ($1, $2, $3, $4, $5)`,
    [workspaceId, approvalId, requester, keyOwner, approverLimit],
  );
  await tx.query(
    `insert into stages (workspace_id, approval_id, number, notify, group_id, group_name, required)
     select $1, $2, each.n, each.notify, each.group_id, each.group_name, each.required
     from unnest($3::text[], $4::text[], $5::text[], $6::smallint[]) with ordinality
       as each (notify, group_id, group_name, required, n)`,
    [
      ...[workspaceId, approvalId, stages.map(({ notify }) => notify)],
      ...[stages.map(({ groupId }) => groupId), stages.map(({ groupName }) => groupName)],
      stages.map(({ required }) => required),
    ],
  );
  if (steps.length === 0) return;
  await tx.query(
    `insert into steps (workspace_id, approval_id, stage, number, notify, group_id, after_minutes)
     select $1, $2, s.number, each.n, each.notify, each.group_id, each.after_minutes
     from stages s
     cross join unnest($3::text[], $4::text[], $5::integer[]) with ordinality
       as each (notify, group_id, after_minutes, n)
     where s.workspace_id = $1 and s.approval_id = $2`,
    [
      ...[workspaceId, approvalId, steps.map(({ notify }) => notify)],
      ...[steps.map(({ groupId }) => groupId), steps.map(({ afterMinutes }) => afterMinutes)],
    ],
  );
}

/**
 * Who is away just now, and whom they named. A delegate who is no colleague any more, or whom the workspace no longer lets
 * be asked, stands in for nobody.
 */
export async function listAway(db: Queryable, workspaceId: string): Promise<Away[]> {
  const { rows } = await db.query<{ id: string; person: string; delegate_email: string }>({
    name: "seats.listAway",
    text: `
      select b.id, b.person, b.delegate_email
      from absences b
      where b.workspace_id = $1 and b.starts_at <= clock_timestamp() and b.ends_at > clock_timestamp()
        and ${isColleague("b.workspace_id", "b.delegate_email")}
        and ${mayBeAsked("b.workspace_id", "b.delegate_email")}
      order by b.id`,
    values: [workspaceId],
  });
  return rows.map(({ id, person, delegate_email }) => ({
    id,
    person,
    delegateEmail: delegate_email,
  }));
}

/** Those of the addresses that are colleagues, in lower case. */
export async function listColleagues(
  db: Queryable,
  workspaceId: string,
  emails: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ email: string }>(
    `select lower(each) as email from unnest($2::text[]) as each where ${isColleague("$1", "each")}`,
    [workspaceId, emails],
  );
  return new Set(rows.map(({ email }) => email));
}
