// The members table: the people who run a workspace, and those who are invited to.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { Role } from "../../domain/workspace/role.ts";

export type Member = {
  id: string;
  workspaceId: string;
  email: string;
  role: Role;
  createdAt: Date;
  /** Null while an invitation has not been accepted. */
  joinedAt: Date | null;
  invitedBy: string | null;
};

type MemberRow = {
  id: string;
  workspace_id: string;
  email: string;
  role: Role;
  created_at: Date;
  joined_at: Date | null;
  invited_by: string | null;
};

const columns = "id, workspace_id, email, role, created_at, joined_at, invited_by";

/** Adds a member who is in at once. */
export async function insert(
  tx: Transaction,
  member: { workspaceId: string; email: string; role: Role },
): Promise<Member> {
  const { rows } = await tx.query<MemberRow>(
    `insert into members (workspace_id, email, role) values ($1, $2, $3) returning ${columns}`,
    [member.workspaceId, member.email, member.role],
  );
  return rows.map(toMember)[0] as Member;
}

/** Adds a person who still has to accept. */
export async function insertInvited(
  tx: Transaction,
  member: { workspaceId: string; email: string; role: Role; invitedBy: string | null },
): Promise<Member> {
  const { rows } = await tx.query<MemberRow>(
    `insert into members (workspace_id, email, role, joined_at, invited_by) values ($1, $2, $3, null, $4)
     returning ${columns}`,
    [member.workspaceId, member.email, member.role, member.invitedBy],
  );
  return rows.map(toMember)[0] as Member;
}

export async function list(db: Queryable, workspaceId: string): Promise<Member[]> {
  const { rows } = await db.query<MemberRow>(
    `select ${columns} from members where workspace_id = $1 order by id`,
    [workspaceId],
  );
  return rows.map(toMember);
}

export async function find(
  db: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<Member | null> {
  const { rows } = await db.query<MemberRow>(
    `select ${columns} from members where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
  return rows.map(toMember)[0] ?? null;
}

export async function findByEmail(
  db: Queryable,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<Member | null> {
  const { rows } = await db.query<MemberRow>(
    `select ${columns} from members where workspace_id = $1 and lower(email) = lower($2)`,
    [workspaceId, email],
  );
  return rows.map(toMember)[0] ?? null;
}

/** All memberships of one person, by workspace, so that two callers who lock them one by one don't deadlock. */
export async function listByEmail(db: Queryable, email: string): Promise<Member[]> {
  const { rows } = await db.query<MemberRow>(
    `select ${columns} from members where lower(email) = lower($1) order by workspace_id`,
    [email],
  );
  return rows.map(toMember);
}

/** Locks a member against removal and another role until the transaction ends. Several may lock one at once. */
export async function lockByEmail(
  tx: Transaction,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<Member | null> {
  const { rows } = await tx.query<MemberRow>(
    `select ${columns} from members where workspace_id = $1 and lower(email) = lower($2) for share`,
    [workspaceId, email],
  );
  return rows.map(toMember)[0] ?? null;
}

export async function count(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from members where workspace_id = $1",
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** Owners who can act. An owner who is only invited can't yet. */
export async function countOwners(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from members
     where workspace_id = $1 and role = 'owner' and joined_at is not null`,
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

export async function setRole(
  tx: Transaction,
  { workspaceId, id }: { workspaceId: string; id: string },
  role: Role,
): Promise<Member> {
  const { rows } = await tx.query<MemberRow>(
    `update members set role = $3 where workspace_id = $1 and id = $2 returning ${columns}`,
    [workspaceId, id, role],
  );
  return rows.map(toMember)[0] as Member;
}

/** Lets a member in from now on. A member who was in already keeps their time. */
export async function join(
  tx: Transaction,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<Member> {
  const { rows } = await tx.query<MemberRow>(
    `update members set joined_at = coalesce(joined_at, now_ms()) where workspace_id = $1 and id = $2
     returning ${columns}`,
    [workspaceId, id],
  );
  return rows.map(toMember)[0] as Member;
}

/** Whether somebody was invited and has neither joined nor declined. */
export async function isInvited(
  db: Queryable,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<boolean> {
  const { rows } = await db.query(
    "select from members where workspace_id = $1 and lower(email) = lower($2) and joined_at is null",
    [workspaceId, email],
  );
  return rows.length > 0;
}

/** The last membership takes the person's sessions and passkeys with it: a person invited anew signs in anew. */
export async function remove(
  tx: Transaction,
  { workspaceId, id, email }: Pick<Member, "workspaceId" | "id" | "email">,
): Promise<void> {
  await tx.query("delete from members where workspace_id = $1 and id = $2", [workspaceId, id]);
  for (const table of ["sessions", "passkeys"]) {
    await tx.query(
      `delete from ${table} where person_id = (
         select id from people where lower(email) = lower($1)
           and not exists (select from members where lower(email) = lower($1))
       )`,
      [email],
    );
  }
}

function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    email: row.email,
    role: row.role,
    createdAt: row.created_at,
    joinedAt: row.joined_at,
    invitedBy: row.invited_by,
  };
}
