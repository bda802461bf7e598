// The middleware before an agent's tools: asks by an interrupt, keeps beside each call which request approved it, and
// redeems where the tool runs. LangGraph runs a node again when a thread goes on from its checkpoint; the approval
// doesn't let the tool run again.

import type { ApprovalRequest, Countersign, StandardSchema } from "@countersign/sdk";
import {
  approvalOf,
  decisionOf,
  redeemForRun,
  redeemForTool,
  type Schemas,
  schemaOf,
  tellWith,
  unapprovedText,
  unfitness,
  unfitText,
  type Validate,
  withSchema,
} from "@countersign/sdk/tool-call";
import { Validator } from "@langchain/core/utils/json_schema";
import { interrupt } from "@langchain/langgraph";
import {
  type AgentMiddleware,
  AIMessage,
  type BaseMessage,
  createMiddleware,
  ToolMessage,
} from "langchain";

// biome-ignore lint/suspicious/noExplicitAny: LangChain's own type of arguments
type ToolCall = { id?: string; name: string; args: Record<string, any> };

/** Which calls a person must approve: all calls of these tools, or those of which the rule says so. */
export type Gated = readonly string[] | ((call: Pick<ToolCall, "name" | "args">) => boolean);

export type RequireApprovalOptions = {
  /** A Standard Schema for each tool, by its name, that an input and an edit must pass, beside the tool's own. */
  schemas?: Schemas;
};

/** The interrupt of the middleware. Its sign says that the tools redeem. */
export type Question = {
  actionRequests: { name: string; args: Record<string, unknown> }[];
  countersign: "redeems";
};

/** What a person said to one call. */
export type Answer =
  | { type: "approve"; requestId: string }
  | { type: "edit"; requestId: string; editedAction: { name: string; args: object } }
  | { type: "reject"; message: string };

/**
 * Puts a person before tools: `createAgent({ tools: [refund], middleware: [requireApproval(countersign, ["refund"])] })`.
 * A call without an approval doesn't run, and an approved one runs once, with the input as the approver left it.
 */
export function requireApproval(
  countersign: Countersign,
  gated: Gated,
  { schemas = {} }: RequireApprovalOptions = {},
): AgentMiddleware {
  const isGated = (call: ToolCall) =>
    typeof gated === "function" ? gated(call) : gated.includes(call.name);
  const checkOf = (name: string, tool: unknown) =>
    withSchema(validatorOf(tool as { schema?: unknown } | undefined), schemaOf(schemas, name));
  return createMiddleware({
    name: "CountersignApproval",
    // Only here the tools are known, so what nobody can approve is written into the message for the hook below.
    wrapModelCall: async (request, handler) => {
      const message = await handler(request);
      const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []).filter(isGated) : [];
      const problems: Record<string, string> = {};
      for (const { id = "", name, args } of calls) {
        const tool = request.tools.find((each) => "name" in each && each.name === name);
        const problem = await unfitness(args, checkOf(name, tool));
        if (problem !== null) problems[id] = problem;
      }
      return Object.keys(problems).length === 0
        ? message
        : withMetadata(message, problemsKey, problems);
    },
    afterModel: {
      canJumpTo: ["model"],
      hook: ({ messages }) => {
        const message = messages.findLast((each) => AIMessage.isInstance(each));
        const calls = message?.tool_calls?.filter(isGated) ?? [];
        if (message === undefined || calls.length === 0) return undefined;
        refuseUnclear(message.tool_calls ?? []);
        const problems = metadataOf(message, problemsKey);
        const answers = new Map<string | undefined, Answer | undefined>(
          Object.entries(problems).map(([id, problem]) => [
            id,
            { type: "reject", message: unfitText(problem) },
          ]),
        );
        const asked = calls.filter(({ id }) => !answers.has(id));
        const decisions = asked.length === 0 ? [] : decisionsAbout(asked);
        for (const [index, { id }] of asked.entries()) answers.set(id, decisions[index]);
        return withAnswers(message, answers);
      },
    },
    wrapToolCall: async (request, handler) => {
      const { toolCall, tool, state, runtime } = request;
      const requestId = approvalsIn(state.messages)[toolCall.id ?? ""];
      if (requestId === undefined) {
        if (!isGated(toolCall)) return handler(request);
        return notRun(toolCall, unapprovedText);
      }
      const turn = runtime.configurable?.[turnKey] as Turn | undefined;
      const validate = checkOf(toolCall.name, tool);
      const { signal } = runtime;
      const call = { countersign, toolCall, requestId, validate, signal };
      const allowed = await (turn === undefined ? redeem(call, false) : redeemInTurn(turn, call));
      if (typeof allowed === "string") return notRun(toolCall, allowed);
      const result = await handler(request);
      return ToolMessage.isInstance(result) ? withTold(result, allowed) : result;
    },
  }) as unknown as AgentMiddleware;
}

