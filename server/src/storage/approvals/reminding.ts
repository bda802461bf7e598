// What time brings for pending approvals: the reminder before the end, and when to look next.

import type { Queryable, Transaction } from "../../database/database.ts";
import { reminderMinutesMin } from "../../domain/limits.ts";
import { isRepresented, isSeatAwaited } from "./may-still-decide.ts";

/**
 * Emits the reminder event for up to `limit` pending approvals whose time for it has come, with a mail to each reviewer
 * who may still decide. A reminder that leaves too little time to act is dropped.
 */
export async function remindDue(tx: Transaction, limit: number): Promise<number> {
  const { rows } = await tx.query<{ taken: number }>({
    name: "approvals.remindDue",
    text: `
      with due as (
        select workspace_id, id
        from approvals
        where status = 'PENDING' and remind_at <= now()
        order by remind_at
        limit $1
        for update skip locked
      ), taken as (
        update approvals a
        set remind_at = null
        from due
        where a.workspace_id = due.workspace_id and a.id = due.id
        returning a.workspace_id, a.id, a.group_id, a.expires_at, a.has_seats
      ), event as (
        insert into events (workspace_id, approval_id, kind)
        select taken.workspace_id, taken.id, 'request.expiring'
        from taken
        join workspaces w on w.id = taken.workspace_id and w.reminder_percent is not null
        where taken.expires_at > now() + interval '${reminderMinutesMin} minutes'
        returning workspace_id, id, approval_id
      ), mail as (
        insert into deliveries (workspace_id, event_id, channel, reviewer_id)
        select event.workspace_id, event.id, 'mail', r.id
        from event
        join reviewers r on r.workspace_id = event.workspace_id and r.approval_id = event.approval_id
        join taken on taken.workspace_id = event.workspace_id and taken.id = event.approval_id
        where not taken.has_seats or ${isSeatAwaited(seatOfAsked)}
      )
      select count(*)::int as taken from taken`,
    values: [limit],
  });
  return rows[0]?.taken ?? 0;
}

/** As when their stage was entered: a delegate is mailed instead of somebody who is away. */
const seatOfAsked = `s.workspace_id = r.workspace_id and s.approval_id = r.approval_id and s.reviewer_id = r.id
          and not ${isRepresented}`;

export type MsUntilNext = Record<"expiry" | "reminder" | "step" | "absence", number | null>;

/**
 * How long until the next pending approval ends or is to be reminded of, a stage asks more people, or an absence begins or ends;
 * null when there is none.
 */
export async function msUntilNext(db: Queryable): Promise<MsUntilNext> {
  const { rows } = await db.query<Record<keyof MsUntilNext, string | null>>({
    name: "approvals.msUntilNext",
    text: `
      select
        (select extract(epoch from expires_at - clock_timestamp()) * 1000 from approvals
         where status = 'PENDING' order by expires_at limit 1) as expiry,
        (select extract(epoch from remind_at - clock_timestamp()) * 1000 from approvals
         where status = 'PENDING' and remind_at is not null order by remind_at limit 1) as reminder,
        (select extract(epoch from due_at - clock_timestamp()) * 1000 from steps
         where done_at is null and due_at is not null order by due_at limit 1) as step,
        least(
          (select extract(epoch from starts_at - clock_timestamp()) * 1000 from absences
           where begun_at is null order by starts_at limit 1),
          (select extract(epoch from ends_at - clock_timestamp()) * 1000 from absences
           where ended_at is null order by ends_at limit 1)
        ) as absence`,
  });
  const [row] = rows;
  return {
    expiry: toNumber(row?.expiry),
    reminder: toNumber(row?.reminder),
    step: toNumber(row?.step),
    absence: toNumber(row?.absence),
  };
}

function toNumber(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}
