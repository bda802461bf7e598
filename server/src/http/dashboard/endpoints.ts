// Webhook endpoints on the dashboard: their health, and every change to them. A secret is answered once, when it is
// made.

import { z } from "zod";
import { endpointKinds } from "../../domain/approval/event.ts";
import { endpointFigureDays, unsuccessfulCountMax } from "../../domain/limits.ts";
import { type ChangeRefusal, isRefusal } from "../../domain/refusal.ts";
import {
  changeEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  registerEndpoint,
  rotateEndpointSecret,
  unknownEndpoint,
} from "../../operations/deliveries/manage-endpoint.ts";
import { resendUnsuccessful, sendTestEvent } from "../../operations/deliveries/resend-delivery.ts";
import { readEndpointDays } from "../../storage/deliveries/endpoint-figures.ts";
import * as endpoints from "../../storage/deliveries/endpoints.ts";
import type { Done } from "../../wire/dashboard-contract.ts";
import type {
  Endpoint,
  EndpointDetail,
  EndpointWithSecret,
} from "../../wire/dashboard-endpoints.ts";
import type { EndpointDeletion } from "../../wire/dashboard-removals.ts";
import { tellRefusal } from "./change-refusal.ts";
import {
  type DashboardCalls,
  type DashboardRefusal,
  doerOf,
  idIn,
  type MemberVisit,
  readForm,
} from "./visit.ts";

export async function list(
  { db }: DashboardCalls,
  { workspaceId }: MemberVisit,
): Promise<{ endpoints: Endpoint[] }> {
  const found = await endpoints.list(db, workspaceId);
  return { endpoints: found.map(toEndpoint) };
}

const kinds = z
  .array(z.enum(endpointKinds, `must be among ${endpointKinds.join(", ")}`))
  .max(endpointKinds.length)
  .nullable();
/** An empty name is none. */
const name = z
  .string()
  .nullable()
  .transform((text) => (text === "" ? null : text));
const newEndpoint = z.object({ name: name.optional(), url: z.string(), eventKinds: kinds });

export async function add(
  { db, keyring, examineAddress }: DashboardCalls,
  visit: MemberVisit,
): Promise<EndpointWithSecret | DashboardRefusal> {
  const form = readForm(visit.call, newEndpoint);
  if (isRefusal(form)) return form;
  const input = { ...form, workspaceId: visit.workspaceId, examineAddress };
  return tellSecret(await registerEndpoint(db, keyring, input, doerOf(visit)));
}

export async function show(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<EndpointDetail | DashboardRefusal> {
  const { workspaceId } = visit;
  const endpointId = idOf(visit);
  const endpoint = await endpoints.findOrDeleted(db, { workspaceId, id: endpointId });
  if (endpoint === null) return tellRefusal(unknownEndpoint(endpointId, doerOf(visit)));
  const [perDay, { count, oldestAt }] = await Promise.all([
    readEndpointDays(db, { workspaceId, endpointId, days: endpointFigureDays }),
    endpoints.countUnsuccessful(db, endpoint, unsuccessfulCountMax + 1),
  ]);
  return {
    ...toEndpoint(endpoint),
    perDay,
    unsuccessful: {
      count: Math.min(count, unsuccessfulCountMax),
      isMore: count > unsuccessfulCountMax,
      since: oldestAt?.toISOString() ?? null,
    },
  };
}

export async function change(
  { db, examineAddress }: DashboardCalls,
  visit: MemberVisit,
): Promise<Endpoint | DashboardRefusal> {
  const form = readForm(visit.call, newEndpoint.partial());
  if (isRefusal(form)) return form;
  return tell(
    await changeEndpoint(db, { ...form, id: idOf(visit), examineAddress }, doerOf(visit)),
  );
}

export async function enable(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Endpoint | DashboardRefusal> {
  return tell(await enableEndpoint(db, idOf(visit), doerOf(visit)));
}

const disabling = z.object({ reason: z.string() });

export async function disable(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Endpoint | DashboardRefusal> {
  const form = readForm(visit.call, disabling);
  if (isRefusal(form)) return form;
  return tell(await disableEndpoint(db, idOf(visit), form.reason, doerOf(visit)));
}

export async function rotate(
  { db, keyring }: DashboardCalls,
  visit: MemberVisit,
): Promise<EndpointWithSecret | DashboardRefusal> {
  return tellSecret(await rotateEndpointSecret(db, keyring, idOf(visit), doerOf(visit)));
}

export async function test(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Promise<{ deliveryId: string } | DashboardRefusal> {
  const sent = await sendTestEvent(db, idOf(visit), doerOf(visit));
  if (isRefusal(sent)) return tellRefusal(sent);
  onDue();
  return { deliveryId: sent.deliveryId };
}

const resending = z.object({
  since: z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-15T09:00:00Z" }),
});

export async function resendFailed(
  { db, onDue }: DashboardCalls,
  visit: MemberVisit,
): Promise<{ resent: number } | DashboardRefusal> {
  const form = readForm(visit.call, resending);
  if (isRefusal(form)) return form;
  const { workspaceId } = visit;
  const since = { workspaceId, endpointId: idOf(visit), time: new Date(form.since) };
  const answer = await resendUnsuccessful(db, since, doerOf(visit));
  if (isRefusal(answer)) return tellRefusal(answer);
  if (answer.resent > 0) onDue();
  return { resent: answer.resent };
}

/** What a deletion would leave unsent. */
export async function foresee(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<EndpointDeletion | DashboardRefusal> {
  const id = idOf(visit);
  const endpoint = await endpoints.find(db, { workspaceId: visit.workspaceId, id });
  if (endpoint === null) return tellRefusal(unknownEndpoint(id, doerOf(visit)));
  const count = await endpoints.countDue(db, endpoint, unsuccessfulCountMax + 1);
  const isMore = count > unsuccessfulCountMax;
  return { due: { count: Math.min(count, unsuccessfulCountMax), isMore } };
}

export async function remove(
  { db }: DashboardCalls,
  visit: MemberVisit,
): Promise<Done | DashboardRefusal> {
  const deleted = await deleteEndpoint(db, idOf(visit), doerOf(visit));
  return isRefusal(deleted) ? tellRefusal(deleted) : { done: true };
}

function idOf({ call }: MemberVisit): string {
  return idIn(call, "endpointId");
}

function tell(changed: endpoints.Endpoint | ChangeRefusal): Endpoint | DashboardRefusal {
  return isRefusal(changed) ? tellRefusal(changed) : toEndpoint(changed);
}

function tellSecret(
  made: (endpoints.Endpoint & { secret: string }) | ChangeRefusal,
): EndpointWithSecret | DashboardRefusal {
  return isRefusal(made) ? tellRefusal(made) : { ...toEndpoint(made), secret: made.secret };
}

function toEndpoint(endpoint: endpoints.Endpoint): Endpoint {
  return {
    id: endpoint.id,
    ...(endpoint.name === null ? {} : { name: endpoint.name }),
    url: endpoint.url,
    eventKinds: endpoint.eventKinds,
    createdAt: endpoint.createdAt.toISOString(),
    ...(endpoint.deletedAt === null ? {} : { deletedAt: endpoint.deletedAt.toISOString() }),
    disabledAt: endpoint.disabledAt?.toISOString() ?? null,
    disabledReason: endpoint.disabledReason,
    failingSince: endpoint.failingSince?.toISOString() ?? null,
  };
}
