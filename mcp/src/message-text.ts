// Reads one message of the protocol from its text, as exactly as the API reads a body. A person decides about the values
// that were sent, so a text that two readers could read differently is refused.

import { jsonDepthMax } from "../../server/src/domain/shown/field-limits.ts";
import { describeFlaw, scanJsonValue } from "../../server/src/domain/shown/json-text.ts";
import { parseExactly, roundedIn } from "./exact-json.ts";
import { withNamedArguments } from "./named-arguments.ts";

/** A payload is three levels down (message, params, arguments), and may be as deep as anywhere else. */
const messageDepthMax = jsonDepthMax + 3;

/** `id` is that of the message, if it can be read. */
export type MessageRefusal = { code: number; message: string; id: string | number | null };

export type ReadMessage = { message: object } | { refused: MessageRefusal };

/** Null is a text that isn't UTF-8. */
export function readMessage(text: string | null): ReadMessage {
  const scanned = text === null ? null : scanJsonValue(text, messageDepthMax);
  if (text === null || scanned === null || scanned.kind === "malformed") {
    return refuse(parseError, "The message is not JSON.", null);
  }
  if (scanned.flaw !== null) {
    const id = scanned.flaw.path === "id" ? null : idIn(text);
    const what = describeFlaw(scanned.flaw, messageDepthMax);
    return refuse(invalidRequest, `${scanned.flaw.path} ${what}.`, id);
  }
  const rounded = canHoldAnyNumber ? null : roundedIn(text);
  if (rounded !== null) return refuse(invalidRequest, tooExact(rounded), idIn(text));
  const message = parseExactly(text);
  if (Array.isArray(message)) return refuse(invalidRequest, noBatches, null);
  if (typeof message !== "object" || message === null) {
    return refuse(invalidRequest, "A message is a JSON object.", null);
  }
  return { message: withNamedArguments(message) };
}

const parseError = -32700;
export const invalidRequest = -32600;
const noBatches = "Send one message at a time: the protocol has no batches any more.";

/** Since Node 22. */
const canHoldAnyNumber = "rawJSON" in JSON;

function tooExact(number: string): string {
  return `The number ${number} would be rounded by this version of Node, and an approver would see another one. Send it as a text, or run this command with Node 22 or newer.`;
}

function refuse(code: number, message: string, id: MessageRefusal["id"]): ReadMessage {
  return { refused: { code, message, id } };
}

/** A caller who waits for an answer knows it by this. */
function idIn(text: string): string | number | null {
  try {
    const { id } = Object(JSON.parse(text));
    return typeof id === "string" || Number.isSafeInteger(id) ? id : null;
  } catch {
    // Nested so deep that the parser ran out of stack.
    return null;
  }
}
