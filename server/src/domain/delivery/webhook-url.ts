// Decides which URLs may be registered as webhook endpoints.

import { flawOfReceiverUrl } from "../access/receiver-url.ts";
import { webhookUrlCharactersMax } from "../limits.ts";

/** Says what is wrong with a webhook URL, or null when it is fine. */
export function flawOfWebhookUrl(text: string): string | null {
  return flawOfReceiverUrl(text, webhookUrlCharactersMax);
}
