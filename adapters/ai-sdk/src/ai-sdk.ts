// Vercel AI SDK: a tool that a person must approve. Its `execute` runs only with the input as the approver left it.
// Otherwise the model gets the outcome as the tool's result, so that the run continues. It also learns what ran, if the
// approver changed it.

import type { Countersign, StandardSchema } from "@countersign/sdk";
import {
  askAndWait,
  type Describe,
  failureWith,
  inputToRun,
  keyOf,
  type NotRun,
  redeemForTool,
  refusalText,
  shownInput,
  type Told,
  withDecision,
  withSchema,
} from "@countersign/sdk/tool-call";
import type { InferToolInput, InferToolOutput, Tool, ToolExecutionOptions } from "ai";
import { lastOf, toldOutput } from "./outputs.ts";
import { validatorOf } from "./tool-schema.ts";

export type RequireApprovalOptions = {
  /**
   * Names the run of the tool. A step that is repeated under the same id, in this process or another, asks about a tool
   * call only once, and runs it once. Two runs must never share an id.
   */
  runId?: string;
  /** A Standard Schema that an input and an edit must pass, beside the tool's own `inputSchema`. */
  schema?: StandardSchema;
};

export type { Decision, NotRun, Told } from "@countersign/sdk/tool-call";

/**
 * Puts a person before a tool:
 * `tools: { refund: requireApproval(countersign, refund, ({ orderId }) => ({ summary: …, notify: … })) }`.
 */
export function requireApproval<GatedTool extends Tool>(
  countersign: Countersign,
  tool: GatedTool,
  describe: Describe<InferToolInput<GatedTool>>,
  { runId, schema }: RequireApprovalOptions = {},
): Tool<
  InferToolInput<GatedTool>,
  InferToolOutput<GatedTool> | Told<InferToolOutput<GatedTool>> | NotRun
> {
  type Input = InferToolInput<GatedTool>;
  type Output = InferToolOutput<GatedTool>;
  const { execute, toModelOutput } = tool;
  if (execute === undefined) {
    throw new TypeError("a tool without execute runs elsewhere, where it cannot be held back");
  }
  const validate = withSchema(validatorOf(tool), schema);
  const gated = async (input: Input, options: ToolExecutionOptions<unknown>) => {
    const { toolCallId, messages, abortSignal: signal } = options;
    // Some models restart the numbering of calls in each step.
    const idempotencyKey =
      runId === undefined
        ? undefined
        : await keyOf("ai-sdk", runId, String(messages.length), toolCallId);
    const payload = await shownInput(input, validate);
    const asked = { ...describe(input), payload };
    const request = await askAndWait(countersign, asked, { idempotencyKey, signal });
    if (request.status !== "APPROVED") {
      return { notRun: refusalText(request), countersignRequestId: request.id };
    }
    const allowed = await inputToRun(request, payload, validate);
    if ("notRun" in allowed) return allowed;
    const refused = await redeemForTool(countersign, request, signal);
    if (refused !== null) return refused;
    try {
      const output = await lastOf(await execute(allowed.input as never, options as never));
      return withDecision(output, request);
    } catch (error) {
      throw signal?.aborted === true ? error : failureWith(error, request);
    }
  };
  // Neither the output schema nor the SDK's own question fits the wrapped tool.
  const { outputSchema: _, needsApproval: __, ...rest } = tool;
  return { ...rest, execute: gated, toModelOutput: toldOutput(toModelOutput) } as unknown as Tool<
    Input,
    Output | Told<Output> | NotRun
  >;
}
