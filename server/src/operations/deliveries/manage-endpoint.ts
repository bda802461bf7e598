// Registers webhook endpoints, changes them, turns them on and off, and rotates their secrets.
// A secret leaves this file once; at rest it is sealed under SECRET_KEY.

import { randomBytes } from "node:crypto";
import type { Database, Transaction } from "../../database/database.ts";
import type { Keyring } from "../../domain/access/keyring.ts";
import { seal, sealRandomBytes } from "../../domain/access/sealed-secret.ts";
import type { EndpointKind } from "../../domain/approval/event.ts";
import {
  formatWebhookSecret,
  webhookSecretRandomBytes,
} from "../../domain/delivery/webhook-secret.ts";
import { flawOfWebhookUrl } from "../../domain/delivery/webhook-url.ts";
import { endpointsPerWorkspaceMax, webhookSecretOverlapHours } from "../../domain/limits.ts";
import { type ChangeRefusal, refuse, refuseField } from "../../domain/refusal.ts";
import {
  type ActivityAction,
  type Actor,
  type Doer,
  fromTo,
  operator,
} from "../../domain/workspace/activity.ts";
import { flawOfName } from "../../domain/workspace/name.ts";
import * as endpoints from "../../storage/deliveries/endpoints.ts";
import * as activity from "../../storage/workspaces/activity.ts";
import { inTransactionBy, inTurnBy } from "../transaction-by.ts";

export type EndpointWithSecret = endpoints.Endpoint & { secret: string };

/** Says what is wrong with the address behind a URL; asked before the transaction, since it asks the network. */
export type ExamineAddress = (url: string) => Promise<string | null>;

export type NewEndpoint = {
  workspaceId: string;
  name?: string | null | undefined;
  url: string;
  eventKinds: readonly EndpointKind[] | null;
  examineAddress: ExamineAddress;
};

export async function registerEndpoint(
  db: Database,
  keyring: Keyring,
  input: NewEndpoint,
  by: Doer = operator,
): Promise<EndpointWithSecret | ChangeRefusal> {
  const { workspaceId, name = null, url, eventKinds, examineAddress } = input;
  const refused =
    refuseName(name) ?? (await refuseUrl(url, examineAddress)) ?? refuseKinds(eventKinds);
  if (refused !== null) return refused;
  return inTurnBy(db, workspaceId, by, async (tx) => {
    if (await hasAllEndpoints(tx, workspaceId)) return tooManyEndpoints();
    const endpoint = await endpoints.insert(tx, { ...input, name });
    const detail = { eventKinds: tellKinds(endpoint.eventKinds) };
    await note(tx, endpoint, { actor: by.actor, action: "endpoint.added", detail });
    return { ...endpoint, secret: await insertSecret(tx, keyring, endpoint) };
  });
}

export type EndpointChange = {
  id: string;
  /** Null takes the name away. */
  name?: string | null | undefined;
  url?: string | undefined;
  eventKinds?: EndpointKind[] | null | undefined;
  examineAddress: ExamineAddress;
};

/** Deliveries that are due already go to the new address, too: a delivery knows its endpoint, not its address. */
export async function changeEndpoint(
  db: Database,
  { id, name, url, eventKinds, examineAddress }: EndpointChange,
  by: Doer = operator,
): Promise<endpoints.Endpoint | ChangeRefusal> {
  const refused =
    refuseName(name ?? null) ??
    (url === undefined ? null : await refuseUrl(url, examineAddress)) ??
    refuseKinds(eventKinds ?? null);
  if (refused !== null) return refused;
  return changeLocked(db, id, by, async (tx, endpoint) => {
    const changed = {
      ...endpoint,
      name: name === undefined ? endpoint.name : name,
      url: url ?? endpoint.url,
      eventKinds: eventKinds === undefined ? endpoint.eventKinds : eventKinds,
    };
    const detail = changesOf(endpoint, changed);
    if (Object.keys(detail).length === 0) return endpoint;
    await note(tx, changed, { actor: by.actor, action: "endpoint.changed", detail });
    return endpoints.update(tx, changed);
  });
}

/** Gives an endpoint a new secret. The old one signs beside it for a while, so that receivers can change over. */
export async function rotateEndpointSecret(
  db: Database,
  keyring: Keyring,
  id: string,
  by: Doer = operator,
): Promise<(EndpointWithSecret & { oldSecretEndsAt: Date }) | ChangeRefusal> {
  return changeLocked(db, id, by, async (tx, endpoint) => {
    const oldSecretEndsAt = await endpoints.endSecrets(tx, endpoint, webhookSecretOverlapHours);
    const secret = await insertSecret(tx, keyring, endpoint);
    await note(tx, endpoint, { actor: by.actor, action: "endpoint.rotated" });
    return { ...endpoint, secret, oldSecretEndsAt };
  });
}

/** An endpoint that is enabled already stays as it is: its failures go on counting. */
export async function enableEndpoint(
  db: Database,
  id: string,
  by: Doer = operator,
): Promise<endpoints.Endpoint | ChangeRefusal> {
  const found = await endpoints.find(db, { workspaceId: by.workspaceId, id });
  if (found === null) return unknownEndpoint(id, by);
  return inTurnBy(db, found.workspaceId, by, async (tx) => {
    const endpoint = await endpoints.lock(tx, found);
    if (endpoint === null) return unknownEndpoint(id, by);
    if (endpoint.disabledAt === null) return endpoint;
    if (await hasAllEndpoints(tx, endpoint.workspaceId)) return tooManyEndpoints();
    await note(tx, endpoint, { actor: by.actor, action: "endpoint.enabled" });
    return endpoints.setDisabled(tx, endpoint, null);
  });
}

