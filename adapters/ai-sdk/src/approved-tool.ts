// A tool of the AI SDK that runs only with an approval in the messages of its run, and redeems it right before. The SDK
// runs an approved call in every run of the same messages; the approval lets it run in one of them.

import type { Countersign, StandardSchema } from "@countersign/sdk";
import {
  approvalOf,
  failureWith,
  type NotRun,
  redeemForRun,
  shownInput,
  type Told,
  unapprovedText,
  type Validate,
  withDecision,
  withSchema,
} from "@countersign/sdk/tool-call";
import type {
  AssistantModelMessage,
  InferToolInput,
  InferToolOutput,
  ModelMessage,
  Tool,
  ToolApprovalResponse,
  ToolExecutionOptions,
} from "ai";
import { lastOf, toldOutput } from "./outputs.ts";
import { validatorOf } from "./tool-schema.ts";

export type RequireApprovalOptions = {
  /** A Standard Schema that an input and an edit must pass, beside the tool's own `inputSchema`. */
  schema?: StandardSchema;
};

/** The SDK's answer to its question, with the request that gave it. */
export type Approval = ToolApprovalResponse & { countersignRequestId?: string };

/** The checks of wrapped tools, by the function that runs them: the tool around it may be copied. */
const validators = new WeakMap<object, Validate>();

/** What made a call impossible before its tool began, by the output in its place. */
const failures = new WeakMap<object, unknown>();

/**
 * Puts a person before a tool, in a run that ends with a question: `tools: { refund: requireApproval(countersign,
 * refund) }`. The SDK asks by itself; `ask` hands its question to a person, and `resume` brings the answer.
 */
export function requireApproval<GatedTool extends Tool>(
  countersign: Countersign,
  tool: GatedTool,
  { schema }: RequireApprovalOptions = {},
): Tool<
  InferToolInput<GatedTool>,
  InferToolOutput<GatedTool> | Told<InferToolOutput<GatedTool>> | NotRun
> {
  type Input = InferToolInput<GatedTool>;
  type Output = InferToolOutput<GatedTool>;
  const { execute } = tool;
  if (execute === undefined) {
    throw new TypeError("a tool without execute runs elsewhere, where it cannot be held back");
  }
  const validate = withSchema(validatorOf(tool), schema);
  const gated = async (input: Input, options: ToolExecutionOptions<unknown>) => {
    const { toolCallId, messages, abortSignal: signal } = options;
    const requestId = approvalIn(messages, toolCallId);
    if (requestId === undefined) {
      // The SDK runs what it has no question about, and so the model hears what is wrong with its input.
      await shownInput(input, validate);
      throw new Error(unapprovedText);
    }
    const call = { requestId, input, validate, signal };
    const approval = await inTurn(options, () => redeem(countersign, call)).catch((error) => {
      const instead = { notRun: `It was not run here: ${error}`, countersignRequestId: requestId };
      failures.set(instead, error);
      return instead;
    });
    if ("notRun" in approval) return approval;
    try {
      const output = await lastOf(await execute(approval.input as never, options as never));
      return withDecision(output, approval.request);
    } catch (error) {
      throw signal?.aborted === true ? error : failureWith(error, approval.request);
    }
  };
  validators.set(gated, validate);
  const needsApproval = (input: unknown) =>
    shownInput(input, validate).then(
      () => true,
      () => false,
    );
  const toModelOutput = throwingFailures(toldOutput(tool.toModelOutput));
  const { outputSchema: _, ...rest } = tool;
  return { ...rest, needsApproval, execute: gated, toModelOutput } as unknown as Tool<
    Input,
    Output | Told<Output> | NotRun
  >;
}

/** The check of a wrapped tool. One that is not wrapped would run again with its messages. */
export function checkOf({ execute }: Pick<Tool, "execute">, toolName: string): Validate {
  const validate = execute === undefined ? undefined : validators.get(execute);
  if (validate !== undefined) return validate;
  throw new TypeError(
    `${toolName} is no tool that was made with requireApproval of @countersign/ai-sdk/approvals`,
  );
}

/** The parts of the model's own message. */
export function partsOf(
  message: ModelMessage | undefined,
): Exclude<AssistantModelMessage["content"], string> {
  if (message?.role !== "assistant" || typeof message.content === "string") return [];
  return message.content;
}

/** Only the last message, where the SDK itself looks: an approval is for the calls before it and for no later one. */
function approvalIn(messages: ModelMessage[], toolCallId: string): string | undefined {
  const last = messages.at(-1);
  if (last?.role !== "tool") return undefined;
  const asked = messages
    .flatMap(partsOf)
    .flatMap((part) =>
      part.type === "tool-approval-request" && part.toolCallId === toolCallId
        ? [part.approvalId]
        : [],
    );
  const answers = last.content.filter((part) => part.type === "tool-approval-response");
  const answer: Approval | undefined = answers.find(
    ({ approvalId, approved }) => approved && asked.includes(approvalId),
  );
  return answer?.countersignRequestId;
}

type Call = Parameters<typeof approvalOf>[1];

async function redeem(countersign: Countersign, call: Call) {
  const approval = await approvalOf(countersign, call);
  if ("notRun" in approval) return approval;
  const problem = await redeemForRun(countersign, approval.request, call.signal);
  return problem === null ? approval : { notRun: problem, countersignRequestId: call.requestId };
}

type Turn = { last: Promise<unknown>; begun: Set<string> };
const turns = new WeakMap<ModelMessage[], Turn>();

/** One after the other, and none after a failure: of two processes with the same messages, one gets all calls. */
function inTurn<Result>(
  { messages, toolCallId }: Pick<ToolExecutionOptions<unknown>, "messages" | "toolCallId">,
  work: () => Promise<Result>,
): Promise<Result> {
  const known = turns.get(messages);
  // A call that comes again is of another run of these messages.
  const isOn = known !== undefined && !known.begun.has(toolCallId);
  const turn: Turn = isOn ? known : { last: Promise.resolve(), begun: new Set() };
  turns.set(messages, turn);
  turn.begun.add(toolCallId);
  const done = turn.last.then(work);
  turn.last = done;
  return done;
}

/**
 * The SDK tells a model what `execute` throws, and what this throws, its caller. Another process may continue this run,
 * and a second one must not talk to the model; and what was not redeemed can be tried again.
 */
function throwingFailures(
  own: NonNullable<Tool["toModelOutput"]>,
): NonNullable<Tool["toModelOutput"]> {
  return async (result) => {
    if (failures.has(Object(result.output))) throw failures.get(result.output);
    return own(result);
  };
}
