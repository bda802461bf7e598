// OpenAI Agents SDK: the state of an interrupted run travels in `agentState`, and any process with the agent continues
// from the webhook. Nothing is kept in between.

import type {
  ApprovalRequest,
  Countersign,
  CreateRequest,
  StandardSchema,
  WebhookData,
} from "@countersign/sdk";
import {
  decisionOf,
  isAskedBy,
  isShownAs,
  keyOf,
  redeemForRun,
  refusalOf,
  refuseLargeState,
  refuseRounded,
  tellWith,
  unapprovedText,
  unfitness,
  unfitText,
  type Validate,
  withDecision,
  withSchema,
} from "@countersign/sdk/tool-call";
import {
  type Agent,
  type FunctionTool,
  tool as makeTool,
  type RunContext,
  RunState,
  type RunToolApprovalItem,
  type ToolInputParameters,
  type ToolOptions,
} from "@openai/agents-core";

/** In `agentState`: the whole run, and the call it waits for. */
export type PausedRun = { adapter: "openai-agents"; runState: string; callId: string };
/**
 * Names the approver and the words besides the payload, which is the tool's input. It must depend on its two arguments
 * alone, because `resume` calls it again.
 */
export type DescribeCall = (
  toolName: string,
  input: unknown,
) => Omit<CreateRequest, "payload" | "agentState">;

export type RequireApprovalOptions = {
  /** A Standard Schema that an input and an edit must pass, beside the tool's own `parameters`. */
  schema?: StandardSchema;
};

export type AskOptions = {
  /**
   * Names this run and no other: two runs that begin alike may have the same state. Asking again about the same state
   * of it is then the same request.
   */
  runId?: string;
};

/** The approvals of a run that continues here. A call that was approved in another way isn't in it, and doesn't run. */
const approvedCalls = new WeakMap<RunContext, Map<string, ApprovedCall>>();
type ApprovedCall = { toolName: string; input: string; request: ApprovalRequest };

/** The own schemas of wrapped tools, by the function that runs them: the SDK may copy the tool around it. */
const validators = new WeakMap<object, Validate>();

/**
 * Makes a tool that is held back until Countersign has an approval, and that runs with the input as the approver left
 * it: `new Agent({ tools: [requireApproval({ name: "refund", parameters, execute, … })] })`, with the options of the
 * SDK's `tool`. The SDK itself cannot change the input of a call that it approves, nor say what a schema makes of it.
 */
export function requireApproval<
  Parameters extends ToolInputParameters = undefined,
  Context = unknown,
>(
  options: ToolOptions<Parameters, Context>,
  { schema }: RequireApprovalOptions = {},
): FunctionTool<Context, Parameters> {
  if ("invoke" in options) {
    throw new TypeError("give requireApproval the options of the tool, and not the tool");
  }
  const tool = makeTool({ ...options, needsApproval: true } as typeof options) as FunctionTool<
    Context,
    Parameters
  >;
  const validate = withSchema(validatorOf(options.parameters), schema);
  const invoke: typeof tool.invoke = async (runContext, asked, details) => {
    const { toolCall, signal } = details ?? {};
    const calls = approvedCalls.get(runContext);
    const approved = toolCall === undefined ? undefined : calls?.get(toolCall.callId);
    if (toolCall === undefined || approved?.toolName !== nameOf(toolCall)) {
      // The SDK runs what needs no approval, and so the model hears what is wrong with its input.
      const problem = await problemWith(asked, validate);
      return problem === null ? unapprovedText : unfitText(problem);
    }
    calls?.delete(toolCall.callId);
    const { input, request } = approved;
    // The other details are the SDK's reading of the model's input, which doesn't count.
    const approvedCall = { ...toolCall, arguments: input };
    const output = await tool.invoke(runContext, input, {
      toolCall: approvedCall,
      ...(signal === undefined ? {} : { signal }),
    });
    return tellModel(output, request);
  };
  validators.set(invoke, validate);
  const needsApproval: typeof tool.needsApproval = async (_context, input) =>
    (await unfitness(input, validate)) === null;
  return { ...tool, needsApproval, invoke };
}

/** Why nobody is asked about the arguments of a call. Text that is no JSON has no approval either. */
async function problemWith(text: string, validate: Validate): Promise<string | null> {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    return "it is not JSON.";
  }
  return unfitness(input, validate);
}

/** The SDK runs a tool with what its schema makes of the input. JSON Schema changes nothing, and is not checked by it. */
function validatorOf(parameters: unknown): Validate {
  const standard = (parameters as Partial<StandardSchema> | undefined)?.["~standard"];
  return async (input) => {
    if (standard === undefined) return { value: input };
    const checked = await standard.validate(input);
    if (checked.issues === undefined) return { value: checked.value };
    return { problem: checked.issues.map(({ message }) => message).join("; ") };
  };
}

/** The checks of the tools that a call can mean. A tool that is not wrapped would not wait for its approval. */
async function validatorFor(call: RunToolApprovalItem, context: RunContext): Promise<Validate> {
  const all = await call.agent.getAllTools(context);
  const named = all.filter((each) => each.type === "function" && each.name === call.name);
  const found = named.map((each) =>
    each.type === "function" ? validators.get(each.invoke) : undefined,
  );
  if (found.length === 0 || found.includes(undefined)) {
    throw new TypeError(`${call.name} is no tool that was made with requireApproval`);
  }
  return (found as Validate[]).reduce(bothOf);
}

