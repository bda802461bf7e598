// An expected "no" is a value with a stable code and a sentence for the caller.
// Which HTTP status a code becomes is known to http/problems.ts alone.

export type RefusalCode =
  | "invalid_json"
  | "validation_error"
  | "state_too_large"
  | "empty_group"
  | "unauthorized"
  | "quota_exceeded"
  | "plan_required"
  | "unknown_group"
  | "not_found"
  | "already_resolved"
  | "idempotency_key_reused";

export type Refusal = { readonly refusal: RefusalCode; readonly message: string };

export function refuse(refusal: RefusalCode, message: string): Refusal {
  return { refusal, message };
}

/** True for a refusal, so that callers can tell it from the value they asked for. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refusal" in value;
}
