// Some webhooks are never sent, and written down as delivered.

import { spoilingWebhooks } from "./sending.ts";

spoilingWebhooks(async () => ({
  ...{ outcome: "delivered", status: 200, responseStart: "", retryAfterSeconds: null },
  durationMs: 1,
}));
