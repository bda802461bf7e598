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

/** A token in the compact form whose subject is this request. Whether its signature is good is the verifier's question. */
export function isReceipt(answer: string, id: string): boolean {
  const [, claims] = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(answer) ?? [];
  if (claims === undefined) return false;
  try {
    // The subject is ASCII, so nothing of the rest needs decoding.
    return JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))).sub === id;
  } catch {
    return false;
  }
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
