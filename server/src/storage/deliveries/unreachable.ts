// Requests that have reached nobody: every mail to those who could vote just now has failed. It is an event, and the
// owners are told. A mail that arrives later takes it back.

import type { Transaction } from "../../database/database.ts";
import { askingKinds } from "../../domain/approval/event.ts";
import { mailedPeopleMax, requestNoticesPerDayMax } from "../../domain/approval/voting-limits.ts";
import { claimedReadBytesMax, largeWebhookWeight } from "../../domain/limits.ts";
import { largeBytes } from "../approvals/approvals.ts";
import { isOpen, mayStillDecide } from "../approvals/may-still-decide.ts";
import { mailToOwners } from "./new-deliveries.ts";

export type FailedMails = {
  workspaceId: string;
  deliveryIds: readonly string[];
  /** What the mail server said last. */
  answer: string | null;
};

export const asking = askingKinds.map((kind) => `'${kind}'`).join(", ");

/** Locks the pending approvals about which these mails asked, in the order of their ids. */
export async function lockAsking(
  tx: Transaction,
  { workspaceId, deliveryIds }: FailedMails,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: "unreachable.lockAsking",
    text: `
      select a.id from approvals a
      where a.workspace_id = $1 and ${isOpen("a")} and a.id = any (array(
        select ev.approval_id
        from unnest($2::text[]) as failed (id)
        cross join lateral (
          select d.event_id from deliveries d
          where d.workspace_id = $1 and d.id = failed.id and d.reviewer_id is not null limit 1
        ) as d
        cross join lateral (
          select ev.approval_id from events ev
          where ev.workspace_id = $1 and ev.id = d.event_id and ev.kind in (${asking}) limit 1
        ) as ev
      ))
      order by a.id
      for update`,
    values: [workspaceId, deliveryIds],
  });
  return rows.map(({ id }) => id);
}

/**
 * Of these approvals, notes those that have reached nobody: once for each time that a stage is entered, and once where
 * there are no seats. With the event, its webhooks and a notice to the owners; not to those of one person who was asked
 * alone, because the notice about their mail says the same.
 */
export async function note(
  tx: Transaction,
  { workspaceId, ids, answer }: FailedMails & { ids: readonly string[] },
): Promise<{ events: number; mails: number }> {
  const { rows } = await tx.query<{ events: number; mails: number }>({
    name: "unreachable.note",
    text: noteSql,
    values: [workspaceId, ids, answer],
  });
  return rows[0] ?? { events: 0, mails: 0 };
}

