// Puts a person before a function: it runs with the effective payload once somebody has approved, and not otherwise. It
// runs at most once for each request.

import type { ApprovalRequest, CreateRequest } from "./contract.ts";
import {
  ApprovalCancelledError,
  ApprovalExpiredError,
  ApprovalRejectedError,
  CountersignError,
  InvalidPayloadError,
} from "./errors.ts";
import { type Codec, refuseInexact } from "./exactness.ts";
import { wordsOfQuestion, wordsOfRequest } from "./question.ts";
import type { CreateOptions, Requests } from "./requests.ts";
import { checkPayload, type StandardSchema } from "./standard-schema.ts";
import { refuseFlawedWait, type WaitOptions } from "./wait.ts";

/** The approver, and their text beside the payload. Derived from the payload alone, so that it can be derived again. */
export type Describe<Payload> = (payload: Payload) => Omit<CreateRequest<Payload>, "payload">;

/** The action, with the payload to execute and the request that allows it. */
export type Action<Payload, Result> = (
  payload: Payload,
  request: ApprovalRequest<Payload>,
) => Result | Promise<Result>;

export type GateOptions<Payload> = {
  /**
   * A Standard Schema (zod, valibot, arktype, …) of the payload. It is asked before anybody else is, and again before
   * the action runs, because an approver can write any JSON. It must leave a payload as it is, except that a text may
   * become a date: a person approved these values and no others.
   */
  schema?: StandardSchema<Payload>;
  /**
   * Checks the payload against what the action accepts, and against what an approver may change; throws if it doesn't
   * fit. An approver can write any JSON: without this, the payload may have another type than the one that was asked
   * for.
   */
  validate?: (payload: unknown) => Payload | Promise<Payload>;
};

export type Gated<Payload, Result> = {
  /**
   * Asks, waits, and runs. Throws an `Approval…Error` when it may not run, and an `AlreadyRedeemedError` when another
   * call may: a known `idempotencyKey` means the same request again.
   */
  (payload: Payload, options?: CreateOptions & WaitOptions): Promise<Result>;
  /** Only asks. Another process needs nothing but the id. */
  ask(payload: Payload, options?: CreateOptions): Promise<ApprovalRequest<Payload>>;
  /**
   * Waits for a request of `ask`, made here or elsewhere, and runs. Of any number of calls with the same id one runs;
   * the others throw an `AlreadyRedeemedError`.
   */
  resume(id: string, options?: WaitOptions): Promise<Result>;
};

export function gate<Payload, Result>(
  { requests, parse, stringify }: { requests: Requests } & Codec,
  {
    action,
    describe,
    schema,
    validate,
  }: {
    action: Action<Payload, Result>;
    describe: Describe<Payload>;
  } & GateOptions<Payload>,
): Gated<Payload, Result> {
  const check = async (payload: Payload, whose: string): Promise<Payload> => {
    if (schema === undefined) return payload;
    const checked = await checkPayload(schema, payload);
    if ("problem" in checked) throw new InvalidPayloadError(whose, checked.problem);
    return checked.value;
  };
  const run = async (request: ApprovalRequest<Payload>, { signal }: WaitOptions = {}) => {
    assertApproved(request);
    const { id } = request;
    const effective = await check(request.effectivePayload, `the payload of ${id}, as approved,`);
    const payload = validate === undefined ? effective : await validate(effective);
    // Last, so that an approval that can't be carried out is not used up.
    const redeemed = await requests.redeem<Payload>(id, signal === undefined ? {} : { signal });
    return action(payload, redeemed);
  };
  const ask = async (payload: Payload, options?: CreateOptions) => {
    refuseInexact(payload, { parse, stringify });
    // As it will be read later: the description must come out the same then.
    const sent = (payload === undefined ? null : parse(stringify(payload))) as Payload;
    await check(sent, "the payload");
    return requests.create<Payload>({ ...describe(sent), payload: sent }, options);
  };
  const wait = (id: string, options?: WaitOptions) =>
    requests.waitForDecision<Payload>(id, options);
  const gated = async (payload: Payload, options?: CreateOptions & WaitOptions) => {
    refuseFlawedWait(options ?? {});
    return run(await wait((await ask(payload, options)).id, options), options);
  };
  const resume = async (id: string, options?: WaitOptions) => {
    const request = await wait(id, options);
    refuseAnothers(request, describe);
    return run(request, options);
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
 * An approval of one action is no approval of another with the same payload, and it counts only from the people whom
 * this action asks.
 */
function refuseAnothers<Payload>(
  request: ApprovalRequest<Payload>,
  describe: Describe<Payload>,
): void {
  let expected: string | null;
  try {
    expected = wordsOfQuestion(describe(request.payload));
  } catch {
    expected = null;
  }
  const found = wordsOfRequest(request);
  if (expected === found) return;
  throw new CountersignError(
    `${request.id} was not asked for this action: it was ${found}, and this action asks ${expected ?? "otherwise"}`,
    { code: "another_action" },
  );
}
