// Absences that begin and end, and the open requests about which somebody is asked.

import type { Queryable, Transaction } from "../../database/database.ts";
import { delegateStepsMax } from "../../domain/shown/field-limits.ts";
import { personOf } from "../../domain/workspace/email-address.ts";
import { pending } from "../approvals/approvals.ts";
import { firstPendingId } from "../approvals/may-still-decide.ts";

export type Absence = {
  workspaceId: string;
  id: string;
  email: string;
  /** The last request that was looked at; null before the first. */
  upTo: string | null;
  isOver: boolean;
};

/** Those whose time has come. `except` are left out. */
export async function listBeginning(
  db: Queryable,
  limit: number,
  except: readonly string[],
): Promise<Absence[]> {
  type Row = {
    workspace_id: string;
    id: string;
    email: string;
    begun_up_to: string | null;
    is_over: boolean;
  };
  const { rows } = await db.query<Row>({
    name: "openSeats.listBeginning",
    text: `
      select workspace_id, id, email, begun_up_to, ends_at <= now() as is_over from absences
      where begun_at is null and starts_at <= now() and id <> all ($2)
      order by starts_at
      limit $1`,
    values: [limit, except],
  });
  return rows.map((row) => ({
    ...{ workspaceId: row.workspace_id, id: row.id, email: row.email },
    upTo: row.begun_up_to,
    isOver: row.is_over,
  }));
}

/** The next look begins behind this request, or anew. Nothing if the absence began anew since it was listed. */
export async function noteUpTo(
  tx: Transaction,
  { workspaceId, id, upTo }: Absence,
  approvalId: string | null,
): Promise<void> {
  await tx.query(
    `update absences set begun_up_to = $4
     where workspace_id = $1 and id = $2 and begun_up_to is not distinct from $3`,
    [workspaceId, id, upTo, approvalId],
  );
}

/**
 * Queues what is open and asks somebody whose absence is over, of up to `limit` absences. Answers how many. Absences that
 * led through theirs begin anew: their delegate is another one now.
 */
export async function queueEnded(tx: Transaction, limit: number): Promise<number> {
  const { rows } = await tx.query<{ count: number }>({
    name: "openSeats.queueEnded",
    text: `
      with recursive due as (
        select workspace_id, id from absences
        where ended_at is null and ends_at <= now()
        order by ends_at
        limit $1
        for update skip locked
      ), ended as (
        update absences b set ended_at = now_ms()
        from due
        where b.workspace_id = due.workspace_id and b.id = due.id
        returning b.workspace_id, b.person
      ), concerned as (
        -- Those in whose place somebody was asked through an absence that is over, up to the first of the chain.
        select workspace_id, person, null::text collate "C" as id, 0 as step from ended
        union
        select b.workspace_id, b.person, b.id, c.step + 1
        from concerned c
        join absences b on b.workspace_id = c.workspace_id and person_of(b.delegate_email) = c.person
          and b.starts_at <= now() and b.ends_at > now()
        where c.step < ${delegateStepsMax}
      ), locked as (
        select workspace_id, id from absences
        where (workspace_id, id) in (select workspace_id, id from concerned)
        order by workspace_id, id
        for update
      ), begun_anew as (
        update absences b set begun_at = null, begun_up_to = ''
        from locked
        where b.workspace_id = locked.workspace_id and b.id = locked.id
      ), queued as (
        insert into voting_checks (workspace_id, approval_id)
        select distinct s.workspace_id, s.approval_id
        from (select distinct workspace_id, person from concerned) as concerned
        join seats s on s.voter = concerned.person and s.workspace_id = concerned.workspace_id
          and s.approval_id >= ${firstPendingId}
        cross join lateral (
          select from approvals a
          where a.workspace_id = s.workspace_id and a.id = s.approval_id and a.status = ${pending}
          limit 1
        ) as a
        -- In one order, so that two changes never wait for each other.
        order by 1, 2
        on conflict do nothing
      )
      select count(*)::int as count from ended`,
    values: [limit],
  });
  return rows[0]?.count ?? 0;
}

/** Nothing if the absence began anew since it was listed. */
export async function noteBegun(
  tx: Transaction,
  { workspaceId, id, upTo }: Absence,
): Promise<void> {
  await tx.query(
    `update absences set begun_at = now_ms()
     where workspace_id = $1 and id = $2 and begun_at is null and begun_up_to is not distinct from $3`,
    [workspaceId, id, upTo],
  );
}

/**
 * The ids of the next pending requests that ask who is away: by a seat, by name, or as a member of a group. Oldest first.
 */
export async function listOpenFor(
  db: Queryable,
  { workspaceId, email, upTo }: Absence,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: "openSeats.listOpenFor",
    text: `
      select id from (
        select a.id
        from seats s
        cross join lateral (
          select a.id from approvals a
          where a.workspace_id = s.workspace_id and a.id = s.approval_id and a.status = ${pending}
            and a.expires_at > now()
          limit 1
        ) as a
        where s.voter = $2 and s.workspace_id = $1 and s.given_to is null
          and s.approval_id >= ${firstPendingId} and s.approval_id > coalesce($3, '')
        union
        select a.id
        from (
          select $2 as name
          union all
          select m.group_id from group_members m where m.workspace_id = $1 and person_of(m.email) = $2
        ) as approver
        join approvals a on coalesce(a.group_id, lower(a.approver_email)) = approver.name
          and a.status = ${pending} and a.workspace_id = $1 and a.expires_at > now() and not a.has_seats
          and a.id > coalesce($3, '')
        where a.group_id is null or exists (
          select from reviewers r
          where r.approval_id = a.id and person_of(r.email) = $2 and r.workspace_id = $1
        )
        union
        -- ann+tag@x.example is ann@x.example: between "ann+" and "ann,", the character behind it, where the index has them.
        select a.id
        from approvals a
        where coalesce(a.group_id, lower(a.approver_email)) > split_part($2, '@', 1) || '+'
          and coalesce(a.group_id, lower(a.approver_email)) < split_part($2, '@', 1) || ','
          and person_of(a.approver_email) = $2
          and a.status = ${pending} and a.workspace_id = $1 and a.expires_at > now() and not a.has_seats
          and a.id > coalesce($3, '')
      ) as open
      order by id
      limit $4`,
    values: [workspaceId, personOf(email), upTo, limit],
  });
  return rows.map(({ id }) => id);
}
