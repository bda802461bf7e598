// The body of a webhook as bytes, which are signed and sent.

import type { JsonText } from "../shown/json-text.ts";
import type { Approval } from "./approval.ts";
import type { EventKind } from "./event.ts";
import { checkpointEventText, eventText, testEventText } from "./event-text.ts";

/** `approval` as it is now: pending, or in its one final state. */
export function eventBody(
  kind: EventKind,
  at: Date,
  approval: Approval,
  voting: JsonText | null = null,
): Buffer {
  return Buffer.from(eventText(kind, at, approval, voting));
}

export function testEventBody(at: Date): Buffer {
  return Buffer.from(testEventText(at));
}

export function checkpointEventBody(at: Date, checkpoint: string): Buffer {
  return Buffer.from(checkpointEventText(at, checkpoint));
}
