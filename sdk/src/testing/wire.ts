// How a fake service speaks: its routes, its keys, its answers and its errors, as the service's own.

import { approvalFields, joinFields } from "../../../server/src/domain/approval/approval-json.ts";
import { approvalIdPattern } from "../../../server/src/domain/approval/call-parameters.ts";
import { type Refusal, refuse } from "../../../server/src/domain/refusal.ts";
import { toJsonText } from "../../../server/src/domain/shown/json-text.ts";
import type { ErrorCode } from "../contract.ts";
import type { LedgerEntry } from "./ledger.ts";

/** A fake is never away, and never too busy. */
export type FakeCode = Exclude<
  ErrorCode,
  "rate_limited" | "request_timeout" | "internal_error" | "unavailable"
>;

const statusOfCode: Record<FakeCode, number> = {
  invalid_json: 400,
  validation_error: 400,
  state_too_large: 400,
  empty_group: 400,
  quorum_unreachable: 400,
  unauthorized: 401,
  quota_exceeded: 402,
  plan_required: 403,
  approver_not_allowed: 403,
  unknown_group: 404,
  not_found: 404,
  method_not_allowed: 405,
  already_resolved: 409,
  not_approved: 409,
  nobody_to_remind: 409,
  already_redeemed: 409,
  body_too_large: 413,
  idempotency_key_reused: 422,
  reminded_recently: 429,
};

export function answered(
  status: number,
  body: string | null,
  headers: Record<string, string> = {},
): Response {
  const type = body === null ? {} : { "content-type": "application/json; charset=utf-8" };
  const own = { "cache-control": "no-store", "x-request-id": crypto.randomUUID() };
  const named = { ...type, ...own, ...headers };
  return new Response(body, { status, headers: named });
}

export function problem(
  { refusal, message }: Refusal<FakeCode>,
  facts: object = {},
  headers: Record<string, string> = {},
): Response {
  const own: Record<string, string> =
    refusal === "unauthorized" ? { "www-authenticate": "Bearer" } : {};
  const body = JSON.stringify({ error: { code: refusal, message, ...facts } });
  return answered(statusOfCode[refusal], body, { ...own, ...headers });
}

export function representEntry({ approval }: LedgerEntry): string {
  return joinFields({
    id: toJsonText(approval.id),
    object: toJsonText("approval_request"),
    ...approvalFields(approval),
    createdAt: toJsonText(approval.createdAt.toISOString()),
  });
}

/** Whether the caller has the answer with this entity tag. */
export function hasTag(headers: Headers, tag: string): boolean {
  const known = (headers.get("if-none-match") ?? "").split(",");
  const tags = known.map((each) => each.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(tag);
}

/** Like the service's: the status, and where several people decide also how far they are. */
export async function entityTagOf({ approval }: LedgerEntry): Promise<string> {
  const status = approval.state.kind.toLowerCase();
  if (approval.voting === null) return `"1-${status}"`;
  const bytes = new TextEncoder().encode(approval.voting);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `"1-${status}-${hex.slice(0, 16)}"`;
}

export type FakeRoute =
  | { name: "create" | "list" | "default_approver" }
  | { name: "key_set" }
  | { name: "read" | "cancel" | "remind" | "redeem" | "receipt" | "effective-payload"; id: string };

/** A malformed id is looked up as one that nothing has. */
export function routeOf(method: string, path: string): FakeRoute | { refused: Response } {
  if (path === "/v1/default-approver") {
    return method === "GET" ? { name: "default_approver" } : wrongMethod("GET, HEAD");
  }
  if (path === "/v1/requests") {
    if (method === "POST") return { name: "create" };
    return method === "GET" ? { name: "list" } : wrongMethod("POST, GET, HEAD");
  }
  if (path === "/.well-known/jwks.json") {
    return method === "GET" ? { name: "key_set" } : wrongMethod("GET, HEAD");
  }
  const actions =
    /^\/v1\/requests\/([^/]*)(?:\/(cancel|remind|redeem|receipt|effective-payload))?$/;
  const found = actions.exec(path);
  if (found === null) {
    const message = "There is nothing at this address. See /v1/openapi.json for every call.";
    return { refused: problem(refuse("not_found", message)) };
  }
  const [, text = "", action] = found;
  const id = approvalIdPattern.test(text) ? text : "";
  if (action === "cancel" || action === "remind" || action === "redeem") {
    return method === "POST" ? { name: action, id } : wrongMethod("POST");
  }
  const name = action === "receipt" || action === "effective-payload" ? action : "read";
  return method === "GET" ? { name, id } : wrongMethod("GET, HEAD");
}

function wrongMethod(allow: string): { refused: Response } {
  const message = `This path answers ${allow} only. See /v1/openapi.json for every call.`;
  return { refused: problem(refuse("method_not_allowed", message), {}, { allow }) };
}

/** The key of a call. Any text that was not given out by this service is unknown. */
export function readKeyOf<Key>(headers: Headers, keys: ReadonlyMap<string, Key>): Key | Refusal {
  const authorization = headers.get("authorization");
  if (authorization === null) {
    return refuse(
      "unauthorized",
      "This call carries no API key. Send one as Authorization: Bearer <API key>.",
    );
  }
  const text = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];
  if (text === undefined) {
    return refuse(
      "unauthorized",
      "The Authorization header is malformed. Send it once, as Authorization: Bearer <API key>.",
    );
  }
  const key = keys.get(text);
  return (
    key ??
    refuse(
      "unauthorized",
      "This API key is not known or was revoked. Send a valid one as Authorization: Bearer <API key>.",
    )
  );
}
