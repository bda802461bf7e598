// Some webhooks are sent twice within one attempt.

import { spoilingWebhooks } from "./sending.ts";

spoilingWebhooks(async (message, send) => {
  await send(message);
  return send(message);
});
