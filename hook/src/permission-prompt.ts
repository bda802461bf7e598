// The hook as an MCP server over standard input and output, for `claude -p --permission-prompt-tool`. Claude Code calls it
// when its own rules leave a call undecided. Of the protocol it speaks what that one tool needs.

import { createInterface } from "node:readline";
import { roundedNumberIn } from "../../sdk/src/exactness.ts";
import { type Asking, startAsking } from "./asking-process.ts";
import { decide } from "./deciding.ts";
import { harnesses } from "./harnesses.ts";
import type { HookOptions } from "./hook.ts";
import { readRules } from "./rules.ts";
import {
  InputError,
  isObject,
  refuseRepeated,
  type ToolCall,
  textIn,
  type Verdict,
} from "./tool-call.ts";

type Message = { id?: unknown; method?: unknown; params?: unknown };

const protocolVersion = "2025-11-25";

const tool = {
  name: "approve",
  description:
    "Asks a person whether a tool may be used. Claude Code calls it through --permission-prompt-tool; models don't.",
  inputSchema: {
    type: "object",
    properties: {
      tool_name: { type: "string" },
      input: { type: "object" },
      tool_use_id: { type: "string" },
    },
    required: ["tool_name", "input"],
  },
};

/** The session as Claude Code tells it, or a name of this process. */
export type PromptOptions = HookOptions & { session: string };

export function servePermissionPrompt(options: PromptOptions): Promise<void> {
  const running = new Map<unknown, Asking>();
  const lines = createInterface({ input: process.stdin });
  const stop = () => {
    for (const asking of running.values()) asking.giveUp();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);
  process.stdout.on("error", stop);
  lines.on("line", (line) => void handle(line, options, running));
  lines.on("close", stop);
  return new Promise(() => {});
}

async function handle(
  line: string,
  options: PromptOptions,
  running: Map<unknown, Asking>,
): Promise<void> {
  const message = readMessage(line);
  if (typeof message === "string") {
    return send({ id: null, error: { code: -32_700, message } });
  }
  const { id, method, params } = message;
  if (method === "notifications/cancelled" && isObject(params)) {
    running.get(params.requestId)?.giveUp();
  }
  if (id === undefined) return;
  if (method === "initialize") return send({ id, result: introduction(params) });
  if (method === "ping") return send({ id, result: {} });
  if (method === "tools/list") return send({ id, result: { tools: [tool] } });
  if (method !== "tools/call") {
    return send({ id, error: { code: -32_601, message: "Method not found" } });
  }
  const started = (asking: Asking) => void running.set(id, asking);
  const answer = await answerTo(line, params, { ...options, started }).catch((error: unknown) =>
    denied(`Not approved, and not carried out: ${error instanceof Error ? error.message : error}.`),
  );
  running.delete(id);
  send({ id, result: { content: [{ type: "text", text: JSON.stringify(answer) }] } });
}

/** A text says what is wrong with it. */
function readMessage(line: string): Message | string {
  try {
    const message: unknown = JSON.parse(line);
    if (!isObject(message)) return "That is no message";
    refuseRepeated(line);
    return message;
  } catch (error) {
    return error instanceof InputError ? error.message : "Parse error";
  }
}

type Answer = { behavior: "allow"; updatedInput: unknown } | { behavior: "deny"; message: string };

async function answerTo(
  line: string,
  params: unknown,
  { started, ...options }: PromptOptions & { started: (asking: Asking) => void },
): Promise<Answer> {
  const call = readCall(params, options.session);
  const waitSeconds = options.waitSeconds ?? harnesses.claude.waitSeconds;
  const decided = decide(call, roundedNumberIn(line), readRules(options.rulesPath), {
    ...options,
    isDeferring: false,
    waitSeconds,
    leftMs: waitSeconds * 1_000,
  });
  if ("verdict" in decided) return toAnswer(decided.verdict, call);
  const asking = startAsking(decided.job);
  started(asking);
  const timer = setTimeout(() => asking.kill(), waitSeconds * 1_000);
  try {
    return toAnswer(await asking.verdict, call);
  } finally {
    clearTimeout(timer);
  }
}

function readCall(params: unknown, session: string): ToolCall {
  const { name, arguments: input } = isObject(params) ? params : {};
  if (name !== tool.name || !isObject(input)) throw new Error("there is no such tool");
  const callId =
    input.tool_use_id === undefined ? crypto.randomUUID() : textIn(input, "tool_use_id");
  return {
    harness: "claude",
    event: "permission-prompt",
    tool: textIn(input, "tool_name"),
    input: input.input ?? null,
    identity: [session, callId],
    cwd: process.cwd(),
    mode: null,
  };
}

function toAnswer(verdict: Verdict, call: ToolCall): Answer {
  switch (verdict.kind) {
    case "allow":
      return { behavior: "allow", updatedInput: verdict.edit?.input ?? call.input };
    case "deny":
      return denied(verdict.reason);
    default:
      // Its own gate has nobody to ask, and would deny.
      return denied(`The rules leave ${call.tool} to Claude Code, which did not allow it.`);
  }
}

function denied(message: string): Answer {
  return { behavior: "deny", message };
}

function introduction(params: unknown): object {
  const asked = isObject(params) ? params.protocolVersion : null;
  return {
    protocolVersion: typeof asked === "string" ? asked : protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "countersign-hook", version: "0.1.0" },
  };
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}
