// The signature by which Slack proves that it made a call: HMAC-SHA-256 over the version, the time and the raw body.

import { createHmac, timingSafeEqual } from "node:crypto";

/** To either side: clocks differ, and an old call may be somebody's recording. */
export const slackSignatureSeconds = 300;

export type SlackSigned = {
  /** Seconds since 1970, as the header says it. */
  timestamp: string;
  signature: string;
  body: Uint8Array;
};

export function isTimely(timestamp: string, nowMs: number): boolean {
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  return Math.abs(nowMs / 1_000 - Number(timestamp)) <= slackSignatureSeconds;
}

/** The caller checks the time. */
export function isSignedBy(secret: string, { timestamp, signature, body }: SlackSigned): boolean {
  const given = Buffer.from(signature);
  const right = Buffer.from(signatureOf(secret, timestamp, body));
  return given.length === right.length && timingSafeEqual(given, right);
}

export function signatureOf(secret: string, timestamp: string, body: Uint8Array): string {
  const digest = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex");
  return `v0=${digest}`;
}
