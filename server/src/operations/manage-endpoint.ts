// Registers webhook endpoints, turns them on and off, and rotates their secrets.
// A secret leaves this file once; at rest it is sealed under SECRET_KEY.

import { randomBytes } from "node:crypto";
import type { EventKind } from "../domain/event.ts";
import type { Keyring } from "../domain/keyring.ts";
import { endpointsPerWorkspaceMax, webhookSecretOverlapHours } from "../domain/limits.ts";
import { flawOfName } from "../domain/name.ts";
import { type Refusal, refuse } from "../domain/refusal.ts";
import { seal, sealRandomBytes } from "../domain/sealed-secret.ts";
import { formatWebhookSecret, webhookSecretRandomBytes } from "../domain/webhook-secret.ts";
import { flawOfWebhookUrl } from "../domain/webhook-url.ts";
import { type Database, inTransaction, type Transaction } from "../storage/database.ts";
import * as endpoints from "../storage/endpoints.ts";
import * as workspaces from "../storage/workspaces.ts";
import { unknownWorkspace } from "./manage-workspace.ts";

export type EndpointWithSecret = endpoints.Endpoint & { secret: string };

export type NewEndpoint = {
  workspaceId: string;
  url: string;
  eventKinds: readonly EventKind[] | null;
  /** Says what is wrong with the address behind a URL; asked before the transaction, since it asks the network. */
  examineAddress: (url: string) => Promise<string | null>;
};

export async function registerEndpoint(
  db: Database,
  keyring: Keyring,
  input: NewEndpoint,
): Promise<EndpointWithSecret | Refusal> {
  const flaw = flawOfWebhookUrl(input.url) ?? (await input.examineAddress(input.url));
  if (flaw !== null) return refuse("validation_error", `url: ${flaw}`);
  return inTransaction(db, async (tx) => {
    const workspace = await workspaces.lock(tx, input.workspaceId);
    if (workspace === null) return unknownWorkspace(input.workspaceId);
    if (await hasAllEndpoints(tx, workspace.id)) return tooManyEndpoints();
    const endpoint = await endpoints.insert(tx, input);
    return { ...endpoint, secret: await insertSecret(tx, keyring, endpoint) };
  });
}

/** Gives an endpoint a new secret. The old one signs beside it for a while, so that receivers can change over. */
export async function rotateEndpointSecret(
  db: Database,
  keyring: Keyring,
  id: string,
): Promise<(EndpointWithSecret & { oldSecretEndsAt: Date }) | Refusal> {
  return inTransaction(db, async (tx) => {
    const endpoint = await endpoints.lock(tx, id);
    if (endpoint === null) return unknownEndpoint(id);
    const oldSecretEndsAt = await endpoints.endSecrets(tx, endpoint, webhookSecretOverlapHours);
    const secret = await insertSecret(tx, keyring, endpoint);
    return { ...endpoint, secret, oldSecretEndsAt };
  });
}

export async function enableEndpoint(
  db: Database,
  id: string,
): Promise<endpoints.Endpoint | Refusal> {
  return inTransaction(db, async (tx) => {
    const endpoint = await endpoints.lock(tx, id);
    if (endpoint === null) return unknownEndpoint(id);
    await workspaces.lock(tx, endpoint.workspaceId);
    const isNew = endpoint.disabledAt !== null;
    if (isNew && (await hasAllEndpoints(tx, endpoint.workspaceId))) return tooManyEndpoints();
    return (await endpoints.setDisabled(tx, id, null)) ?? unknownEndpoint(id);
  });
}

async function hasAllEndpoints(tx: Transaction, workspaceId: string): Promise<boolean> {
  return (await endpoints.countEnabled(tx, workspaceId)) >= endpointsPerWorkspaceMax;
}

function tooManyEndpoints(): Refusal {
  return refuse(
    "validation_error",
    `a workspace may have at most ${endpointsPerWorkspaceMax} enabled endpoints; disable one first`,
  );
}

export async function disableEndpoint(
  db: Database,
  id: string,
  reason: string,
): Promise<endpoints.Endpoint | Refusal> {
  const flaw = flawOfName(reason);
  if (flaw !== null) return refuse("validation_error", `reason: ${flaw}`);
  return inTransaction(
    db,
    async (tx) => (await endpoints.setDisabled(tx, id, reason)) ?? unknownEndpoint(id),
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

export function unknownEndpoint(id: string): Refusal {
  return refuse(
    "not_found",
    `there is no webhook endpoint ${id}; \`countersign webhook list\` shows all`,
  );
}
