// What the dashboard says before something is removed, and what it is told afterwards.

import type { ApprovalStatus } from "../../../sdk/src/contract.ts";

/** A count that stops somewhere: then it is "that or more". */
export type Counted = { count: number; isMore: boolean };

/** The pending requests that match a filter, as far as they were counted. `upTo` is the newest; null when there are none. */
export type Cancellable = Counted & { upTo: string | null };

export type Cancellation = {
  cancelled: number;
  /** Requests that were decided, cancelled or past their end before, by status. They stay as they are. */
  resolvedBefore: { status: ApprovalStatus; count: number }[];
};

/** `next` is where a further call goes on; null when nothing is left. */
export type CancelledMatching = Cancellation & { next: string | null };

export type MemberRemoval = {
  /** Groups of approvers that this person is in. `isOnlyMember` when nobody would be left. */
  groups: { id: string; name: string; isOnlyMember: boolean }[];
  /** Requests that were asked of this person by address: nobody else can decide them. */
  pending: Counted;
  /** Where this person is the default approver: another one must be chosen before the removal. */
  defaultOf: { isOfWorkspace: boolean; keys: { id: string; name: string }[] };
};

/** `pending` requests are cancelled with their group. */
export type GroupDeletion = { pending: Counted };

/** `pending` requests of the key are cancelled with it if the member wants that. */
export type KeyRevocation = { pending: Counted };

/** `due` deliveries are not sent any more. */
export type EndpointDeletion = { due: Counted };
