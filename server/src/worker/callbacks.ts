// Delivers callbacks: POSTs the outcome of a request to the address that the request named. There is no endpoint to warn
// about or to disable. An address that is gone is given up.

import { inOneStatement } from "../database/database.ts";
import { callbacksInFlightMax, largeWebhookWeight, webhookTimeoutMs } from "../domain/limits.ts";
import { type AttemptOutcome, outcomeToldToMembers } from "../domain/shown/attempt.ts";
import { outcomeSentence } from "../domain/shown/outcome-words.ts";
import {
  callbackSecretRecordOf,
  provideCallbackSecrets,
} from "../operations/deliveries/callback-secret.ts";
import { completeGivenUpCallback } from "../operations/deliveries/complete-attempt.ts";
import type { WebhookMessage } from "../outbound/send-webhook.ts";
import * as dueCallbacks from "../storage/deliveries/due-callbacks.ts";
import type { Answer, ChannelWork } from "./channel.ts";
import { HostWalks } from "./host-walks.ts";
import { type EventJob, makeSignEvent, toEventJob } from "./signed-event.ts";
import type { WebhookOptions } from "./webhooks.ts";

type Callback = EventJob<dueCallbacks.ClaimedCallback>;

const gone = 410;

/** Failures that aren't the receiver's, and what the operator can do about them. */
const advice: Partial<Record<AttemptOutcome, string>> = {
  secret_unreadable:
    "no key in SECRET_KEY opens the workspace's callback secret; add the key back to the list, or rotate the secret",
};

export function callbackWork(options: WebhookOptions): ChannelWork<Callback, WebhookMessage> {
  const { db, send, retryDelaysMs, onNotice } = options;
  const sign = makeSignEvent(options);
  const walks = new HostWalks();
  return {
    channel: "callback",
    inFlightMax: callbacksInFlightMax,
    timeoutMs: webhookTimeoutMs,
    retryDelaysMs,
    advice,
    failureLevel: "info",
    claim: async ({ limit, underWay, isNews }) => {
      const weights = weightsOf(underWay);
      if (isNews) walks.noteNews();
      const room = { limit, standings: walks.standings(weights) };
      const claimed = await dueCallbacks.claim(inOneStatement(db), room);
      const isToContinue = walks.noteLooks(claimed.looks, weights);
      const { callbacks, postponedMs: waitMs } = claimed;
      return {
        jobs: callbacks.map(toEventJob),
        waitMs,
        isMore: waitMs.length > 0 || isToContinue,
      };
    },
    compose: async (claimed) => {
      const job = await withSecrets(options, claimed);
      const signed = await sign(job, callbackSecretRecordOf(job.workspaceId));
      return "message" in signed
        ? { job, message: { url: job.url, isCallback: true, ...signed.message } }
        : signed;
    },
    send,
    onAnswer: async (_job, { status }) => (status === gone ? { state: "failed" } : null),
    recordFailure: (job, answer) => (ends) =>
      completeGivenUpCallback(db, ends, {
        host: job.host,
        event: job.kind,
        reason: describe(answer),
      }),
    onRecorded: async ({ next }) => {
      if (next.state === "failed") onNotice();
    },
  };
}

/** By workspace, as the rows of the deliveries weigh them. */
function weightsOf(underWay: readonly Callback[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const { workspaceId, approval } of underWay) {
    const isLarge = approval !== null && "largeId" in approval;
    const weight = isLarge ? largeWebhookWeight : 1;
    weights.set(workspaceId, (weights.get(workspaceId) ?? 0) + weight);
  }
  return weights;
}

/** The first callback of a workspace makes its secret. */
async function withSecrets({ db, keyring }: WebhookOptions, job: Callback): Promise<Callback> {
  if (job.secrets.length > 0) return job;
  return { ...job, secrets: await provideCallbackSecrets(db, keyring, job.workspaceId) };
}

/** For owners, in mails. */
function describe({ outcome, status: httpStatus = null }: Answer): string {
  return outcomeSentence("callback", { outcome: outcomeToldToMembers(outcome), httpStatus });
}
