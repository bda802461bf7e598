// Claims webhook deliveries that are due. A claim is one statement and one commit: the lease with its fencing
// token, and the row of the attempt that is about to be made.

import type { Transaction } from "../../database/database.ts";
import type { Approval } from "../../domain/approval/approval.ts";
import type { WebhookEventKind } from "../../domain/approval/event.ts";
import type { EndpointHealth } from "../../domain/delivery/endpoint-health.ts";
import {
  claimedReadBytesMax,
  claimWindowMax,
  webhooksKeptFree,
  webhooksLightShare,
  webhooksPerEndpointMax,
  webhooksPerFailingEndpointMax,
  webhooksPerQuickEndpointMax,
  webhooksPerWorkspaceMax,
} from "../../domain/limits.ts";
import {
  type ApprovalRow,
  largeBytes,
  largeColumns,
  largeColumnsUpTo,
  smallColumns,
  toApproval,
} from "../approvals/approvals.ts";
import type { Lease } from "./attempts.ts";
import {
  beginAttempts,
  crashDelaySecondsOf,
  crashesInRowOf,
  cutShort,
  isClaimable,
  isUnleased,
  postpone,
  takeLease,
} from "./claims.ts";

export type ClaimedWebhook = Lease & {
  /** By the database's clock. */
  claimedAt: Date;
  numberInRound: number;
  /** How many crashes in a row have cut it short before. */
  crashesInRow: number;
  kind: WebhookEventKind;
  eventAt: Date;
  endpoint: { workspaceId: string; id: string; url: string; isTold: boolean } & EndpointHealth;
  secrets: { secretKeyId: string; sealed: Buffer }[];
  /** Its id alone when it is too large to come along; null for a test event. */
  approval: Approval | { largeId: string } | null;
};

export type Claim = {
  webhooks: ClaimedWebhook[];
  /** How long each delivery waits after crashes have cut it short again and again. */
  postponedMs: number[];
};

type ClaimedRow = ApprovalRow & {
  workspace_id: string;
  delivery_id: string;
  /** Null when it was postponed. */
  lease_token: string | null;
  number: number;
  number_in_round: number;
  crashes: number;
  /** Null when it was claimed. */
  postponed_ms: number | null;
  claimed_at: Date;
  kind: WebhookEventKind;
  event_at: Date;
  endpoint_id: string;
  url: string;
  failing_since: Date | null;
  warned_at: Date | null;
  is_told: boolean;
  secret_key_ids: string[];
  sealed: Buffer[];
  approval_id: string | null;
  is_large: boolean;
};

/** Endpoints that are known to answer quickly may have more deliveries under way. */
export async function claim(
  tx: Transaction,
  { limit, quickEndpointIds }: { limit: number; quickEndpointIds: string[] },
): Promise<Claim> {
  const { rows } = await tx.query<ClaimedRow>({
    name: "dueWebhooks.claim",
    text: claimSql,
    values: [limit, quickEndpointIds],
  });
  return {
    webhooks: rows.filter(({ lease_token }) => lease_token !== null).map(toClaimed),
    postponedMs: rows.flatMap(({ postponed_ms }) => postponed_ms ?? []),
  };
}

