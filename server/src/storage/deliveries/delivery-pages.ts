// The dashboard's list of deliveries, newest first: to one endpoint, in one state, of one event, within a time.

import type { Queryable } from "../../database/database.ts";
import type { DeliveryState } from "../../domain/delivery/delivery.ts";
import { deliveriesLookedAtMax } from "../../domain/limits.ts";
import { workspaceChannels } from "../../domain/shown/destination.ts";
import { type Delivery, isOfWorkspace, listByIds } from "./deliveries.ts";

export type PageFilter = {
  workspaceId: string;
  endpointId: string | null;
  state: DeliveryState | null;
  event: string | null;
  /** At or after. */
  createdFrom: Date | null;
  createdBefore: Date | null;
  /** Only older ones. */
  beforeId: string | null;
  limit: number;
};

/** The next page begins after `lastId`; null when there is none. A rare event may leave a page with few rows, or none. */
export type DeliveryPage = { found: Delivery[]; lastId: string | null };

export async function listPage(db: Queryable, filter: PageFilter): Promise<DeliveryPage> {
  const { workspaceId, endpointId, event, limit } = filter;
  const { from, until } = idsOf(filter);
  // No index knows events, so that only so many deliveries are looked at for one.
  const lookedAtMax = event === null ? limit + 1 : deliveriesLookedAtMax;
  const { rows } = await db.query<{ ids: string[]; looked_at: number; last_id: string | null }>(
    `with looked_at as materialized (${filter.state === "due" ? duePage : walkedPage(filter)}),
     page as (
       select looked_at.id from looked_at
       ${event === null ? "cross join (select $7::text) as any_event" : ofEvent}
       order by looked_at.id desc
       limit $6 + 1
     )
     select array(select id from page order by id desc) as ids,
       (select count(*)::int from looked_at) as looked_at, (select min(id) from looked_at) as last_id`,
    [workspaceId, endpointId, from, until, lookedAtMax, limit, event],
  );
  const { ids = [], looked_at: lookedAt = 0, last_id: lastLookedAt = null } = rows[0] ?? {};
  const found = await listByIds(db, workspaceId, ids.slice(0, limit));
  if (ids.length > limit) return { found, lastId: ids[limit - 1] ?? null };
  return { found, lastId: event !== null && lookedAt === lookedAtMax ? lastLookedAt : null };
}

const ofEvent = `
  cross join lateral (
    select from events ev where ev.workspace_id = $1 and ev.id = looked_at.event_id and ev.kind = $7 limit 1
  ) as ev`;

/** An id begins with the millisecond of its creation. */
function idsOf({ createdFrom, createdBefore, beforeId }: PageFilter) {
  const from = createdFrom === null ? "dlv_" : firstIdAt(createdFrom);
  const until = createdBefore === null ? "dlv_g" : firstIdAt(createdBefore);
  return { from, until: beforeId !== null && beforeId < until ? beforeId : until };
}

function firstIdAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, "0");
  return digits.length > 12 ? "dlv_g" : `dlv_${digits}`;
}

function walkedPage({ state, endpointId }: PageFilter): string {
  return `
    select d.id, d.event_id from deliveries d
    where d.workspace_id = $1 and ${endpointId === null ? "$2::text is null" : "d.endpoint_id = $2"}
      and ${state === null ? "true" : `d.state = '${state}'`} and d.id >= $3 and d.id < $4
      and ${isOfWorkspace}
    order by d.id desc
    limit $5`;
}

// Few deliveries are due among very many that were delivered. So this reads the indexes of due ones, and sorts.
const duePage = `
  select id, event_id from (
    select d.id, d.event_id from endpoints e
    cross join lateral (
      select d.id, d.event_id from deliveries d
      where d.state = 'due' and d.endpoint_id = e.id order by d.due_at
    ) as d
    where e.workspace_id = $1 and ($2::text is null or e.id = $2)
    union all
    select d.id, d.event_id from deliveries d
    where d.state = 'due' and d.endpoint_id is null and d.channel in (${workspaceChannels.map((channel) => `'${channel}'`).join(", ")})
      and d.workspace_id = $1 and $2::text is null
      and ${isOfWorkspace}
  ) as due
  where id >= $3 and id < $4
  order by id desc
  limit $5`;
