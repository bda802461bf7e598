// The body of a webhook as bytes, which are signed and sent.

import type { Approval } from "./approval.ts";
import type { EventKind } from "./event.ts";
import { eventText, testEventText } from "./event-text.ts";

/** `approval` as it is now: pending, or in its one final state. */
export function eventBody(kind: EventKind, at: Date, approval: Approval): Buffer {
  return Buffer.from(eventText(kind, at, approval));
}

export function testEventBody(at: Date): Buffer {
  return Buffer.from(testEventText(at));
}
