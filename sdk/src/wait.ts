// Waits for a decision: consecutive long polls that survive restarts of the service and of proxies in between.

import { isAbout, notTold } from "./answers.ts";
import type { ApprovalRequest, ApprovalStatus } from "./contract.ts";
import { CountersignError, WaitTimeoutError } from "./errors.ts";
import {
  call,
  callUnlessKnown,
  delayMs,
  isFromService,
  isWorthAnotherTry,
  pathOf,
  sleep,
  type TransportOptions,
} from "./transport.ts";
import { type OnVote, tellOnce } from "./votes.ts";

export type WaitOptions = {
  /**
   * After this, a `WaitTimeoutError` is thrown. Without it, the wait ends when the request is decided or expires. It
   * fails when the service is away at the request's end, and was for a quarter of an hour.
   */
  timeoutMs?: number;
  signal?: AbortSignal;
  /**
   * Called once for each vote of a request with `quorum`, `then` or `escalate`, oldest first, also for those that were
   * given before this wait began. The next one, and the decision, wait until it is done; what it throws ends the wait.
   */
  onVote?: OnVote;
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
  { timeoutMs = Number.POSITIVE_INFINITY, signal, onVote }: WaitOptions,
): Promise<DecidedRequest<Payload, Metadata, AgentState>> {
  refuseFlawedWait({ timeoutMs, ...(onVote === undefined ? {} : { onVote }) });
  const tellVotes = onVote === undefined ? null : tellOnce(onVote);
  const sight: Sight<Payload, Metadata, AgentState> = { request: null, tag: null };
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
    let seen: Look<Payload, Metadata, AgentState> | null = null;
    try {
      const remainingMs = Math.max(0, endsAt - performance.now());
      const asked = { id, remainingMs, signal };
      seen = await (tellVotes === null ? look(options, asked) : lookAgain(options, asked, sight));
      failures = 0;
      heardAt = performance.now();
      expiresAt = Date.parse(seen.request.expiresAt);
    } catch (error) {
      failures += 1;
      if (isFromService(error)) heardAt = performance.now();
      if (!isPassing(error, options)) throw error;
      // Until the service was heard, its address may be wrong.
      if (options.contact.isMade ? isAway() : failures > options.retriesMax) throw error;
      pauseMs = delayMs(failures, error);
      cause = error;
    }
    if (seen !== null) {
      const { request, isEarly } = seen;
      // Outside of the try: a failure of the caller's own function is none of the service.
      const isNews = tellVotes !== null && (await tellVotes(request));
      if (isDecided(request)) return request;
      // A service with too many waiting callers answers at once; an immediate retry would add to them.
      earlyAnswers = isEarly && !isNews ? earlyAnswers + 1 : 0;
      if (earlyAnswers > 0) pauseMs = delayMs(earlyAnswers);
    }
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) throw new WaitTimeoutError(id, timeoutMs, cause);
    await sleep(Math.min(pauseMs, leftMs), signal);
  }
}

/** Called before a person is asked, too: a wait that can't be begun must not leave a question behind. */
export function refuseFlawedWait({ timeoutMs = 0, onVote }: WaitOptions): void {
  if (onVote !== undefined && typeof onVote !== "function") {
    throw new TypeError("onVote must be a function");
  }
  if (typeof timeoutMs === "number" && !Number.isNaN(timeoutMs)) return;
  throw new TypeError("timeoutMs must be a number of milliseconds");
}

/** While a service restarts, whatever stands before it may answer in its place: a page, a redirect, a 404. */
function isPassing(error: unknown, { contact }: TransportOptions): boolean {
  if (isWorthAnotherTry(error)) return true;
  return contact.isMade && error instanceof CountersignError && error.code === "not_countersign";
}

type Asked = { id: string; remainingMs: number; signal: AbortSignal | undefined };

type Look<Payload, Metadata, AgentState> = {
  request: ApprovalRequest<Payload, Metadata, AgentState>;
  /** Answered before its time, as by a service with too many waiting callers. */
  isEarly: boolean;
};

/** What a wait has seen last. */
type Sight<Payload, Metadata, AgentState> = {
  request: ApprovalRequest<Payload, Metadata, AgentState> | null;
  tag: string | null;
};

/** One long poll, held for no longer than there is time. */
async function look<Payload, Metadata, AgentState>(
  options: TransportOptions,
  { id, remainingMs, signal }: Asked,
): Promise<Look<Payload, Metadata, AgentState>> {
  // A client that never heard the service asks for an answer at once: a held call may be cut before one comes.
  const isFirst = !options.contact.isMade;
  const hold = holdOf(options, { remainingMs, secondsMax: isFirst ? 0 : waitSecondsMax });
  const request = await call<ApprovalRequest<Payload, Metadata, AgentState>>(
    { ...options, retriesMax: 0, timeoutMs: hold.timeoutMs },
    { method: "GET", path: `${pathOf(id)}?wait=${hold.seconds}`, heldMs: hold.ms, signal },
  );
  if (!isAbout(request, id)) throw notTold(options, id);
  return { request, isEarly: !isFirst && !hold.isOver() };
}

/** The same for a caller who wants to know each vote: the service answers as soon as anything differs from the tag. */
async function lookAgain<Payload, Metadata, AgentState>(
  options: TransportOptions,
  { id, remainingMs, signal }: Asked,
  sight: Sight<Payload, Metadata, AgentState>,
): Promise<Look<Payload, Metadata, AgentState>> {
  const isFirst = sight.request === null;
  const hold = holdOf(options, { remainingMs, secondsMax: isFirst ? 0 : waitSecondsMax });
  const told = await callUnlessKnown<ApprovalRequest<Payload, Metadata, AgentState>>(
    { ...options, timeoutMs: hold.timeoutMs },
    { method: "GET", path: `${pathOf(id)}?wait=${hold.seconds}`, heldMs: hold.ms, signal },
    sight.tag,
  );
  if (told !== null) {
    if (!isAbout(told.answer, id)) throw notTold(options, id);
    Object.assign(sight, { request: told.answer, tag: told.tag });
  }
  // Only an answer has a tag, so there was one before the first 304.
  if (sight.request === null) throw notTold(options, id);
  return { request: sight.request, isEarly: !isFirst && !hold.isOver() };
}

/** How long the service may hold the answer to one call, and the time limit beside that. */
function holdOf(
  options: TransportOptions,
  { remainingMs, secondsMax }: { remainingMs: number; secondsMax: number },
) {
  const seconds = Math.min(secondsMax, Math.floor(remainingMs / 1_000));
  const ms = seconds * 1_000;
  const timeoutMs = Math.max(answerMsMin, Math.min(options.timeoutMs, remainingMs - ms));
  const askedAt = performance.now();
  return { seconds, ms, timeoutMs, isOver: () => ms > 0 && performance.now() - askedAt >= ms / 2 };
}

function isDecided<Payload, Metadata, AgentState>(
  request: ApprovalRequest<Payload, Metadata, AgentState>,
): request is DecidedRequest<Payload, Metadata, AgentState> {
  return request.status !== "PENDING";
}
