// How deliveries to one endpoint went, by day: how many attempts succeeded and failed, and how long answers took.

import type { Queryable } from "../../database/database.ts";
import { endOfDay, lastDays, startOfDay } from "../../domain/approval/figures.ts";
import { attemptsLookedAtMax, endpointSampleSize } from "../../domain/limits.ts";
import { heldByRestore, interrupted } from "../../domain/shown/attempt.ts";

export type EndpointDay = {
  day: string;
  succeeded: number;
  failed: number;
  /** Of attempts that were answered, whatever the answer. */
  medianMs: number | null;
  p90Ms: number | null;
};

/**
 * The last UTC days, oldest first. Of a day with more than `endpointSampleSize` deliveries it reads about that many,
 * always the same ones, and scales the counts up: shares are off by a few per cent then. Smaller days are exact. An
 * attempt at a delivery from before these days is not seen, so a delivery that is resent much later is missing.
 */
export async function readEndpointDays(
  db: Queryable,
  { workspaceId, endpointId, days }: { workspaceId: string; endpointId: string; days: number },
): Promise<EndpointDay[]> {
  const { now, isKnown } = await readStart(db, workspaceId, endpointId);
  const shown = lastDays(now, days);
  if (!isKnown) return shown.map(emptyDay);
  // The day before as well: some of its deliveries are tried again after midnight.
  const slots = lastDays(now, days + 1).flatMap(slotsOf);
  const { rows } = await db.query<{
    day: string;
    succeeded: number;
    failed: number;
    percentiles: number[] | null;
  }>({
    name: "endpointFigures.read",
    text: daysSql,
    values: [
      workspaceId,
      endpointId,
      slots.map(({ fromId }) => fromId),
      slots.map(({ untilId }) => untilId),
      slots.map(({ dayNumber }) => dayNumber),
      shown[0],
    ],
  });
  const byDay = new Map(
    rows.map(({ day, succeeded, failed, percentiles }) => {
      const [medianMs = null, p90Ms = null] = percentiles ?? [];
      return [day, { day, succeeded, failed, medianMs, p90Ms }];
    }),
  );
  return shown.map((day) => byDay.get(day) ?? emptyDay(day));
}

function emptyDay(day: string): EndpointDay {
  return { day, succeeded: 0, failed: 0, medianMs: null, p90Ms: null };
}

/** Checks the endpoint's workspace first, because deliveries are then found by the endpoint alone. */
async function readStart(
  db: Queryable,
  workspaceId: string,
  endpointId: string,
): Promise<{ now: Date; isKnown: boolean }> {
  const { rows } = await db.query<{ now: Date; is_known: boolean }>({
    name: "endpointFigures.readStart",
    text: `
      select now() as now,
        exists (select 1 from endpoints where workspace_id = $1 and id = $2) as is_known`,
    values: [workspaceId, endpointId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the database told no time");
  return { now: row.now, isKnown: row.is_known };
}

const slotsPerDay = 48;

function slotsOf(
  day: string,
  dayNumber: number,
): { dayNumber: number; fromId: string; untilId: string }[] {
  const from = startOfDay(day).getTime();
  const slotMs = (endOfDay(day).getTime() - from) / slotsPerDay;
  return Array.from({ length: slotsPerDay }, (_, slot) => ({
    dayNumber,
    fromId: firstDeliveryIdAt(from + slot * slotMs),
    untilId: firstDeliveryIdAt(from + (slot + 1) * slotMs),
  }));
}

/** An id begins with the millisecond of created_at. */
function firstDeliveryIdAt(ms: number): string {
  return `dlv_${ms.toString(16).padStart(12, "0")}`;
}

// Counting only walks an index. Each slot of a day is sampled in proportion to its deliveries, so that busy hours have
// their weight. The limit on attempts keeps the planner from turning the join around.
const daysSql = `
  with slot as materialized (
    select bounds.from_id, bounds.until_id, counted.deliveries,
      ceil(counted.deliveries * least(1, ${endpointSampleSize} / greatest(1,
        sum(counted.deliveries) over (partition by bounds.day_number)))) as looked_at
    from unnest($3::text[], $4::text[], $5::int[]) as bounds (from_id, until_id, day_number)
    cross join lateral (
      select count(*) as deliveries
      from deliveries d
      where d.endpoint_id = $2 and d.id >= bounds.from_id and d.id < bounds.until_id
    ) as counted
  )
  select (a.started_at at time zone 'utc')::date::text as day,
    round(coalesce(sum(slot.deliveries / slot.looked_at) filter (where a.outcome = 'delivered'), 0))::int as succeeded,
    round(coalesce(sum(slot.deliveries / slot.looked_at) filter (where a.outcome <> 'delivered'), 0))::int as failed,
    percentile_disc(array[0.5, 0.9]) within group (order by a.duration_ms)
      filter (where a.http_status is not null and a.duration_ms is not null) as percentiles
  from slot
  cross join lateral (
    select d.id
    from deliveries d
    where d.endpoint_id = $2 and d.id >= slot.from_id and d.id < slot.until_id
    order by d.id
    limit slot.looked_at
  ) as d
  cross join lateral (
    select a.started_at, a.outcome, a.http_status, a.duration_ms
    from attempts a
    where a.workspace_id = $1 and a.delivery_id = d.id
    order by a.number desc
    limit ${attemptsLookedAtMax}
  ) as a
  where slot.deliveries > 0 and a.outcome not in ('${interrupted}', '${heldByRestore}') and a.started_at >= $6::date
  group by 1`;
