// The parameters of a call beside its body: the idempotency key, how long to wait, and which requests to list. A refusal
// names the wrong one. It needs nothing but the language, because the SDK's testing kit follows these rules in browsers.

import { listLimitDefault, listLimitMax, waitSecondsMax } from "../limits.ts";
import { isRefusal, type Refusal, refuse } from "../refusal.ts";
import { idempotencyKeyCharactersMax } from "../shown/field-limits.ts";
import { type ApprovalStatus, approvalStatuses } from "./approval.ts";

export const approvalIdPattern = /^req_[0-9a-f]{32}$/;

const idempotencyKeyPattern = new RegExp(`^[\\x20-\\x7e]{1,${idempotencyKeyCharactersMax}}$`);

/** Null as a key means that it came more than once. */
export function refuseIdempotencyKey(key: string | null): Refusal | null {
  if (key !== null && idempotencyKeyPattern.test(key)) return null;
  return refuse(
    "validation_error",
    `Idempotency-Key: must be sent once, with 1 to ${idempotencyKeyCharactersMax} printable ASCII characters.`,
  );
}

export function waitSecondsOf(query: URLSearchParams): number | Refusal {
  const text = single(query, "wait");
  if (isRefusal(text)) return text;
  if (text === null) return 0;
  const seconds = /^[0-9]{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return seconds <= waitSecondsMax
    ? seconds
    : refuse(
        "validation_error",
        `wait: must be a whole number of seconds from 0 to ${waitSecondsMax}.`,
      );
}

/** Whether a receipt is asked for with the text of the payload in it. */
export function isEmbedded(query: URLSearchParams): boolean | Refusal {
  const text = single(query, "embed");
  if (text === null || isRefusal(text)) return text ?? false;
  return text === "payload" || refuse("validation_error", "embed: must be `payload`.");
}

/** Newest first, after the approval that a cursor names. */
export type ListQuery = {
  status: ApprovalStatus | null;
  agentName: string | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  limit: number;
  beforeId: string | null;
};

export function filterOf(query: URLSearchParams): ListQuery | Refusal {
  const status = statusOf(query);
  if (isRefusal(status)) return status;
  const agentName = single(query, "agentName");
  if (isRefusal(agentName)) return agentName;
  const createdAfter = timeOf(query, "createdAfter");
  if (isRefusal(createdAfter)) return createdAfter;
  const createdBefore = timeOf(query, "createdBefore");
  if (isRefusal(createdBefore)) return createdBefore;
  const limit = limitOf(query);
  if (isRefusal(limit)) return limit;
  const beforeId = cursorOf(query);
  if (isRefusal(beforeId)) return beforeId;
  return { status, agentName, createdAfter, createdBefore, limit, beforeId };
}

function statusOf(query: URLSearchParams): ApprovalStatus | null | Refusal {
  const text = single(query, "status");
  if (text === null || isRefusal(text)) return text;
  const status = approvalStatuses.find((each) => each === text);
  return (
    status ?? refuse("validation_error", `status: must be one of ${approvalStatuses.join(", ")}.`)
  );
}

const timePattern =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

function timeOf(query: URLSearchParams, name: string): Date | null | Refusal {
  const text = single(query, name);
  if (text === null || isRefusal(text)) return text;
  const time = timePattern.test(text) && isRealDay(text) ? new Date(text) : new Date(Number.NaN);
  return Number.isNaN(time.getTime())
    ? refuse(
        "validation_error",
        `${name}: must be an ISO 8601 time such as 2026-01-31T12:00:00Z (write + as %2B in a URL).`,
      )
    : time;
}

/** Date would turn the 30th of February into a day in March. */
function isRealDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function limitOf(query: URLSearchParams): number | Refusal {
  const text = single(query, "limit");
  if (isRefusal(text)) return text;
  if (text === null) return listLimitDefault;
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= listLimitMax
    ? limit
    : refuse("validation_error", `limit: must be a whole number from 1 to ${listLimitMax}.`);
}

export function toCursor(id: string): string {
  return btoa(id).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function cursorOf(query: URLSearchParams): string | null | Refusal {
  const text = single(query, "cursor");
  if (text === null || isRefusal(text)) return text;
  const id = decode(text);
  return approvalIdPattern.test(id)
    ? id
    : refuse(
        "validation_error",
        "cursor: is not one that a list has answered. Leave it out to begin.",
      );
}

function decode(cursor: string): string {
  try {
    return atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}

/** A query parameter that may come once. Text that PostgreSQL refuses would match nothing anyway. */
function single(query: URLSearchParams, name: string): string | null | Refusal {
  const values = query.getAll(name);
  if (values.length > 1) return refuse("validation_error", `${name}: must be given once.`);
  const [value] = values;
  if (value === undefined) return null;
  return value.includes("\0")
    ? refuse("validation_error", `${name}: must not contain U+0000.`)
    : value;
}
