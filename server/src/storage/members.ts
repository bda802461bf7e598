// The members table: the people who run a workspace.

import type { Queryable, Transaction } from "./database.ts";

export const memberRoles = ["owner", "admin", "viewer"] as const;
export type MemberRole = (typeof memberRoles)[number];

export type Member = {
  id: string;
  workspaceId: string;
  email: string;
  role: MemberRole;
  createdAt: Date;
};

type MemberRow = {
  id: string;
  workspace_id: string;
  email: string;
  role: MemberRole;
  created_at: Date;
};

const columns = "id, workspace_id, email, role, created_at";

/** Adds a member, or gives the one with this address another role. */
export async function upsert(
  tx: Transaction,
  member: { workspaceId: string; email: string; role: MemberRole },
): Promise<Member> {
  const { rows } = await tx.query<MemberRow>(
    `insert into members (workspace_id, email, role) values ($1, $2, $3)
     on conflict (workspace_id, lower(email)) do update set role = excluded.role
     returning ${columns}`,
    [member.workspaceId, member.email, member.role],
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

function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    email: row.email,
    role: row.role,
    createdAt: row.created_at,
  };
}
