// Claims webhook deliveries that are due. A claim is one statement and one commit: the lease with its fencing
// token, and the row of the attempt that is about to be made.

import type { Approval } from "../domain/approval.ts";
import type { EndpointHealth } from "../domain/endpoint-health.ts";
import type { WebhookEventKind } from "../domain/event.ts";
import {
  claimedReadBytesMax,
  claimWindowMax,
  leaseSeconds,
  webhooksKeptFree,
  webhooksLightShare,
  webhooksPerEndpointMax,
  webhooksPerFailingEndpointMax,
  webhooksPerQuickEndpointMax,
  webhooksPerWorkspaceMax,
} from "../domain/limits.ts";
import {
  type ApprovalRow,
  largeBytes,
  largeColumns,
  smallColumns,
  toApproval,
} from "./approvals.ts";
import type { Transaction } from "./database.ts";
import type { Lease } from "./deliveries.ts";

export type ClaimedWebhook = Lease & {
  /** By the database's clock. */
  claimedAt: Date;
  numberInRound: number;
  kind: WebhookEventKind;
  eventAt: Date;
  endpoint: { workspaceId: string; id: string; url: string } & EndpointHealth;
  secrets: { secretKeyId: string; sealed: Buffer }[];
  /** Its id alone when it is too large to come along; null for a test event. */
  approval: Approval | { largeId: string } | null;
};

type ClaimedRow = ApprovalRow & {
  workspace_id: string;
  delivery_id: string;
  lease_token: string;
  number: number;
  number_in_round: number;
  claimed_at: Date;
  kind: WebhookEventKind;
  event_at: Date;
  endpoint_id: string;
  url: string;
  failing_since: Date | null;
  warned_at: Date | null;
  secret_key_ids: string[];
  sealed: Buffer[];
  approval_id: string | null;
  is_large: boolean;
};

/** Of endpoints that are known to answer quickly, more may be under way. */
export async function claim(
  tx: Transaction,
  { limit, quickEndpointIds }: { limit: number; quickEndpointIds: string[] },
): Promise<ClaimedWebhook[]> {
  const { rows } = await tx.query<ClaimedRow>({
    name: "dueWebhooks.claim",
    text: claimSql,
    values: [limit, quickEndpointIds],
  });
  return rows.map(toClaimed);
}

/**
 * Walks from one endpoint with due work to the next, and looks at no more than the oldest few of each: that
 * window is all that may be in flight to an endpoint, from all processes together, so neither a backlog of
 * 200,000 nor a receiver that hangs costs the others anything. Endpoints take turns within a workspace, and
 * workspaces take turns with each other.
 *
 * What belongs to a claimed row is looked up in sub-selects with a limit: as plain joins, planned while the tables
 * were small, each of them would walk through all rows of a workspace.
 */
