// The calls about approvals, which are named requests on the wire: parse, call an operation, answer.

import { type Approval, type ApprovalStatus, approvalStatuses } from "../domain/approval.ts";
import {
  idempotencyKeyCharactersMax,
  listLimitDefault,
  listLimitMax,
  waitersMax,
  waitSecondsMax,
} from "../domain/limits.ts";
import { parseNewApproval } from "../domain/new-approval.ts";
import { isRefusal, type Refusal, refuse } from "../domain/refusal.ts";
import { cancelApproval } from "../operations/cancel-approval.ts";
import type { CreateApproval } from "../operations/create-approval.ts";
import { listApprovals, type ReadApproval } from "../operations/read-approval.ts";
import { unknownKey } from "../operations/unknown-key.ts";
import * as apiKeys from "../storage/api-keys.ts";
import type { ApprovalFilter } from "../storage/approvals.ts";
import type { Database } from "../storage/database.ts";
import type { ResolutionWatch } from "../storage/resolution-watch.ts";
import { type Answer, type Call, repeated } from "./call.ts";
import { problemOfRefusal } from "./problems.ts";
import { entityTag, representApproval, representList } from "./representations.ts";

export type ApprovalCalls = {
  db: Database;
  createApproval: CreateApproval;
  readApproval: ReadApproval;
  resolutions: ResolutionWatch;
};

export async function create({ db, createApproval }: ApprovalCalls, call: Call): Promise<Answer> {
  const idempotencyKey = idempotencyKeyOf(call);
  if (isRefusal(idempotencyKey)) return refuseKnownCaller(db, call, idempotencyKey);
  const approval = parseNewApproval(call.body);
  if (isRefusal(approval)) return refuseKnownCaller(db, call, approval);
  const { keyDigest, body } = call;
  const created = await createApproval({ keyDigest, approval, body, idempotencyKey });
  if (isRefusal(created)) return problemOfRefusal(created);
  noteFacts(call, created);
  return {
    status: 201,
    headers: {
      location: `/v1/requests/${created.approval.id}`,
      ...(created.isReplay ? { "idempotent-replayed": "true" } : {}),
    },
    body: representApproval(created.approval),
  };
}

export async function read(calls: ApprovalCalls, call: Call): Promise<Answer> {
  const waitSeconds = waitSecondsOf(call.query);
  if (isRefusal(waitSeconds)) return refuseKnownCaller(calls.db, call, waitSeconds);
  const lookup = { keyDigest: call.keyDigest, id: idOf(call) };
  const found = await readOrWait(calls, lookup, waitSeconds * 1000, call.signal);
  if (isRefusal(found)) return problemOfRefusal(found);
  noteFacts(call, found);
  const tag = entityTag(found.approval);
  const headers = { etag: tag, "cache-control": "private, no-cache" };
  return matches(call.header("if-none-match"), tag)
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body: representApproval(found.approval) };
}

export async function list({ db }: ApprovalCalls, call: Call): Promise<Answer> {
  const filter = filterOf(call.query);
  if (isRefusal(filter)) return refuseKnownCaller(db, call, filter);
  const page = await listApprovals(db, call.keyDigest, filter);
  if (isRefusal(page)) return problemOfRefusal(page);
  call.facts.workspaceId = page.workspaceId;
  const approvals = page.found.map(({ approval }) => approval);
  const last = approvals.at(-1);
  const nextCursor = page.hasMore && last !== undefined ? toCursor(last.id) : null;
  return {
    status: 200,
    headers: { "cache-control": "private, no-cache" },
    body: representList(approvals, nextCursor),
  };
}

export async function cancel({ db }: ApprovalCalls, call: Call): Promise<Answer> {
  const cancelled = await cancelApproval(db, call.keyDigest, idOf(call));
  if (isRefusal(cancelled)) return problemOfRefusal(cancelled);
  noteFacts(call, cancelled);
  return { status: 200, body: representApproval(cancelled.approval) };
}

/** Reads an approval and, while it is pending, again when it may have changed, until the time is over. */
async function readOrWait(
  { readApproval, resolutions }: ApprovalCalls,
  lookup: { keyDigest: Buffer; id: string },
  waitMs: number,
  signal: AbortSignal,
) {
  if (waitMs === 0 || resolutions.waiting >= waitersMax) return readApproval(lookup);
  const endsAt = performance.now() + waitMs;
  const waiting = resolutions.register(lookup.id);
  try {
    for (;;) {
      const found = await readApproval(lookup);
      const remainingMs = endsAt - performance.now();
      if (isRefusal(found) || found.approval.state.kind !== "PENDING" || remainingMs <= 0) {
        return found;
      }
      // The end of the approval's own time wakes the caller too, and the next read then expires it.
      const sleepMs = Math.min(remainingMs, found.expiresInMs + 1);
      const end = await waiting.sleep(found.workspaceId, sleepMs, signal);
      if (end === "given_up") return found;
    }
  } finally {
    waiting.close();
  }
}

