// Asks a person about one tool call, and decides which input may run.

import type { Countersign } from "./client.ts";
import type { ApprovalRequest, CreateRequest } from "./contract.ts";
import { type AskedRequest, type Question, wordsOfQuestion, wordsOfRequest } from "./question.ts";
import { changed, isShownAs } from "./standard-schema.ts";
import type { Validate } from "./tool-redeeming.ts";
import { isEdited, type NotRun, refusalText, unfitText, unusableText } from "./tool-results.ts";
import type { DecidedRequest } from "./wait.ts";

/** The approver's text beside the payload, which is the tool's input. */
export type Describe<Input> = (input: Input) => Omit<CreateRequest, "payload">;

export type AskOptions = {
  /** Only for a call that will be made again with the same key; without one, an abort cancels the request. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
};

/** How long an aborted run waits for the answer to its question, and then for its cancel. */
const cancelMs = 5_000;

/** Asks about one call and waits for the decision. */
export async function askAndWait(
  countersign: Countersign,
  input: CreateRequest,
  { idempotencyKey, signal }: AskOptions,
): Promise<DecidedRequest> {
  const { requests } = countersign;
  if (signal === undefined || idempotencyKey !== undefined) {
    const stop = signal === undefined ? {} : { signal };
    const key = idempotencyKey === undefined ? {} : { idempotencyKey };
    const { id } = await requests.create(input, { ...key, ...stop });
    return requests.waitForDecision(id, stop);
  }
  signal.throwIfAborted();
  // The abort doesn't stop the question: it may have arrived, and its answer says which request to cancel.
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hurry = () => {
    timer = setTimeout(() => late.abort(signal.reason), cancelMs);
  };
  signal.addEventListener("abort", hurry, { once: true });
  try {
    const { id } = await requests.create(input, { signal: late.signal });
    return await requests.waitForDecision(id, { signal }).catch(async (error: unknown) => {
      // Nobody will come back for this decision, so nobody should be bothered with it. It doesn't matter if this fails:
      // an approval that nobody waits for runs nothing.
      const soon = { signal: AbortSignal.timeout(cancelMs) };
      if (signal.aborted) await requests.cancel(id, soon).catch(() => {});
      throw error;
    });
  } finally {
    signal.removeEventListener("abort", hurry);
    clearTimeout(timer);
  }
}

/**
 * A key for a call that may be made again. It includes the run's id, because some models restart the numbering of calls
 * in each run, and the approval of one run must never serve another.
 */
export async function keyOf(...parts: [framework: string, ...string[]]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${parts[0]}-${hex}`;
}

/** The input as an approver sees it. Throws, before anybody is asked, if the tool would not run with exactly that. */
export async function shownInput(input: unknown, validate: Validate): Promise<unknown> {
  const shown = JSON.parse(JSON.stringify(input) ?? "null");
  const problem = isShownAs(input, shown) ? await unfitness(shown, validate) : changed;
  if (problem === null) return shown;
  throw new TypeError(problem === changed ? unseen : unfitText(problem));
}

/** For the tool's developer: no other input would do. */
const unseen =
  "an approver would not see what this tool runs with, because its schema changes the input: convert it in execute instead";

/** Why the tool can't run with exactly this input. Null if it can. */
export async function unfitness(input: unknown, validate: Validate): Promise<string | null> {
  const checked = await validate(input);
  if ("problem" in checked) return checked.problem;
  return isShownAs(checked.value, input) ? null : changed;
}

/**
 * The input for an approved tool: what the approver saw, or exactly their edit, as JSON and as the schema parses it.
 */
export async function inputToRun(
  request: Pick<ApprovalRequest, "id" | "payload" | "effectivePayload">,
  shown: unknown,
  validate: Validate,
): Promise<{ json: unknown; input: unknown } | NotRun> {
  const { id: countersignRequestId, effectivePayload } = request;
  const left = isEdited(request) ? effectivePayload : shown;
  const checked = await validate(left);
  if ("value" in checked && isShownAs(checked.value, left)) {
    return { json: left, input: checked.value };
  }
  const problem = "problem" in checked ? checked.problem : changed;
  return { notRun: unusableText(request, problem), countersignRequestId };
}

/** For the model: why a decided call does not run, before it is redeemed. Null if it may. */
export async function refusalOf(
  request: ApprovalRequest,
  validate: Validate,
): Promise<string | null> {
  if (request.status !== "APPROVED") return refusalText(request);
  const allowed = await inputToRun(request, request.payload, validate);
  return "notRun" in allowed ? allowed.notRun : null;
}

export type ApprovedCall = {
  requestId: string;
  input: unknown;
  validate: Validate;
  signal?: AbortSignal | undefined;
};

/**
 * The approval of a call that was decided in an earlier run, checked against the call, with the input to run; or, for
 * the model, why it does not run. Redeems nothing.
 */
export async function approvalOf(
  { requests }: Countersign,
  { requestId, input, validate, signal }: ApprovedCall,
): Promise<{ request: ApprovalRequest; input: unknown } | NotRun> {
  const request = await requests.get(requestId, signal === undefined ? {} : { signal });
  if (request.status === "PENDING") throw new Error(`${requestId} is not decided`);
  if (request.status !== "APPROVED") {
    return { notRun: refusalText(request), countersignRequestId: requestId };
  }
  if (!isShownAs(input, request.effectivePayload)) {
    throw new Error(`${requestId} did not approve this call`);
  }
  const allowed = await inputToRun(request, request.effectivePayload, validate);
  return "notRun" in allowed ? allowed : { request, input: allowed.input };
}

/** Whether a request asks what this code asks. Everybody with a key can write any `agentState`. */
export function isAskedBy(request: AskedRequest, describe: () => Question): boolean {
  try {
    return wordsOfQuestion(describe()) === wordsOfRequest(request);
  } catch {
    // Made for other payloads than this.
    return false;
  }
}

/**
 * The last of several decided requests. Each decision sends a webhook, and only the last one may continue what waits
 * for all of them, or it would continue once for each.
 */
export function lastDecided(requests: ApprovalRequest[]): string | undefined {
  const stamp = ({ resolvedAt, expiresAt, id }: ApprovalRequest) =>
    `${resolvedAt ?? expiresAt} ${id}`;
  return requests.toSorted((one, other) => (stamp(one) < stamp(other) ? 1 : -1))[0]?.id;
}

/** The service's limit. */
const agentStateBytesMax = 262_144;

/** Says what to do about a state that the service would refuse. */
export function refuseLargeState(agentState: object): void {
  const bytes = new TextEncoder().encode(JSON.stringify(agentState)).length;
  if (bytes <= agentStateBytesMax) return;
  throw new RangeError(
    `the state of this run has ${bytes} bytes, and agentState takes ${agentStateBytesMax}: give the agent less history, or keep the run in a store of your own and ask with its key as agentState`,
  );
}