const claimSql = `
with recursive lane as (
  (select d.endpoint_id, d.workspace_id from deliveries d
   where d.state = 'due' and d.endpoint_id is not null
   order by d.endpoint_id, d.due_at, d.id limit 1)
  union all
  select next.endpoint_id, next.workspace_id
  from lane
  cross join lateral (
    select d.endpoint_id, d.workspace_id from deliveries d
    where d.state = 'due' and d.endpoint_id is not null and d.endpoint_id > lane.endpoint_id
    order by d.endpoint_id, d.due_at, d.id limit 1
  ) as next
),
window_row as (
  select lane.workspace_id, oldest.ctid, oldest.due_at, oldest.is_leased, oldest.weight,
    row_number() over (partition by lane.endpoint_id, oldest.is_leased order by oldest.due_at, oldest.id) as turn
  from lane
  cross join lateral (
    select e.failing_since, e.disabled_at from endpoints e
    where e.workspace_id = lane.workspace_id and e.id = lane.endpoint_id
    limit 1
  ) as e
  cross join lateral (
    select d.ctid, d.id, d.due_at, d.weight, coalesce(d.leased_until > now(), false) as is_leased
    from deliveries d
    where d.state = 'due' and d.endpoint_id = lane.endpoint_id and d.due_at <= now()
    order by d.due_at, d.id
    limit case when e.failing_since is not null then ${webhooksPerFailingEndpointMax}
      when lane.endpoint_id = any ($2::text[]) then greatest(${webhooksPerEndpointMax},
        least(${webhooksPerQuickEndpointMax}, ${claimWindowMax} / (select count(*) from lane)))
      else ${webhooksPerEndpointMax} end
  ) as oldest
  where e.disabled_at is null
),
ranked as (
  select ctid, is_leased, due_at,
    sum(weight) over (partition by workspace_id, is_leased order by turn, due_at rows unbounded preceding) as place,
    coalesce(sum(weight) filter (where is_leased) over (partition by workspace_id), 0) as leased
  from window_row
),
-- Whoever has least under way comes first; by the turn alone, those with the smallest ids would take every slot. And the
-- last slots are for those who have hardly anything under way: a few workspaces whose endpoints hang cannot take them.
ordered as (
  select ctid, leased + place as share, row_number() over (order by leased + place, due_at) as nth
  from ranked
  where not is_leased and place <= ${webhooksPerWorkspaceMax} - leased
),
picked as (
  select ctid from ordered
  where nth <= $1 and (share <= ${webhooksLightShare} or nth <= $1 - ${webhooksKeptFree})
),
locked as materialized (
  select d.ctid, d.workspace_id, d.id, d.attempts from deliveries d
  where d.ctid = any (array(select ctid from picked))
    and d.state = 'due' and d.due_at <= now() and (d.leased_until is null or d.leased_until <= now())
  for update skip locked
),
claimed as (
  update deliveries d
  set attempts = d.attempts + 1, lease_token = gen_random_uuid(),
    leased_until = now() + interval '${leaseSeconds} seconds'
  where d.ctid = any (array(select ctid from locked))
  returning d.workspace_id, d.id, d.event_id, d.endpoint_id, d.lease_token, d.attempts as number,
    d.attempts - d.attempts_before as number_in_round
),
-- Whoever made the attempt before is gone: how it went will never be known.
cut_short as (
  update attempts a
  set finished_at = now_ms(), outcome = 'interrupted'
  from locked
  where a.workspace_id = locked.workspace_id and a.delivery_id = locked.id
    and a.number = locked.attempts and a.finished_at is null
),
attempt as (
  insert into attempts (workspace_id, delivery_id, number)
  select workspace_id, id, number from claimed
)
select claimed.workspace_id, claimed.id as delivery_id, claimed.lease_token, claimed.number,
  claimed.number_in_round, now_ms() as claimed_at, ev.kind, ev.created_at as event_at,
  claimed.endpoint_id, e.url, e.failing_since, e.warned_at,
  secrets.secret_key_ids, secrets.sealed, ev.approval_id, ${smallColumns},
  ${largeBytes} > ${claimedReadBytesMax} as is_large,
  case when ${largeBytes} <= ${claimedReadBytesMax} then a.payload end as payload,
  case when ${largeBytes} <= ${claimedReadBytesMax} then a.metadata end as metadata,
  case when ${largeBytes} <= ${claimedReadBytesMax} then a.agent_state end as agent_state,
  case when ${largeBytes} <= ${claimedReadBytesMax} then a.edit end as edit
from claimed
cross join lateral (
  select ev.kind, ev.created_at, ev.approval_id from events ev
  where ev.workspace_id = claimed.workspace_id and ev.id = claimed.event_id
  limit 1
) as ev
cross join lateral (
  select e.url, e.failing_since, e.warned_at from endpoints e
  where e.workspace_id = claimed.workspace_id and e.id = claimed.endpoint_id
  limit 1
) as e
left join lateral (
  select ${smallColumns}, ${largeColumns} from approvals a
  where a.workspace_id = claimed.workspace_id and a.id = ev.approval_id
  limit 1
) as a on true
cross join lateral (
  select coalesce(array_agg(s.secret_key_id order by s.id desc), '{}') as secret_key_ids,
    coalesce(array_agg(s.sealed order by s.id desc), '{}') as sealed
  from endpoint_secrets s
  where s.workspace_id = claimed.workspace_id and s.endpoint_id = claimed.endpoint_id
    and (s.expires_at is null or s.expires_at > now())
) as secrets`;

function toClaimed(row: ClaimedRow): ClaimedWebhook {
  return {
    workspaceId: row.workspace_id,
    deliveryId: row.delivery_id,
    leaseToken: row.lease_token,
    number: row.number,
    numberInRound: row.number_in_round,
    claimedAt: row.claimed_at,
    kind: row.kind,
    eventAt: row.event_at,
    endpoint: {
      workspaceId: row.workspace_id,
      id: row.endpoint_id,
      url: row.url,
      failingSince: row.failing_since,
      warnedAt: row.warned_at,
    },
    secrets: row.secret_key_ids.map((secretKeyId, at) => ({
      secretKeyId,
      sealed: row.sealed[at] as Buffer,
    })),
    approval: toApprovalOrId(row),
  };
}

function toApprovalOrId(row: ClaimedRow): ClaimedWebhook["approval"] {
  if (row.approval_id === null) return null;
  return row.is_large ? { largeId: row.approval_id } : toApproval(row);
}
