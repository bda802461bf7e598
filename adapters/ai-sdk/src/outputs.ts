// What a tool of the AI SDK gives its model: its own result, the decision beside it, or why it did not run.

import { isNotRun, separate, tellWith } from "@countersign/sdk/tool-call";
import type { Tool } from "ai";

type ToModelOutput = NonNullable<Tool["toModelOutput"]>;
type ModelOutput = Awaited<ReturnType<ToModelOutput>>;

/** A tool's own `toModelOutput` reads the tool's own results, and nothing else. */
export function toldOutput(own: ToModelOutput = plainOutput): ToModelOutput {
  return async (result) => {
    if (isNotRun(result.output)) return { type: "execution-denied", reason: result.output.notRun };
    const { output, told } = separate(result.output);
    const shown = await own({ ...result, output });
    return told === null ? shown : withTold(shown, told);
  };
}

/** As the SDK does it for a tool that says nothing else. */
function plainOutput({ output }: { output: unknown }): ModelOutput {
  return typeof output === "string"
    ? { type: "text", value: output }
    : { type: "json", value: (output ?? null) as never };
}

function withTold(own: ModelOutput, told: string): ModelOutput {
  switch (own.type) {
    case "text":
      return { ...own, value: tellWith(told, own.value) };
    case "json":
      return { type: "text", value: tellWith(told, JSON.stringify(own.value)) };
    case "content":
      return { ...own, value: [{ type: "text", text: told }, ...own.value] };
    default:
      return own;
  }
}

/** A tool that reports progress has its last report as its output; a decision has no progress to report. */
export async function lastOf<Output>(
  output: AsyncIterable<Output> | Output,
): Promise<Output | undefined> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) {
    return output as Output;
  }
  let last: Output | undefined;
  for await (const each of output) last = each;
  return last;
}
