// Asks a person about one call, waits, and redeems. It runs in a process of its own, which hook.ts ends when the time is
// over: whatever happens here, only an answer that says "allow" can let the call run.

import { Countersign } from "../../sdk/src/client.ts";
import type { ApprovalRequest, CreateRequest } from "../../sdk/src/contract.ts";
import { AlreadyRedeemedError, CountersignError, WaitTimeoutError } from "../../sdk/src/errors.ts";
import { isEdited, keyOf, refusalText } from "../../sdk/src/tool-call.ts";
import { harnesses } from "./harnesses.ts";
import { noisyShell } from "./shell-noise.ts";
import { type Approved, outputBytesMax, type ToolCall, type Verdict } from "./tool-call.ts";

export type Job = {
  call: ToolCall;
  service: string;
  apiKey: string;
  /** Null is the workspace's default approver. */
  notify: string | null;
  /** How many, who after them, who never, by which channels and with which proof: only where the rules say so. */
  people: Pick<
    CreateRequest,
    "quorum" | "then" | "requestedBy" | "channels" | "audience" | "requireSignature"
  >;
  words: Pick<CreateRequest, "summary" | "reasoning" | "agentName">;
  /** Nobody listens any more after that. */
  ttlMinutes: number;
  /** How long to wait for a person. */
  waitMs: number;
  /** Answers at once while nobody has decided, and expects to be called again. */
  isDeferring: boolean;
  /** `SHELL`. */
  shell: string | null;
};

/** Reading once and redeeming take so long at most. */
const tryMs = 4_000;

export async function ask(job: Job, signal: AbortSignal): Promise<Verdict> {
  const startedAt = performance.now();
  const { requests } = new Countersign({
    apiKey: job.apiKey,
    baseUrl: job.service,
    timeoutMs: Math.min(30_000, Math.max(tryMs, job.waitMs / 4)),
    fetch: fetchBounded,
  });
  const notify = job.notify ?? (await requests.defaultApprover({ signal }));
  if (notify === null) return deny(nobodyToAsk);
  const request = await requests.create(bodyOf(job, notify), {
    idempotencyKey: await keyOf("hook", job.call.harness, ...job.call.identity),
    signal: lateSignal(signal),
  });
  const { id } = request;
  if (!isSame(request.payload, job.call.input)) throw new Error(`${id} asks about another call`);
  const leftMs = () => Math.max(0, job.waitMs - (performance.now() - startedAt));
  const timeoutMs = job.isDeferring ? Math.min(deferAfterMs, leftMs()) : leftMs();
  const stop = async () => {
    // Nobody comes back for this decision, so nobody should be bothered with it.
    await requests.cancel(id, { signal: AbortSignal.timeout(cancelMs) }).catch(() => {});
  };
  let decided: ApprovalRequest;
  try {
    decided = await requests.waitForDecision(id, { timeoutMs, signal });
  } catch (error) {
    if (signal.aborted && !job.isDeferring) await stop();
    if (!(error instanceof WaitTimeoutError)) throw error;
    if (job.isDeferring) return { kind: "defer" };
    await stop();
    // It may have been decided in the last moment.
    decided = await requests.get(id, { signal });
    if (decided.status !== "APPROVED") return deny(tooLateText(decided, job.waitMs));
  }
  return finish(requests, decided, job, signal);
}

/** An answer holds the payload twice and the words around it. An endless one must not eat the machine's memory. */
const answerBytesMax = 64 * 1_048_576;

async function fetchBounded(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  let bytes = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > answerBytesMax) controller.error(new Error("the answer is too large"));
      else controller.enqueue(chunk);
    },
  });
  const { status, headers } = response;
  return new Response(response.body?.pipeThrough(bounded) ?? null, { status, headers });
}

const deferAfterMs = 1_000;
/** Together less than asking-program.ts has after it was given up. */
const cancelMs = 4_000;

