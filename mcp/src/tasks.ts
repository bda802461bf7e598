// A task of the protocol is a request that somebody still decides about, under another name. So a task needs no storage
// of its own: it lasts as long as its request, any node answers for it, and a key sees the tasks of its own workspace.

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { ApprovalRequest } from "../../sdk/src/index.ts";
import { nextStepOf } from "./next-step.ts";
import { succeeded } from "./tool-results.ts";
import { toDecision } from "./tool-schemas.ts";

/** The two ways of the protocol: tasks of 2025-11-25 are asked for, those of 2026-07-28 are offered. */
export type Era = "legacy" | "modern";

/** `ask` is a call of request_approval, `wait` one of await_decision. */
export type TaskHandle = { kind: "ask" | "wait"; requestId: string; createdAt: string | null };

/** A request that nobody has decided is asked about as often as this. */
const pollIntervalMs = 5_000;

/** The id says everything, so that nothing has to be kept. It is no secret: each call carries a key. */
export function taskIdOf(kind: TaskHandle["kind"], requestId: string): string {
  if (kind === "ask") return `ask.${requestId}`;
  // Two waits for one request are two tasks.
  return `wait.${requestId}.${Date.now().toString(36)}.${crypto.randomUUID()}`;
}

/** Null for an id that we can't have given. */
export function parseTaskId(taskId: string): TaskHandle | null {
  const asked = /^ask\.(req_\w{1,64})$/.exec(taskId)?.[1];
  if (asked !== undefined) return { kind: "ask", requestId: asked, createdAt: null };
  const parts = /^wait\.(req_\w{1,64})\.([0-9a-z]{8,9})\.[0-9a-f-]{36}$/.exec(taskId);
  if (parts === null) return null;
  const [, requestId = "", time = ""] = parts;
  return { kind: "wait", requestId, createdAt: new Date(Number.parseInt(time, 36)).toISOString() };
}

/** The task as `tasks/get` tells it. The protocol of 2026 has the result in it. */
export function toTask(
  era: Era,
  taskId: string,
  request: ApprovalRequest,
): Record<string, unknown> {
  const handle = parseTaskId(taskId);
  const status = handle === null ? "working" : statusOf(handle, request);
  const createdAt = handle?.createdAt ?? request.createdAt;
  return {
    taskId,
    status,
    statusMessage: nextStepOf(request),
    createdAt,
    lastUpdatedAt: request.resolvedAt ?? createdAt,
    ...(era === "modern"
      ? { ttlMs: null, pollIntervalMs }
      : { ttl: null, pollInterval: pollIntervalMs }),
    ...(era === "modern" && status === "completed" ? { result: resultOf(request) } : {}),
  };
}

/** A decision of any kind completes a task, also a no. Only a task that asked is cancelled with its request. */
function statusOf({ kind }: TaskHandle, { status }: ApprovalRequest): string {
  if (status === "PENDING") return "working";
  return status === "CANCELLED" && kind === "ask" ? "cancelled" : "completed";
}

/** The same as await_decision answers. */
export function resultOf(request: ApprovalRequest): CallToolResult {
  return succeeded(toDecision(request), nextStepOf(request));
}
