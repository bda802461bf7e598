// Posts one message to a Workflows webhook of Teams and reports how it went. Somebody of the workspace named the address,
// so it is vetted and bounded as that of a webhook is: no redirects, one deadline. And https alone: the address is a secret.

import type { AddressPolicy } from "../domain/access/network-address.ts";
import type { TeamsMessage } from "../domain/channels/teams-card.ts";
import { webhookTimeoutMs } from "../domain/limits.ts";
import { outcomeToldToMembers } from "../domain/shown/attempt.ts";
import type { NameSources } from "./resolve-host.ts";
import { type WebhookAnswer, WebhookSender } from "./send-webhook.ts";

export type TeamsOutcome =
  | { kind: "accepted" }
  | { kind: "later"; failure: string; retryAfterSeconds: number | null }
  | { kind: "refused"; failure: string };

export type TeamsSenderOptions = {
  policy: AddressPolicy;
  timeoutMs?: number;
  /** Trusted instead of the system's certificate authorities. */
  ca?: string;
  names?: NameSources;
};

/** Workflows has the message, and will post it. Another answer means that the address is none of a webhook. */
const accepted = 202;

export class TeamsSender {
  readonly #sender: WebhookSender;

  constructor({ timeoutMs = webhookTimeoutMs, ...options }: TeamsSenderOptions) {
    this.#sender = new WebhookSender({ ...options, timeoutMs });
  }

  async send(url: string, message: TeamsMessage): Promise<TeamsOutcome> {
    if (!url.startsWith("https://")) return { kind: "refused", failure: "not_encrypted" };
    const body = Buffer.from(JSON.stringify(message));
    const headers = { "content-type": "application/json", accept: "application/json" };
    return toOutcome(await this.#sender.send({ url, headers, body }));
  }

  /** Ends messages under way as lost connections. */
  close(): void {
    this.#sender.close();
  }
}

function toOutcome({ outcome, status, retryAfterSeconds }: WebhookAnswer): TeamsOutcome {
  if (status === accepted && outcome === "delivered") return { kind: "accepted" };
  if (outcome === "delivered" || outcome === "http_status") {
    const failure = String(status);
    const isLater = status === 408 || status === 429 || (status ?? 0) >= 500;
    return isLater ? { kind: "later", failure, retryAfterSeconds } : { kind: "refused", failure };
  }
  const failure = outcomeToldToMembers(outcome);
  return outcome === "redirected"
    ? { kind: "refused", failure }
    : { kind: "later", failure, retryAfterSeconds: null };
}
