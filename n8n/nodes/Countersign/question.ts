// What the node's fields say is asked, as the body of a create.

import type { IExecuteFunctions } from "n8n-workflow";
import { refuseInexact } from "../../../sdk/src/exactness.ts";
import { describeFlaw, scanJsonValue } from "../../../server/src/domain/shown/json-text.ts";

/** Throws a sentence for the user. */
export function questionOf(context: IExecuteFunctions, callbackUrl: string): string {
  const text = (name: string) => String(context.getNodeParameter(name, 0, "") ?? "").trim();
  const options = context.getNodeParameter("options", 0, {}) as Record<string, unknown>;
  const rest = {
    summary: text("summary"),
    notify: text("notify"),
    reasoning: options.reasoning || undefined,
    agentName: options.agentName || "n8n",
    ttlMinutes: context.getNodeParameter("ttlMinutes", 0),
    callbackUrl,
    quorum: options.quorum,
    then: listOf(options.then, "Later Stages"),
    requestedBy: options.requestedBy || undefined,
    escalate: listOf(options.escalate, "Escalation"),
    channels: listOf(options.channels, "Channels"),
    audience: namesOf(options.audience),
    requireSignature: options.requireSignature,
  };
  const payload = payloadText(context.getNodeParameter("payload", 0, ""));
  return `${JSON.stringify(rest).slice(0, -1)},"payload":${payload}}`;
}

/** As text, or as the value of an expression. The service says what is wrong within. */
function listOf(given: unknown, name: string): unknown[] | undefined {
  if (given === undefined || given === "") return undefined;
  let list: unknown = given;
  try {
    if (typeof given === "string") list = JSON.parse(given);
  } catch {
    list = null;
  }
  if (Array.isArray(list)) return list;
  throw new Error(`${name} must be a list in JSON.`);
}

/** As text with commas, or as the list that an expression gives. The service says what is wrong within. */
function namesOf(given: unknown): unknown {
  if (typeof given !== "string") return given;
  const names = given.split(/[\s,]+/).filter(Boolean);
  return names.length === 0 ? undefined : names;
}

/** A text is taken to the digit. An expression may give a value, whose numbers n8n may have rounded already. */
export function payloadText(given: unknown): string {
  if (typeof given !== "string") {
    refuseInexact(given, JSON);
    return JSON.stringify(given) ?? "null";
  }
  if (given.trim() === "") return "null";
  const scanned = scanJsonValue(given);
  if (scanned.kind === "malformed") throw new Error(`The payload is not JSON: ${scanned.message}`);
  if (scanned.flaw === null) return given;
  throw new Error(`The payload: ${scanned.flaw.path} ${describeFlaw(scanned.flaw)}`);
}
