// Vercel AI SDK: a tool that a person must approve. Its `execute` runs only with the input as the approver left it.
// Otherwise the model gets the outcome as the tool's result, so that the run continues.

import type { Countersign } from "@countersign/sdk";
import {
  askAndWait,
  type Describe,
  inputToRun,
  isNotRun,
  keyOf,
  type NotRun,
  refusalText,
  shownInput,
  type Validate,
} from "@countersign/sdk/tool-call";
import {
  asSchema,
  type InferToolInput,
  type InferToolOutput,
  type Tool,
  type ToolExecutionOptions,
} from "ai";

export type RequireApprovalOptions = {
  /**
   * Names the run of the tool. A step that is repeated under the same id, in this process or another, asks about a tool
   * call only once. Two runs must never share an id.
   */
  runId?: string;
};

export type { NotRun } from "@countersign/sdk/tool-call";

/**
 * Puts a person before a tool:
 * `tools: { refund: requireApproval(countersign, refund, ({ orderId }) => ({ summary: …, notify: … })) }`.
 */
export function requireApproval<GatedTool extends Tool>(
  countersign: Countersign,
  tool: GatedTool,
  describe: Describe<InferToolInput<GatedTool>>,
  { runId }: RequireApprovalOptions = {},
): Tool<InferToolInput<GatedTool>, InferToolOutput<GatedTool> | NotRun> {
  type Input = InferToolInput<GatedTool>;
  const { execute, toModelOutput } = tool;
  if (execute === undefined) {
    throw new TypeError("a tool without execute runs elsewhere, where it cannot be held back");
  }
  const validate = validatorOf(tool);
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
    return lastOf(await execute(allowed.input as never, options as never));
  };
  const outputOf: Tool["toModelOutput"] = (result) => {
    const { output } = result;
    if (isNotRun(output)) return { type: "execution-denied", reason: output.notRun };
    if (toModelOutput !== undefined) return toModelOutput(result);
    return typeof output === "string"
      ? { type: "text", value: output }
      : { type: "json", value: output ?? null };
  };
  // Neither the output schema nor the SDK's own question fits the wrapped tool.
  const { outputSchema: _, needsApproval: __, ...rest } = tool;
  return { ...rest, execute: gated, toModelOutput: outputOf } as unknown as Tool<
    Input,
    InferToolOutput<GatedTool> | NotRun
  >;
}

/** An edit comes from outside, like the model's own input, and is checked against the same schema. */
function validatorOf({ inputSchema }: Tool): Validate {
  const { validate } = asSchema(inputSchema);
  return async (input) => {
    if (validate === undefined) return { value: input };
    const checked = await validate(input);
    return checked.success ? { value: checked.value } : { problem: checked.error.message };
  };
}

/** A tool that reports progress has its last report as its output; a decision has no progress to report. */
async function lastOf<Output>(output: AsyncIterable<Output> | Output): Promise<Output | undefined> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) {
    return output as Output;
  }
  let last: Output | undefined;
  for await (const each of output) last = each;
  return last;
}
