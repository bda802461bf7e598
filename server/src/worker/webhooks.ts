// Delivers webhooks: claims them, makes the body and its signature, and decides what an answer means for the endpoint.

import { type Database, inOneStatement } from "../database/database.ts";
import { findSecretKey, isAwaited, type Keyring } from "../domain/access/keyring.ts";
import { unseal } from "../domain/access/sealed-secret.ts";
import type { Approval } from "../domain/approval/approval.ts";
import { testEventKind } from "../domain/approval/event.ts";
import { eventBody, testEventBody } from "../domain/approval/event-body.ts";
import { stepAfterFailure } from "../domain/delivery/endpoint-health.ts";
import {
  type SigningSecret,
  signingSecretOf,
  webhookHeaders,
} from "../domain/delivery/webhook-signature.ts";
import { rememberedSecretsMax, webhooksInFlightMax, webhookTimeoutMs } from "../domain/limits.ts";
import { type AttemptOutcome, outcomeToldToMembers } from "../domain/shown/attempt.ts";
import { outcomeSentence } from "../domain/shown/outcome-words.ts";
import { completeGivenUpWebhook } from "../operations/deliveries/complete-attempt.ts";
import { secretRecordOf } from "../operations/deliveries/manage-endpoint.ts";
import {
  type GivenUp,
  noteEndpointFailure,
  noteEndpointGone,
  noteEndpointSuccess,
} from "../operations/deliveries/note-endpoint-health.ts";
import type { WebhookAnswer, WebhookMessage } from "../outbound/send-webhook.ts";
import * as approvals from "../storage/approvals/approvals.ts";
import * as dueWebhooks from "../storage/deliveries/due-webhooks.ts";
import type { Answer, ChannelWork, Job } from "./channel.ts";
import { QuickEndpoints } from "./quick-endpoints.ts";

export type SendWebhook = (message: WebhookMessage) => Promise<WebhookAnswer>;

export type WebhookOptions = {
  db: Database;
  keyring: Keyring;
  send: SendWebhook;
  retryDelaysMs: readonly number[];
  /** Called when owners are to be told of a failure. */
  onNotice: () => void;
};

type Webhook = Job & dueWebhooks.ClaimedWebhook;

/** Failures that aren't the endpoint's, and what the operator can do about them. */
const advice: Partial<Record<AttemptOutcome, string>> = {
  secret_unreadable:
    "no key in SECRET_KEY opens the endpoint's secret; add the key back to the list, or rotate the secret",
};

export function webhookWork(options: WebhookOptions): ChannelWork<Webhook, WebhookMessage> {
  const { db, keyring, send, retryDelaysMs, onNotice } = options;
  const openSecrets = makeSecretOpener(keyring);
  // Endpoints that were noted as failing, perhaps after a webhook to them was claimed that then succeeds.
  const failing = new Set<string>();
  const quick = new QuickEndpoints();
  return {
    channel: "webhook",
    inFlightMax: webhooksInFlightMax,
    timeoutMs: webhookTimeoutMs,
    retryDelaysMs,
    advice,
    // Their owner hears of it; the operator can't mend it.
    failureLevel: "info",
    claim: async (limit) => {
      const room = { limit, quickEndpointIds: quick.list() };
      const { webhooks, postponedMs } = await dueWebhooks.claim(inOneStatement(db), room);
      return { jobs: webhooks.map(toJob), waitMs: postponedMs, isMore: postponedMs.length > 0 };
    },
    compose: async (job) => {
      // A signature by an older secret alone would be refused where the receiver knows the newest only.
      const awaitedKeyId = findAwaitedKey(keyring, job);
      if (awaitedKeyId !== undefined) return { job, awaitedKeyId };
      const secrets = openSecrets(job);
      if (secrets.length === 0) return { job, outcome: "secret_unreadable" };
      return { job, message: await buildMessage(db, job, secrets) };
    },
    send,
    onAnswer: async ({ endpoint }, { outcome, durationMs, status }) => {
      quick.note(endpoint.id, { isDelivered: outcome === "delivered", durationMs });
      if (status !== gone) return null;
      // Disable first, then record: a person who enables the endpoint as soon as nothing is under way must win.
      await noteEndpointGone(db, endpoint);
      return { state: "failed" };
    },
    recordFailure: (job, answer) =>
      isNewsOfGivenUp(job, answer)
        ? (ends) => completeGivenUpWebhook(db, ends, givenUpOf(job, answer))
        : null,
    onRecorded: async ({ job, answer, next }) => {
      if (answer.status !== gone) await noteHealth(db, failing, job, answer);
      if (next.state === "failed" && isNewsOfGivenUp(job, answer)) onNotice();
    },
    factsOf: ({ endpoint }) => ({ endpointId: endpoint.id }),
  };
}

