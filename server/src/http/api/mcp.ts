// Serves the tools of @countersign/mcp at POST /mcp, for agents that speak the Model Context Protocol. Each tool call
// goes to our own router with the caller's key, so rules, rights, quota and rate limit are the same, and no socket
// leads from the service to itself.

import type { Fetch } from "../../../../sdk/src/index.ts";
import type { Database } from "../../database/database.ts";
import { textOf } from "../../domain/approval/json-body.ts";
import { mcpAnswerBytesMax } from "../../domain/limits.ts";
import { unknownKey } from "../../operations/approvals/unknown-key.ts";
import * as apiKeys from "../../storage/workspaces/api-keys.ts";
import * as connections from "../../storage/workspaces/connections.ts";
import { accessTokenIn } from "../frame/authenticate.ts";
import {
  type Answer,
  type Call,
  type Caller,
  jsonType,
  repeated,
  type StreamedAnswer,
} from "../frame/call.ts";
import { asKey } from "../frame/inner-call.ts";
import { mcpCrossOrigin, problem, problemOfRefusal } from "../frame/problems.ts";
import { withResourceMetadata } from "../frame/resource-metadata.ts";
import type { Admission } from "../frame/route.ts";
import { isFromAnotherPage, originOf } from "../frame/same-origin.ts";

/** A call to our own router. */
export type InnerCall = {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  payload?: string;
  signal?: AbortSignal;
};
export type InnerReply = {
  statusCode: number;
  headers: Record<string, unknown>;
  rawPayload: Buffer;
};

export type McpCalls = {
  db: Database;
  origin: { readonly publicUrl: string };
  dispatch: (call: InnerCall) => Promise<InnerReply>;
  /** Aborted when the service stops: a caller who waits for a decision is told to call again. */
  stopping: AbortSignal;
  noteFault: (error: Error) => void;
};

/** The base URL of calls to our own router. It leads nowhere. */
const innerBaseUrl = "http://countersign.internal";
const passedHeaders = ["accept", "mcp-protocol-version", "mcp-method", "mcp-name"];

export function makeMcpEndpoint(calls: McpCalls): (call: Call) => Promise<Answer | StreamedAnswer> {
  let opened: ReturnType<typeof openHandler> | null = null;
  return async (call) => {
    // Taken before the first await, so that a caller who leaves during it is noticed.
    const { signal, body } = call;
    const { publicUrl } = calls.origin;
    // The protocol demands it: a browser says where a page comes from, and only ours may call.
    if (isFromAnotherPage(call.header, publicUrl)) return mcpCrossOrigin(originOf(publicUrl));
    const found = await findCaller(calls, call.keyDigest);
    if (found === null) return unknownCaller(calls);
    call.facts.workspaceId = found.workspaceId;
    const token = accessTokenIn(call.header);
    // By its token alone, a client that refreshes would begin a new count each time.
    const waiting = token === null ? null : call.charge?.(found.keyDigest);
    if (waiting) return waiting;
    // A token leads to the key of its connection, which counts as used.
    call.keyDigest = found.keyDigest;
    call.isKeyKnown = true;
    opened ??= openHandler(calls);
    const handler = await opened;
    const message = { headers: headersOf(call), text: textOf(body), signal };
    if (token === null) {
      return toAnswer(await handler.answer({ ...message, apiKey: apiKeyOf(call) }));
    }
    const answer = () => handler.answer({ ...message, apiKey: noKey });
    return toAnswer(await asKey(found.keyDigest, answer));
  };
}

/** The tools' client wants one. The inner calls of a connection go by the digest of its key. */
const noKey = "connection";

export async function admitMcp(calls: McpCalls, caller: Caller): Promise<Admission> {
  const found = await findCaller(calls, caller.keyDigest);
  if (found === null) return { refused: unknownCaller(calls) };
  caller.facts.workspaceId = found.workspaceId;
  return { holder: found.workspaceId };
}

/** A digest is that of a key or of a token: nothing has both. */
async function findCaller(
  { db }: McpCalls,
  digest: Buffer,
): Promise<{ workspaceId: string; keyDigest: Buffer } | null> {
  const workspaceId = await apiKeys.findWorkspaceId(db, digest);
  if (workspaceId !== null) return { workspaceId, keyDigest: digest };
  return connections.findCaller(db, digest);
}

function unknownCaller({ origin }: McpCalls): Answer {
  return withResourceMetadata(problemOfRefusal(unknownKey()), origin);
}

/** Loaded at the first call: the library takes a quarter of a second and some megabytes, which only its users pay. */
async function openHandler({ dispatch, stopping, noteFault }: McpCalls) {
  const { makeWebHandler } = await import("../../../../mcp/src/web-handler.ts");
  return makeWebHandler({
    fetch: toFetch(dispatch),
    baseUrl: innerBaseUrl,
    stopping,
    onFault: noteFault,
  });
}

/** The header was checked already: it came once and has the form of a key. */
function apiKeyOf(call: Call): string {
  return String(call.header("authorization")).replace(/^Bearer +/i, "");
}

function headersOf(call: Call): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of passedHeaders) {
    const value = call.header(name);
    if (value !== null && value !== repeated) headers[name] = value;
  }
  return headers;
}

/** The tools' client takes this for the network. */
function toFetch(dispatch: McpCalls["dispatch"]): Fetch {
  return async (url, { method, headers, body, signal }) => {
    const reply = await dispatch({
      method: method === "POST" ? "POST" : "GET",
      url: url.slice(innerBaseUrl.length),
      headers: headers as Record<string, string>,
      ...(typeof body === "string" ? { payload: body } : {}),
      ...(signal ? { signal } : {}),
    });
    if (reply.rawPayload.length > mcpAnswerBytesMax) return tooLargeForTool();
    const named = Object.entries(reply.headers).map(([name, value]) => [name, String(value)]);
    return new Response(reply.rawPayload, {
      status: reply.statusCode,
      headers: Object.fromEntries(named),
    });
  };
}

/** A model reads no more, and all of it stays in memory until the caller has read it. */
function tooLargeForTool(): Response {
  const { status, headers, body } = problem(
    "body_too_large",
    `The answer is larger than the ${mcpAnswerBytesMax} bytes that a tool may answer. Read the request over HTTP instead: GET /v1/requests/ID.`,
  );
  return new Response(body, { status, headers: { "content-type": jsonType, ...headers } });
}

async function toAnswer(response: Response): Promise<Answer | StreamedAnswer> {
  const { status, body } = response;
  const type = response.headers.get("content-type") ?? "application/json; charset=utf-8";
  if (body === null) return { status, body: null };
  if (type !== "text/event-stream") return { status, type, body: await response.text() };
  // Some proxies would hold the stream until it is complete.
  return { status, type, headers: { "x-accel-buffering": "no" }, stream: body };
}
