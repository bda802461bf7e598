// The secret of a webhook endpoint, in the form of Standard Webhooks: `whsec_` and base64 of 32 bytes.

export const webhookSecretRandomBytes = 32;
export const webhookSecretPrefix = "whsec_";

export function formatWebhookSecret(random: Uint8Array): string {
  return `${webhookSecretPrefix}${Buffer.from(random).toString("base64")}`;
}
