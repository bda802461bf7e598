// Describes a delivery to people and to machines, and waits for its first attempt.

import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import { addressOf } from "../domain/shown/destination.ts";
import * as deliveries from "../storage/deliveries/deliveries.ts";
import type { Printed } from "./command.ts";

const watchStepMs = 50;
/** A running worker has begun within this time. */
const beginWithinMs = 3_000;
/** Every attempt has ended by then. */
const endWithinMs = 13_000;

/** Waits for the first attempt to end, unless no worker begins it. */
export async function watchDelivery(db: Database, id: string): Promise<deliveries.Delivery> {
  const start = performance.now();
  for (;;) {
    const delivery = await deliveries.find(db, id);
    if (delivery === null) throw new Error(`delivery ${id} vanished`);
    const waitedMs = performance.now() - start;
    const isOver = delivery.last !== null && delivery.last.outcome !== null;
    if (isOver || waitedMs > (delivery.attempts === 0 ? beginWithinMs : endWithinMs))
      return delivery;
    await pause(watchStepMs);
  }
}

/** A callback by its host: the whole address is shown with its request. */
export function describeDestination({ destination }: deliveries.Delivery): string {
  const address = addressOf(destination);
  return destination.kind === "callback" ? `callback to ${address}` : address;
}

/** How the last attempt went. */
export function describeLast({ last, state }: deliveries.Delivery): string {
  if (last === null) return state === "skipped" ? "skipped" : "not tried yet";
  return describeOutcome(last);
}

export function describeOutcome({
  outcome,
  httpStatus,
}: {
  outcome: string | null;
  httpStatus: number | null;
}): string {
  const words = (outcome ?? "under way").replaceAll("_", " ");
  return httpStatus === null ? words : `${words} (HTTP ${httpStatus})`;
}

export function deliveryToJson(delivery: deliveries.Delivery): Printed {
  const { destination, last } = delivery;
  return {
    id: delivery.id,
    workspaceId: delivery.workspaceId,
    requestId: delivery.approvalId,
    requestSummary: delivery.summary,
    event: delivery.event,
    eventAt: delivery.eventAt,
    state: delivery.state,
    endpointId: destination.kind === "endpoint" ? destination.id : null,
    url: destination.kind === "endpoint" ? destination.url : null,
    email: destination.kind === "mailbox" ? destination.email : null,
    ...(destination.kind === "callback" ? { callbackHost: destination.host } : {}),
    attempts: delivery.attempts,
    lastOutcome: last?.outcome ?? null,
    lastHttpStatus: last?.httpStatus ?? null,
    nextAttemptAt: delivery.nextAttemptAt,
    createdAt: delivery.createdAt,
    finishedAt: delivery.finishedAt,
  };
}
