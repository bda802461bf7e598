// Colleagues: the people who have joined a workspace, and those in its approver groups. They may stand in for each other.

import type { Queryable } from "../../database/database.ts";

/** Whether an address is a colleague's now. Takes expressions of SQL. */
export function isColleague(workspaceId: string, email: string): string {
  return `(
    exists (
      select from members m
      where m.workspace_id = ${workspaceId} and lower(m.email) = lower(${email}) and m.joined_at is not null
    ) or exists (
      select from group_members m
      where m.workspace_id = ${workspaceId} and lower(m.email) = lower(${email})
    )
  )`;
}

/**
 * Whether the workspace lets a colleague be asked instead of somebody now. Of its limits only the one to domains excludes
 * colleagues (`isApproverAllowed`). Takes expressions of SQL.
 */
export function mayBeAsked(workspaceId: string, email: string): string {
  return `exists (
    select from workspaces w
    where w.id = ${workspaceId} and (w.approver_limit <> 'domains'
      or lower(substring(${email} from '[^@]*$')) = any (w.approver_domains))
  )`;
}

/** In the order of the alphabet. */
export async function list(db: Queryable, workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ email: string }>(
    `${colleagues} select email from colleagues order by lower(email)`,
    [workspaceId],
  );
  return rows.map(({ email }) => email);
}

/** A colleague's address as the workspace spells it; null when it is nobody's here. */
export async function findEmail(
  db: Queryable,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<string | null> {
  const { rows } = await db.query<{ email: string }>(
    `${colleagues} select email from colleagues where lower(email) = lower($2)`,
    [workspaceId, email],
  );
  return rows[0]?.email ?? null;
}

/** One spelling of each, a member's own before those in groups. */
const colleagues = `
  with colleagues as (
    select distinct on (lower(email)) email from (
      select email, 1 as place from members where workspace_id = $1 and joined_at is not null
      union all
      select email, 2 from group_members where workspace_id = $1
    ) named
    order by lower(email), place, email
  )`;
