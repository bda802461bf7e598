// Puts a person before a function: it runs with the effective payload once somebody has approved, and not otherwise.

import type { ApprovalRequest, CreateRequest } from "./contract.ts";
import {
  ApprovalCancelledError,
  ApprovalExpiredError,
  ApprovalRejectedError,
  CountersignError,
} from "./errors.ts";
import type { CreateOptions, Requests } from "./requests.ts";
import type { WaitOptions } from "./wait.ts";

/** The approver, and their text beside the payload. Derived from the payload alone, so that it can be derived again. */
export type Describe<Payload> = (payload: Payload) => Omit<CreateRequest<Payload>, "payload">;

/** The action, with the payload to execute and the request that allows it. */
export type Action<Payload, Result> = (
  payload: Payload,
  request: ApprovalRequest<Payload>,
) => Result | Promise<Result>;

export type GateOptions<Payload> = {
  /**
   * Checks the payload against what the action accepts, and against what an approver may change; throws if it doesn't
   * fit. An approver can write any JSON: without this, the payload may have another type than the one that was asked
   * for.
   */
  validate?: (payload: unknown) => Payload;
};

export type Gated<Payload, Result> = {
  /**
   * Asks, waits, and runs. Throws an `Approval…Error` when it may not run. A known `idempotencyKey` means the same
   * request again: if it was approved, the action runs again without another approval.
   */
  (payload: Payload, options?: CreateOptions & WaitOptions): Promise<Result>;
  /** Only asks. Another process needs nothing but the id. */
  ask(payload: Payload, options?: CreateOptions): Promise<ApprovalRequest<Payload>>;
  /** Waits for a request of `ask`, made here or elsewhere, and runs. */
  resume(id: string, options?: WaitOptions): Promise<Result>;
};

export type Codec = { parse: (text: string) => unknown; stringify: (value: unknown) => string };

export function gate<Payload, Result>(
  { requests, parse, stringify }: { requests: Requests } & Codec,
  {
    action,
    describe,
    validate,
  }: {
    action: Action<Payload, Result>;
    describe: Describe<Payload>;
  } & GateOptions<Payload>,
): Gated<Payload, Result> {
  const run = async (request: ApprovalRequest<Payload>) => {
    assertApproved(request);
    const { effectivePayload } = request;
    return action(validate === undefined ? effectivePayload : validate(effectivePayload), request);
  };
  const ask = async (payload: Payload, options?: CreateOptions) => {
    // As it will be read later: the description must come out the same then.
    const sent = (payload === undefined ? null : parse(stringify(payload))) as Payload;
    return requests.create<Payload>({ ...describe(sent), payload: sent }, options);
  };
  const wait = (id: string, options?: WaitOptions) =>
    requests.waitForDecision<Payload>(id, options);
  const gated = async (payload: Payload, options?: CreateOptions & WaitOptions) =>
    run(await wait((await ask(payload, options)).id, options));
  const resume = async (id: string, options?: WaitOptions) => {
    const request = await wait(id, options);
    refuseAnothers(request, describe);
    return run(request);
  };
  return Object.assign(gated, { ask, resume });
}

/** Returns an approved request, and throws the matching error for every other. */
export function assertApproved(request: ApprovalRequest): void {
  switch (request.status) {
    case "APPROVED":
      return;
    case "REJECTED":
      throw new ApprovalRejectedError(request);
    case "EXPIRED":
      throw new ApprovalExpiredError(request);
    case "CANCELLED":
      throw new ApprovalCancelledError(request);
    default:
      throw new CountersignError(`${request.id} is not decided yet: wait for it`, {
        code: "approval_pending",
      });
  }
}

/**
 * An approval of one action is no approval of another with the same payload, and it counts only from the approver whom
 * this action asks: everybody with a key can ask anybody anything.
 */
function refuseAnothers<Payload>(
  request: ApprovalRequest<Payload>,
  describe: Describe<Payload>,
): void {
  let expected: string | null;
  try {
    const { summary, notify, agentName } = describe(request.payload);
    expected = wordsOf({ summary, notify, agentName: agentName ?? null });
  } catch {
    expected = null;
  }
  const { id, summary, approverEmail, approverGroup, agentName } = request;
  const notify = approverGroup === null ? approverEmail : `group:${approverGroup.key}`;
  const found = wordsOf({ summary, notify, agentName });
  if (expected === found) return;
  throw new CountersignError(
    `${id} was not asked for this action: it was ${found}, and this action asks ${expected ?? "otherwise"}`,
    { code: "another_action" },
  );
}

type Question = { summary: string; notify: string | null; agentName: string | null };

function wordsOf({ summary, notify, agentName }: Question): string {
  return JSON.stringify({ summary, notify, agentName });
}
