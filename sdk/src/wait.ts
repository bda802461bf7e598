// Waits for a decision: consecutive long polls that survive restarts of the service and of proxies in between.

import { isAbout, notTold } from "./answers.ts";
import type { ApprovalRequest, ApprovalStatus } from "./contract.ts";
import { CountersignError, WaitTimeoutError } from "./errors.ts";
import {
  call,
  delayMs,
  isFromService,
  isWorthAnotherTry,
  pathOf,
  sleep,
  type TransportOptions,
} from "./transport.ts";

export type WaitOptions = {
  /**
   * After this, a `WaitTimeoutError` is thrown. Without it, the wait ends when the request is decided or expires. It
   * fails when the service is away at the request's end, and was for a quarter of an hour.
   */
  timeoutMs?: number;
  signal?: AbortSignal;
};

/** A request that won't change any more. */
export type DecidedRequest<
  Payload = unknown,
  Metadata = unknown,
  AgentState = unknown,
> = ApprovalRequest<Payload, Metadata, AgentState> & { status: Exclude<ApprovalStatus, "PENDING"> };

/** Proxies and load balancers often cut calls after a minute. */
const waitSecondsMax = 50;
/** A service that is away for so long is gone, unless the request can still be decided. */
const awayMsMax = 900_000;
/** The service gets this long to answer, even near the end of a wait. */
const answerMsMin = 1_000;

export async function waitForDecision<Payload, Metadata, AgentState>(
  options: TransportOptions,
  id: string,
  { timeoutMs = Number.POSITIVE_INFINITY, signal }: WaitOptions,
): Promise<DecidedRequest<Payload, Metadata, AgentState>> {
  refuseFlawedWait({ timeoutMs });
  const endsAt = performance.now() + timeoutMs;
  let failures = 0;
  let earlyAnswers = 0;
  let heardAt = performance.now();
  /** Unknown until the service has told of the request. */
  let expiresAt = Number.NEGATIVE_INFINITY;
  const isAway = () => performance.now() - heardAt > awayMsMax && Date.now() > expiresAt;
  for (;;) {
    let pauseMs = 0;
    let cause: unknown;
    try {
      const { request, isEarly } = await look<Payload, Metadata, AgentState>(options, id, {
        remainingMs: Math.max(0, endsAt - performance.now()),
        signal,
      });
      if (isDecided(request)) return request;
      failures = 0;
      heardAt = performance.now();
      expiresAt = Date.parse(request.expiresAt);
      // A service with too many waiting callers answers at once; an immediate retry would add to them.
      earlyAnswers = isEarly ? earlyAnswers + 1 : 0;
      pauseMs = isEarly ? delayMs(earlyAnswers) : 0;
    } catch (error) {
      failures += 1;
      if (isFromService(error)) heardAt = performance.now();
      if (!isPassing(error, options)) throw error;
      // Until the service was heard, its address may be wrong.
      if (options.contact.isMade ? isAway() : failures > options.retriesMax) throw error;
      pauseMs = delayMs(failures, error);
      cause = error;
    }
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) throw new WaitTimeoutError(id, timeoutMs, cause);
    await sleep(Math.min(pauseMs, leftMs), signal);
  }
}

/** Called before a person is asked, too: a wait that can't be begun must not leave a question behind. */
export function refuseFlawedWait({ timeoutMs = 0 }: WaitOptions): void {
  if (typeof timeoutMs === "number" && !Number.isNaN(timeoutMs)) return;
  throw new TypeError("timeoutMs must be a number of milliseconds");
}

/** While a service restarts, whatever stands before it may answer in its place: a page, a redirect, a 404. */
function isPassing(error: unknown, { contact }: TransportOptions): boolean {
  if (isWorthAnotherTry(error)) return true;
  return contact.isMade && error instanceof CountersignError && error.code === "not_countersign";
}

/** One long poll, held for no longer than there is time. */
async function look<Payload, Metadata, AgentState>(
  options: TransportOptions,
  id: string,
  { remainingMs, signal }: { remainingMs: number; signal: AbortSignal | undefined },
): Promise<{ request: ApprovalRequest<Payload, Metadata, AgentState>; isEarly: boolean }> {
  // A client that never heard the service asks for an answer at once: a held call may be cut before one comes.
  const isFirst = !options.contact.isMade;
  const secondsMax = isFirst ? 0 : waitSecondsMax;
  const waitSeconds = Math.min(secondsMax, Math.floor(remainingMs / 1_000));
  const heldMs = waitSeconds * 1_000;
  const timeoutMs = Math.max(answerMsMin, Math.min(options.timeoutMs, remainingMs - heldMs));
  const askedAt = performance.now();
  const request = await call<ApprovalRequest<Payload, Metadata, AgentState>>(
    { ...options, retriesMax: 0, timeoutMs },
    { method: "GET", path: `${pathOf(id)}?wait=${waitSeconds}`, heldMs, signal },
  );
  if (!isAbout(request, id)) throw notTold(options, id);
  const wasHeld = heldMs > 0 && performance.now() - askedAt >= heldMs / 2;
  return { request, isEarly: !isFirst && !wasHeld };
}

function isDecided<Payload, Metadata, AgentState>(
  request: ApprovalRequest<Payload, Metadata, AgentState>,
): request is DecidedRequest<Payload, Metadata, AgentState> {
  return request.status !== "PENDING";
}
