// Who is asked about a request just now, and through which channels they can be reached.

import type { Queryable, Transaction } from "../../database/database.ts";
import type { AskedState } from "../../domain/channels/wanted-messages.ts";
import { isAwaited, isOpen } from "../approvals/may-still-decide.ts";

type Where = { workspaceId: string; approvalId: string };

type Row = {
  is_open: boolean;
  has_channels: boolean;
  channels: string[] | null;
  people: {
    email: string;
    groupIds: (string | null)[];
    hasSlack: boolean;
    hasPush: boolean;
    quietUntil: string | null;
  }[];
  groups: { id: string; hasSlack: boolean; hasTeams: boolean }[];
};

/** Somebody's Slack account counts where it was linked. Where the workspace goes by addresses, Slack is asked for it. */
const hasSlackAccount = `exists (
  select from slack_connections c
  where c.workspace_id = r.workspace_id and c.broken_at is null and (c.matches_email or exists (
    select from slack_accounts own
    where own.team_id = c.team_id and own.app_id = c.app_id and own.email = lower(r.email) and own.source = 'linked'
  ))
)`;

const localNow = "(now() at time zone s.time_zone)";
const quietEnd = `((
  date_trunc('day', ${localNow}) + s.quiet_until
    + case when s.quiet_until <= ${localNow}::time then interval '1 day' else interval '0' end
) at time zone s.time_zone)`;

const groupIdsOf = `case when a.has_seats then (
  -- Whoever stands in for somebody is not asked as a member of the group.
  select json_agg(distinct case when s.voter = s.person then s.group_id end) from seats s
  join votings v on v.workspace_id = s.workspace_id and v.approval_id = s.approval_id and v.stage = s.stage
  where s.workspace_id = a.workspace_id and s.approval_id = a.id and s.reviewer_id = r.id and s.given_to is null
) else json_build_array(a.group_id) end`;

const askedSql = `
  with approval as materialized (
    select a.workspace_id, a.id, a.status, a.expires_at, a.group_id, a.has_seats, a.has_channels, a.channels
    from approvals a where a.workspace_id = $1 and a.id = $2
  ), person as materialized (
    select lower(r.email) as email, ${groupIdsOf} as group_ids,
      coalesce(s.uses_slack, true) and ${hasSlackAccount} as has_slack,
      exists (select from push_subscriptions p where p.email = lower(r.email)) as has_push,
      case when is_quiet(s) then ${quietEnd} end as quiet_until
    from approval a
    join reviewers r on r.workspace_id = a.workspace_id and r.approval_id = a.id
    left join person_settings s on s.email = lower(r.email)
    where ${isOpen("a")} and ${isAwaited("a", "r")}
  )
  select ${isOpen("a")} as is_open, a.has_channels, a.channels,
    (select coalesce(json_agg(json_build_object(
        'email', p.email, 'groupIds', coalesce(p.group_ids, '[null]'), 'hasSlack', p.has_slack,
        'hasPush', p.has_push, 'quietUntil', p.quiet_until
      ) order by p.email), '[]') from person p) as people,
    (select coalesce(json_agg(json_build_object(
        'id', g.group_id,
        'hasSlack', g.slack_channel is not null and exists (
          select from slack_connections c where c.workspace_id = g.workspace_id and c.broken_at is null
        ),
        'hasTeams', g.teams_sealed is not null
      ) order by g.group_id), '[]')
     from group_channels g
     where g.workspace_id = a.workspace_id and g.group_id in (
       select json_array_elements_text(coalesce(p.group_ids, '[]')) from person p
     )) as groups
  from approval a`;

/** Null when there is no such request. */
export async function find(
  db: Queryable,
  { workspaceId, approvalId }: Where,
): Promise<(AskedState & { hasChannels: boolean }) | null> {
  const { rows } = await db.query<Row>({
    name: "askedPeople.find",
    text: askedSql,
    values: [workspaceId, approvalId],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    isOpen: row.is_open,
    hasChannels: row.has_channels,
    channels: row.channels,
    people: row.people.map(({ quietUntil, ...person }) => ({
      ...person,
      quietUntil: quietUntil === null ? null : new Date(quietUntil),
    })),
    groups: row.groups,
  };
}

/** From now on its end is news. False if it has ended before: then nothing is to be told. */
export async function noteChannels(
  tx: Transaction,
  { workspaceId, approvalId }: Where,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: "askedPeople.noteChannels",
    text: `
      update approvals set has_channels = true
      where workspace_id = $1 and id = $2 and status = (select 'PENDING')`,
    values: [workspaceId, approvalId],
  });
  return rowCount === 1;
}
