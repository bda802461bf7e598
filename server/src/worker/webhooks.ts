// Delivers webhooks: claims them, makes the body and its signature, and decides what an answer means for the endpoint.

import { type Database, inOneStatement } from "../database/database.ts";
import { testEventKind } from "../domain/approval/event.ts";
import { stepAfterFailure } from "../domain/delivery/endpoint-health.ts";
import { webhooksInFlightMax, webhookTimeoutMs } from "../domain/limits.ts";
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
import * as dueWebhooks from "../storage/deliveries/due-webhooks.ts";
import type { Answer, ChannelWork } from "./channel.ts";
import { QuickEndpoints } from "./quick-endpoints.ts";
import {
  approvalIdOf,
  type EventJob,
  makeSignEvent,
  type SigningParts,
  toEventJob,
} from "./signed-event.ts";

export type SendWebhook = (message: WebhookMessage) => Promise<WebhookAnswer>;

export type WebhookOptions = SigningParts & {
  send: SendWebhook;
  retryDelaysMs: readonly number[];
  /** Called when owners are to be told of a failure. */
  onNotice: () => void;
};

type Webhook = EventJob<dueWebhooks.ClaimedWebhook>;

/** Failures that aren't the endpoint's, and what the operator can do about them. */
const advice: Partial<Record<AttemptOutcome, string>> = {
  secret_unreadable:
    "no key in SECRET_KEY opens the endpoint's secret; add the key back to the list, or rotate the secret",
};

export function webhookWork(options: WebhookOptions): ChannelWork<Webhook, WebhookMessage> {
  const { db, send, retryDelaysMs, onNotice } = options;
  const sign = makeSignEvent(options);
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
    claim: async ({ limit }) => {
      const room = { limit, quickEndpointIds: quick.list() };
      const { webhooks, postponedMs } = await dueWebhooks.claim(inOneStatement(db), room);
      return {
        jobs: webhooks.map(toEventJob),
        waitMs: postponedMs,
        isMore: postponedMs.length > 0,
      };
    },
    compose: async (job) => {
      const signed = await sign(job, secretRecordOf(job.endpoint));
      return "message" in signed
        ? { job, message: { url: job.endpoint.url, ...signed.message } }
        : signed;
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

/** Nobody misses a test event. The mail about an endpoint that is gone says enough. */
function isNewsOfGivenUp({ kind, endpoint }: Webhook, { status }: Answer): boolean {
  return !endpoint.isTold && kind !== testEventKind && status !== gone;
}

function givenUpOf(webhook: Webhook, answer: Answer): GivenUp {
  const { endpoint, kind: event } = webhook;
  const { outcome, status: httpStatus = null } = answer;
  const told = { outcome: outcomeToldToMembers(outcome), httpStatus };
  const lastFailure = outcomeSentence("endpoint", told);
  return { endpoint, event, approvalId: approvalIdOf(webhook), lastFailure };
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
