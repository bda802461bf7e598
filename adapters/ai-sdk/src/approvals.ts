// Vercel AI SDK, for runs that don't wait: its own `toolApproval: { refund: "user-approval" }` ends the run with a
// question, the messages travel in `agentState`, and any process continues from the webhook. The SDK's own answer can't
// carry an edit, so the edit is written into the call before it is approved, and the model is told of it before the call.

import type { ApprovalRequest, Countersign, CreateRequest, WebhookData } from "@countersign/sdk";
import {
  decisionOf,
  isEdited,
  keyOf,
  lastDecided,
  redeemForRun,
  refusalOf,
  refuseLargeState,
  type Schemas,
  schemaOf,
  withSchema,
} from "@countersign/sdk/tool-call";
import type {
  AssistantModelMessage,
  ModelMessage,
  Tool,
  ToolApprovalResponse,
  ToolCallPart,
  ToolSet,
} from "ai";
import { validatorOf } from "./tool-schema.ts";

/** In `agentState`: the whole run. */
export type PausedMessages = { adapter: "ai-sdk"; messages: ModelMessage[] };

/** The approver's text beside the payload (the tool's input). It is derived again later, from these two alone. */
export type DescribeCall = (
  toolName: string,
  input: unknown,
) => Omit<CreateRequest, "payload" | "agentState">;

export type ResumeOptions = {
  /** The tools that the run continues with. What was approved must pass their own schemas unchanged. */
  tools: ToolSet;
  /** A Standard Schema for each tool, by its name. What was approved must pass it, or it does not run. */
  schemas?: Schemas;
};

/**
 * Asks about each call that a run ended with:
 * `await ask(countersign, [...messages, ...result.responseMessages], describe)`. Empty if there is none.
 */
export async function ask(
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

/**
 * The messages to continue with, from a verified webhook:
 * `const messages = await resume(countersign, event.data, describe, { tools }); if (messages !== null) await generateText({ messages, … })`.
 * Null if there is nothing to do: other calls are undecided, or another event continues the run. Redeems what was
 * approved: run these messages once. Throws an `AlreadyRedeemedError` if another call has got them.
 */
export async function resume(
  countersign: Countersign,
  { id, status, agentState }: Pick<WebhookData, "id" | "status" | "agentState">,
  describe: DescribeCall,
  { tools, schemas = {} }: ResumeOptions,
): Promise<ModelMessage[] | null> {
  const { adapter, messages = [] } = (agentState ?? {}) as Partial<PausedMessages>;
  if (adapter !== "ai-sdk" || status === "PENDING") return null;
  // Asked again with the same keys, these are the same requests in their current state.
  const decided = await ask(countersign, messages, describe);
  if (decided.some((request) => request.status === "PENDING")) return null;
  if (lastDecided(decided) !== id) return null;
  const answered = openCalls(messages).map((open, index) => {
    const request = decided[index];
    if (request === undefined) throw new Error(`nobody was asked about ${open.call.toolCallId}`);
    return { ...open, request };
  });
  const checked = await Promise.all(
    answered.map(async (each) => {
      const { toolName } = each.call;
      const validate = withSchema(
        validatorOf(toolOf(tools, toolName)),
        schemaOf(schemas, toolName),
      );
      return { ...each, refusal: await refusalOf(each.request, validate) };
    }),
  );
  const responses: ToolApprovalResponse[] = [];
  const approved: (OpenCall & { request: ApprovalRequest })[] = [];
  // Only after all checks, one after the other, and always in this order: of two resumes at once, one gets all calls and
  // the other none.
  for (const each of checked) {
    const { approvalId, request, refusal } = each;
    const reason = refusal ?? (await redeemForRun(countersign, request));
    const response = { type: "tool-approval-response", approvalId } as const;
    if (reason === null) approved.push(each);
    responses.push(
      reason === null ? { ...response, approved: true } : { ...response, approved: false, reason },
    );
  }
  const edited = approved.filter(({ request }) => isEdited(request));
  const question = messages.findLastIndex(({ role }) => role === "assistant");
  return [
    ...messages.slice(0, question),
    ...tell(approved),
    ...messages.slice(question).map((message) => withEdits(message, edited)),
    { role: "tool", content: responses },
  ];
}

/** A model writes the names of tools. */
function toolOf(tools: ToolSet, name: string): Pick<Tool, "inputSchema"> {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) throw new TypeError(`resume needs the tool ${name}, to check its input`);
  return tool;
}

type OpenCall = { approvalId: string; call: ToolCallPart };

/** The SDK runs the tool itself and wants its answers last, so the model reads this before the call. */
function tell(approved: (OpenCall & { request: ApprovalRequest })[]): ModelMessage[] {
  const told = approved.flatMap(({ call: { toolName, toolCallId }, request }) => {
    const decision = decisionOf(request);
    return decision === null ? [] : [`${toolName} (${toolCallId}): ${decision.told}`];
  });
  if (told.length === 0) return [];
  const content = `Countersign about the calls that follow:\n${told.join("\n")}`;
  return [{ role: "user", content }];
}

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

function partsOf(
  message: ModelMessage | undefined,
): Exclude<AssistantModelMessage["content"], string> {
  if (message?.role !== "assistant" || typeof message.content === "string") return [];
  return message.content;
}