/** A call without a valid key learns only that, whatever else is wrong with it. */
async function refuseKnownCaller(db: Database, call: Call, refusal: Refusal): Promise<Answer> {
  const workspaceId = await apiKeys.findWorkspaceId(db, call.keyDigest);
  if (workspaceId === null) return problemOfRefusal(unknownKey());
  call.facts.workspaceId = workspaceId;
  return problemOfRefusal(refusal);
}

function noteFacts(call: Call, of: { workspaceId: string; approval: Approval }): void {
  call.facts.workspaceId = of.workspaceId;
  call.facts.approvalId = of.approval.id;
}

const idPattern = /^req_[0-9a-f]{32}$/;

/** Something that cannot be an id is looked up as one that nothing has: unknown and malformed look alike. */
function idOf(call: Call): string {
  const id = call.params.id ?? "";
  return idPattern.test(id) ? id : "";
}

const idempotencyKeyPattern = new RegExp(`^[\\x20-\\x7e]{1,${idempotencyKeyCharactersMax}}$`);

function idempotencyKeyOf(call: Call): string | null | Refusal {
  const key = call.header("idempotency-key");
  if (key === null) return null;
  if (key !== repeated && idempotencyKeyPattern.test(key)) return key;
  return refuse(
    "validation_error",
    `Idempotency-Key: must be sent once, with 1 to ${idempotencyKeyCharactersMax} printable ASCII characters.`,
  );
}

function waitSecondsOf(query: URLSearchParams): number | Refusal {
  const text = single(query, "wait");
  if (isRefusal(text)) return text;
  if (text === null) return 0;
  const seconds = /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return seconds <= waitSecondsMax
    ? seconds
    : refuse(
        "validation_error",
        `wait: must be a whole number of seconds from 0 to ${waitSecondsMax}.`,
      );
}

type ListFilter = ApprovalFilter & { limit: number };

function filterOf(query: URLSearchParams): ListFilter | Refusal {
  const status = statusOf(query);
  if (isRefusal(status)) return status;
  const agentName = single(query, "agentName");
  if (isRefusal(agentName)) return agentName;
  const createdAfter = timeOf(query, "createdAfter");
  if (isRefusal(createdAfter)) return createdAfter;
  const createdBefore = timeOf(query, "createdBefore");
  if (isRefusal(createdBefore)) return createdBefore;
  const limit = limitOf(query);
  if (isRefusal(limit)) return limit;
  const beforeId = cursorOf(query);
  if (isRefusal(beforeId)) return beforeId;
  return { status, agentName, createdAfter, createdBefore, limit, beforeId };
}

function statusOf(query: URLSearchParams): ApprovalStatus | null | Refusal {
  const text = single(query, "status");
  if (text === null || isRefusal(text)) return text;
  const status = approvalStatuses.find((each) => each === text);
  return (
    status ?? refuse("validation_error", `status: must be one of ${approvalStatuses.join(", ")}.`)
  );
}

const timePattern =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

function timeOf(query: URLSearchParams, name: string): Date | null | Refusal {
  const text = single(query, name);
  if (text === null || isRefusal(text)) return text;
  const time = timePattern.test(text) ? new Date(text) : new Date(Number.NaN);
  return Number.isNaN(time.getTime())
    ? refuse(
        "validation_error",
        `${name}: must be an ISO 8601 time such as 2026-01-31T12:00:00Z (write + as %2B in a URL).`,
      )
    : time;
}

function limitOf(query: URLSearchParams): number | Refusal {
  const text = single(query, "limit");
  if (isRefusal(text)) return text;
  if (text === null) return listLimitDefault;
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= listLimitMax
    ? limit
    : refuse("validation_error", `limit: must be a whole number from 1 to ${listLimitMax}.`);
}

function toCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

function cursorOf(query: URLSearchParams): string | null | Refusal {
  const text = single(query, "cursor");
  if (text === null || isRefusal(text)) return text;
  const id = Buffer.from(text, "base64url").toString("latin1");
  return idPattern.test(id)
    ? id
    : refuse(
        "validation_error",
        "cursor: is not one that a list has answered. Leave it out to begin.",
      );
}

/** A query parameter that may come once. Text that PostgreSQL could not take matches nothing anyway. */
function single(query: URLSearchParams, name: string): string | null | Refusal {
  const values = query.getAll(name);
  if (values.length > 1) return refuse("validation_error", `${name}: must be given once.`);
  const [value] = values;
  if (value === undefined) return null;
  return value.includes("\0")
    ? refuse("validation_error", `${name}: must not contain U+0000.`)
    : value;
}

function matches(header: string | null | typeof repeated, tag: string): boolean {
  if (header === null || header === repeated) return false;
  const tags = header.split(",").map((each) => each.trim().replace(/^W\//, ""));
  return tags.includes(tag) || tags.includes("*");
}
