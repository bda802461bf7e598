// Delivers webhooks: claim what is due, build and sign the body, send it, record how that went.

import type { Logger } from "pino";
import { type Database, inOneStatement } from "../database/database.ts";
import { findSecretKey, isAwaited, type Keyring } from "../domain/access/keyring.ts";
import { unseal } from "../domain/access/sealed-secret.ts";
import type { Approval } from "../domain/approval/approval.ts";
import { testEventKind } from "../domain/approval/event.ts";
import { eventBody, testEventBody } from "../domain/approval/event-body.ts";
import { isCrashedTooOften, nextStep } from "../domain/delivery/delivery.ts";
import { stepAfterFailure } from "../domain/delivery/endpoint-health.ts";
import {
  type SigningSecret,
  signingSecretOf,
  webhookHeaders,
} from "../domain/delivery/webhook-signature.ts";
import {
  leaseSeconds,
  rememberedSecretsMax,
  webhooksInFlightMax,
  webhookTimeoutMs,
} from "../domain/limits.ts";
import { type AttemptOutcome, outcomeToldToMembers } from "../domain/shown/attempt.ts";
import type { CompleteAttempt } from "../operations/deliveries/complete-attempt.ts";
import { secretRecordOf } from "../operations/deliveries/manage-endpoint.ts";
import {
  noteEndpointFailure,
  noteEndpointGone,
  noteEndpointSuccess,
} from "../operations/deliveries/note-endpoint-health.ts";
import type { WebhookAnswer, WebhookMessage } from "../outbound/send-webhook.ts";
import * as approvals from "../storage/approvals/approvals.ts";
import * as dueWebhooks from "../storage/deliveries/due-webhooks.ts";
import { Pump } from "./pump.ts";
import type { PutBack } from "./put-back.ts";
import { QuickEndpoints } from "./quick-endpoints.ts";
import { crashAdvice, givenBack, recordEnd } from "./record-end.ts";

export type SendWebhook = (message: WebhookMessage) => Promise<WebhookAnswer>;

export type WebhookOptions = {
  db: Database;
  keyring: Keyring;
  send: SendWebhook;
  complete: CompleteAttempt;
  putBack: PutBack;
  retryDelaysMs: readonly number[];
  /** Called when a further attempt will be due. */
  onRetry: (inMs: number) => void;
  onFault: (error: unknown) => void;
  log: Logger;
};

type Job = dueWebhooks.ClaimedWebhook & { claimedAtMs: number };

/** Whoever was stopped for longer than this after claiming may have lost its lease, and sends nothing. */
const sendWithinMs = leaseSeconds * 1_000 - webhookTimeoutMs - 2_000;

/** Failures that are none of the endpoint's, and what the operator can do about them. */
const adviceByOutcome: Partial<Record<AttemptOutcome, string>> = {
  secret_unreadable:
    "no key in SECRET_KEY opens the endpoint's secret; add the key back to the list, or rotate the secret",
  given_up: crashAdvice,
};

const nothingSent = { status: null, responseStart: null, retryAfterSeconds: null, durationMs: 0 };

export function webhookPump(options: WebhookOptions): Pump<Job> {
  const openSecrets = makeSecretOpener(options.keyring);
  const failing = new Set<string>();
  const quick = new QuickEndpoints();
  const pump = new Pump<Job>({
    inFlightMax: webhooksInFlightMax,
    claim: async (limit) => {
      const claimedAtMs = performance.now();
      const room = { limit, quickEndpointIds: quick.list() };
      const { webhooks, postponedMs } = await dueWebhooks.claim(inOneStatement(options.db), room);
      for (const ms of postponedMs) options.onRetry(ms);
      // Those are out of the way now, so others behind them can be claimed.
      if (postponedMs.length > 0) pump.wake();
      return webhooks.map((job) => ({ ...job, claimedAtMs }));
    },
    carryOut: (job) => deliver({ ...options, openSecrets, failing, quick }, job),
    giveBack: async (job) => {
      await options.complete(givenBack(job, job.claimedAtMs));
    },
    onFault: options.onFault,
  });
  return pump;
}

type DeliverOptions = WebhookOptions & {
  openSecrets: OpenSecrets;
  /** Endpoints that were noted as failing, perhaps after a webhook to them was claimed that then succeeds. */
  failing: Set<string>;
  quick: QuickEndpoints;
};

