// One call to the service: sent, retried while that can help, and parsed. Every call made here is safe to repeat: reads
// change nothing, a create and a redeem carry an idempotency key, a request can be cancelled only once, and people are
// reminded once in an hour.

import type { ApprovalRequest, ApprovalStatus, ErrorBody, ErrorCode } from "./contract.ts";
import { AlreadyRedeemedError, CountersignError } from "./errors.ts";

/** The type of the global `fetch`. You can pass your own, such as one that uses a proxy. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type TransportOptions = {
  apiKey: string;
  baseUrl: string;
  fetch: Fetch;
  parse: (text: string) => unknown;
  stringify: (value: unknown) => string;
  /** The time limit of one try; a waiting call gets the seconds of its wait on top. */
  timeoutMs: number;
  /** The number of retries. */
  retriesMax: number;
  /** Whether the service has ever answered this client: it is there, so a wait outlives its absence. */
  contact: { isMade: boolean };
};

export type Outgoing = {
  method: "GET" | "POST";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** How long the service may hold the answer. */
  heldMs?: number;
  signal?: AbortSignal | undefined;
};

const statuses: unknown[] = [
  "PENDING",
  "APPROVED",
  "REJECTED",
  "EXPIRED",
  "CANCELLED",
] satisfies ApprovalStatus[];
/** The codes with which the service refuses a call that may succeed later. */
const codesOfPatience: unknown[] = [
  "rate_limited",
  "unavailable",
  "internal_error",
  "request_timeout",
] satisfies ErrorCode[];
const statusesWorthAnotherTry = [408, 425, 429, 500, 502, 503, 504];
const firstDelayMs = 250;
const longestDelayMs = 30_000;
/** The longest delay of a timer; with more it would fire at once. */
const timerMsMax = 2 ** 31 - 1;

export async function call<Answer>(options: TransportOptions, outgoing: Outgoing): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await callOnce(options, outgoing)) as Answer;
    } catch (error) {
      if (!isWorthAnotherTry(error) || tries > options.retriesMax) throw error;
      await sleep(delayMs(tries, error), outgoing.signal);
    }
  }
}

export function pathOf(id: string): string {
  if (typeof id !== "string" || id === "") {
    throw new TypeError("the id of a request is a text such as req_0123…");
  }
  // Half a character can't be in a URL, nor in an id.
  return `/v1/requests/${encodeURIComponent(id.replaceAll(/\p{Surrogate}/gu, "\ufffd"))}`;
}

/** Whether the same call may succeed later. */
export function isWorthAnotherTry(error: unknown): error is CountersignError {
  // A reminder may be sent again in an hour, which is no pause between two tries.
  if (!(error instanceof CountersignError) || error.code === "reminded_recently") return false;
  return error.status === 0
    ? error.code === "connection_failed"
    : statusesWorthAnotherTry.includes(error.status);
}

/** Grows after each failure, up to half a minute, with jitter. */
export function delayMs(failures: number, error?: unknown): number {
  const wanted = error instanceof RefusedError ? error.retryAfterMs : 0;
  const grown = Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1));
  return Math.max(Math.min(wanted, longestDelayMs), grown * (0.5 + Math.random() / 2));
}

export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

class RefusedError extends CountersignError {
  retryAfterMs = 0;
  /** Its envelope has one of our codes. Something in between may answer in the service's place. */
  isFromService = false;
}

/** Whether the service itself asked for patience. */
export function isFromService(error: unknown): boolean {
  return error instanceof RefusedError && error.isFromService;
}

/** Whether this is the service's answer about one request. Any server can answer 200 with JSON. */
export function isRequest(answer: unknown): answer is ApprovalRequest {
  const { id, status } = Object(answer);
  return typeof id === "string" && statuses.includes(status);
}

async function callOnce(options: TransportOptions, outgoing: Outgoing): Promise<unknown> {
  return readAnswer(options, await exchange(options, outgoing));
}

