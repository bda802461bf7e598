// The calls to the service. The answers stay texts, so that no digit of a payload is lost.

import { randomUUID } from "node:crypto";
import type { IExecuteFunctions, IWebhookFunctions } from "n8n-workflow";
import { roundedNumberIn } from "../../../sdk/src/exactness.ts";
import { scanJson } from "../../../server/src/domain/shown/json-text.ts";

type Context = IExecuteFunctions | IWebhookFunctions;

export type Answer = { status: number; text: string };

/** A request as the service tells of it. */
export type Told = {
  id: string;
  status: string;
  resolutionNote: string | null;
  isEdited: boolean;
  isRedeemed: boolean;
  /** The exact text. */
  effectivePayload: string;
};

export async function create(context: Context, body: string, key: string): Promise<Answer> {
  return call(context, "POST", "/v1/requests", { body, key });
}

export async function read(context: Context, id: string): Promise<Answer> {
  return call(context, "GET", pathOf(id), {});
}

/** One key for all tries: if an answer got lost, the same redeem is asked for again. */
export async function redeem(context: Context, id: string): Promise<Answer> {
  const key = randomUUID();
  let answer: Answer = { status: 0, text: "" };
  for (let tries = 1; tries <= triesMax && isPassing(answer); tries += 1) {
    answer = await call(context, "POST", `${pathOf(id)}/redeem`, { key }).catch(() => answer);
  }
  return answer;
}

function isPassing({ status }: Answer): boolean {
  return status === 0 || status >= 500;
}

const triesMax = 4;
const timeoutMs = 8_000;

function pathOf(id: string): string {
  return `/v1/requests/${encodeURIComponent(id)}`;
}

async function call(
  context: Context,
  method: "GET" | "POST",
  path: string,
  { body, key }: { body?: string; key?: string },
): Promise<Answer> {
  const { url } = await context.getCredentials("countersignApi");
  const answer = await context.helpers.httpRequestWithAuthentication.call(
    context,
    "countersignApi",
    {
      method,
      url: `${String(url).replace(/\/+$/, "")}${path}`,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body }),
      encoding: "text",
      json: false,
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
      // A redirect would carry the key elsewhere.
      disableFollowRedirect: true,
      timeout: timeoutMs,
    },
  );
  return { status: Number(answer.statusCode), text: String(answer.body) };
}

/** Null if the answer tells of no request, or of another one. */
export function readRequest({ status, text }: Answer, id: string | null): Told | null {
  if (status < 200 || status > 299) return null;
  const parsed = parse(text);
  const scanned = scanJson(text);
  if (parsed === null || scanned.kind !== "object") return null;
  const payload = scanned.members.find(({ name }) => name === "effectivePayload")?.text;
  if (typeof parsed.id !== "string" || typeof parsed.status !== "string") return null;
  if (id !== null && parsed.id !== id) return null;
  return {
    id: parsed.id,
    status: parsed.status,
    resolutionNote: typeof parsed.resolutionNote === "string" ? parsed.resolutionNote : null,
    isEdited: parsed.modifiedPayload !== null && parsed.modifiedPayload !== undefined,
    isRedeemed: typeof parsed.redeemedAt === "string",
    effectivePayload: payload ?? "null",
  };
}

/** What an error answer says, or its status. */
export function problemOf({ status, text }: Answer): string {
  const { message } = Object(parse(text)?.error);
  return typeof message === "string" ? message : `The service answered ${status}.`;
}

/** As n8n reads it; undefined if that would change a number. */
export function exactValue(text: string): unknown {
  return roundedNumberIn(text) === null ? JSON.parse(text) : undefined;
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