const gone = 410;

function toJob(webhook: dueWebhooks.ClaimedWebhook): Webhook {
  const { workspaceId, deliveryId, leaseToken, number, kind: event } = webhook;
  return { ...webhook, leases: [{ workspaceId, deliveryId, leaseToken, number, event }] };
}

async function buildMessage(
  db: Database,
  job: Webhook,
  secrets: SigningSecret[],
): Promise<WebhookMessage> {
  const { kind, eventAt, deliveryId, endpoint, claimedAt } = job;
  const body =
    kind === testEventKind
      ? testEventBody(eventAt)
      : eventBody(kind, eventAt, await wholeApproval(db, job));
  const headers = webhookHeaders({ deliveryId, kind, body, at: claimedAt, secrets });
  return { url: endpoint.url, headers, body };
}

type OpenSecrets = (job: Webhook) => SigningSecret[];

/** Opening a secret takes as long as signing with it, so opened secrets are kept, keyed by their sealed form. */
function makeSecretOpener(keyring: Keyring): OpenSecrets {
  const opened = new Map<string, SigningSecret>();
  return ({ endpoint, secrets }) =>
    secrets.flatMap(({ secretKeyId, sealed }) => {
      const name = `${endpoint.id} ${sealed.toString("base64")}`;
      const known = opened.get(name);
      if (known !== undefined) return [known];
      const key = findSecretKey(keyring, secretKeyId);
      if (key === null) return [];
      const text = unsealOrNull(key, secretRecordOf(endpoint), sealed);
      if (text === null) return [];
      const secret = signingSecretOf(text);
      if (opened.size >= rememberedSecretsMax) opened.clear();
      opened.set(name, secret);
      return [secret];
    });
}

function findAwaitedKey(keyring: Keyring, { secrets }: Webhook): string | undefined {
  return secrets.map(({ secretKeyId }) => secretKeyId).find((id) => isAwaited(keyring, id));
}

/** A row that was copied or damaged opens for nobody. */
function unsealOrNull(...args: Parameters<typeof unseal>): string | null {
  try {
    return unseal(...args);
  } catch {
    return null;
  }
}

async function wholeApproval(db: Database, { approval, workspaceId }: Webhook): Promise<Approval> {
  if (approval === null) throw new Error("an event of a request has no request");
  if (!("largeId" in approval)) return approval;
  const found = await approvals.find(db, workspaceId, approval.largeId);
  if (found === null) throw new Error(`approval ${approval.largeId} vanished`);
  return found.approval;
}

/** Nobody misses a test event. The mail about an endpoint that is gone says enough. */
function isNewsOfGivenUp({ kind, endpoint }: Webhook, { status }: Answer): boolean {
  return !endpoint.isTold && kind !== testEventKind && status !== gone;
}

function givenUpOf({ endpoint, kind, approval }: Webhook, answer: Answer): GivenUp {
  const { outcome, status: httpStatus = null } = answer;
  const told = { outcome: outcomeToldToMembers(outcome), httpStatus };
  const approvalId =
    approval === null ? null : "largeId" in approval ? approval.largeId : approval.id;
  return { endpoint, event: kind, approvalId, lastFailure: outcomeSentence("endpoint", told) };
}

/** The database is asked only when something about the endpoint changes. */
async function noteHealth(
  db: Database,
  failing: Set<string>,
  { endpoint, claimedAt }: Webhook,
  answer: Answer,
): Promise<void> {
  const { outcome } = answer;
  if (outcome === "given_up" || advice[outcome] !== undefined) return;
  if (outcome === "delivered") {
    const wasFailing = failing.delete(endpoint.id) || endpoint.failingSince !== null;
    if (wasFailing || endpoint.isTold) await noteEndpointSuccess(db, endpoint);
    return;
  }
  const isNews = endpoint.failingSince === null || stepAfterFailure(endpoint, claimedAt) !== "none";
  if (!isNews) return;
  failing.add(endpoint.id);
  await noteEndpointFailure(db, endpoint, describe(answer));
}

/** For owners, in mails and on the dashboard. */
function describe({ outcome, status = null }: Answer): string {
  return status === null
    ? outcomeToldToMembers(outcome).replaceAll("_", " ")
    : `HTTP status ${status}`;
}
