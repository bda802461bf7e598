// Makes the POST of an event from what a claim took: the body, signed with every live secret of its receiver.

import type { Database } from "../database/database.ts";
import { findSecretKey, isAwaited, type Keyring } from "../domain/access/keyring.ts";
import { unseal } from "../domain/access/sealed-secret.ts";
import type { Approval } from "../domain/approval/approval.ts";
import { checkpointKind, isDecision, testEventKind } from "../domain/approval/event.ts";
import { checkpointEventBody, eventBody, testEventBody } from "../domain/approval/event-body.ts";
import {
  type SigningSecret,
  signingSecretOf,
  webhookHeaders,
} from "../domain/delivery/webhook-signature.ts";
import { rememberedSecretsMax } from "../domain/limits.ts";
import { receiptHeaderBytesMax } from "../domain/proof/receipt.ts";
import type { ReadReceipt } from "../operations/proof/receipts.ts";
import * as approvals from "../storage/approvals/approvals.ts";
import type { ClaimedEvent, SealedSecret } from "../storage/deliveries/claimed-events.ts";
import type { Composed, Job } from "./channel.ts";

export type EventJob<Claimed extends ClaimedEvent> = Job & Claimed;

export function toEventJob<Claimed extends ClaimedEvent>(claimed: Claimed): EventJob<Claimed> {
  const { workspaceId, deliveryId, leaseToken, number, kind: event } = claimed;
  return { ...claimed, leases: [{ workspaceId, deliveryId, leaseToken, number, event }] };
}

export type SignedEvent = { headers: Record<string, string>; body: Buffer };

export type SignEvent = <Claimed extends ClaimedEvent>(
  job: EventJob<Claimed>,
  record: string,
) => Promise<Composed<EventJob<Claimed>, SignedEvent>>;

export type SigningParts = { db: Database; keyring: Keyring; readReceipt: ReadReceipt };

/** `record` is the name under which the receiver's secrets are sealed. */
export function makeSignEvent({ db, keyring, readReceipt }: SigningParts): SignEvent {
  const openSecrets = makeSecretOpener(keyring);
  return async (job, record) => {
    // A signature by an older secret alone would be refused where the receiver knows the newest only.
    const awaitedKeyId = job.secrets
      .map(({ secretKeyId }) => secretKeyId)
      .find((id) => isAwaited(keyring, id));
    if (awaitedKeyId !== undefined) return { job, awaitedKeyId };
    const secrets = openSecrets(record, job.secrets);
    if (secrets.length === 0) return { job, outcome: "secret_unreadable" };
    const { kind, deliveryId, claimedAt: at } = job;
    const [body, receipt] = await Promise.all([bodyOf(db, job), receiptOf(readReceipt, job)]);
    const headers = webhookHeaders({ deliveryId, kind, body, at, secrets });
    return { job, message: { headers: { ...headers, ...receipt }, body } };
  };
}

export function approvalIdOf({ approval }: ClaimedEvent): string | null {
  if (approval === null) return null;
  return "largeId" in approval ? approval.largeId : approval.id;
}

/** The outcome must arrive even while no receipt can be signed: then it goes without one. */
async function receiptOf(
  readReceipt: ReadReceipt,
  event: ClaimedEvent,
): Promise<Record<string, string>> {
  const approvalId = approvalIdOf(event);
  const { workspaceId, kind } = event;
  if (approvalId === null || !isDecision(kind)) return {};
  const receipt = await readReceipt({ workspaceId, approvalId });
  const isSent = "jws" in receipt && receipt.jws.length <= receiptHeaderBytesMax;
  return isSent ? { "x-service-receipt": receipt.jws } : {};
}

async function bodyOf(db: Database, event: ClaimedEvent): Promise<Buffer> {
  const { kind, eventAt, voting, checkpoint } = event;
  if (kind === testEventKind) return testEventBody(eventAt);
  if (kind === checkpointKind) return checkpointEventBody(eventAt, checkpoint ?? "");
  return eventBody(kind, eventAt, await wholeApproval(db, event), voting);
}

async function wholeApproval(
  db: Database,
  { approval, workspaceId }: ClaimedEvent,
): Promise<Approval> {
  if (approval === null) throw new Error("an event of a request has no request");
  if (!("largeId" in approval)) return approval;
  const found = await approvals.find(db, workspaceId, approval.largeId);
  if (found === null) throw new Error(`approval ${approval.largeId} vanished`);
  return found.approval;
}

/** Opening a secret takes as long as signing with it, so opened secrets are kept, keyed by their sealed form. */
function makeSecretOpener(keyring: Keyring) {
  const opened = new Map<string, SigningSecret>();
  return (record: string, secrets: readonly SealedSecret[]): SigningSecret[] =>
    secrets.flatMap(({ secretKeyId, sealed }) => {
      const name = `${record} ${sealed.toString("base64")}`;
      const known = opened.get(name);
      if (known !== undefined) return [known];
      const key = findSecretKey(keyring, secretKeyId);
      if (key === null) return [];
      const text = unsealOrNull(key, record, sealed);
      if (text === null) return [];
      const secret = signingSecretOf(text);
      if (opened.size >= rememberedSecretsMax) opened.clear();
      opened.set(name, secret);
      return [secret];
    });
}

/** A row that was copied or damaged opens for nobody. */
function unsealOrNull(...args: Parameters<typeof unseal>): string | null {
  try {
    return unseal(...args);
  } catch {
    return null;
  }
}
