// SQL that says whether somebody may still decide about an approval. Mails, links and resends ask the same question.

import { ttlMinutesMax } from "../../domain/shown/field-limits.ts";
import { isColleague } from "../people/colleagues.ts";
import { pending } from "./approvals.ts";

/** Pending, and in time. `approval` is the alias of a row of approvals. */
export function isOpen(approval: string): string {
  return `${approval}.status = ${pending} and ${approval}.expires_at > now()`;
}

/**
 * Asked by name, or still in the group that was asked. `reviewer` is the alias of a row of reviewers. Where people have
 * seats, they go by those: in any stage, even if the vote was passed on, so that their link tells to whom. Seats are
 * looked up by their approval: a plan made while there were none would else walk through all of the workspace.
 */
export function isStillAsked(approval: string, reviewer: string): string {
  return `(case when ${approval}.has_seats then exists (
      select from seats s
      where s.workspace_id = ${approval}.workspace_id and s.approval_id = ${approval}.id
        and s.reviewer_id = ${reviewer}.id and ${isInItsGroup} and ${isStandInHere}
    ) else ${approval}.group_id is null or exists (
      select from group_members m
      where m.workspace_id = ${approval}.workspace_id and m.group_id = ${approval}.group_id
        and lower(m.email) = lower(${reviewer}.email)
    ) end)`;
}

/** No request with a smaller id can be pending: its time was over before now. */
export const firstPendingId = firstIdWithin("req_", ttlMinutesMax);

/** Of somebody who was asked: nobody is asked before there is a request. */
export const firstPendingReviewerId = firstIdWithin("rev_", ttlMinutesMax);

/** The smallest id that can have been given within so many minutes. */
export function firstIdWithin(prefix: string, minutes: number): string {
  return `('${prefix}' || lpad(
    to_hex((extract(epoch from now()) * 1000)::bigint - ${minutes} * 60000::bigint), 12, '0'
  ))`;
}

/** A mail that asks them is not in vain. */
export function mayStillDecide(approval: string, reviewer: string): string {
  return `(${isOpen(approval)} and ${isAwaited(approval, reviewer)})`;
}

/** Where people have seats: they hold one that is awaited. */
export function isAwaited(approval: string, reviewer: string): string {
  const held = `s.workspace_id = ${approval}.workspace_id and s.approval_id = ${approval}.id
        and s.reviewer_id = ${reviewer}.id`;
  return `(${isStillAsked(approval, reviewer)} and (not ${approval}.has_seats or ${isSeatAwaited(held)}))`;
}

/** A seat in the open stage whose person and voter have neither voted yet, nor has anybody for them. `held` says whose, of the seat `s`. */
export function isSeatAwaited(held: string): string {
  return `exists (
      select from seats s
      join votings v on v.workspace_id = s.workspace_id and v.approval_id = s.approval_id and v.stage = s.stage
      where ${held} and s.given_to is null
        and ${isInItsGroup} and ${isStandInHere} and ${isInItsTime("s")}
        and not exists (
          select from votes x
          where x.workspace_id = s.workspace_id and x.approval_id = s.approval_id and x.revision = v.revision
            and (x.person in (s.person, s.voter) or x.voter in (s.person, s.voter))
        )
    )`;
}

/**
 * Of a row of seats: a delegate stands in only while all absences run that led to them. A seat of an older process names
 * none, and goes by its person's.
 */
export function isInItsTime(seat: string): string {
  return `(case when ${seat}.absence_ids is null then ${seat}.reason <> 'away' or exists (
            select from absences b
            where b.person = ${seat}.person and b.workspace_id = ${seat}.workspace_id
              and b.starts_at <= clock_timestamp() and b.ends_at > clock_timestamp()
          )
          else cardinality(${seat}.absence_ids) = (
            select count(*) from absences b
            where b.workspace_id = ${seat}.workspace_id and b.id = any (${seat}.absence_ids)
              and b.starts_at <= clock_timestamp() and b.ends_at > clock_timestamp()
          ) end)`;
}

/** Of a row of seats: the voter who is away, in whose place its own is asked; null where nobody is. */
export function absentVoterOf(seat: string): string {
  return `(
          select b.person from absences b
          where b.workspace_id = ${seat}.workspace_id
            and b.id = ${seat}.absence_ids[cardinality(${seat}.absence_ids)]
        )`;
}

/** Of a row `s` of seats: its voter is away, and a delegate is asked in their place. */
export const isRepresented = `exists (
          select from seats d
          join reviewers their on their.workspace_id = d.workspace_id and their.id = d.reviewer_id
          where d.workspace_id = s.workspace_id and d.approval_id = s.approval_id and d.stage = s.stage
            and d.person = s.person and d.given_to is null and ${isInItsTime("d")}
            and ${absentVoterOf("d")} = s.voter and ${isColleague("d.workspace_id", "their.email")}
        )`;

/** Of a row `s` of seats: the person was asked by name, or is still in the group that was asked. */
export const isInItsGroup = `(s.group_id is null or exists (
          select from group_members m
          where m.workspace_id = s.workspace_id and m.group_id = s.group_id
            and lower(m.email) = lower(s.person_email)
        ))`;

/** Of a row `s` of seats: whoever votes for somebody else is still a colleague. Removed, they see and hear nothing more. */
const isStandInHere = `(s.voter = s.person or exists (
          select from reviewers own
          where own.workspace_id = s.workspace_id and own.id = s.reviewer_id
            and ${isColleague("s.workspace_id", "own.email")}
        ))`;
