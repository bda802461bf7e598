// Claims webhook deliveries that are due. A claim is one statement and one commit: the lease with its fencing
// token, and the row of the attempt that is about to be made.

import type { Transaction } from "../../database/database.ts";
import type { EndpointHealth } from "../../domain/delivery/endpoint-health.ts";
import {
  claimWindowMax,
  webhooksKeptFree,
  webhooksLightShare,
  webhooksPerEndpointMax,
  webhooksPerFailingEndpointMax,
  webhooksPerQuickEndpointMax,
  webhooksPerWorkspaceMax,
} from "../../domain/limits.ts";
import {
  type ClaimedEvent,
  type ClaimedEventRow,
  eventColumns,
  eventJoins,
  liveSecretsIn,
  toClaimedEvent,
} from "./claimed-events.ts";
import { cutShort, isUnleased, takeInTurns } from "./claims.ts";

export type ClaimedWebhook = ClaimedEvent & {
  endpoint: { workspaceId: string; id: string; url: string; isTold: boolean } & EndpointHealth;
};

export type Claim = {
  webhooks: ClaimedWebhook[];
  /** How long each delivery waits after crashes have cut it short again and again. */
  postponedMs: number[];
};

type ClaimedRow = ClaimedEventRow & {
  endpoint_id: string;
  url: string;
  failing_since: Date | null;
  warned_at: Date | null;
  is_told: boolean;
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
${takeInTurns("endpoint_id", {
  perWorkspaceMax: webhooksPerWorkspaceMax,
  lightShare: webhooksLightShare,
  keptFree: webhooksKeptFree,
})}
select ${eventColumns}, moved.endpoint_id, e.url, e.failing_since, e.warned_at, e.is_told
from moved
cross join lateral (
  select e.url, e.failing_since, e.warned_at, e.is_told from endpoints e
  where e.workspace_id = moved.workspace_id and e.id = moved.endpoint_id
  limit 1
) as e
${eventJoins}
${liveSecretsIn("endpoint_secrets", "s.endpoint_id = moved.endpoint_id")}`;

function toClaimed(row: ClaimedRow): ClaimedWebhook {
  return {
    ...toClaimedEvent(row),
    endpoint: {
      workspaceId: row.workspace_id,
      id: row.endpoint_id,
      url: row.url,
      failingSince: row.failing_since,
      warnedAt: row.warned_at,
      isTold: row.is_told,
    },
  };
}

/** How many disabled endpoints one statement looks after. The next one finds the others. */
const endpointsSkippedAtOnce = 10;

/** Marks due deliveries to endpoints that have been disabled since as skipped. Answers how many; 0 when none are left. */
export async function skipDueToDisabled(tx: Transaction, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: "deliveries.skipDueToDisabled",
    text: `
      with endpoint as materialized (
        select e.id from endpoints e
        cross join lateral (
          select from deliveries d
          where d.state = 'due' and d.endpoint_id = e.id and ${isUnleased("d")}
          order by d.due_at
          limit 1
        ) as due
        where e.disabled_at is not null
        limit ${endpointsSkippedAtOnce}
      ), due as materialized (
        select d.workspace_id, d.id, d.attempts, d.lease_token
        from endpoint
        cross join lateral (
          select d.workspace_id, d.id, d.attempts, d.lease_token from deliveries d
          where d.state = 'due' and d.endpoint_id = endpoint.id
            and ${isUnleased("d")}
          order by d.due_at
          limit $1
          for update skip locked
        ) as d
        limit $1
      ), crashed as materialized (
        -- All but a few have no open attempt, so nothing is looked up for them.
        select workspace_id, id, attempts from due where lease_token is not null
      ), cut_short as (${cutShort("crashed")}
      )
      update deliveries d
      set state = 'skipped', due_at = now_ms(), lease_token = null, leased_until = null
      from due
      where d.workspace_id = due.workspace_id and d.id = due.id`,
    values: [limit],
  });
  return rowCount ?? 0;
}