/** One try of a read, with the answer's entity tag. Null if the answer is still the one with the known tag. */
export async function callUnlessKnown<Answer>(
  options: TransportOptions,
  outgoing: Outgoing,
  knownTag: string | null,
): Promise<{ answer: Answer; tag: string | null } | null> {
  const headers: Record<string, string> = knownTag === null ? {} : { "if-none-match": knownTag };
  const exchanged = await exchange(options, { ...outgoing, headers });
  if (knownTag !== null && exchanged.status === 304) return null;
  const answer = readAnswer(options, exchanged) as Answer;
  return { answer, tag: exchanged.headers.get("etag") };
}

function readAnswer(options: TransportOptions, { status, headers, text }: Exchanged): unknown {
  const requestId = headers.get("x-request-id");
  if (status >= 200 && status < 300) {
    const answer = readBody(options, text, { status, requestId });
    options.contact.isMade ||= isRequest(answer);
    return answer;
  }
  const error = errorOf(options, { status, headers, text, requestId });
  options.contact.isMade ||= isFromService(error);
  throw error;
}

type Exchanged = { status: number; headers: Headers; text: string };

async function exchange(
  { apiKey, baseUrl, fetch, stringify, timeoutMs }: TransportOptions,
  { method, path, body, headers, heldMs = 0, signal }: Outgoing,
): Promise<Exchanged> {
  signal?.throwIfAborted();
  const limitMs = Math.ceil(Math.min(timeoutMs + heldMs, timerMsMax));
  const deadline = AbortSignal.timeout(limitMs);
  const init: RequestInit = {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    // A redirect would turn a POST into a GET, or carry the key elsewhere.
    redirect: "manual",
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    ...(body === undefined ? {} : { body: stringify(body) }),
  };
  try {
    const response = await fetch(`${baseUrl}${path}`, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const what = deadline.aborted ? `gave no answer within ${limitMs} ms` : "cannot be reached";
    throw new CountersignError(
      `${baseUrl} ${what}. Is the service running, and is baseUrl right?`,
      { code: "connection_failed", cause },
    );
  }
}

function readBody(
  { parse, baseUrl }: TransportOptions,
  text: string,
  facts: { status: number; requestId: string | null },
): unknown {
  try {
    return parse(text);
  } catch (cause) {
    const message = `${baseUrl} answered ${facts.status}, but not with JSON. Is baseUrl the address of a Countersign service?`;
    throw new CountersignError(message, { ...facts, code: "not_countersign", cause });
  }
}

function errorOf(
  { baseUrl }: TransportOptions,
  { status, headers, text, requestId }: Exchanged & { requestId: string | null },
): CountersignError {
  const told = envelopeOf(text);
  const message = told?.message ?? describe(status, baseUrl, headers.get("location"));
  if (told?.redeemedAt !== undefined && told.redeemedBy !== undefined) {
    const { code, redeemedAt, redeemedBy } = told;
    return new AlreadyRedeemedError(message, { status, code, requestId, redeemedAt, redeemedBy });
  }
  const code = told?.code ?? (status === 429 ? "rate_limited" : "not_countersign");
  const error = new RefusedError(message, { status, code, requestId });
  error.isFromService = told !== null && codesOfPatience.includes(told.code);
  const seconds = Number(headers.get("retry-after") ?? 0);
  if (seconds > 0) error.retryAfterMs = seconds * 1_000;
  return error;
}

function envelopeOf(text: string): ErrorBody["error"] | null {
  try {
    const { error } = JSON.parse(text);
    return typeof error?.code === "string" && typeof error.message === "string" ? error : null;
  } catch {
    return null;
  }
}

function describe(status: number, baseUrl: string, location: string | null): string {
  if (location !== null)
    return `${baseUrl} redirects to ${location}. Set baseUrl to where it leads.`;
  return `${baseUrl} answered ${status}, and not as Countersign does. Is something in between, or is baseUrl wrong?`;
}