/**
 * Walks from one endpoint with due work to the next, and looks at no more than the oldest few of each: that
 * window is all that may be in flight to an endpoint, from all processes together, so neither a backlog of
 * 200,000 nor a receiver that hangs costs the others anything. Endpoints take turns within a workspace, and
 * workspaces take turns with each other.
 *
 * Sub-selects with a limit look up the rows that belong to a claimed row. Plain joins, planned while the tables were
 * small, would each walk through all rows of a workspace.
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
  select d.ctid, d.workspace_id, d.id, d.attempts,
    case when d.lease_token is null then 0 else ${crashesInRowOf("d")} end as crashes
  from deliveries d
  where d.ctid = any (array(select ctid from picked))
    and ${isClaimable}
  for update skip locked
),
judged as materialized (
  select ctid, crashes, ${crashDelaySecondsOf("crashes")} as delay_seconds from locked
),
postponed as (
  update deliveries d
  set ${postpone("judged.delay_seconds")}
  from judged
  where d.ctid = judged.ctid and judged.delay_seconds > 0
  returning d.workspace_id, d.id, d.event_id, d.endpoint_id, judged.delay_seconds
),
claimed as (
  update deliveries d
  set ${takeLease}
  from judged
  where d.ctid = judged.ctid and judged.delay_seconds = 0
  returning d.workspace_id, d.id, d.event_id, d.endpoint_id, d.lease_token, d.attempts as number,
    d.attempts - d.attempts_before as number_in_round, judged.crashes
),
cut_short as (${cutShort("locked")}
),
attempt as (${beginAttempts}
),
moved as (
  select workspace_id, id, event_id, endpoint_id, lease_token, number, number_in_round, crashes,
    null::float8 as postponed_ms
  from claimed
  union all
  select workspace_id, id, event_id, endpoint_id, null, 0, 0, 0, delay_seconds * 1000 from postponed
)
select moved.workspace_id, moved.id as delivery_id, moved.lease_token, moved.number,
  moved.number_in_round, moved.crashes, moved.postponed_ms, now_ms() as claimed_at, ev.kind,
  ev.created_at as event_at, moved.endpoint_id, e.url, e.failing_since, e.warned_at, e.is_told,
  secrets.secret_key_ids, secrets.sealed, ev.approval_id, ${smallColumns},
  ${largeBytes} > ${claimedReadBytesMax} as is_large,
  ${largeColumnsUpTo(claimedReadBytesMax)}
from moved
cross join lateral (
  select ev.kind, ev.created_at, ev.approval_id from events ev
  where ev.workspace_id = moved.workspace_id and ev.id = moved.event_id
  limit 1
) as ev
cross join lateral (
  select e.url, e.failing_since, e.warned_at, e.is_told from endpoints e
  where e.workspace_id = moved.workspace_id and e.id = moved.endpoint_id
  limit 1
) as e
left join lateral (
  select ${smallColumns}, ${largeColumns} from approvals a
  where a.workspace_id = moved.workspace_id and a.id = ev.approval_id
  limit 1
) as a on true
cross join lateral (
  select coalesce(array_agg(s.secret_key_id order by s.id desc), '{}') as secret_key_ids,
    coalesce(array_agg(s.sealed order by s.id desc), '{}') as sealed
  from endpoint_secrets s
  where s.workspace_id = moved.workspace_id and s.endpoint_id = moved.endpoint_id
    and (s.expires_at is null or s.expires_at > now())
) as secrets`;

function toClaimed(row: ClaimedRow): ClaimedWebhook {
  return {
    workspaceId: row.workspace_id,
    deliveryId: row.delivery_id,
    leaseToken: row.lease_token as string,
    number: row.number,
    numberInRound: row.number_in_round,
    crashesInRow: row.crashes,
    claimedAt: row.claimed_at,
    kind: row.kind,
    eventAt: row.event_at,
    endpoint: {
      workspaceId: row.workspace_id,
      id: row.endpoint_id,
      url: row.url,
      failingSince: row.failing_since,
      warnedAt: row.warned_at,
      isTold: row.is_told,
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

/** Marks due deliveries to endpoints that have been disabled since as skipped. Answers how many. */
export async function skipDueToDisabled(tx: Transaction, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: "deliveries.skipDueToDisabled",
    text: `
      with due as materialized (
        select d.workspace_id, d.id, d.attempts
        from endpoints e
        cross join lateral (
          select d.workspace_id, d.id, d.attempts from deliveries d
          where d.state = 'due' and d.endpoint_id = e.id
            and ${isUnleased("d")}
          order by d.due_at
          limit $1
          for update skip locked
        ) as d
        where e.disabled_at is not null
        limit $1
      ), cut_short as (${cutShort("due")}
      )
      update deliveries d
      set state = 'skipped', due_at = now_ms(), lease_token = null, leased_until = null
      from due
      where d.workspace_id = due.workspace_id and d.id = due.id`,
    values: [limit],
  });
  return rowCount ?? 0;
}
