// Parses the ids and headers of a call. A refusal names the wrong one.

import { approvalIdPattern, refuseIdempotencyKey } from "../../domain/approval/call-parameters.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { type Call, repeated } from "./call.ts";

/** A malformed id is looked up as one that nothing has, so it looks like an unknown one. */
export function idOf(call: Call): string {
  const id = call.params.id ?? "";
  return approvalIdPattern.test(id) ? id : "";
}

export function idempotencyKeyOf(call: Call): string | null | Refusal {
  const key = call.header("idempotency-key");
  if (key === null) return null;
  return refuseIdempotencyKey(key === repeated ? null : key) ?? (key as string);
}

/** The caller has a version, and it isn't this one. */
export function namesOtherTag(call: Call, tag: string): boolean {
  const header = call.header("if-none-match");
  return header !== null && header !== repeated && !hasEntityTag(call, tag);
}

/** Whether the caller already has the answer with this entity tag. */
export function hasEntityTag(call: Call, tag: string): boolean {
  const header = call.header("if-none-match");
  if (header === null || header === repeated) return false;
  const tags = header.split(",").map((each) => each.trim().replace(/^W\//, ""));
  return tags.includes(tag) || tags.includes("*");
}
