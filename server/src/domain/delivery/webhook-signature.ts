// Signs webhooks, so that a receiver knows they are ours: with the contract's own header, and Standard Webhooks'
// beside it. While a secret is being rotated both secrets sign, so that either one verifies.

import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { WebhookEventKind } from "../approval/event.ts";
import { webhookSecretPrefix } from "./webhook-secret.ts";

export type WebhookToSign = {
  deliveryId: string;
  kind: WebhookEventKind;
  body: Buffer;
  /** When this attempt is made: signed with the body, so that an old one cannot be replayed. */
  at: Date;
  /** Newest first. */
  secrets: readonly SigningSecret[];
};

/**
 * A secret as its owner was shown it, and the bytes that it encodes: Standard Webhooks is keyed with those, the contract
 * with the text. Made once for many webhooks: keyed with plain bytes, signing takes four times as long.
 */
export type SigningSecret = { text: string; bytes: KeyObject };

export function signingSecretOf(text: string): SigningSecret {
  const bytes = Buffer.from(text.slice(webhookSecretPrefix.length), "base64");
  return { text, bytes: createSecretKey(bytes) };
}

export function webhookHeaders({ deliveryId, kind, body, at, secrets }: WebhookToSign) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const hex = secrets.map(({ text }) => sign(text, `${timestamp}.`, body).toString("hex"));
  const base64 = secrets.map(({ bytes }) =>
    sign(bytes, `${deliveryId}.${timestamp}.`, body).toString("base64"),
  );
  return {
    "content-type": "application/json",
    "user-agent": "Countersign-Webhooks/1",
    "x-service-event": kind,
    "x-service-delivery-id": deliveryId,
    "x-service-signature": [`t=${timestamp}`, ...hex.map((each) => `v1=${each}`)].join(","),
    "webhook-id": deliveryId,
    "webhook-timestamp": timestamp,
    "webhook-signature": base64.map((each) => `v1,${each}`).join(" "),
  };
}

/** The headers as people may see them, without the values that the secret and the time of an attempt make. */
export function shownWebhookHeaders(
  webhook: Pick<WebhookToSign, "deliveryId" | "kind" | "body">,
): Record<string, string> {
  const perAttempt = "made at each attempt";
  return {
    ...webhookHeaders({ ...webhook, at: new Date(0), secrets: [] }),
    "x-service-signature": perAttempt,
    "webhook-timestamp": perAttempt,
    "webhook-signature": perAttempt,
  };
}

function sign(key: string | KeyObject, prefix: string, body: Buffer): Buffer {
  return createHmac("sha256", key).update(prefix).update(body).digest();
}