async function deliver(options: DeliverOptions, job: Job): Promise<void> {
  const { complete, retryDelaysMs, onRetry } = options;
  const answer = await attempt(options, job);
  if (answer === null) return;
  const { outcome, retryAfterSeconds, durationMs } = answer;
  options.quick.note(job.endpoint.id, { isDelivered: outcome === "delivered", durationMs });
  const isGone = answer.status === 410;
  // Before it is recorded: whoever sees that nothing is under way, and enables the endpoint again, is not overtaken.
  if (isGone) await noteEndpointGone(options.db, job.endpoint);
  const next = isGone
    ? ({ state: "failed" } as const)
    : nextStep({
        outcome,
        numberInRound: job.numberInRound,
        retryAfterSeconds,
        delaysMs: retryDelaysMs,
        chance: Math.random(),
      });
  const end = { lease: job, outcome, ...toRecord(answer), next };
  const wasHeld = await recordEnd(complete, end, job.claimedAtMs);
  logAttempt(options.log, job, answer, { state: next.state, wasHeld });
  // Whoever has taken over will learn how the endpoint is.
  if (!wasHeld) return;
  if (next.state === "due") onRetry(next.delayMs);
  if (!isGone) await noteHealth(options, job, answer);
}

/** Null when nothing was sent and there is no end to record: the lease may be lost, or the delivery was put back. */
async function attempt(options: DeliverOptions, job: Job): Promise<WebhookAnswer | null> {
  if (isCrashedTooOften(job.crashesInRow)) return { outcome: "given_up", ...nothingSent };
  // A signature by an older secret alone would be refused where the receiver knows the newest only.
  const awaited = findAwaitedKey(options.keyring, job);
  if (awaited !== undefined) {
    await options.putBack([job], awaited);
    return null;
  }
  const message = await buildMessage(options, job);
  if (message === null) return { outcome: "secret_unreadable", ...nothingSent };
  return performance.now() - job.claimedAtMs > sendWithinMs ? null : options.send(message);
}

/** Null when no secret of the endpoint can be opened. */
async function buildMessage(
  { db, openSecrets }: DeliverOptions,
  job: Job,
): Promise<WebhookMessage | null> {
  const { kind, eventAt, deliveryId, endpoint, claimedAt } = job;
  const secrets = openSecrets(job);
  if (secrets.length === 0) return null;
  const body =
    kind === testEventKind
      ? testEventBody(eventAt)
      : eventBody(kind, eventAt, await wholeApproval(db, job));
  const headers = webhookHeaders({ deliveryId, kind, body, at: claimedAt, secrets });
  return { url: endpoint.url, headers, body };
}

type OpenSecrets = (job: Job) => SigningSecret[];

/** Opening a secret takes as long as signing with it, so what was opened is remembered by what it was sealed as. */
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

function findAwaitedKey(keyring: Keyring, { secrets }: Job): string | undefined {
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

async function wholeApproval(db: Database, { approval, workspaceId }: Job): Promise<Approval> {
  if (approval === null) throw new Error("an event of a request has no request");
  if (!("largeId" in approval)) return approval;
  const found = await approvals.find(db, workspaceId, approval.largeId);
  if (found === null) throw new Error(`approval ${approval.largeId} vanished`);
  return found.approval;
}

/** The database is asked only when something about the endpoint changes. */
async function noteHealth(
  { db, failing }: DeliverOptions,
  job: Job,
  answer: WebhookAnswer,
): Promise<void> {
  const { endpoint, claimedAt } = job;
  const { outcome } = answer;
  if (adviceByOutcome[outcome] !== undefined) return;
  if (outcome === "delivered") {
    const wasFailing = failing.delete(endpoint.id) || endpoint.failingSince !== null;
    if (wasFailing) await noteEndpointSuccess(db, endpoint);
    return;
  }
  const isNews = endpoint.failingSince === null || stepAfterFailure(endpoint, claimedAt) !== "none";
  if (!isNews) return;
  failing.add(endpoint.id);
  await noteEndpointFailure(db, endpoint, describe(answer));
}

/** For owners, in mails and on the dashboard. */
function describe({ outcome, status }: WebhookAnswer): string {
  return status === null
    ? outcomeToldToMembers(outcome).replaceAll("_", " ")
    : `HTTP status ${status}`;
}

function toRecord({ status, responseStart, durationMs }: Omit<WebhookAnswer, "outcome">) {
  return { httpStatus: status, responseStart, durationMs: Math.round(durationMs) };
}

/** One line per attempt, with ids and figures only. */
function logAttempt(
  log: Logger,
  job: Job,
  { outcome, status, durationMs }: WebhookAnswer,
  { state, wasHeld }: { state: string; wasHeld: boolean },
): void {
  if (!wasHeld) log.warn({ deliveryId: job.deliveryId }, "another worker took this delivery over");
  const { workspaceId, deliveryId, kind: event, number: attempt, endpoint } = job;
  const ms = Math.round(durationMs * 10) / 10;
  const ids = { workspaceId, deliveryId, endpointId: endpoint.id, event, attempt };
  const facts = { ...ids, outcome, status, ms, state };
  const advice = adviceByOutcome[outcome];
  if (advice !== undefined) log.error(facts, `webhook: ${advice}`);
  else log.info(facts, "webhook");
}
