// A receiver's check of a webhook, written from the published contract alone and sharing no code with the service:
// what verifies here verifies for every customer.

import { createHmac, timingSafeEqual } from "node:crypto";

const toleranceSeconds = 300;

/** True when one of the `v1` values of `t=<unix_ts>,v1=<hex>` is the HMAC of `<timestamp>.<raw body>`. */
export function isSignedWith(
  secret: string,
  header: string,
  rawBody: Buffer,
  nowSeconds: number = Date.now() / 1000,
): boolean {
  const pairs = header.split(",").map((part) => part.split("=", 2) as [string, string]);
  const timestamp = pairs.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d+$/.test(timestamp)) return false;
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) return false;
  const expected = createHmac("sha256", secret)
    .update(Buffer.concat([Buffer.from(`${timestamp}.`), rawBody]))
    .digest("hex");
  return pairs
    .filter(([name]) => name === "v1")
    .some(
      ([, hex]) =>
        hex.length === expected.length && timingSafeEqual(Buffer.from(hex), Buffer.from(expected)),
    );
}

/** The same by Standard Webhooks: base64 of the HMAC of `<id>.<timestamp>.<body>`, keyed with the decoded secret. */
export function isSignedByStandard(
  secret: string,
  headers: Record<string, string | string[] | undefined>,
  rawBody: Buffer,
): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${rawBody.toString()}`;
  const expected = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  return String(headers["webhook-signature"]).split(" ").includes(expected);
}