export async function disableEndpoint(
  db: Database,
  id: string,
  reason: string,
  by: Doer = operator,
): Promise<endpoints.Endpoint | ChangeRefusal> {
  const flaw = flawOfName(reason);
  if (flaw !== null) return refuseField("reason", flaw);
  return changeLocked(db, id, by, async (tx, endpoint) => {
    if (endpoint.disabledReason === reason) return endpoint;
    const detail = { reason };
    await note(tx, endpoint, { actor: by.actor, action: "endpoint.disabled", detail });
    return endpoints.setDisabled(tx, endpoint, reason);
  });
}

/** Nothing more is sent there, and its secrets are forgotten. Its deliveries stay readable. */
export async function deleteEndpoint(
  db: Database,
  id: string,
  by: Doer = operator,
): Promise<endpoints.Endpoint | ChangeRefusal> {
  return changeLocked(db, id, by, async (tx, endpoint) => {
    const detail: Record<string, string> = endpoint.name === null ? {} : { name: endpoint.name };
    await note(tx, endpoint, { actor: by.actor, action: "endpoint.deleted", detail });
    return endpoints.remove(tx, endpoint);
  });
}

async function changeLocked<Changed>(
  db: Database,
  id: string,
  by: Doer,
  change: (tx: Transaction, endpoint: endpoints.Endpoint) => Promise<Changed | ChangeRefusal>,
): Promise<Changed | ChangeRefusal> {
  return inTransactionBy(db, by, async (tx) => {
    const endpoint = await endpoints.lock(tx, { workspaceId: by.workspaceId, id });
    return endpoint === null ? unknownEndpoint(id, by) : change(tx, endpoint);
  });
}

/** Activity names an endpoint by its address. */
async function note(
  tx: Transaction,
  { workspaceId, url: subject }: endpoints.Endpoint,
  what: { actor: Actor; action: ActivityAction; detail?: Record<string, string> },
): Promise<void> {
  await activity.insert(tx, { workspaceId, subject, ...what });
}

function changesOf(before: endpoints.Endpoint, after: endpoints.Endpoint): Record<string, string> {
  const kinds = { before: tellKinds(before.eventKinds), after: tellKinds(after.eventKinds) };
  return {
    ...(before.name === after.name
      ? {}
      : { name: fromTo(before.name ?? "none", after.name ?? "none") }),
    ...(before.url === after.url ? {} : { url: fromTo(before.url, after.url) }),
    ...(kinds.before === kinds.after ? {} : { eventKinds: fromTo(kinds.before, kinds.after) }),
  };
}

function tellKinds(kinds: readonly EndpointKind[] | null): string {
  return kinds === null ? "all" : kinds.toSorted().join(", ");
}

function refuseName(name: string | null): ChangeRefusal | null {
  const flaw = name === null ? null : flawOfName(name);
  return flaw === null ? null : refuseField("name", flaw);
}

async function refuseUrl(
  url: string,
  examineAddress: ExamineAddress,
): Promise<ChangeRefusal | null> {
  const flaw = flawOfWebhookUrl(url) ?? (await examineAddress(url));
  return flaw === null ? null : refuseField("url", flaw);
}

function refuseKinds(kinds: readonly EndpointKind[] | null): ChangeRefusal | null {
  return kinds?.length === 0 ? refuseField("eventKinds", "must be at least one, or all") : null;
}

async function hasAllEndpoints(tx: Transaction, workspaceId: string): Promise<boolean> {
  return (await endpoints.countEnabled(tx, workspaceId)) >= endpointsPerWorkspaceMax;
}

function tooManyEndpoints(): ChangeRefusal {
  return refuse(
    "validation_error",
    `a workspace may have at most ${endpointsPerWorkspaceMax} enabled endpoints; disable or delete one first`,
  );
}

/** The name under which an endpoint's secret is sealed, so that it opens for this endpoint alone. */
export function secretRecordOf(endpoint: { workspaceId: string; id: string }): string {
  return `endpoint_secrets/${endpoint.workspaceId}/${endpoint.id}`;
}

async function insertSecret(
  tx: Transaction,
  keyring: Keyring,
  endpoint: endpoints.Endpoint,
): Promise<string> {
  const secret = formatWebhookSecret(randomBytes(webhookSecretRandomBytes));
  const { workspaceId, id: endpointId } = endpoint;
  const sealed = seal({
    key: keyring.current,
    record: secretRecordOf(endpoint),
    plaintext: secret,
    random: randomBytes(sealRandomBytes),
  });
  const secretKeyId = keyring.current.id;
  await endpoints.insertSecret(tx, { workspaceId, endpointId, secretKeyId, sealed });
  return secret;
}

export function unknownEndpoint(id: string, { workspaceId }: Doer = operator): ChangeRefusal {
  return refuse(
    "not_found",
    workspaceId === null
      ? `there is no webhook endpoint ${id}; \`countersign webhook list\` shows all`
      : "there is no such webhook endpoint in this workspace",
  );
}
