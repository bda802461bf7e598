// Asks, waits and redeems. Decision 46 says how a run that is run again finds its question.

import { Countersign } from "../../sdk/src/client.ts";
import type { ApprovalRequest, CreateRequest } from "../../sdk/src/contract.ts";
import { AlreadyRedeemedError, CountersignError } from "../../sdk/src/errors.ts";
import type { Requests } from "../../sdk/src/requests.ts";
import { keyOf } from "../../sdk/src/tool-asking.ts";
import { ExactJson, readExactly, writeExactly } from "./exact-json.ts";
import type { Job } from "./inputs.ts";

type Request = ApprovalRequest<ExactJson>;

/** `payload` is there only if this run, and no other, may execute it. */
export type Outcome = { request: Request; payload: string | null; problem: string };

export type Listening = {
  signal: AbortSignal;
  /** Somebody has been asked about this request. */
  onAsked(request: Request): void;
};

/** The service ends the wait at the request's own time. */
const graceMs = 60_000;
/** The runner kills a cancelled step after ten seconds; both of these happen within. */
const lateMs = 4_000;
const cancelMs = 3_000;

export function connect(service: Job["service"]): Requests {
  const { requests } = new Countersign({ ...service, parse: readExactly, stringify: writeExactly });
  return requests;
}

/** Each attempt may ask once more than the one before: the last question is this attempt's own. */
export async function ask(requests: Requests, job: Job, listening: Listening): Promise<Outcome> {
  const body = await withApprover(requests, job.question, listening.signal);
  for (let asked = 1; ; asked += 1) {
    const outcome = await askOnce(requests, job, { body, asked, listening });
    if (outcome !== null) return outcome;
  }
}

/** Cancels a request that nobody waits for any more. False if it is decided already. */
export async function withdraw(requests: Requests, id: string): Promise<boolean> {
  try {
    await requests.cancel(id, { signal: AbortSignal.timeout(cancelMs) });
    return true;
  } catch (error) {
    if (!(error instanceof CountersignError) || error.code !== "already_resolved") throw error;
    return false;
  }
}

async function withApprover(
  requests: Requests,
  { notify, ...question }: Job["question"],
  signal: AbortSignal,
): Promise<CreateRequest<ExactJson>> {
  const approver = notify ?? (await requests.defaultApprover({ signal }));
  if (approver !== null) return { ...question, notify: approver };
  throw new Error(
    "Nobody is set to be asked: give the input notify, or set a default approver in the dashboard.",
  );
}

/** Null if the question belongs to an earlier attempt and can't help this one. */
async function askOnce(
  requests: Requests,
  { step, attempt, timeoutMinutes }: Job,
  {
    body,
    asked,
    listening,
  }: { body: CreateRequest<ExactJson>; asked: number; listening: Listening },
): Promise<Outcome | null> {
  const { signal } = listening;
  const isOwn = asked >= attempt;
  const found = await requests.create<ExactJson>(body, {
    idempotencyKey: await keyOf("action", ...step, writeExactly(body), String(asked)),
    signal: lateSignal(signal),
  });
  if (!isOwn && isOver(found)) return null;
  listening.onAsked(found);
  const timeoutMs = timeoutMinutes * 60_000 + graceMs;
  const decided = await requests.waitForDecision<ExactJson>(found.id, { timeoutMs, signal });
  if (decided.status !== "APPROVED") return refused(decided, wordsOf(decided));
  try {
    const redeemed = await requests.redeem<ExactJson>(found.id, { signal });
    return { request: redeemed, payload: textOf(redeemed.effectivePayload), problem: "" };
  } catch (error) {
    if (!(error instanceof AlreadyRedeemedError)) throw error;
    return isOwn ? refused(decided, usedText(error)) : null;
  }
}

/** Its decision was for an earlier attempt. An approval counts for as long as the request itself was to last. */
function isOver({ status, expiresAt }: Request): boolean {
  if (status === "PENDING") return false;
  return status !== "APPROVED" || !(Date.parse(expiresAt) > Date.now());
}

function refused(request: Request, problem: string): Outcome {
  return { request, payload: null, problem };
}

function wordsOf({ status, resolutionNote: note }: Request): string {
  if (status === "REJECTED") return note === null ? "It was rejected." : `It was rejected: ${note}`;
  if (status === "EXPIRED") return "Nobody decided in time.";
  return `Its status is ${status}.`;
}

function usedText({ redeemedAt }: AlreadyRedeemedError): string {
  return `The approval was used at ${redeemedAt}. Jobs that ask the same question in one run share it: give each its own summary or payload.`;
}

function textOf(payload: unknown): string {
  return payload instanceof ExactJson ? payload.text : JSON.stringify(payload);
}

/** Aborts later than another: a question that is on its way may have arrived, and its answer says what to cancel. */
function lateSignal(signal: AbortSignal): AbortSignal {
  const late = new AbortController();
  const abort = () => setTimeout(() => late.abort(signal.reason), lateMs).unref();
  signal.addEventListener("abort", abort, { once: true });
  return late.signal;
}
