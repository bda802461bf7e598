// The calls about approvals, which are named requests on the wire: parse, call an operation, answer.

import type { Database } from "../../database/database.ts";
import { DatabaseBusy } from "../../database/faults.ts";
import { asHolder, currentHolder } from "../../database/holder.ts";
import type { Turnstile } from "../../database/turnstile.ts";
import type { Approval } from "../../domain/approval/approval.ts";
import { filterOf, toCursor, waitSecondsOf } from "../../domain/approval/call-parameters.ts";
import { parseNewApproval } from "../../domain/approval/new-approval.ts";
import {
  gatheredCreateBytesMax,
  largeWaitingPerHolderMax,
  waitersMax,
} from "../../domain/limits.ts";
import { isRefusal, type Refusal, refuse } from "../../domain/refusal.ts";
import { cancelApproval } from "../../operations/approvals/cancel-approval.ts";
import type { CreateApproval } from "../../operations/approvals/create-approval.ts";
import { listApprovals, type ReadApproval } from "../../operations/approvals/read-approval.ts";
import {
  type AlreadyRedeemed,
  redeemApproval,
} from "../../operations/approvals/redeem-approval.ts";
import { remindApproval } from "../../operations/approvals/remind-approval.ts";
import { unknownKey } from "../../operations/approvals/unknown-key.ts";
import type { ReadReceipt } from "../../operations/proof/receipts.ts";
import type { ResolutionWatch } from "../../storage/approvals/resolution-watch.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import type { Answer, Call, Caller } from "../frame/call.ts";
import type { FairBudget } from "../frame/fair-budget.ts";
import { hasEntityTag, idempotencyKeyOf, idOf, namesOtherTag } from "../frame/parameters.ts";
import { alreadyRedeemed, problemOfRefusal, tooManyReads } from "../frame/problems.ts";
import type { Admission } from "../frame/route.ts";
import { inTurn } from "../frame/turns.ts";
import {
  entityTag,
  representApproval,
  representList,
  representRedeemed,
  representRedemption,
} from "./representations.ts";

export type ApprovalCalls = {
  db: Database;
  createApproval: CreateApproval;
  /** Says what is wrong with the address of a callback by itself; null when it may be tried. */
  examineCallback: (url: string) => string | null;
  readApproval: ReadApproval;
  readReceipt: ReadReceipt;
  /** Called when somebody is to be mailed. */
  onDue: () => void;
  resolutions: ResolutionWatch;
  /** Reading and writing a large body keeps the process busy: a few at a time, in fair turns. */
  largeCreates: Turnstile;
  /** Turns for reads that may answer megabytes. */
  heavyReads: FairBudget;
};

/** Runs before a large body is read: only a known caller may cost that memory and time. */
export async function admit({ db }: Pick<ApprovalCalls, "db">, caller: Caller): Promise<Admission> {
  const workspaceId = await apiKeys.findWorkspaceId(db, caller.keyDigest);
  if (workspaceId === null) return { refused: problemOfRefusal(unknownKey()) };
  caller.facts.workspaceId = workspaceId;
  return { holder: workspaceId };
}

export async function create(calls: ApprovalCalls, call: Call): Promise<Answer> {
  const { largeCreates } = calls;
  const { workspaceId } = call.facts;
  // Only a large body was admitted, and only then the workspace is known already.
  if (call.body.length <= gatheredCreateBytesMax || workspaceId === undefined) {
    return createNow(calls, call);
  }
  if (largeCreates.waitingOf(workspaceId) >= largeWaitingPerHolderMax) {
    throw new DatabaseBusy("too many large requests of one workspace wait");
  }
  return largeCreates.pass(workspaceId, () => asHolder(workspaceId, () => createNow(calls, call)));
}

async function createNow(
  { db, createApproval, examineCallback }: ApprovalCalls,
  call: Call,
): Promise<Answer> {
  const approval = parseNewApproval(call.body);
  if (isRefusal(approval)) return refuseKnownCaller(db, call, approval);
  const { callbackUrl } = approval;
  const flaw = callbackUrl === null ? null : examineCallback(callbackUrl);
  if (flaw !== null) {
    return refuseKnownCaller(db, call, refuse("validation_error", `callbackUrl: ${flaw}.`));
  }
  const idempotencyKey = idempotencyKeyOf(call);
  if (isRefusal(idempotencyKey)) return refuseKnownCaller(db, call, idempotencyKey);
  const { keyDigest, body } = call;
  const created = await createApproval({ keyDigest, approval, body, idempotencyKey });
  if (isRefusal(created)) return answerRefusal(call, created);
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
  const found = await readOrWait(calls, lookup, waitSeconds * 1000, call);
  if (isRefusal(found)) return answerRefusal(call, found);
  noteFacts(call, found);
  const tag = entityTag(found.approval);
  const headers = { etag: tag, "cache-control": "private, no-cache" };
  return hasEntityTag(call, tag)
    ? { status: 304, headers, body: null }
    : { status: 200, headers, body: representApproval(found.approval) };
}

export async function list({ db, heavyReads }: ApprovalCalls, call: Call): Promise<Answer> {
  const filter = filterOf(call.query);
  if (isRefusal(filter)) return refuseKnownCaller(db, call, filter);
  const { signal } = call;
  const turn = { holder: currentHolder() ?? "", signal };
  const answer = await inTurn(heavyReads, turn, () => listPage(db, call, filter));
  return answer ?? tooManyReads();
}

