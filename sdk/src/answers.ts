// Whether an answer may be believed. Any server can answer 200 with JSON, and a proxy may answer in the service's place:
// what doesn't say that the thing was done to this request is no answer.

import type {
  ApprovalRequest,
  ApprovalRequestList,
  DefaultApprover,
  RedeemedRequest,
} from "./contract.ts";
import { CountersignError } from "./errors.ts";
import { isRequest, type TransportOptions } from "./transport.ts";

export function isAbout<Request extends ApprovalRequest>(
  answer: unknown,
  id: string,
): answer is Request {
  return isRequest(answer) && answer.id === id;
}

/** Believed wrongly, an action would run that nobody has redeemed, and could run again elsewhere. */
export function isRedeemed<Request extends RedeemedRequest>(
  answer: unknown,
  id: string,
): answer is Request {
  if (!isAbout<RedeemedRequest>(answer, id) || answer.status !== "APPROVED") return false;
  return isText(answer.redeemedAt) && isText(Object(answer.redeemedBy).id);
}

export function isList<List extends ApprovalRequestList>(answer: unknown): answer is List {
  const { data } = Object(answer);
  return Array.isArray(data) && data.every(isRequest);
}

export function isDefaultApprover(answer: unknown): answer is DefaultApprover {
  const { notify } = Object(answer);
  return notify === null || isText(notify);
}

/** The error for an answer that can't be believed. */
export function notTold({ baseUrl }: TransportOptions, what: string): CountersignError {
  const message = `${baseUrl} answered, but tells nothing of ${what}. Is baseUrl the address of a Countersign service?`;
  return new CountersignError(message, { status: 200, code: "not_countersign" });
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
