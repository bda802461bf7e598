// One byte of some webhooks is another one than was signed.

import { spoilingWebhooks } from "./sending.ts";

spoilingWebhooks((message, send) => {
  const body = Buffer.from(message.body);
  const at = body.length >> 1;
  body[at] = (body[at] ?? 0) ^ 1;
  return send({ ...message, body });
});
