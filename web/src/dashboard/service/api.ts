// The one way to the service: every call of the contract by its name, typed, and every failure as an ApiError.

import type {
  DashboardApi,
  DashboardErrorBody,
  DashboardErrorCode,
} from "../../../../server/src/wire/dashboard-contract.ts";
import { basePath } from "./base-path.ts";
import { fieldSentence, isAtField } from "./field-sentence.ts";
import { toRetryAfterMs } from "./retry-delay.ts";

export type CallName = keyof DashboardApi;
export type AnswerOf<Name extends CallName> = DashboardApi[Name]["answer"];

type ParamOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type ParamsPart<Name extends CallName> = [ParamOf<Name>] extends [never]
  ? { params?: never }
  : { params: Record<ParamOf<Name>, string> };

type QueryPart<Name extends CallName> = DashboardApi[Name] extends { query: infer Query }
  ? { query?: { [Key in keyof Query]?: Query[Key] | undefined } }
  : { query?: never };

type BodyPart<Name extends CallName> = DashboardApi[Name] extends { body: infer Body }
  ? { body: Body }
  : { body?: never };

/** The input of a call: the ids in its path, its query, its body. */
export type InputOf<Name extends CallName> = ParamsPart<Name> & QueryPart<Name> & BodyPart<Name>;

/** Optional if nothing is required. */
export type CallInput<Name extends CallName> =
  Record<never, never> extends InputOf<Name> ? [input?: InputOf<Name>] : [input: InputOf<Name>];

/** Why a call failed. The message is a sentence for the person who reads it. */
export class ApiError extends Error {
  readonly code: DashboardErrorCode;
  /** The wrong field of the form, if there is one. */
  readonly field: string | null;
  /** 0 when no answer came. */
  readonly status: number;
  /** How long to wait before a retry, if the service said so. */
  readonly retryAfterMs: number | null;

  constructor(
    code: DashboardErrorCode,
    message: string,
    about: { field?: string; status: number; retryAfterMs?: number | null },
  ) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.field = about.field ?? null;
    this.status = about.status;
    this.retryAfterMs = about.retryAfterMs ?? null;
  }
}

/** True for things that don't exist and for things that this person may not see: the service answers both alike. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === "not_found";
}

const unreachable = "The service cannot be reached. Check your connection and try again.";
const unreadable = "The service’s answer could not be read. Try again in a moment.";

let leaveSignedOut: () => void = () => {};

/** Runs when the session is over. Set here, because callers can't know. */
export function onSignedOut(leave: () => void): void {
  leaveSignedOut = leave;
}

export async function call<Name extends CallName>(
  name: Name,
  ...[input]: CallInput<Name>
): Promise<AnswerOf<Name>> {
  return send(name, input ?? {}, null);
}

/** Like `call`, for callers who may lose interest in the answer. */
export async function send<Name extends CallName>(
  name: Name,
  input: Partial<InputOf<Name>>,
  signal: AbortSignal | null,
): Promise<AnswerOf<Name>> {
  const [method = "GET", path = ""] = name.split(" ");
  const response = await fetch(addressOf(path, input), {
    method,
    credentials: "same-origin",
    headers: { accept: "application/json", "content-type": "application/json" },
    body: method === "GET" ? null : JSON.stringify(input.body ?? {}),
    signal,
  }).catch((fault: unknown) => {
    if (signal?.aborted) throw fault;
    throw new ApiError("unavailable", unreachable, { status: 0 });
  });
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer as AnswerOf<Name>;
  const error = toApiError(answer, response);
  if (error.code === "signed_out") leaveSignedOut();
  throw error;
}

/** The sentence about one field of a form, if the service found that field wrong. */
export function fieldError(error: unknown, field: string): string | null {
  return error instanceof ApiError && isAtField(error.field, field)
    ? fieldSentence(error.message)
    : null;
}

/** The error, unless one of these fields shows it already. */
export function otherError(error: unknown, fields: readonly string[]): unknown {
  return fields.some((field) => fieldError(error, field) !== null) ? null : error;
}

/** The address of a call, for links to files. */
export function addressOf(
  path: string,
  { params, query }: { params?: unknown; query?: unknown },
): string {
  const ids = new Map(Object.entries(params ?? {}));
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids.get(name)));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (typeof value === "string") asked.set(name, value);
  }
  const search = asked.size === 0 ? "" : `?${asked}`;
  return `${basePath}/app/api${filled}${search}`;
}

function toApiError(answer: unknown, { status, headers }: Response): ApiError {
  const body = answer as DashboardErrorBody | null;
  if (typeof body?.error?.code !== "string") {
    return new ApiError("unavailable", unreadable, { status });
  }
  const { code, message, field } = body.error;
  const retryAfterMs = toRetryAfterMs(headers.get("retry-after"));
  const about = { status, retryAfterMs };
  return new ApiError(code, message, field === undefined ? about : { ...about, field });
}
