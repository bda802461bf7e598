// Waits for a decision for as long as a tool call may take, and keeps telling the client that it is alive.

import type { ServerContext } from "@modelcontextprotocol/server";
import { type ApprovalRequest, type Countersign, WaitTimeoutError } from "../../sdk/src/index.ts";

export type Waiting = {
  client: Countersign;
  /** Aborted when this process ends: waiting clients hear "still pending" and call again. */
  stopping: AbortSignal;
  progressIntervalMs: number;
};

export type Wait = { requestId: string; maxSeconds: number };

/** The request once decided, or its state when the time was over. */
export async function awaitDecision(
  { client, stopping, progressIntervalMs }: Waiting,
  { requestId, maxSeconds }: Wait,
  { mcpReq }: ServerContext,
): Promise<ApprovalRequest> {
  const { signal } = mcpReq;
  const request = await client.requests.get(requestId, { signal });
  if (request.status !== "PENDING") return request;
  const stopTelling = tellProgress({ maxSeconds, intervalMs: progressIntervalMs }, mcpReq);
  try {
    return await client.requests.waitForDecision(requestId, {
      timeoutMs: maxSeconds * 1_000,
      signal: AbortSignal.any([signal, stopping]),
    });
  } catch (error) {
    const isOver = error instanceof WaitTimeoutError && error.cause === undefined;
    if (isOver || (stopping.aborted && !signal.aborted)) return request;
    throw error;
  } finally {
    stopTelling();
  }
}

/** At once, and then every few seconds: some clients count from the last message. */
function tellProgress(
  { maxSeconds, intervalMs }: { maxSeconds: number; intervalMs: number },
  { _meta, notify }: ServerContext["mcpReq"],
): () => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let told = 0;
  const tell = () => {
    const progress = (told * intervalMs) / 1_000;
    told += 1;
    const message = "Waiting for a person to decide.";
    const params = { progressToken, progress, total: maxSeconds, message };
    // A client that can't be told is gone, and the call's signal says so.
    notify({ method: "notifications/progress", params }).catch(() => {});
  };
  tell();
  const timer = setInterval(tell, intervalMs);
  return () => clearInterval(timer);
}
