// The absences table: who is away from when to when, and who is asked instead.

import type { Queryable, Transaction } from "../../database/database.ts";
import { absencesListedMax } from "../../domain/shown/field-limits.ts";
import type { AbsenceTimes } from "../../domain/workspace/absence.ts";
import { isColleague, mayBeAsked } from "./colleagues.ts";

export type Absence = AbsenceTimes & {
  id: string;
  workspaceId: string;
  email: string;
  delegateEmail: string;
  /** Whether the delegate is a colleague still. Nobody is asked instead if not. */
  isDelegateHere: boolean;
  /** Whether the workspace lets the delegate be asked now. About what they were asked before, they still decide. */
  isDelegateAllowed: boolean;
  hasBegun: boolean;
};

type AbsenceRow = {
  id: string;
  workspace_id: string;
  email: string;
  delegate_email: string;
  is_delegate_here: boolean;
  is_delegate_allowed: boolean;
  has_begun: boolean;
  starts_at: Date;
  ends_at: Date;
};

const columns = `
  a.id, a.workspace_id, a.email, a.delegate_email, a.starts_at, a.ends_at, a.starts_at <= clock_timestamp() as has_begun,
  ${isColleague("a.workspace_id", "a.delegate_email")} as is_delegate_here,
  ${mayBeAsked("a.workspace_id", "a.delegate_email")} as is_delegate_allowed`;

type Person = { workspaceId: string; email: string };

/** Those that are not over, the next one first. */
export async function list(db: Queryable, workspaceId: string): Promise<Absence[]> {
  const { rows } = await db.query<AbsenceRow>(
    `select ${columns} from absences a
     where a.workspace_id = $1 and a.ends_at > now()
     order by a.starts_at, a.id
     limit $2`,
    [workspaceId, absencesListedMax],
  );
  return rows.map(toAbsence);
}

/** Somebody's own in all workspaces that they have joined. */
export async function listOfPerson(db: Queryable, email: string): Promise<Absence[]> {
  const { rows } = await db.query<AbsenceRow>(
    `select ${columns} from absences a
     join members j on j.workspace_id = a.workspace_id and lower(j.email) = lower($1) and j.joined_at is not null
     where a.person = person_of($1) and a.ends_at > now()
     order by a.starts_at, a.id`,
    [email],
  );
  return rows.map(toAbsence);
}

/** One that is not over. Searches all workspaces when none is given. */
export async function find(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string | null; id: string },
): Promise<Absence | null> {
  const { rows } = await db.query<AbsenceRow>(
    `select ${columns} from absences a
     where a.id = $1 and ($2::text is null or a.workspace_id = $2) and a.ends_at > now()`,
    [id, workspaceId],
  );
  return rows.map(toAbsence)[0] ?? null;
}

/** How many of somebody's are not over. */
export async function countOfPerson(db: Queryable, person: Person): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from absences
     where person = person_of($2) and workspace_id = $1 and ends_at > now()`,
    [person.workspaceId, person.email],
  );
  return rows[0]?.count ?? 0;
}

/** Whether somebody is away at some time in between, by another absence than this one. */
export async function overlaps(
  db: Queryable,
  { workspaceId, email, startsAt, endsAt }: Person & AbsenceTimes,
  exceptId: string | null,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from absences
     where person = person_of($2) and workspace_id = $1 and ends_at > $3 and starts_at < $4
       and id is distinct from $5
     limit 1`,
    [workspaceId, email, startsAt, endsAt, exceptId],
  );
  return rows.length > 0;
}

export type NewAbsence = Person & AbsenceTimes & { delegateEmail: string };

export async function insert(tx: Transaction, absence: NewAbsence): Promise<Absence> {
  const { workspaceId, email, delegateEmail, startsAt, endsAt } = absence;
  const { rows } = await tx.query<AbsenceRow>(
    `insert into absences as a (workspace_id, person, email, delegate_email, starts_at, ends_at)
     values ($1, person_of($2), $2, $3, $4, $5)
     returning ${columns}`,
    [workspaceId, email, delegateEmail, startsAt, endsAt],
  );
  await keepUntil(tx, workspaceId);
  return rows.map(toAbsence)[0] as Absence;
}

export async function update(tx: Transaction, absence: Absence): Promise<Absence> {
  const { workspaceId, id, delegateEmail, startsAt, endsAt } = absence;
  const { rows } = await tx.query<AbsenceRow>(
    `update absences a set delegate_email = $3, starts_at = $4, ends_at = $5
     where a.workspace_id = $1 and a.id = $2
     returning ${columns}`,
    [workspaceId, id, delegateEmail, startsAt, endsAt],
  );
  await keepUntil(tx, workspaceId);
  return rows.map(toAbsence)[0] as Absence;
}

/** Ends one that has begun now; one that hasn't never was. */
export async function end(
  tx: Transaction,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  await tx.query(
    `with never as (
       delete from absences where workspace_id = $1 and id = $2 and starts_at >= now_ms()
     )
     update absences set ends_at = now_ms() where workspace_id = $1 and id = $2 and starts_at < now_ms()`,
    [workspaceId, id],
  );
  await keepUntil(tx, workspaceId);
}

/** A create looks for delegates while the workspace has an absence that is not over. */
async function keepUntil(tx: Transaction, workspaceId: string): Promise<void> {
  await tx.query(
    `update workspaces set absences_until = (
       select max(ends_at) from absences where workspace_id = $1 and ends_at > now()
     )
     where id = $1`,
    [workspaceId],
  );
}

function toAbsence(row: AbsenceRow): Absence {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    email: row.email,
    delegateEmail: row.delegate_email,
    isDelegateHere: row.is_delegate_here,
    isDelegateAllowed: row.is_delegate_allowed,
    hasBegun: row.has_begun,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
  };
}
