// Which pending approvals wait for one person, as parts of a list's statement: those that ask them by name or as a member
// of a group, and those in whose open stage they can still vote. Never those that their own key asked for.

import { isOwnerOfItsKey } from "../workspaces/key-owners.ts";
import { pending } from "./approvals.ts";
import { firstPendingId, isSeatAwaited } from "./may-still-decide.ts";
import type { Bind } from "./statement.ts";

export type AwaitedPerson = {
  /** As it was typed. A request without seats asks exactly this address, in any case. */
  email: string;
  /** As votes count people. */
  person: string;
};

/** For a row that was found by its id. */
export function waitsFor({ email, person }: AwaitedPerson, bind: Bind): string {
  const address = bind(email);
  return `(case when a.has_seats then ${hasSeat(bind(person))}
    when a.group_id is null then lower(a.approver_email) = lower(${address})
    else exists (
      select from group_members m
      where m.workspace_id = a.workspace_id and m.group_id = a.group_id and lower(m.email) = lower(${address})
    ) and ${wasAsked(address)} end) and not ${isOwnerOfItsKey(address)}`;
}

type Walk = {
  workspace: string;
  /** All other conditions of the list. */
  conditions: string;
  /** The order of a walk along these ids, and its end after a page. Nothing where the list has another order. */
  order: (id: string) => string;
  page: string;
};

/**
 * The walks that together find what waits for somebody. The one along their seats begins with the oldest that can be
 * pending, however many they have had.
 */
export function waitingWalks(
  { email, person }: AwaitedPerson,
  bind: Bind,
  { workspace, conditions, order, page }: Walk,
): string[] {
  const address = bind(email);
  const voter = bind(person);
  const found = (where: string) => `
    select a.workspace_id, a.id, a.expires_at from approvals a
    where a.workspace_id = ${workspace} and a.status = ${pending} and a.expires_at > now() and ${conditions}
      and not ${isOwnerOfItsKey(address)} and ${where}`;
  const asks = (name: string) =>
    `not a.has_seats and coalesce(a.group_id, lower(a.approver_email)) = ${name}`;
  return [
    `${found(asks(`lower(${address})`))} ${order("a.id")} ${page}`,
    `select a.workspace_id, a.id, a.expires_at
     from groups g
     cross join lateral (
       select m.group_id from group_members m
       where m.workspace_id = g.workspace_id and m.group_id = g.id and lower(m.email) = lower(${address})
       limit 1
     ) as m
     cross join lateral (${found(`${asks("m.group_id")} and ${wasAsked(address)}`)} ${order("a.id")} ${page}) as a
     where g.workspace_id = ${workspace}`,
    `select a.workspace_id, a.id, a.expires_at
     from (
       select distinct s.approval_id as id from seats s
       where s.voter = ${voter} and s.workspace_id = ${workspace} and s.approval_id >= ${firstPendingId}
       ${order("s.approval_id")}
     ) as seat
     cross join lateral (${found(`a.id = seat.id and ${hasSeat(voter)}`)} limit 1) as a
     ${order("seat.id")} ${page}`,
  ];
}

/** Asked then: somebody who joined the group later has no link. */
function wasAsked(address: string): string {
  return `exists (
    select from reviewers r
    where r.approval_id = a.id and lower(r.email) = lower(${address}) and r.workspace_id = a.workspace_id
  )`;
}

function hasSeat(voter: string): string {
  return isSeatAwaited(
    `s.voter = ${voter} and s.workspace_id = a.workspace_id and s.approval_id = a.id`,
  );
}
