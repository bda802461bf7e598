// Redeems an approval right before its tool runs, so that it runs at most once: whichever process asks, and however
// often a step, a run or a webhook is repeated.

import type { Countersign } from "./client.ts";
import type { ApprovalRequest } from "./contract.ts";
import { checkPayload, type StandardSchema } from "./standard-schema.ts";
import { type NotRun, unusableText } from "./tool-results.ts";

type Payloads = Pick<ApprovalRequest, "id" | "payload" | "effectivePayload">;

/**
 * For a tool that runs inside its run: null once it may run. Otherwise the model hears why it did not, also when another
 * call has redeemed it: this run goes on, and must not believe that the tool failed.
 */
export async function redeemForTool(
  countersign: Countersign,
  request: Payloads,
  signal: AbortSignal | undefined,
): Promise<NotRun | null> {
  try {
    const problem = await redeemForRun(countersign, request, signal);
    return problem === null ? null : { notRun: problem, countersignRequestId: request.id };
  } catch (error) {
    if (codeOf(error) !== "already_redeemed") throw error;
    return { notRun: redeemedText(request.id, error), countersignRequestId: request.id };
  }
}

/**
 * For a run that continues: null once its call may run, or why it can't. Throws if another call has redeemed it, because
 * that one continues the run.
 */
export async function redeemForRun(
  { requests }: Countersign,
  request: Payloads,
  signal?: AbortSignal | undefined,
): Promise<string | null> {
  try {
    await requests.redeem(request.id, signal === undefined ? {} : { signal });
    return null;
  } catch (error) {
    if (codeOf(error) !== "inexact_payload") throw error;
    return unusableText(request, (error as Error).message);
  }
}

/** For the model, when somebody else may run the tool, or has run it. */
function redeemedText(id: string, error: unknown): string {
  const { redeemedAt, redeemedBy } = error as { redeemedAt: string; redeemedBy: { name: string } };
  return `A person approved this action (${id}), and it was handed out to run at ${redeemedAt} with the API key ${JSON.stringify(redeemedBy.name)}. This call did not run it again. It was probably carried out there, but its result is not known here. Do not call this tool again for the same purpose: check whether it took effect, or say that you cannot tell.`;
}

/** A tool's own schema: returns the parsed input, or what is wrong with it. */
export type Validate = (input: unknown) => Promise<{ value: unknown } | { problem: string }>;

/** A Standard Schema for each tool, by its name. */
export type Schemas = Readonly<Record<string, StandardSchema>>;

/** A model writes the names of tools, and may write "constructor". */
export function schemaOf(schemas: Schemas, toolName: string): StandardSchema | undefined {
  return Object.hasOwn(schemas, toolName) ? schemas[toolName] : undefined;
}

/** The check of a Standard Schema, beside the tool's own. */
export function withSchema(validate: Validate, schema: StandardSchema | undefined): Validate {
  if (schema === undefined) return validate;
  return async (input) => {
    const checked = await checkPayload(schema, input);
    return "problem" in checked ? checked : validate(input);
  };
}

/** Null if the schema takes the input and leaves it as it is, or if there is none. */
export async function problemWith(
  schema: StandardSchema | undefined,
  input: unknown,
): Promise<string | null> {
  if (schema === undefined) return null;
  const checked = await checkPayload(schema, input);
  return "problem" in checked ? checked.problem : null;
}

/** By its code, because an application may have more than one copy of the SDK. */
function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
