// Answers of tools: the values for programs, the same as text for models, and refusals as results that a model can
// read and act on.

import type { CallToolResult } from "@modelcontextprotocol/server";
import { CountersignError, WaitTimeoutError } from "../../sdk/src/index.ts";

/** The sentence first: clients that cut long texts cut the end. */
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

/** Runs a tool. What the service refuses is told with its code; everything else is a fault, and the caller's. */
export async function answered(work: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CountersignError) return failed(error);
    throw error;
  }
}

function failed(error: CountersignError): CallToolResult {
  // A wait that ended without an answer has a reason of its own.
  const told =
    error instanceof WaitTimeoutError && error.cause instanceof CountersignError
      ? error.cause
      : error;
  const call = told.requestId === null ? "" : ` (call ${told.requestId})`;
  const text = `${told.code}: ${told.message}${call}\nNothing was approved by this: do not act.`;
  return { content: [{ type: "text", text }], isError: true };
}
