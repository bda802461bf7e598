// Vercel AI SDK, for runs that don't wait: the SDK's own question ends the run, the messages travel in `agentState`, and
// any process continues from the webhook. The SDK's own answer can't carry an edit, so the edit is written into the call
// before it is approved.

import type { ApprovalRequest, Countersign, CreateRequest, WebhookData } from "@countersign/sdk";
import {
  isEdited,
  keyOf,
  lastDecided,
  refusalOf,
  refuseLargeState,
  unfitness,
} from "@countersign/sdk/tool-call";
import type { ModelMessage, ToolCallPart, ToolSet } from "ai";
import { type Approval, checkOf, partsOf } from "./approved-tool.ts";

export type { Decision, NotRun, Told } from "@countersign/sdk/tool-call";
export { type RequireApprovalOptions, requireApproval } from "./approved-tool.ts";

/** In `agentState`: the whole run. */
export type PausedMessages = { adapter: "ai-sdk"; messages: ModelMessage[] };

/** The approver's text beside the payload (the tool's input). It is derived again later, from these two alone. */
export type DescribeCall = (
  toolName: string,
  input: unknown,
) => Omit<CreateRequest, "payload" | "agentState">;

/** The tools of the run. Those that a person is asked about are made with `requireApproval`. */
export type RunOptions = { tools: ToolSet };

/**
 * Asks about each call that a run ended with:
 * `await ask(countersign, [...messages, ...result.responseMessages], describe, { tools })`. Empty if there is none.
 */
export async function ask(
  countersign: Countersign,
  messages: ModelMessage[],
  describe: DescribeCall,
  { tools }: RunOptions,
): Promise<ApprovalRequest[]> {
  for (const { call } of openCalls(messages)) {
    const problem = await unfitness(call.input, checkIn(tools, call.toolName));
    if (problem === null) continue;
    // A wrapped tool asks nothing then, and tells the model. Somebody else asked: the run's own `toolApproval`.
    throw new TypeError(`${call.toolName} cannot take this input: ${problem}`);
  }
  return askEach(countersign, messages, describe);
}

/**
 * The messages to continue with, from a verified webhook:
 * `const messages = await resume(countersign, event.data, describe, { tools }); if (messages !== null) await generateText({ messages, tools, … })`.
 * Null if there is nothing to do: other calls are undecided, or another event continues the run. The tools redeem where
 * they run: of any number of runs of these messages one runs them, and every other throws an `AlreadyRedeemedError`.
 */
export async function resume(
  countersign: Countersign,
  { id, status, agentState }: Pick<WebhookData, "id" | "status" | "agentState">,
  describe: DescribeCall,
  { tools }: RunOptions,
): Promise<ModelMessage[] | null> {
  const { adapter, messages = [] } = (agentState ?? {}) as Partial<PausedMessages>;
  if (adapter !== "ai-sdk" || status === "PENDING") return null;
  // Asked again with the same keys, these are the same requests in their current state.
  const decided = await askEach(countersign, messages, describe);
  if (decided.some((request) => request.status === "PENDING")) return null;
  if (lastDecided(decided) !== id) return null;
  const answered = await Promise.all(
    openCalls(messages).map(async (open, index) => {
      const request = decided[index];
      if (request === undefined) throw new Error(`nobody was asked about ${open.call.toolCallId}`);
      const reason = await refusalOf(request, checkIn(tools, open.call.toolName));
      return { ...open, request, reason };
    }),
  );
  const content = answered.map(({ approvalId, request, reason }): Approval => {
    const response = { type: "tool-approval-response", approvalId } as const;
    return reason === null
      ? { ...response, approved: true, countersignRequestId: request.id }
      : { ...response, approved: false, reason };
  });
  const edited = answered.filter(({ request, reason }) => reason === null && isEdited(request));
  return [...messages.map((message) => withEdits(message, edited)), { role: "tool", content }];
}

async function askEach(
  countersign: Countersign,
  messages: ModelMessage[],
  describe: DescribeCall,
): Promise<ApprovalRequest[]> {
  const agentState: PausedMessages = { adapter: "ai-sdk", messages };
  refuseLargeState(agentState);
  return Promise.all(
    openCalls(messages).map(async ({ approvalId, call: { toolName, input } }) => {
      const asked = { ...describe(toolName, input), payload: input, agentState };
      // The SDK makes another id for each question.
      const idempotencyKey = await keyOf("ai-sdk-approvals", approvalId);
      return countersign.requests.create(asked, { idempotencyKey });
    }),
  );
}

/** A model writes the names of tools. */
function checkIn(tools: ToolSet, name: string) {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) throw new TypeError(`the tool ${name} is missing, and checks its input`);
  return checkOf(tool, name);
}

type OpenCall = { approvalId: string; call: ToolCallPart };

/** The calls that the last message of the model asks about. */
function openCalls(messages: ModelMessage[]): OpenCall[] {
  const everything = messages.flatMap(partsOf);
  const calls = everything.filter((part) => part.type === "tool-call");
  const questions = everything.filter((part) => part.type === "tool-approval-request");
  const parts = partsOf(messages.findLast(({ role }) => role === "assistant"));
  return parts.flatMap((part) => {
    if (part.type !== "tool-approval-request" || part.isAutomatic === true) return [];
    const { approvalId, toolCallId } = part;
    refuseRepeated(
      toolCallId,
      calls.filter((each) => each.toolCallId === toolCallId),
    );
    refuseRepeated(
      toolCallId,
      questions.filter((each) => each.toolCallId === toolCallId),
    );
    refuseRepeated(
      approvalId,
      questions.filter((each) => each.approvalId === approvalId),
    );
    const call = parts.find((each) => each.type === "tool-call" && each.toolCallId === toolCallId);
    return call?.type === "tool-call" ? [{ approvalId, call }] : [];
  });
}

/** The SDK uses the last part with an id, wherever it is: of several, that may not be the one that was asked about. */
function refuseRepeated(id: string, parts: unknown[]): void {
  if (parts.length > 1) throw new Error(`${id} is in these messages more than once`);
}

/** The call as the approver wants it: the SDK checks this against the tool's schema, and runs it. */
function withEdits(
  message: ModelMessage,
  edited: (OpenCall & { request: ApprovalRequest })[],
): ModelMessage {
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  const content = message.content.map((part) => {
    if (part.type !== "tool-call" && part.type !== "tool-approval-request") return part;
    const edit = edited.find(({ call }) => call.toolCallId === part.toolCallId);
    if (edit === undefined) return part;
    if (part.type === "tool-call") return { ...part, input: edit.request.effectivePayload };
    // Where the schema changes the input, the model's own words for it aren't what was approved.
    const { inputSchemaInput: _, ...question } = part as typeof part & {
      inputSchemaInput?: unknown;
    };
    return question;
  });
  return { ...message, content };
}
