// Sends one delivery of a workspace again because a member asked for it. Operators at the command line, who know no
// workspace, go through resend-delivery.ts.

import type { Database } from "../../database/database.ts";
import { isAskingKind } from "../../domain/approval/event.ts";
import { mailRoundsMax } from "../../domain/limits.ts";
import { type Refusal, refuse } from "../../domain/refusal.ts";
import { addressOf } from "../../domain/shown/destination.ts";
import type { MemberDoer } from "../../domain/workspace/activity.ts";
import * as deliveries from "../../storage/deliveries/deliveries.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as resending from "../../storage/deliveries/resending.ts";
import * as members from "../../storage/people/members.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { findWithExpiry } from "../approvals/expire-approvals.ts";
import { inTransactionBy } from "../transaction-by.ts";

type ResendRefusal = Refusal<"not_found" | "conflict" | "validation_error" | "forbidden">;

export async function resendInWorkspace(
  db: Database,
  id: string,
  by: MemberDoer,
): Promise<deliveries.Delivery | ResendRefusal> {
  const { workspaceId, actor } = by;
  const delivery = await deliveries.findInWorkspace(db, workspaceId, id);
  if (delivery === null) return noSuchDelivery();
  const reason = await whyNotAgain(db, delivery);
  if (reason !== null) return refuse("validation_error", reason);
  return inTransactionBy(db, by, async (tx) => {
    if (!(await resending.resend(tx, delivery))) {
      return refuse(
        "conflict",
        "An attempt of this delivery is under way. Look again in a moment, and press Resend if it failed.",
      );
    }
    await activity.insert(tx, {
      workspaceId,
      actor,
      action: "deliveries.resent",
      subject: addressOf(delivery.destination),
      detail: { delivery: id, event: delivery.event, count: "1" },
    });
    await newDeliveries.announceDue(tx);
    return (await deliveries.findInWorkspace(tx, workspaceId, id)) ?? noSuchDelivery();
  });
}

export function noSuchDelivery(): Refusal<"not_found"> {
  return refuse(
    "not_found",
    "There is no such delivery in this workspace. Look for it in the list of deliveries.",
  );
}

async function whyNotAgain(db: Database, delivery: deliveries.Delivery): Promise<string | null> {
  const { destination, approvalId, workspaceId, event } = delivery;
  if (destination.kind === "endpoint") {
    if (destination.isDeleted)
      return "This endpoint was deleted, so nothing is sent to it any more.";
    return destination.isDisabled
      ? "This endpoint is disabled. Press Enable on its page first, then Resend."
      : null;
  }
  if (destination.kind === "callback") return null;
  const tooOften = await resending.isMailedTooOften(db, delivery);
  if (tooOften) return tooOftenMailed;
  if (event === "member.invited") {
    const isOpen = await members.isInvited(db, { workspaceId, email: destination.email });
    return isOpen ? null : `${destination.email} is not invited any more.`;
  }
  if (approvalId === null || !isAskingKind(event)) return null;
  const found = await findWithExpiry(db, workspaceId, approvalId);
  return found?.approval.state.kind === "PENDING"
    ? null
    : `The request is no longer pending, so there is nothing to ask ${destination.email} for.`;
}

/** Nobody's mailbox is to be filled by pressing a button. */
export const tooOftenMailed = `This mail was sent less than a minute ago, or ${mailRoundsMax} times already. Wait a little, or write to them yourself.`;
