// Sends one push message to a push service and reports how it went. The address is a stranger's word, so it is vetted and
// bounded as that of a callback is: https alone, no redirects, one deadline over everything.

import type { AddressPolicy } from "../domain/access/network-address.ts";
import { pushTimeoutMs } from "../domain/channels/push-limits.ts";
import type { WebhookOutcome } from "../domain/shown/attempt.ts";
import type { NameSources } from "./resolve-host.ts";
import { type WebhookAnswer, WebhookSender } from "./send-webhook.ts";

export type PushMessage = {
  endpoint: string;
  /** Encrypted for the browser behind the endpoint. */
  body: Buffer;
  authorization: string;
  /** How long the push service keeps it for a browser that is off. */
  keptSeconds: number;
  urgency: "normal" | "high";
  /** A newer message of the same topic replaces one that still waits. */
  topic: string;
};

export type PushOutcome =
  | { kind: "accepted" }
  /** The browser no longer takes messages. */
  | { kind: "gone" }
  | { kind: "too_many"; retryAfterSeconds: number | null }
  /** No for good, or an address that we don't call. */
  | { kind: "refused" }
  | { kind: "timeout" }
  | { kind: "unreachable"; retryAfterSeconds: number | null };

export type PushSenderOptions = {
  /** Push services are on the internet: without a policy of the operator's, no private address is called. */
  policy: AddressPolicy;
  timeoutMs?: number;
  /** Trusted instead of the system's certificate authorities. */
  ca?: string;
  names?: NameSources;
};

export class PushSender {
  readonly #sender: WebhookSender;

  constructor({ policy, timeoutMs = pushTimeoutMs, ...options }: PushSenderOptions) {
    // Without a plain policy, plain http goes nowhere.
    this.#sender = new WebhookSender({
      ...options,
      policy,
      callbacks: { policy, plainPolicy: null },
      timeoutMs,
    });
  }

  async send({ endpoint, body, ...message }: PushMessage): Promise<PushOutcome> {
    const headers = {
      "content-encoding": "aes128gcm",
      "content-type": "application/octet-stream",
      authorization: message.authorization,
      ttl: String(message.keptSeconds),
      urgency: message.urgency,
      topic: message.topic,
    };
    return toOutcome(await this.#sender.send({ url: endpoint, headers, body, isCallback: true }));
  }

  /** Ends messages under way as lost connections. */
  close(): void {
    this.#sender.close();
  }
}

function toOutcome({ outcome, status, retryAfterSeconds }: WebhookAnswer): PushOutcome {
  if (outcome === "http_status") return outcomeOfStatus(status ?? 0, retryAfterSeconds);
  return outcomes[outcome] ?? { kind: "unreachable", retryAfterSeconds: null };
}

function outcomeOfStatus(status: number, retryAfterSeconds: number | null): PushOutcome {
  if (status === 404 || status === 410) return { kind: "gone" };
  if (status === 429) return { kind: "too_many", retryAfterSeconds };
  return status >= 500 ? { kind: "unreachable", retryAfterSeconds } : { kind: "refused" };
}

const outcomes: Partial<Record<WebhookOutcome, PushOutcome>> = {
  delivered: { kind: "accepted" },
  redirected: { kind: "refused" },
  address_not_allowed: { kind: "refused" },
  timed_out: { kind: "timeout" },
};
