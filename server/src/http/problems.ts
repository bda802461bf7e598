// Every error answer: which status a code becomes, and the one envelope around it. No other file knows.

import type { ErrorBody, ErrorCode } from "../../../sdk/src/contract.ts";
import type { Refusal, RefusalCode } from "../domain/refusal.ts";
import type { Answer } from "./call.ts";

const statusOfCode: Record<ErrorCode, number> = {
  invalid_json: 400,
  validation_error: 400,
  state_too_large: 400,
  empty_group: 400,
  unauthorized: 401,
  quota_exceeded: 402,
  plan_required: 403,
  unknown_group: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_resolved: 409,
  body_too_large: 413,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} satisfies Record<RefusalCode, number> & Record<ErrorCode, number>;

const unavailableRetrySeconds = 2;

export function problem(
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Answer {
  const own: Record<string, string> = {};
  if (code === "unauthorized") own["www-authenticate"] = "Bearer";
  if (code === "unavailable") own["retry-after"] = String(unavailableRetrySeconds);
  return {
    status: statusOfCode[code],
    headers: { ...own, ...headers },
    body: envelope(code, message),
  };
}

export function envelope(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: { code, message } } satisfies ErrorBody);
}

export function problemOfRefusal({ refusal, message }: Refusal): Answer {
  return problem(refusal, message);
}

export function unavailable(): Answer {
  return problem(
    "unavailable",
    "The database is out of reach at present. Try again in a moment; a create is safe to repeat with the same Idempotency-Key.",
  );
}

export function internalError(requestId: string): Answer {
  return problem(
    "internal_error",
    `Something went wrong on our side. If it happens again, report it with the id ${requestId}.`,
  );
}
