// Tasks on the way between the library and its transport. The library knows no task as the result of a tool, so a tool
// marks its result, and the mark becomes a task here. A client that speaks no tasks gets what it always got.

import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  type McpServer,
  ProtocolErrorCode,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import type { ApprovalRequest } from "../../sdk/src/index.ts";
import { nextStepOf } from "./next-step.ts";
import { type Era, resultOf, type TaskHandle, taskIdOf, toTask } from "./tasks.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";
/** The one version of the handshake that has tasks. */
const versionWithTasks = "2025-11-25";
const toolsWithTasks = ["request_approval", "await_decision"];

/** Private to this process, so that no client can send them. */
const markKey = `countersign/task-${crypto.randomUUID()}`;
const askedKey = `countersign/asked-${crypto.randomUUID()}`;

/** The version that a connection speaks. The handshake tells it. */
export type Speech = { era: Era; version: string | null };

export function speaksTasks({ era, version }: Speech): boolean {
  return era === "modern" || version === versionWithTasks;
}

/** Whether this call may be answered with a task. */
export function isTaskWelcome({ mcpReq }: ServerContext): boolean {
  return mcpReq._meta?.[askedKey] === true || declaresTasks(mcpReq);
}

/** Since 2026 each call says what its client can do. */
export function declaresTasks({ envelope }: ServerContext["mcpReq"]): boolean {
  const { extensions } = Object(Object(envelope)[CLIENT_CAPABILITIES_META_KEY]);
  return Object.hasOwn(Object(extensions), tasksExtension);
}

/** The result of a tool, as a task if the client takes one. A request that is decided needs no task, unless one was asked for. */
export function taskOrResult(
  era: Era,
  kind: TaskHandle["kind"],
  request: ApprovalRequest,
): CallToolResult {
  const result = resultOf(request);
  if (era === "modern" && request.status !== "PENDING") return result;
  const task = toTask(era, taskIdOf(kind, request.id), request);
  const created =
    era === "modern"
      ? { resultType: "task", ...task }
      : // A task begins as working. The first poll tells the rest.
        { task: { ...task, status: "working" }, _meta: { [immediateKey]: nextStepOf(request) } };
  return { ...result, _meta: { [markKey]: created } };
}

/** A client may show this to the model until the task is done. */
const immediateKey = "io.modelcontextprotocol/model-immediate-response";

/** Each connection of the server then speaks tasks. */
export function addTaskWire(server: McpServer, speech: Speech): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    watch(transport, speech);
    return connect(transport);
  };
}

type Loose = Record<string, unknown>;

/** The library calls an `onmessage` that is there already before its own. */
function watch(transport: Transport, speech: Speech): void {
  const asked = new Set<unknown>();
  transport.onmessage = (message) => {
    if (speech.era === "legacy" && speaksTasks(speech)) noteAsked(message, asked);
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(told(message, speech, asked), options);
}

/** Changes the message itself: the library hands on only what it knows. */
function noteAsked(message: JSONRPCMessage, asked: Set<unknown>): void {
  if (!("method" in message) || message.method !== "tools/call" || !("id" in message)) return;
  const params = message.params as Loose | undefined;
  if (params === undefined || typeof params.task !== "object" || params.task === null) return;
  // "Method not found" is the protocol's answer, and nothing is done.
  if (!toolsWithTasks.includes(String(params.name))) message.method = "tools/call as a task";
  asked.add(message.id);
  params._meta = { ...Object(params._meta), [askedKey]: true };
  delete params.task;
}

function told(message: JSONRPCMessage, speech: Speech, asked: Set<unknown>): JSONRPCMessage {
  if (!("result" in message)) return message;
  const result: Loose = message.result;
  const { [markKey]: created, ..._meta } = Object(result._meta) as Loose;
  if (created !== undefined) {
    asked.delete(message.id);
    return {
      ...message,
      result: { ...(created as Loose), _meta: { ..._meta, ...Object((created as Loose)._meta) } },
    };
  }
  if (asked.delete(message.id)) return refusedTask(message.id, result);
  if (speech.era === "modern") return message;
  if (typeof result.protocolVersion === "string") speech.version = result.protocolVersion;
  return speaksTasks(speech) ? { ...message, result: withTaskSupport(result) } : message;
}

/** The caller waits for a task, and would read nothing else. */
function refusedTask(id: string | number, result: Loose): JSONRPCMessage {
  const [first] = (result.content ?? []) as { text?: string }[];
  const message = first?.text ?? "The call was refused.";
  return { jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InvalidParams, message } };
}

/** In the handshake and the list of tools. */
function withTaskSupport(result: Loose): Loose {
  if (typeof result.protocolVersion === "string") {
    const tasks = { cancel: {}, requests: { tools: { call: {} } } };
    return { ...result, capabilities: { ...Object(result.capabilities), tasks } };
  }
  if (!Array.isArray(result.tools)) return result;
  const tools = result.tools.map((tool: Loose) =>
    toolsWithTasks.includes(String(tool.name))
      ? { ...tool, execution: { taskSupport: "optional" } }
      : tool,
  );
  return { ...result, tools };
}