async function listPage(
  db: Database,
  call: Call,
  filter: Parameters<typeof listApprovals>[2],
): Promise<Answer> {
  const page = await listApprovals(db, call.keyDigest, filter);
  if (isRefusal(page)) return answerRefusal(call, page);
  noteWorkspace(call, page.workspaceId);
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
  if (isRefusal(cancelled)) return answerRefusal(call, cancelled);
  noteFacts(call, cancelled);
  return { status: 200, body: representApproval(cancelled.approval) };
}

export async function remind({ db, onDue }: ApprovalCalls, call: Call): Promise<Answer> {
  const reminded = await remindApproval({ db, onDue }, call.keyDigest, idOf(call));
  if (isRefusal(reminded)) {
    const answer = answerRefusal(call, reminded);
    if (!("retryAfterSeconds" in reminded)) return answer;
    const retryAfter = { "retry-after": String(reminded.retryAfterSeconds) };
    return { ...answer, headers: { ...answer.headers, ...retryAfter } };
  }
  noteFacts(call, reminded);
  return { status: 200, body: representApproval(reminded.approval) };
}

export async function redeem({ db, readReceipt }: ApprovalCalls, call: Call): Promise<Answer> {
  const idempotencyKey = idempotencyKeyOf(call);
  if (isRefusal(idempotencyKey)) return refuseKnownCaller(db, call, idempotencyKey);
  const { keyDigest } = call;
  const redeemed = await redeemApproval(db, { keyDigest, id: idOf(call), idempotencyKey });
  if (isRefusal(redeemed)) return answerRedeemRefusal(call, redeemed);
  noteFacts(call, redeemed);
  const { workspaceId, approval, redemption, isReplay } = redeemed;
  const receipt = await readReceipt({ workspaceId, approvalId: approval.id });
  return {
    status: 200,
    headers: isReplay ? { "idempotent-replayed": "true" } : {},
    // It is redeemed already, so a receipt that can't be signed just now is no reason to refuse.
    body: representRedeemed(approval, redemption, "jws" in receipt ? receipt.jws : null),
  };
}

function answerRedeemRefusal(call: Call, refusal: AlreadyRedeemed | Refusal): Answer {
  if (refusal.refusal !== "already_redeemed") return answerRefusal(call, refusal);
  call.isKeyKnown = true;
  return alreadyRedeemed(refusal.message, representRedemption(refusal.redemption));
}

/** Reads an approval. While it is pending, reads it again when it may have changed, until the wait is over. */
async function readOrWait(
  { readApproval, resolutions }: ApprovalCalls,
  lookup: { keyDigest: Buffer; id: string },
  waitMs: number,
  call: Call,
) {
  if (waitMs === 0 || resolutions.waiting >= waitersMax) return readApproval(lookup);
  // Taken before the first await, so that a caller who leaves during it is noticed.
  const { signal } = call;
  const endsAt = performance.now() + waitMs;
  const waiting = resolutions.register(lookup.id);
  try {
    let isOver = false;
    while (!isOver) {
      const pending = await findPending(readApproval, lookup, call);
      const remainingMs = endsAt - performance.now();
      if (pending === null || remainingMs <= 0) break;
      // The end of the approval's own time wakes the caller too, and the next read then expires it.
      const sleepMs = Math.min(remainingMs, pending.expiresInMs + 1);
      isOver = (await waiting.sleep(pending.workspaceId, sleepMs, signal)) === "given_up";
    }
    return readApproval(lookup);
  } finally {
    waiting.close();
  }
}

/**
 * A sleeping caller keeps only this, not the approval itself, which may be megabytes. Null when there is nothing to wait
 * for: it was resolved, or the caller says which version they have, and votes have made another.
 */
async function findPending(
  readApproval: ReadApproval,
  lookup: { keyDigest: Buffer; id: string },
  call: Call,
) {
  const found = await readApproval(lookup);
  if (isRefusal(found) || found.approval.state.kind !== "PENDING") return null;
  const isNews = found.approval.voting !== null && namesOtherTag(call, entityTag(found.approval));
  if (isNews) return null;
  return { workspaceId: found.workspaceId, expiresInMs: found.expiresInMs };
}

/** A call without a valid key learns only that, even if something else is wrong, too. */
async function refuseKnownCaller(db: Database, call: Call, refusal: Refusal): Promise<Answer> {
  const workspaceId = await apiKeys.findWorkspaceId(db, call.keyDigest);
  if (workspaceId === null) return problemOfRefusal(unknownKey());
  noteWorkspace(call, workspaceId);
  return problemOfRefusal(refusal);
}

/** The statement looks for the key first, so it refuses anything else to known callers only. */
export function answerRefusal(call: Call, refusal: Refusal): Answer {
  call.isKeyKnown = refusal.refusal !== "unauthorized";
  return problemOfRefusal(refusal);
}

export function noteFacts(call: Call, of: { workspaceId: string; approval: Approval }): void {
  noteWorkspace(call, of.workspaceId);
  call.facts.approvalId = of.approval.id;
}

export function noteWorkspace(call: Call, workspaceId: string): void {
  call.isKeyKnown = true;
  call.facts.workspaceId = workspaceId;
}