/** The SDK shows a model texts and parts (text, image, file) as they are, and everything else as JSON. */
function tellModel(output: unknown, request: ApprovalRequest): unknown {
  const decision = decisionOf(request);
  if (decision === null) return output;
  const { told } = decision;
  if (typeof output === "string") return tellWith(told, output);
  const parts: unknown[] = Array.isArray(output) ? output : [output];
  return parts.length > 0 && parts.every(isPart)
    ? [{ type: "text", text: told }, ...parts]
    : withDecision(output, request);
}

function isPart(value: unknown): boolean {
  const { type } = Object(value) as { type?: unknown };
  return type === "text" || type === "image" || type === "file";
}

/**
 * Asks about the first call that an interrupted run waits for: `if (result.interruptions.length > 0) await
 * ask(countersign, result.state, describe)`. Null if it waits for none. Further calls are asked about when the run
 * continues.
 */
export async function ask(
  countersign: Countersign,
  // biome-ignore lint/suspicious/noExplicitAny: of whichever agent and context
  state: RunState<any, any>,
  describe: DescribeCall,
  { runId }: AskOptions = {},
): Promise<ApprovalRequest<unknown, unknown, PausedRun> | null> {
  const [call] = state.getInterruptions();
  if (call === undefined) return null;
  const { callId, toolName, text, payload } = readCall(call);
  refuseRounded(text);
  const problem = await unfitness(payload, await validatorFor(call, state._context));
  // A wrapped tool needs no approval then, and tells the model. This state was made without one.
  if (problem !== null) throw new TypeError(`${toolName} cannot take this input: ${problem}`);
  const agentState: PausedRun = { adapter: "openai-agents", runState: state.toString(), callId };
  refuseLargeState(agentState);
  const input = { ...describe(toolName, payload), payload, agentState };
  const key =
    runId === undefined
      ? {}
      : { idempotencyKey: await keyOf("openai-agents", runId, agentState.runState, callId) };
  return countersign.requests.create<unknown, unknown, PausedRun>(input, key);
}

/**
 * Returns the state to run on with, from a verified webhook or a decided request:
 * `const state = await resume(countersign, agent, event.data, describe); if (state !== null) await run(agent, state)`.
 * Null if there is nothing to resume: the request is pending, or it is not about a run. Throws if the request does not
 * ask about the call in its state as `describe` does: nobody approved the state, and anybody with a key can write one.
 * Redeems what was approved: run this state once. Throws an `AlreadyRedeemedError` if another call has got it.
 */
export async function resume<Context, GatedAgent extends Agent<Context>>(
  countersign: Countersign,
  agent: GatedAgent,
  { id, status, agentState }: Pick<WebhookData, "id" | "status" | "agentState">,
  describe: DescribeCall,
): Promise<RunState<Context, GatedAgent> | null> {
  const { adapter } = (agentState ?? {}) as Partial<PausedRun>;
  if (adapter !== "openai-agents" || status === "PENDING") return null;
  // Read anew: what runs is what the service has, not what an event says.
  const request = await countersign.requests.get<unknown, unknown, PausedRun>(id);
  if (request.status === "PENDING") return null;
  const { runState, callId } = request.agentState;
  const state = await RunState.fromString<Context, GatedAgent>(agent, runState);
  const call = state.getInterruptions().find((each) => readCall(each).callId === callId);
  if (call === undefined) throw new Error(`${request.id} holds no run that waits for ${callId}`);
  const { toolName, payload } = readCall(call);
  if (
    !isShownAs(payload, request.payload) ||
    !isAskedBy(request, () => describe(toolName, payload))
  ) {
    throw new Error(`${request.id} was not asked for this call of ${toolName}`);
  }
  const validate = await validatorFor(call, state._context as RunContext);
  const refusal =
    (await refusalOf(request, validate)) ?? (await redeemForRun(countersign, request));
  if (refusal !== null) {
    state.reject(call, { message: refusal });
    return state;
  }
  const approved = { toolName, input: JSON.stringify(request.effectivePayload), request };
  approvedCalls.set(state._context, new Map([[readCall(call).callId, approved]]));
  state.approve(call);
  return state;
}

function bothOf(one: Validate, other: Validate): Validate {
  return async (input) => {
    const checked = await one(input);
    return "problem" in checked ? checked : other(input);
  };
}

/** The item itself is the call that will run. A state can give that call another name beside it. */
function readCall({ rawItem }: RunToolApprovalItem) {
  if (rawItem.type !== "function_call") {
    throw new TypeError(`only function tools can be asked about, and this is a ${rawItem.type}`);
  }
  const { callId, arguments: text } = rawItem;
  return { callId, toolName: nameOf(rawItem), text, payload: JSON.parse(text) as unknown };
}

/** As the SDK names a tool in a namespace. */
function nameOf({ name, namespace }: { name: string; namespace?: string | undefined }): string {
  return namespace === undefined || namespace === name ? name : `${namespace}.${name}`;
}
