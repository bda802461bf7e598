// The results of tools: values for programs, the same as text for models, and refusals that a model can read and act
// on.

import type { CallToolResult } from "@modelcontextprotocol/server";
import { CountersignError, WaitTimeoutError } from "../../sdk/src/index.ts";

/** The sentence comes first: clients that cut long texts cut the end. */
export function succeeded(
  structuredContent: Record<string, unknown>,
  sentence: string,
): CallToolResult {
  return {
    content: [
      { type: "text", text: sentence },
      { type: "text", text: JSON.stringify(structuredContent) },
    ],
    structuredContent,
  };
}

/** Runs a tool. A refusal of the service becomes a result with its code. Anything else is a fault and is thrown. */
export async function answered(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CountersignError) return failed(error);
    throw error;
  }
}

function failed(error: CountersignError): CallToolResult {
  // A wait that ended without an answer has its own reason.
  const told =
    error instanceof WaitTimeoutError && error.cause instanceof CountersignError
      ? error.cause
      : error;
  const call = told.requestId === null ? "" : ` (call ${told.requestId})`;
  return refused(`${told.code}: ${wordsOf(told)}${call}`, afterwards(told.code));
}

/**
 * The service's own words, but for one: it tells programs to use a new key for a new request. A model that repeats
 * itself in other words would take the advice, and a person would be asked twice about one action.
 */
function wordsOf({ code, message }: CountersignError): string {
  if (code !== "idempotency_key_reused") return message;
  const [id] = /\breq_\w+/.exec(message) ?? [];
  return `this idempotencyKey is that of ${id ?? "an earlier request"}, which was asked in other words.`;
}

/** A refusal that a model can read: what was wrong, then what follows for the action. */
export function refused(what: string, next = doNotAct): CallToolResult {
  return { content: [{ type: "text", text: `${what}\n${next}` }], isError: true };
}

const doNotAct = "Nothing was approved by this: do not act.";

/** A request that could not be cancelled may well have been approved, so its status decides. */
function afterwards(code: string): string {
  switch (code) {
    case "already_resolved":
      return "Nothing was cancelled, and its outcome stands. Call get_request to read it: only status APPROVED permits the action.";
    case "already_redeemed":
      return "An earlier call, maybe one of yours, has taken this action in hand: do not act. Tell the user who gave you the task if you cannot see whether it was carried out.";
    case "idempotency_key_reused":
      return "That request stands, and nobody was asked again. If you mean the same action, do not ask with another key: call await_decision with the id above. It counts as other words, too, if the workspace's default approver has changed since. Only another action has a key of its own. Nothing was approved by this: do not act.";
    default:
      return doNotAct;
  }
}
