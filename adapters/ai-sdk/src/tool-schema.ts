// The own schema of a tool of the AI SDK, as a check.

import type { Validate } from "@countersign/sdk/tool-call";
import { asSchema, type Tool } from "ai";

/** An edit comes from outside, like the model's own input, and is checked against the same schema. */
export function validatorOf({ inputSchema }: Pick<Tool, "inputSchema">): Validate {
  const { validate } = asSchema(inputSchema);
  return async (input) => {
    if (validate === undefined) return { value: input };
    const checked = await validate(input);
    return checked.success ? { value: checked.value } : { problem: checked.error.message };
  };
}
