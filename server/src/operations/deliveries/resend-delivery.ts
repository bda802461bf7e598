// Resends deliveries that failed, were skipped, or are wanted once more; and sends a test event to an endpoint.

import { type Database, inTransaction } from "../../database/database.ts";
import { isAskingKind } from "../../domain/approval/event.ts";
import { type ChangeRefusal, isRefusal, type Refusal, refuse } from "../../domain/refusal.ts";
import { addressOf } from "../../domain/shown/destination.ts";
import { type Doer, operator } from "../../domain/workspace/activity.ts";
import * as deliveries from "../../storage/deliveries/deliveries.ts";
import * as endpoints from "../../storage/deliveries/endpoints.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as resending from "../../storage/deliveries/resending.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import * as workspaces from "../../storage/workspaces/workspaces.ts";
import { findWithExpiry } from "../approvals/expire-approvals.ts";
import { inTransactionBy, unknownWorkspace } from "../transaction-by.ts";
import { unknownEndpoint } from "./manage-endpoint.ts";

const resendBatch = 1_000;

export async function resendDelivery(
  db: Database,
  id: string,
): Promise<deliveries.Delivery | Refusal> {
  const delivery = await deliveries.find(db, id);
  if (delivery === null) return unknownDelivery(id);
  const reason = await whyNotAgain(db, delivery);
  if (reason !== null) return refuse("validation_error", reason);
  return inTransaction(db, async (tx) => {
    if (!(await resending.resend(tx, delivery))) {
      return refuse(
        "validation_error",
        `an attempt of ${id} is under way; look again in a moment: countersign delivery show ${id}`,
      );
    }
    const { workspaceId, destination, event } = delivery;
    await activity.insert(tx, {
      workspaceId,
      actor: operator.actor,
      action: "deliveries.resent",
      subject: addressOf(destination),
      detail: { delivery: id, event, count: "1" },
    });
    await newDeliveries.announceDue(tx);
    return (await deliveries.find(tx, id)) ?? unknownDelivery(id);
  });
}

/** Resends deliveries of a workspace, or of one endpoint, that failed or were skipped since a time. Says how many. */
export async function resendUnsuccessful(
  db: Database,
  since: { workspaceId: string; endpointId: string | null; time: Date },
  by: Doer = operator,
): Promise<{ resent: number } | ChangeRefusal> {
  const { workspaceId, endpointId, time } = since;
  const isInReach = by.workspaceId === null || by.workspaceId === workspaceId;
  const isThere = isInReach && (await workspaces.find(db, workspaceId)) !== null;
  if (!isThere) return unknownWorkspace(workspaceId);
  const endpoint =
    endpointId === null ? null : await endpoints.find(db, { workspaceId, id: endpointId });
  if (endpointId !== null && endpoint === null) return unknownEndpoint(endpointId, by);
  const subject = endpoint?.url ?? "all that failed or was skipped";
  let afterId = "";
  for (let resent = 0; ; ) {
    const ids = await inTransactionBy(db, by, async (tx) => {
      const from = { ...since, afterId, limit: resendBatch };
      const batch = await resending.resendUnsuccessful(tx, from);
      if (batch.length === 0) return batch;
      const detail = { count: String(batch.length), since: time.toISOString() };
      const entry = { workspaceId, actor: by.actor, subject, detail };
      await activity.insert(tx, { ...entry, action: "deliveries.resent" });
      await newDeliveries.announceDue(tx);
      return batch;
    });
    if (isRefusal(ids)) return ids;
    resent += ids.length;
    afterId = ids.at(-1) ?? afterId;
    if (ids.length < resendBatch) return { resent };
  }
}

export async function sendTestEvent(
  db: Database,
  endpointId: string,
  by: Doer = operator,
): Promise<{ deliveryId: string } | ChangeRefusal> {
  return inTransactionBy(db, by, async (tx) => {
    const endpoint = await endpoints.lock(tx, { workspaceId: by.workspaceId, id: endpointId });
    if (endpoint === null) return unknownEndpoint(endpointId, by);
    if (endpoint.disabledAt !== null) {
      return by.workspaceId === null
        ? refuse("validation_error", enableFirst(endpointId))
        : refuse("conflict", "this endpoint is disabled; enable it first");
    }
    const { workspaceId, url: subject } = endpoint;
    const entry = { workspaceId, actor: by.actor, subject };
    await activity.insert(tx, { ...entry, action: "endpoint.tested" });
    const deliveryId = await newDeliveries.insertTest(tx, endpoint);
    await newDeliveries.announceDue(tx);
    return { deliveryId };
  });
}

async function whyNotAgain(db: Database, delivery: deliveries.Delivery): Promise<string | null> {
  const { destination, approvalId, workspaceId, event } = delivery;
  if (destination.kind === "endpoint") {
    if (destination.isDeleted) return `the endpoint ${destination.id} was deleted`;
    return destination.isDisabled ? enableFirst(destination.id) : null;
  }
  const isAboutDeciding = destination.kind === "mailbox" && isAskingKind(event);
  if (approvalId === null || !isAboutDeciding) return null;
  const found = await findWithExpiry(db, workspaceId, approvalId);
  return found?.approval.state.kind === "PENDING"
    ? null
    : `${approvalId} is no longer pending, so there is nothing to ask ${destination.email} for`;
}

function enableFirst(endpointId: string): string {
  return `the endpoint ${endpointId} is disabled; enable it first: countersign webhook enable ${endpointId}`;
}

export function unknownDelivery(id: string): Refusal {
  return refuse(
    "not_found",
    `there is no delivery ${id}; \`countersign delivery list --workspace ws_…\` shows them`,
  );
}
