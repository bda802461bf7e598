// The people table: everybody who has signed in, by their mailbox, in the spelling that they proved first; and where
// they are members or were asked.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { Role } from "../../domain/workspace/role.ts";

export type Person = { id: string; email: string };

/** Adds the person behind an address, unless they are known: the first proof fixes the spelling for good. */
export async function upsert(tx: Transaction, email: string): Promise<Person> {
  const { rows } = await tx.query<Person>(
    `insert into people (email) values ($1)
     on conflict (lower(email)) do update set email = people.email
     returning id, email`,
    [email],
  );
  return rows[0] as Person;
}

/** The person behind any spelling of an address. Null until somebody has proved one of them. */
export async function findByEmail(db: Queryable, email: string): Promise<Person | null> {
  const { rows } = await db.query<Person>(
    "select id, email from people where lower(email) = lower($1)",
    [email],
  );
  return rows[0] ?? null;
}

/**
 * Where somebody belongs, and the one spelling of their address that codes are mailed to: the one they proved, or else
 * the one they were named by first. Members whom the operator added go before invitations, which anybody with a
 * workspace can make. Null when they are a member nowhere.
 */
export async function findFirstMembership(
  db: Queryable,
  email: string,
): Promise<{ workspaceId: string; email: string } | null> {
  const { rows } = await db.query<{ workspace_id: string; email: string }>(
    `select m.workspace_id, coalesce(p.email, m.email) as email
     from members m
     left join people p on lower(p.email) = lower(m.email)
     where lower(m.email) = lower($1)
     order by m.joined_at is null, m.created_at, m.workspace_id limit 1`,
    [email],
  );
  const [row] = rows;
  return row === undefined ? null : { workspaceId: row.workspace_id, email: row.email };
}

/**
 * The same for everybody who may sign in: members, and people who were ever asked to decide. Those see their inbox and no
 * workspace; their codes travel in the queue of the workspace that asked them first.
 */
export async function findKnown(
  db: Queryable,
  email: string,
): Promise<{ workspaceId: string; email: string } | null> {
  const membership = await findFirstMembership(db, email);
  if (membership !== null) return membership;
  const { rows } = await db.query<{ workspace_id: string; email: string }>(
    `select r.workspace_id, coalesce(p.email, r.email) as email
     from (
       select workspace_id, email from reviewers
       where lower(email) = lower($1) order by lower(email), id limit 1
     ) as r
     left join people p on lower(p.email) = lower(r.email)`,
    [email],
  );
  const [row] = rows;
  return row === undefined ? null : { workspaceId: row.workspace_id, email: row.email };
}

/** The workspaces where somebody is a member, is in a group, or was ever asked to decide. */
export async function listWorkspaces(db: Queryable, email: string): Promise<string[]> {
  const { rows } = await db.query<{ workspace_id: string }>(
    `select workspace_id from members where lower(email) = lower($1)
     union
     select workspace_id from group_members where lower(email) = lower($1)
     union
     select workspace_id from reviewers where lower(email) = lower($1)
     order by workspace_id`,
    [email],
  );
  return rows.map((row) => row.workspace_id);
}

/** The address of the owner who has been there longest, of all workspaces. */
export async function findFirstOwner(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ email: string }>(
    "select email from members where role = 'owner' and joined_at is not null order by id limit 1",
  );
  return rows[0]?.email ?? null;
}

export type Membership = {
  workspaceId: string;
  workspaceName: string;
  role: Role;
  hasJoined: boolean;
  invitedBy: string | null;
};

/** In the order of their names, then of their age. */
export async function listMemberships(db: Queryable, email: string): Promise<Membership[]> {
  const { rows } = await db.query<{
    workspace_id: string;
    name: string;
    role: Role;
    has_joined: boolean;
    invited_by: string | null;
  }>(
    `select m.workspace_id, w.name, m.role, m.joined_at is not null as has_joined, m.invited_by
     from members m
     join workspaces w on w.id = m.workspace_id
     where lower(m.email) = lower($1)
     order by lower(w.name), w.id`,
    [email],
  );
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    workspaceName: row.name,
    role: row.role,
    hasJoined: row.has_joined,
    invitedBy: row.invited_by,
  }));
}
