// An expected "no" is a value with a stable code and a sentence for the caller.
// Which HTTP status a code becomes is known to http/frame/problems.ts alone.

export type RefusalCode =
  | "invalid_json"
  | "validation_error"
  | "state_too_large"
  | "empty_group"
  | "quorum_unreachable"
  | "unauthorized"
  | "quota_exceeded"
  | "plan_required"
  | "unknown_group"
  | "approver_not_allowed"
  | "not_found"
  | "already_resolved"
  | "not_approved"
  | "nobody_to_remind"
  | "reminded_recently"
  | "idempotency_key_reused";

export type Refusal<Code extends string = RefusalCode> = {
  readonly refusal: Code;
  readonly message: string;
};

export function refuse<Code extends string>(refusal: Code, message: string): Refusal<Code> {
  return { refusal, message };
}

/** Why a change of a workspace is refused, with the field of a form that is wrong where one is. */
export type ChangeRefusal = Refusal<
  "validation_error" | "not_found" | "forbidden" | "conflict" | "plan_required"
> & { readonly field?: string };

export function refuseField(field: string, flaw: string): ChangeRefusal {
  return { refusal: "validation_error", message: `${field}: ${flaw}`, field };
}

/** True for a refusal, so that callers can tell it from the value they asked for. */
export function isRefusal<Value>(value: Value): value is Extract<Value, Refusal<string>> {
  return typeof value === "object" && value !== null && "refusal" in value;
}
