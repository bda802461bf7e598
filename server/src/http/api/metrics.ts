// The service's own figures for Prometheus, where they have no port of their own. Whoever reads them holds the token.

import { type Answer, type Call, repeated } from "../frame/call.ts";
import { problem } from "../frame/problems.ts";

/** Null for a caller without the token. */
export type ReadMetrics = (
  authorization: string | null,
) => Promise<{ text: string; contentType: string } | null>;

export async function showMetrics(read: ReadMetrics, call: Call): Promise<Answer> {
  const authorization = call.header("authorization");
  const page = await read(authorization === repeated ? null : authorization);
  if (page === null) {
    return problem("unauthorized", "Send the token of METRICS_TOKEN as Authorization: Bearer.");
  }
  return { status: 200, type: page.contentType, body: page.text };
}
