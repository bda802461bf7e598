// The people of a workspace and of its groups, to whom a vote may be passed.

import type { Queryable } from "../../database/database.ts";
import { colleaguesShownMax } from "../../domain/approval/voting-limits.ts";
import type { ApproverRule } from "../../domain/workspace/approver-limit.ts";
import { isColleague, mayBeAsked } from "../people/colleagues.ts";

export type ColleagueRule = { handOver: "off" | "group" | "workspace"; approvers: ApproverRule };

export async function findRule(db: Queryable, workspaceId: string): Promise<ColleagueRule> {
  type Row = {
    hand_over: ColleagueRule["handOver"];
    approver_limit: ApproverRule["limit"];
    approver_domains: string[];
  };
  const { rows } = await db.query<Row>(
    "select hand_over, approver_limit, approver_domains from workspaces where id = $1",
    [workspaceId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`workspace ${workspaceId} vanished`);
  return {
    handOver: row.hand_over,
    approvers: { limit: row.approver_limit, domains: row.approver_domains },
  };
}

const shareGroup = (one: string, other: string) => `exists (
    select from group_members mine
    join group_members theirs on theirs.workspace_id = mine.workspace_id and theirs.group_id = mine.group_id
    where mine.workspace_id = $1 and lower(mine.email) = lower(${one}) and lower(theirs.email) = lower(${other})
  )`;

export async function findRelation(
  db: Queryable,
  workspaceId: string,
  { fromEmail, toEmail }: { fromEmail: string; toEmail: string },
): Promise<{ isColleague: boolean; sharesGroup: boolean }> {
  const { rows } = await db.query<{ is_colleague: boolean; shares_group: boolean }>(
    `select ${isColleague("$1", "$3")} as is_colleague, ${shareGroup("$2", "$3")} as shares_group`,
    [workspaceId, fromEmail, toEmail],
  );
  const [row] = rows;
  return { isColleague: row?.is_colleague ?? false, sharesGroup: row?.shares_group ?? false };
}

/**
 * To whom somebody may pass their vote, in the order of addresses. Nobody who isn't a colleague themselves gets this list:
 * an approver from outside must not learn who works there.
 */
export async function listFor(
  db: Queryable,
  workspaceId: string,
  { email, withinGroup }: { email: string; withinGroup: boolean },
): Promise<string[]> {
  const { rows } = await db.query<{ email: string }>(
    `select min(each.email) as email
     from (
       select m.email from members m where m.workspace_id = $1 and m.joined_at is not null
       union all
       select m.email from group_members m where m.workspace_id = $1
     ) as each
     where ${isColleague("$1", "$2")} and person_of(each.email) <> person_of($2) and ${mayBeAsked("$1", "each.email")}
       and (not $3 or ${shareGroup("$2", "each.email")})
     group by lower(each.email)
     order by 1
     limit ${colleaguesShownMax}`,
    [workspaceId, email, withinGroup],
  );
  return rows.map((row) => row.email);
}