/** Interrupts the thread until people have said something about each call. */
function decisionsAbout(calls: ToolCall[]): Answer[] {
  const actionRequests = calls.map(({ name, args }) => ({ name, args }));
  const question: Question = { actionRequests, countersign: "redeems" };
  const { decisions } = interrupt<Question, { decisions: Answer[] }>(question);
  if (!Array.isArray(decisions) || decisions.length !== calls.length) {
    throw new TypeError(`${calls.length} calls need as many decisions`);
  }
  return decisions;
}

/** An approval belongs to the id of its call. */
function refuseUnclear(calls: ToolCall[]): void {
  const ids = calls.map(({ id }) => id);
  if (ids.includes(undefined) || new Set(ids).size < ids.length) {
    throw new TypeError("each call of a model needs an id of its own, or nobody can approve it");
  }
}

/** In the message's metadata, which is stored with the thread and never sent to a model: texts by the ids of calls. */
const approvalsKey = "countersign_approvals";
const problemsKey = "countersign_problems";

function withMetadata<Message extends BaseMessage>(
  message: Message,
  key: string,
  texts: Record<string, string>,
): Message {
  message.response_metadata = { ...message.response_metadata, [key]: texts };
  return message;
}

function metadataOf(message: BaseMessage | undefined, key: string): Record<string, string> {
  const metadata: Record<string, unknown> = message?.response_metadata ?? {};
  return Object.assign(Object.create(null), metadata[key]);
}

/** Rejected calls are answered here; approved ones run, with the edit written into the call, as LangChain itself does. */
function withAnswers(message: AIMessage, answers: Map<string | undefined, Answer | undefined>) {
  const approvals: Record<string, string> = {};
  const rejections: ToolMessage[] = [];
  const calls = (message.tool_calls ?? []).map((call) => {
    const answer = answers.get(call.id);
    if (answer === undefined) return call;
    if (answer.type === "reject") {
      rejections.push(notRun(call, answer.message));
      return call;
    }
    if (typeof answer.requestId === "string") approvals[call.id ?? ""] = answer.requestId;
    return answer.type === "edit"
      ? { ...call, args: answer.editedAction.args as Record<string, unknown> }
      : call;
  });
  message.tool_calls = calls;
  const messages = [withMetadata(message, approvalsKey, approvals), ...rejections];
  return rejections.length === calls.length ? { messages, jumpTo: "model" as const } : { messages };
}

function approvalsIn(messages: BaseMessage[]): Record<string, string> {
  return metadataOf(
    messages.findLast((each) => AIMessage.isInstance(each)),
    approvalsKey,
  );
}

/** In the configuration of a run that goes on from a decision. A thread that is taken up elsewhere has none. */
export const turnKey = "countersign_turn";
export type Turn = { last: Promise<unknown>; begun: Set<string> };

type Call = {
  countersign: Countersign;
  toolCall: ToolCall;
  requestId: string;
  validate: Validate;
  signal: AbortSignal | undefined;
};

/** One after the other, in the order of the calls: of two processes that go on at once, one gets all and the other none. */
async function redeemInTurn(turn: Turn, call: Call): Promise<ApprovalRequest | string> {
  const isFirst = !turn.begun.has(call.requestId);
  turn.begun.add(call.requestId);
  const redeemed = turn.last.then(() => redeem(call, isFirst));
  turn.last = redeemed;
  return redeemed;
}

/** The approval, once it lets this call run; otherwise why it does not run, for the model. */
async function redeem(call: Call, isAnswer: boolean): Promise<ApprovalRequest | string> {
  const { countersign, toolCall, requestId, validate, signal } = call;
  const approval = await approvalOf(countersign, {
    requestId,
    input: toolCall.args,
    validate,
    signal,
  });
  if ("notRun" in approval) return approval.notRun;
  const { request } = approval;
  // Somebody else who got it right now continues the thread. Later, nobody does, and the model must know.
  if (isAnswer) return (await redeemForRun(countersign, request, signal)) ?? request;
  return (await redeemForTool(countersign, request, signal))?.notRun ?? request;
}

/** The tool's own schema: LangChain runs a tool with what it makes of the input. */
function validatorOf(tool: { schema?: unknown } | undefined): Validate {
  const schema = tool?.schema as Partial<StandardSchema> | undefined;
  const standard = schema?.["~standard"];
  return async (input) => {
    if (standard !== undefined) {
      const checked = await standard.validate(input);
      if (checked.issues === undefined) return { value: checked.value };
      return { problem: checked.issues.map(({ message }) => message).join("; ") };
    }
    if (typeof schema !== "object" || schema === null) return { value: input };
    const { valid, errors } = new Validator(schema as never).validate(input);
    return valid ? { value: input } : { problem: errors.map(({ error }) => error).join("; ") };
  };
}

function notRun({ id, name }: ToolCall, content: string): ToolMessage {
  return new ToolMessage({ content, name, tool_call_id: id ?? "", status: "error" });
}

function withTold(result: ToolMessage, request: ApprovalRequest): ToolMessage {
  const told = decisionOf(request)?.told;
  if (told === undefined) return result;
  const { content } = result;
  result.content =
    typeof content === "string"
      ? tellWith(told, content)
      : [{ type: "text", text: told }, ...content];
  return result;
}
