// Deliveries as members see them: the content, each attempt with its outcome, and resending.

import { z } from "zod";
import type { Queryable } from "../../database/database.ts";
import { toCursor } from "../../domain/approval/call-parameters.ts";
import { callbackShownTo, isCallbackShownTo } from "../../domain/approval/callback-url.ts";
import { isEventKind, testEventKind } from "../../domain/approval/event.ts";
import { eventBody, testEventBody } from "../../domain/approval/event-body.ts";
import { shownWebhookHeaders } from "../../domain/delivery/webhook-signature.ts";
import { dashboardPageItems } from "../../domain/limits.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { outcomeToldToMembers } from "../../domain/shown/attempt.ts";
import type { Role } from "../../domain/workspace/role.ts";
import {
  noSuchDelivery,
  resendInWorkspace,
} from "../../operations/deliveries/resend-in-workspace.ts";
import * as approvals from "../../storage/approvals/approvals.ts";
import * as deliveries from "../../storage/deliveries/deliveries.ts";
import { listPage } from "../../storage/deliveries/delivery-pages.ts";
import type { DashboardApi, Delivery, DeliveryAttempt } from "../../wire/dashboard-contract.ts";
import { cursorOf, filterText, filterTime, readQuery } from "./list-query.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
} from "./visit.ts";

type Answers<Name extends keyof DashboardApi> = Promise<
  DashboardApi[Name]["answer"] | DashboardRefusal
>;

const listQuery = z.object({
  endpoint: filterText.optional(),
  state: z
    .enum(["due", "delivered", "failed", "skipped"], {
      error: "must be due, delivered, failed or skipped",
    })
    .optional(),
  event: filterText.optional(),
  from: filterTime.optional(),
  to: filterTime.optional(),
  cursor: cursorOf("dlv_").optional(),
});

export async function list(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Answers<"GET /workspaces/:workspaceId/deliveries"> {
  const query = readQuery(visit, listQuery);
  if (isRefusal(query)) return query;
  const { found, lastId } = await listPage(db, {
    workspaceId: visit.workspaceId,
    endpointId: query.endpoint ?? null,
    state: query.state ?? null,
    event: query.event ?? null,
    createdFrom: query.from ?? null,
    createdBefore: query.to ?? null,
    beforeId: query.cursor ?? null,
    limit: dashboardPageItems,
  });
  return {
    items: found.map(representDelivery),
    nextCursor: lastId === null ? null : toCursor(lastId),
  };
}

export async function show(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Answers<"GET /workspaces/:workspaceId/deliveries/:deliveryId"> {
  const delivery = await deliveries.findInWorkspace(
    db,
    visit.workspaceId,
    idIn(visit.call, "deliveryId"),
  );
  if (delivery === null) return noSuchDelivery();
  const attempts = await deliveries.listAttempts(db, delivery);
  return {
    ...representDelivery(delivery),
    request: await requestOf(db, delivery, visit.role),
    attemptList: attempts
      .map(representAttempt)
      .map(maySeeAnswers(delivery, visit.role) ? (attempt) => attempt : withoutAnswer),
  };
}

export async function resend(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Answers<"POST /workspaces/:workspaceId/deliveries/:deliveryId/resend"> {
  const resent = await resendInWorkspace(db, idIn(visit.call, "deliveryId"), doerOf(visit));
  if (isRefusal(resent)) return resent;
  onDue();
  return representDelivery(resent);
}

/** No duration where the host's name was refused: the time would tell which names exist inside our network. */
function representAttempt(attempt: deliveries.Attempt): DeliveryAttempt {
  const { startedAt, finishedAt, outcome, durationMs, ...rest } = attempt;
  const isAboutName = outcomeToldToMembers(outcome) === "address_not_allowed";
  return {
    ...rest,
    outcome: outcomeToldToMembers(outcome),
    durationMs: isAboutName ? null : durationMs,
    startedAt: startedAt.toISOString(),
    finishedAt: (isAboutName ? startedAt : finishedAt)?.toISOString() ?? null,
  };
}

/** A receiver may repeat its own address, which only those may know who see it elsewhere. */
function maySeeAnswers({ destination }: deliveries.Delivery, role: Role): boolean {
  return destination.kind !== "callback" || isCallbackShownTo(role);
}

function withoutAnswer(attempt: DeliveryAttempt): DeliveryAttempt {
  const isSaid = attempt.responseStart !== null && attempt.responseStart !== "";
  return isSaid ? { ...attempt, responseStart: null, isResponseWithheld: true } : attempt;
}

export function representDelivery(delivery: deliveries.Delivery): Delivery {
  const { destination, last } = delivery;
  return {
    id: delivery.id,
    requestId: delivery.approvalId,
    requestSummary: delivery.summary,
    event: delivery.event,
    state: delivery.state,
    destination:
      destination.kind === "endpoint"
        ? {
            kind: "endpoint",
            id: destination.id,
            url: destination.url,
            ...(destination.name === null ? {} : { name: destination.name }),
            ...(destination.isDeleted ? { isDeleted: true as const } : {}),
          }
        : destination,
    attempts: delivery.attempts,
    createdAt: delivery.createdAt.toISOString(),
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    finishedAt: delivery.finishedAt?.toISOString() ?? null,
    lastOutcome: outcomeToldToMembers(last?.outcome ?? null),
    lastHttpStatus: last?.httpStatus ?? null,
  };
}

/** The request that every attempt of a webhook sends. Null for a mail: its link belongs to its reader alone. */
async function requestOf(db: Queryable, delivery: deliveries.Delivery, role: Role) {
  const { event: kind, id: deliveryId } = delivery;
  const url = await urlOf(db, delivery, role);
  if (url === null) return null;
  if (kind !== testEventKind && !isEventKind(kind)) return null;
  const body = await bodyOf(db, delivery);
  const headers = shownWebhookHeaders({ deliveryId, kind, body });
  return { url, headers, body: body.toString() };
}

async function urlOf(
  db: Queryable,
  { destination, workspaceId, approvalId }: deliveries.Delivery,
  role: Role,
): Promise<string | null> {
  switch (destination.kind) {
    case "endpoint":
      return destination.url;
    case "callback": {
      const url = await approvals.findCallbackUrl(db, { workspaceId, id: approvalId ?? "" });
      return url === null ? null : callbackShownTo(role, url);
    }
    case "mailbox":
      return null;
    default:
      return destination satisfies never;
  }
}

async function bodyOf(
  db: Queryable,
  { event, eventAt, workspaceId, approvalId }: deliveries.Delivery,
): Promise<Buffer> {
  if (!isEventKind(event)) return testEventBody(eventAt);
  const found = await approvals.find(db, workspaceId, approvalId ?? "");
  if (found === null) throw new Error(`approval ${approvalId} vanished`);
  return eventBody(event, eventAt, found.approval);
}
