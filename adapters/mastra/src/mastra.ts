// Mastra: a tool that a person must approve. It waits inside the call, or suspends the run, which any process with the
// same storage resumes from the webhook.

import type {
  ApprovalRequest,
  Countersign,
  CreateRequest,
  StandardSchema,
  WebhookData,
} from "@countersign/sdk";
import {
  askAndWait,
  type Describe,
  failureWith,
  inputToRun,
  isNotRun,
  type NotRun,
  redeemForTool,
  refusalText,
  separate,
  shownInput,
  type Told,
  tellWith,
  type Validate,
  withDecision,
  withSchema,
} from "@countersign/sdk/tool-call";
import { createTool, type Tool, type ToolExecutionContext } from "@mastra/core/tools";

export type RequireApprovalOptions = {
  /** `wait` holds the run in this process; `suspend` ends it until `resume`. `wait` is the default. */
  whilePending?: "wait" | "suspend";
  /** A Standard Schema that an input and an edit must pass, beside the tool's own `inputSchema`. */
  schema?: StandardSchema;
};

export type { Decision, NotRun, Told } from "@countersign/sdk/tool-call";

/** In `agentState`: enough to find the suspended call again. */
export type SuspendedCall = { adapter: "mastra"; runId: string; toolCallId: string };

// biome-ignore-start lint/suspicious/noExplicitAny: Mastra's own types of a tool with any schemas
type AnyTool<Input, Output> = Tool<Input, Output, any, any, any, any, any>;
type AnyContext = ToolExecutionContext<any, any> & { runId?: string };
// biome-ignore-end lint/suspicious/noExplicitAny: only these two

/**
 * Puts a person before a tool:
 * `tools: { refund: requireApproval(countersign, refund, ({ orderId }) => ({ summary: …, notify: … })) }`.
 */
export function requireApproval<Input, Output>(
  countersign: Countersign,
  tool: AnyTool<Input, Output>,
  describe: Describe<Input>,
  { whilePending = "wait", schema }: RequireApprovalOptions = {},
): Tool<Input, Output | Told<Output> | NotRun> {
  const { execute, toModelOutput, outputSchema: _, mastra: __, ...rest } = tool;
  if (execute === undefined) {
    throw new TypeError("a tool without execute runs elsewhere, where it cannot be held back");
  }
  const validate = withSchema(validatorOf(tool), schema);
  const gated = async (input: Input, context: AnyContext) => {
    // A resumed call was asked about already, and is checked below, with what was approved.
    const isResumed = context.agent?.suspendPayload?.requestId !== undefined;
    const payload = isResumed ? asJson(input) : await shownInput(input, validate);
    const asked = { ...describe(input), payload };
    const request =
      whilePending === "wait"
        ? await askAndWait(countersign, asked, { signal: context.abortSignal })
        : await askOrSuspend(countersign, asked, context);
    if (request === null) return undefined;
    if (request.status !== "APPROVED") {
      return { notRun: refusalText(request), countersignRequestId: request.id };
    }
    const allowed = await inputToRun(request, payload, validate);
    if ("notRun" in allowed) return allowed;
    const refused = await redeemForTool(countersign, request, context.abortSignal);
    if (refused !== null) return refused;
    // Mastra itself parses it with the schema, and the result is known by now.
    try {
      const output = await execute(allowed.json as Input, withoutSuspension(context) as never);
      return withDecision(output, request);
    } catch (error) {
      throw context.abortSignal?.aborted === true ? error : failureWith(error, request);
    }
  };
  return createTool({
    ...rest,
    execute: gated,
    ...(toModelOutput === undefined
      ? {}
      : {
          toModelOutput: async (result: unknown) => {
            if (isNotRun(result)) return { type: "text", value: result.notRun };
            const { output, told } = separate(result);
            const own = await toModelOutput(output as Output);
            return told === null ? own : withTold(own, told);
          },
        }),
  } as never) as Tool<Input, Output | Told<Output> | NotRun>;
}

function asJson(input: unknown): unknown {
  return JSON.parse(JSON.stringify(input) ?? "null");
}

/** Mastra hands these on to the model's provider, like the AI SDK. */
function withTold(own: unknown, told: string): unknown {
  const { type, value } = Object(own) as { type?: unknown; value?: unknown };
  if (type === "text") return { type, value: tellWith(told, String(value)) };
  if (type === "json") return { type: "text", value: tellWith(told, JSON.stringify(value)) };
  if (type === "content" && Array.isArray(value)) {
    return { type, value: [{ type: "text", text: told }, ...value] };
  }
  return own;
}

/**
 * Resumes the run of a verified webhook: `await resume(agent, event.data)`. Null if there is nothing to resume: the
 * request is pending, or it is not about a suspended run.
 */
export async function resume<Result>(
  agent: { resumeGenerate(data: never, options: never): Promise<Result> },
  { id, status, agentState }: Pick<WebhookData, "id" | "status" | "agentState">,
): Promise<Result | null> {
  const { adapter, runId, toolCallId } = (agentState ?? {}) as Partial<SuspendedCall>;
  if (adapter !== "mastra" || status === "PENDING") return null;
  return agent.resumeGenerate({ requestId: id } as never, { runId, toolCallId } as never);
}

/** The decided request, or null once the run is suspended. */
async function askOrSuspend(
  countersign: Countersign,
  asked: CreateRequest,
  { runId, agent }: AnyContext,
): Promise<ApprovalRequest | null> {
  if (agent === undefined || runId === undefined) {
    throw new TypeError('only an agent\'s run can be suspended: use whilePending "wait" here');
  }
  const agentState: SuspendedCall = { adapter: "mastra", runId, toolCallId: agent.toolCallId };
  const request = await findOrAsk(countersign, { ...asked, agentState }, agent.suspendPayload);
  if (request.status !== "PENDING") return request;
  await agent.suspend({ requestId: request.id });
  return null;
}

/**
 * A resumed call uses the request that it was suspended with, as stored, and never the data that somebody resumes it
 * with: that could be another approval.
 */
async function findOrAsk(
  { requests }: Countersign,
  asked: CreateRequest,
  suspendPayload: { requestId?: string } | undefined,
): Promise<ApprovalRequest> {
  if (suspendPayload?.requestId === undefined) return requests.create(asked);
  const request = await requests.get(suspendPayload.requestId);
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  if (isSame(request.payload, asked.payload) && isSame(request.agentState, asked.agentState)) {
    return request;
  }
  throw new Error(`${request.id} was not asked for this call`);
}

/** The gate's own suspension isn't the tool's. */
function withoutSuspension(context: AnyContext): AnyContext {
  const { agent, resumeData: _, suspendPayload: __, ...rest } = context;
  if (agent === undefined) return rest;
  const { resumeData: ___, suspendPayload: ____, ...agentRest } = agent;
  return { ...rest, agent: agentRest };
}

/** An edit comes from outside, like the model's own input, and is checked against the same schema. */
function validatorOf<Input, Output>({ inputSchema }: AnyTool<Input, Output>): Validate {
  return async (input) => {
    if (inputSchema === undefined) return { value: input };
    const checked = await inputSchema["~standard"].validate(input);
    if (checked.issues === undefined) return { value: checked.value };
    return { problem: checked.issues.map(({ message }) => message).join("; ") };
  };
}