// A mail of an earlier stage does not count: it told nobody that their turn has come. Comparisons that no index answers
// keep a plan made with nothing from walking all events of a workspace.
const noteSql = `
  with open as materialized (
    select a.workspace_id, a.id, a.status, a.expires_at, a.group_id, a.has_seats, a.voting,
      case when ${largeBytes} > ${claimedReadBytesMax} then ${largeWebhookWeight} else 1 end as weight
    from unnest($2::text[]) as asked (id)
    cross join lateral (
      select a.* from approvals a where a.workspace_id = $1 and a.id = asked.id limit 1
    ) as a
  ),
  reader as (
    select a.id, r.email, stage.number as stage,
      exists (
        select from (
          select ev.id from events ev
          where ev.approval_id = a.id and ev.workspace_id is not distinct from a.workspace_id and ev.kind in (${asking})
            and ev.created_at >= coalesce(stage.entered_at, ev.created_at)
          offset 0
        ) as ev
        cross join lateral (
          select from deliveries d
          where d.event_id = ev.id and coalesce(d.endpoint_id, d.reviewer_id, d.recipient) = r.id
            and d.channel = 'mail' and d.workspace_id = a.workspace_id and d.state in ('delivered', 'due')
          limit 1
        ) as d
      ) as is_reached
    from open a
    cross join lateral (
      select r.id, r.workspace_id, r.email from reviewers r
      where r.approval_id = a.id and r.workspace_id = a.workspace_id
      offset 0
    ) as r
    left join lateral (
      select s.number, s.entered_at
      from (
        select v.stage from votings v where v.workspace_id = a.workspace_id and v.approval_id = a.id limit 1
      ) as v
      cross join lateral (
        select s.number, s.entered_at from stages s
        where s.workspace_id = a.workspace_id and s.approval_id = a.id and s.number = v.stage limit 1
      ) as s
    ) as stage on a.has_seats
    where ${mayStillDecide("a", "r")}
  ),
  missed as materialized (
    select id, min(stage) as stage, count(*)::int as people, array_agg(email order by email) as emails
    from reader
    group by id
    having not bool_or(is_reached)
  ),
  noted as (
    update votings v
    set unreachable_at = now_ms()
    where v.workspace_id = $1 and v.approval_id = any (array(select id from missed)) and v.unreachable_at is null
    returning v.approval_id
  ),
  news as materialized (
    select a.id, a.voting, a.has_seats, a.weight, missed.people, new_id('evt_') as event_id,
      jsonb_strip_nulls(jsonb_build_object(
        'stage', case when a.voting is not null then missed.stage end, 'people', missed.emails[1:${mailedPeopleMax}],
        'peopleCount', missed.people, 'answer', $3::text
      )) as detail
    from missed
    join open a on a.id = missed.id
    where case when a.has_seats then a.id in (select approval_id from noted)
      else not exists (
        select from events told
        where told.approval_id = a.id and told.workspace_id is not distinct from a.workspace_id
          and told.kind = 'request.unreachable'
      ) end
  ),
  written as (
    insert into events (workspace_id, id, approval_id, kind, detail, voting)
    select $1, event_id, id, 'request.unreachable', detail, voting from news
    returning id
  ),
  webhook as (
    insert into deliveries (workspace_id, event_id, channel, endpoint_id, state, weight)
    select $1, news.event_id, 'webhook', e.id, case when e.disabled_at is null then 'due' else 'skipped' end, news.weight
    from news
    join endpoints e on e.workspace_id = $1 and e.deleted_at is null and 'request.unreachable' = any (e.event_kinds)
  ),
  event as (
    select $1 as workspace_id, event_id as id from news
    where (has_seats or people > 1) and ${requestNoticesPerDayMax} > (
      select count(*) from (
        select from events told
        where told.workspace_id = $1 and told.kind = 'request.unreachable' and told.created_at > now() - interval '1 day'
        order by told.workspace_id, told.created_at
        limit ${requestNoticesPerDayMax}
      ) as told
    )
  ),
  mail as (
    ${mailToOwners}
    returning 1
  )
  select (select count(*)::int from written) as events, (select count(*)::int from mail) as mails`;

/** Somebody of the open stage got a mail. */
export async function clear(
  tx: Transaction,
  { workspaceId, deliveryId }: { workspaceId: string; deliveryId: string },
): Promise<void> {
  await tx.query({
    name: "unreachable.clear",
    text: `
      with reached as materialized (
        select ev.approval_id, d.reviewer_id
        from (
          select d.event_id, d.reviewer_id from deliveries d where d.workspace_id = $1 and d.id = $2 limit 1
        ) as d
        cross join lateral (
          select ev.approval_id from events ev
          where ev.workspace_id = $1 and ev.id = d.event_id and ev.kind in (${asking}) limit 1
        ) as ev
      )
      update votings v
      set unreachable_at = null
      where v.workspace_id = $1 and v.approval_id = (select approval_id from reached) and v.unreachable_at is not null
        and exists (
          select from seats s
          where s.workspace_id = v.workspace_id and s.approval_id = v.approval_id and s.stage = v.stage
            and s.reviewer_id = (select reviewer_id from reached)
        )`,
    values: [workspaceId, deliveryId],
  });
}
