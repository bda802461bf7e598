// Calls Slack's web API and reports how it went. Time and bytes of an answer are bounded. Tokens travel in a header and
// are in no outcome, so that no log can have them.

import type {
  SlackAnswer,
  SlackArguments,
  SlackBody,
  SlackFailure,
} from "../domain/channels/slack-answer.ts";
import { slackAnswerBytesMax, slackTimeoutMs } from "../domain/limits.ts";

export type SlackCall = {
  token: string;
  /** Such as `chat.postMessage`. */
  method: string;
  body?: SlackArguments;
  timeoutMs?: number;
  /** Ends with a slash. */
  apiUrl: string;
};

/**
 * Arguments go as a form, which every method takes, with JSON inside for what is no text; methods that only read would
 * overlook a JSON body.
 */
export async function callSlack(call: SlackCall): Promise<SlackAnswer> {
  const { token, method, body = {}, timeoutMs = slackTimeoutMs, apiUrl } = call;
  return exchange(new URL(method, apiUrl), {
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: toForm(body),
    timeoutMs,
  });
}

/** Answers a click at the address that came with it. The address is a secret of that click, and takes no token. */
export async function answerAtResponseUrl(
  url: string,
  message: SlackArguments,
  { timeoutMs = slackTimeoutMs }: { timeoutMs?: number } = {},
): Promise<SlackAnswer> {
  return exchange(new URL(url), {
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(message),
    timeoutMs,
  });
}

type Exchange = { headers: Record<string, string>; body: string; timeoutMs: number };

async function exchange(url: URL, { headers, body, timeoutMs }: Exchange): Promise<SlackAnswer> {
  // One signal for all of it: an answer that trickles is as late as none.
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    // A redirect would carry the token to somebody else.
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal,
    });
    const text = await readBounded(response);
    return text === null ? failure("bad_answer") : toAnswer(response, text);
  } catch {
    return failure(signal.aborted ? "timeout" : "unreachable");
  }
}

/** Null when it is longer than any answer of Slack. */
async function readBounded(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > slackAnswerBytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function toAnswer(response: Response, text: string): SlackAnswer {
  const retryAfterSeconds = toSeconds(response);
  const body = parse(text);
  if (response.status === 429) return failure("ratelimited", retryAfterSeconds);
  if (body === null) return failure("bad_answer", retryAfterSeconds);
  const scopes = response.headers.get("x-oauth-scopes")?.split(/[\s,]+/);
  if (response.ok && body.ok === true) {
    return { ok: true, body, ...(scopes === undefined ? {} : { scopes }) };
  }
  const { error, needed } = body;
  return {
    ...failure(isCode(error) ? error : "bad_answer", retryAfterSeconds),
    ...(typeof needed === "string" && /^[a-z:,.]{1,200}$/.test(needed) ? { needed } : {}),
  };
}

/** A response URL answers with the bare word. */
function parse(text: string): SlackBody | null {
  if (text === "ok") return { ok: true };
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}

/** Nothing else that a stranger may have written there is passed on. */
function isCode(error: unknown): error is string {
  return typeof error === "string" && /^[a-z][a-z0-9_]{0,79}$/.test(error);
}

function failure(error: string, retryAfterSeconds: number | null = null): SlackFailure {
  return { ok: false, error, retryAfterSeconds };
}

function toSeconds({ status, headers }: Response): number | null {
  const text = headers.get("retry-after") ?? "";
  return (status === 429 || status === 503) && /^[0-9]{1,6}$/.test(text) ? Number(text) : null;
}

function toForm(body: SlackArguments): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined)
      form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return form.toString();
}
