// Applies the outcome of an attempt to its endpoint. Owners hear of the first delivery that is given up. An endpoint that
// only fails is warned about, then disabled. One that says it is gone is disabled at once. Owners are told in the same
// transaction.

import {
  type Database,
  inOneStatement,
  inTransaction,
  type Transaction,
} from "../../database/database.ts";
import { stepAfterFailure } from "../../domain/delivery/endpoint-health.ts";
import { endpointFailingDaysMax, noticedCountMax } from "../../domain/limits.ts";
import * as endpoints from "../../storage/deliveries/endpoints.ts";
import * as newDeliveries from "../../storage/deliveries/new-deliveries.ts";
import * as activity from "../../storage/workspaces/activity.ts";

type EndpointId = { workspaceId: string; id: string };

export async function noteEndpointSuccess(db: Database, endpoint: EndpointId): Promise<void> {
  await endpoints.noteSuccess(inOneStatement(db), endpoint);
}

/** `lastFailure` says in words how the attempt ended. */
export async function noteEndpointFailure(
  db: Database,
  id: EndpointId,
  lastFailure: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const noted = await endpoints.noteFailure(tx, id);
    if (noted === null || noted.endpoint.disabledAt !== null) return;
    const { endpoint, now } = noted;
    const step = stepAfterFailure(endpoint, now);
    if (step === "warn") {
      await endpoints.noteWarning(tx, id);
      await tellOwners(tx, endpoint, "endpoint.failing", lastFailure);
    }
    if (step === "disable") {
      const reason = `every attempt failed for ${endpointFailingDaysMax} days, the last one with: ${lastFailure}`;
      await disable(tx, endpoint, reason);
    }
  });
}

/** A delivery to the endpoint has failed for good. */
export type GivenUp = {
  endpoint: EndpointId & { url: string };
  event: string;
  approvalId: string | null;
  /** How the last attempt went, as a sentence. */
  lastFailure: string;
};

/**
 * Tells the owners, unless they know that deliveries to this endpoint are given up: a thousand that fail together are one
 * mail to each owner. For the transaction that records the end, so a crash neither loses the mail nor sends it twice.
 */
export async function tellOfGivenUp(tx: Transaction, givenUp: GivenUp): Promise<void> {
  const { endpoint, event, approvalId, lastFailure: reason } = givenUp;
  if (!(await endpoints.noteTold(tx, endpoint))) return;
  const waiting = await endpoints.countDue(tx, endpoint, noticedCountMax);
  const detail = { reason, event, approvalId, waiting };
  await newDeliveries.insertEndpointNotice(tx, endpoint, "endpoint.delivery_failed", detail);
}

/** It answered 410: it does not want to hear from us again. */
export async function noteEndpointGone(db: Database, id: EndpointId): Promise<void> {
  await inTransaction(db, async (tx) => {
    const endpoint = await endpoints.lock(tx, id);
    if (endpoint === null || endpoint.disabledAt !== null) return;
    await disable(tx, endpoint, "it answered 410 Gone");
  });
}

async function disable(
  tx: Transaction,
  endpoint: endpoints.Endpoint,
  reason: string,
): Promise<void> {
  await tellOwners(tx, endpoint, "endpoint.disabled", reason);
  await endpoints.setDisabled(tx, endpoint, reason, true);
  await activity.insert(tx, {
    workspaceId: endpoint.workspaceId,
    actor: null,
    action: "endpoint.disabled",
    subject: endpoint.url,
    detail: { reason, by: "countersign" },
  });
}

async function tellOwners(
  tx: Transaction,
  endpoint: endpoints.Endpoint,
  kind: "endpoint.failing" | "endpoint.disabled",
  reason: string,
): Promise<void> {
  const failingSince = endpoint.failingSince?.toISOString() ?? null;
  await newDeliveries.insertEndpointNotice(tx, endpoint, kind, { failingSince, reason });
}
