// Lets a plant change what becomes of some webhooks.

import { WebhookSender } from "../../../server/src/outbound/send-webhook.ts";

type Send = WebhookSender["send"];
export type Message = Parameters<Send>[0];

const every = 8;
let sent = 0;

/** Each eighth webhook is sent by `spoilt`. */
export function spoilingWebhooks(spoilt: (message: Message, send: Send) => ReturnType<Send>): void {
  const { prototype } = WebhookSender;
  const original = prototype.send;
  prototype.send = function send(message) {
    const honest = original.bind(this);
    sent += 1;
    if (sent % every !== 0) return honest(message);
    process.stdout.write("planted\n");
    return spoilt(message, honest);
  };
}
