// A received webhook as lines for a person at a terminal, or as one line of JSON for a machine.

import type { ReceivedEvent } from "../../domain/delivery/received-webhook.ts";
import { toTerminalText } from "../../domain/shown/text/visible-text.ts";

export type Arrival = {
  at: Date;
  /** Null when the body is no event of ours. */
  event: ReceivedEvent | null;
  /** Null when the signature is right. */
  flaw: string | null;
};

const payloadCharactersMax = 400;
const testEvent = "webhook.test";

export function tellArrival({ at, event, flaw }: Arrival): string {
  const time = at.toTimeString().slice(0, 8);
  if (flaw !== null) return `${time}  NOT VERIFIED: ${flaw}. Answered 400.`;
  if (event === null) return `${time}  verified, but it is no event of Countersign. Answered 400.`;
  const lines = [
    `${time}  ${toTerminalText(event.event)}  verified  ${toTerminalText(event.requestId)}`,
    ...(event.event === testEvent
      ? ["Your endpoint works. This is a test event: no request stands behind it."]
      : [toTerminalText(event.summary), ...outcomeOf(event)]),
  ];
  return lines.join("\n          ");
}

export function arrivalToJson({ at, event, flaw }: Arrival): Record<string, unknown> {
  return {
    at: at.toISOString(),
    isVerified: flaw === null,
    flaw,
    ...(flaw === null && event !== null ? event : {}),
  };
}

function outcomeOf(event: ReceivedEvent): string[] {
  const { status, resolvedByEmail, resolutionNote, isEdited } = event;
  const by = resolvedByEmail === null ? "" : ` by ${toTerminalText(resolvedByEmail)}`;
  return [
    `${toTerminalText(status)}${by}${isEdited ? ", with changes" : ""}`,
    ...(resolutionNote === null ? [] : [`note: ${toTerminalText(resolutionNote)}`]),
    ...(status === "APPROVED" ? [`effectivePayload: ${shortened(event.effectivePayload)}`] : []),
  ];
}

function shortened(text: string): string {
  const shown = toTerminalText(text.slice(0, payloadCharactersMax));
  return text.length > payloadCharactersMax ? `${shown}…` : shown;
}
