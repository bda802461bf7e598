// The webhooks of a fake service: signed as the service signs them, handed to a test's own handler, and kept.

import type { Approval } from "../../../server/src/domain/approval/approval.ts";
import { isDecision, onceKinds } from "../../../server/src/domain/approval/event.ts";
import { eventText, testEventText } from "../../../server/src/domain/approval/event-text.ts";
import type { EventKind, TestEventKind } from "../contract.ts";

export type OutboxOptions = {
  /**
   * Gets each webhook, as your server would: several at once, in no promised order, up to three times each until it
   * answers 2xx in time.
   */
  onWebhook?: (request: Request) => Response | Promise<Response>;
  /** The events that the endpoint names; by default those that an endpoint gets which names none. */
  webhookEvents?: readonly EventKind[];
  /** Each webhook comes twice at the same time, as it rarely may: what your handler then does twice, it does wrong. */
  deliversTwice?: boolean;
  /** How long `onWebhook` may take by the real clock before it is tried again; 10 seconds, like the service. */
  webhookTimeoutMs?: number;
  /** The endpoint's signing secret. */
  webhookSecret?: string;
  /** Gets each callback, as the server behind its `callbackUrl` would, in the same way as `onWebhook`. */
  onCallback?: (request: Request) => Response | Promise<Response>;
  /** The workspace's callback secret. */
  callbackSecret?: string;
};

export type SentWebhook = {
  readonly id: string;
  readonly event: EventKind | TestEventKind;
  /** Exactly the bytes that are signed, as text. */
  readonly body: string;
  /** The statuses that `onWebhook` answered with; 0 if it threw or took too long. */
  readonly attempts: readonly number[];
  /** A request as the service sends it, signed now. */
  toRequest(): Promise<Request>;
};

export type Outbox = {
  readonly secret: string;
  readonly sent: readonly SentWebhook[];
  readonly callbackSecret: string;
  readonly callbacks: readonly SentWebhook[];
  send(kind: EventKind, approval: Approval, at: Date): void;
  sendCallback(url: string, event: { kind: EventKind; approval: Approval; at: Date }): void;
  sendTest(now: number): void;
  resend(webhook: SentWebhook): Promise<void>;
  settled(): Promise<void>;
};

/** The receipt of a decision. */
type ReceiptOf = (approval: Approval) => Promise<string | null>;

type Handler = OutboxOptions["onWebhook"];
type Receiver = { url: string; secret: string; handler: Handler };
type Sent = SentWebhook & { attempts: number[]; handler: Handler };

const attemptsMax = 3;
const timeoutDefaultMs = 10_000;
const hookUrl = "https://your-server.test/hook";

export function openOutbox({
  onWebhook,
  webhookEvents = onceKinds,
  deliversTwice = false,
  webhookTimeoutMs: timeoutMs = timeoutDefaultMs,
  webhookSecret: secret = "whsec_dGVzdGluZyBzZWNyZXQgb2YgYSBmYWtl",
  onCallback,
  callbackSecret = "whsec_c2VjcmV0IG9mIGEgZmFrZSdzIGNhbGxiYWNrcyE=",
  receiptOf,
}: OutboxOptions & { receiptOf: ReceiptOf }): Outbox {
  const sent: Sent[] = [];
  const callbacks: Sent[] = [];
  let underWay: Promise<unknown> = Promise.resolve();
  const attempt = async (webhook: Sent): Promise<boolean> => {
    const answered = statusOf(webhook.handler, await webhook.toRequest());
    const status = await withinTime(answered, timeoutMs);
    webhook.attempts.push(status);
    return status >= 200 && status < 300;
  };
  const deliverOnce = async (webhook: Sent) => {
    if (webhook.handler === undefined) return;
    for (let left = attemptsMax; left > 0; left -= 1) if (await attempt(webhook)) return;
  };
  const deliver = (webhook: Sent) =>
    Promise.all(Array.from({ length: deliversTwice ? 2 : 1 }, () => deliverOnce(webhook)));
  type Told = [event: SentWebhook["event"], body: string, approval?: Approval];
  const addTo =
    (list: Sent[], to: Receiver) =>
    (...[event, body, approval]: Told) => {
      const id = `dlv_${String(sent.length + callbacks.length + 1).padStart(32, "0")}`;
      const receipt = async () => (approval && isDecision(event) ? receiptOf(approval) : null);
      const toRequest = async () => signed({ id, event, body, receipt: await receipt(), ...to });
      const webhook = { id, event, body, attempts: [], toRequest, handler: to.handler };
      list.push(webhook);
      underWay = Promise.all([underWay, deliver(webhook)]);
    };
  const add = addTo(sent, { url: hookUrl, secret, handler: onWebhook });
  return {
    secret,
    sent,
    callbackSecret,
    callbacks,
    // Made at once: the approval may change before it is delivered.
    send: (kind, approval, at) => {
      if (!webhookEvents.includes(kind)) return;
      add(kind, eventText(kind, at, approval, approval.voting), approval);
    },
    sendCallback: (url, { kind, approval, at }) =>
      addTo(callbacks, { url, secret: callbackSecret, handler: onCallback })(
        kind,
        eventText(kind, at, approval),
        approval,
      ),
    sendTest: (now) => add("webhook.test", testEventText(new Date(now))),
    resend: async (webhook) => {
      const known = [...sent, ...callbacks].find((each) => each.id === webhook.id);
      if (known === undefined) throw new Error("this service has not sent that webhook");
      await underWay;
      await attempt(known);
    },
    settled: async () => {
      for (let seen: Promise<unknown> | null = null; seen !== underWay; ) {
        seen = underWay;
        await seen;
      }
    },
  };
}

async function statusOf(handler: Handler, request: Request): Promise<number> {
  try {
    return (await handler?.(request))?.status ?? 0;
  } catch {
    return 0;
  }
}

/** Like the service, it doesn't stop a handler that takes too long: that one works on beside the next attempt. */
async function withinTime(answered: Promise<number>, timeoutMs: number): Promise<number> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<number>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 0);
  });
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

type Unsigned = {
  id: string;
  event: string;
  body: string;
  receipt: string | null;
  url: string;
  secret: string;
};

/** By the real clock, so that a verifier accepts it wherever the test has moved its own. */
async function signed({ id, event, body, receipt, url, secret }: Unsigned): Promise<Request> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const v1 = await hmac(encoder.encode(secret), `${timestamp}.${body}`);
  const standard = await hmac(bytesOfSecret(secret), `${id}.${timestamp}.${body}`);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Countersign-Webhooks/1",
    "x-service-event": event,
    "x-service-delivery-id": id,
    "x-service-signature": `t=${timestamp},v1=${hexOf(v1)}`,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${btoa(String.fromCharCode(...standard))}`,
    ...(receipt === null ? {} : { "x-service-receipt": receipt }),
  };
  return new Request(url, { method: "POST", headers, body });
}

const encoder = new TextEncoder();

/** Standard Webhooks is keyed with the bytes that the secret encodes, the contract with its text. */
function bytesOfSecret(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  if (encoded === undefined) throw new TypeError("webhookSecret must be whsec_ and base64");
  return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
}

async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