/** Aborts later than another: a question that is on its way may have arrived, and its answer says what to cancel. */
function lateSignal(signal: AbortSignal): AbortSignal {
  const late = new AbortController();
  const abort = () => setTimeout(() => late.abort(signal.reason), cancelMs).unref();
  signal.addEventListener("abort", abort, { once: true });
  return late.signal;
}

const nobodyToAsk =
  "Nobody is set to be asked about this action, so it was not carried out: the hook's rules need a notify, or the workspace a default approver. Tell this to the person you work for.";

function bodyOf(
  { call, words, people, ttlMinutes, isDeferring }: Job,
  notify: string,
): CreateRequest {
  const { harness, event, tool, identity } = call;
  return {
    ...words,
    payload: call.input,
    notify,
    ...people,
    metadata: { harness, event, tool, call: identity.slice(0, 2) },
    ...(isDeferring ? {} : { ttlMinutes }),
  };
}

async function finish(
  requests: Countersign["requests"],
  request: ApprovalRequest,
  { call, shell }: Job,
  signal: AbortSignal,
): Promise<Verdict> {
  if (request.status !== "APPROVED") return deny(refusalText(request));
  const { id, effectivePayload, resolvedByEmail: by, resolutionNote: note } = request;
  const wasEdited = isEdited(request);
  const edit = wasEdited ? { edit: { input: effectivePayload } } : {};
  const approved: Approved = { kind: "allow", requestId: id, by, note, ...edit };
  const problem = wasEdited ? editProblem(call, approved, shell) : null;
  // Before it is redeemed, so that nobody finds an action handed out that never ran.
  if (problem !== null) return deny(handedBackText(request, problem));
  try {
    const redeemed = await requests.redeem(id, { signal });
    const expected = wasEdited ? effectivePayload : call.input;
    if (!isSame(redeemed.effectivePayload, expected)) throw new Error(`${id} has changed`);
  } catch (error) {
    if (error instanceof AlreadyRedeemedError) return deny(handedOutText(id, error.redeemedAt));
    if (error instanceof CountersignError && error.code === "inexact_payload") {
      return deny(handedBackText(request, error.message));
    }
    throw error;
  }
  return approved;
}

function editProblem(call: ToolCall, approved: Approved, shell: string | null): string | null {
  const harness = harnesses[call.harness];
  const problem = harness.editProblem(call, approved.edit?.input);
  // Claude Code's permission prompt is no shell.
  if (problem !== null || call.event === "permission-prompt") return problem;
  if (Buffer.byteLength(harness.write(approved).text) > outputBytesMax) {
    return `It is too long for ${harness.title} to read from a hook.`;
  }
  const noisy = noisyShell(shell);
  return noisy === null ? null : `The harness could not read it, because ${noisy} prints a text.`;
}

function deny(reason: string): Verdict {
  return { kind: "deny", reason };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function tooLateText(request: ApprovalRequest, waitMs: number): string {
  if (request.status === "REJECTED") return refusalText(request);
  return `Nobody decided about this action (${request.id}) within ${Math.round(waitMs / 1_000)} seconds. It was not carried out. This is not a rejection, but do not call the tool again by yourself: say that the approval is missing.`;
}

/** For the model: what the person wants instead. */
function handedBackText(request: ApprovalRequest, problem: string): string {
  const { id, effectivePayload, resolutionNote: note } = request;
  const said = note === null ? "" : `\nTheir note, as a JSON string: ${JSON.stringify(note)}`;
  return `A person approved this action with changes (${id}) that can't be passed on. ${problem}\nIt was not carried out. Do not call the tool again with the unchanged input. This is the input they want, as JSON: ${JSON.stringify(effectivePayload)}${said}\nIf you call the tool with it, a person is asked again.`;
}

function handedOutText(id: string, redeemedAt: string): string {
  return `A person approved this action (${id}), and it was handed out to run at ${redeemedAt}. This call did not run it again. It may have been carried out then: check whether it took effect, or say that you cannot tell.`;
}
