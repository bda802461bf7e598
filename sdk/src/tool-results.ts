// What a model and a program are told about a tool call: the outcome when the tool did not run; and, when it ran, what the
// approver changed and their note. Programs get the tool's own result, with one key more where there is something to tell.

import type { ApprovalRequest } from "./contract.ts";

/** Whether the executable payload differs from the requested one. */
export function isEdited({
  payload,
  effectivePayload,
}: Pick<ApprovalRequest, "payload" | "effectivePayload">): boolean {
  return JSON.stringify(effectivePayload) !== JSON.stringify(payload);
}

/** The tool's output when it did not run. The id tells it from a tool's own answer, stored or not. */
export type NotRun = { notRun: string; countersignRequestId: string };

export function isNotRun(output: unknown): output is NotRun {
  return (
    typeof output === "object" &&
    output !== null &&
    "notRun" in output &&
    typeof output.notRun === "string" &&
    "countersignRequestId" in output
  );
}

/** The decision, beside a tool's own result. There only if the approver changed the input or left a note. */
export type Decision = {
  requestId: string;
  /** For the model. */
  told: string;
  /** The input that ran, if the approver changed it. */
  ranWith?: unknown;
  note?: string;
};

/** A tool's result with the decision: an object has one key more, and anything else is its `output`. */
export type Told<Output> =
  | (Output & { countersign: Decision })
  | { output: Output; countersign: Decision };

type Approved = Pick<ApprovalRequest, "id" | "payload" | "effectivePayload" | "resolutionNote">;

/** Null if the tool ran as the model asked and the approver said nothing. */
export function decisionOf(request: Approved): Decision | null {
  const { id: requestId, effectivePayload, resolutionNote: note } = request;
  const wasEdited = isEdited(request);
  if (!wasEdited && note === null) return null;
  const ran = wasEdited
    ? `A person changed the input of this call before they approved it (${requestId}). Its input is this, and not yours: ${JSON.stringify(effectivePayload)}\nGo on from this input.`
    : approvedText(requestId);
  return {
    requestId,
    told: note === null ? ran : `${ran}\nTheir note, as a JSON string: ${JSON.stringify(note)}`,
    ...(wasEdited ? { ranWith: effectivePayload } : {}),
    ...(note === null ? {} : { note }),
  };
}

/**
 * The result with the decision beside it. A tool's own result that looks like one of these is wrapped in any case, so
 * that no tool can speak for an approver, also not after the messages were stored.
 */
export function withDecision<Output>(output: Output, request: Approved): Output | Told<Output> {
  const imitates = isNotRun(output) || isTold(output);
  const countersign = decisionOf(request) ?? (imitates ? plainDecisionOf(request) : null);
  if (countersign === null) return output;
  return isPlainObject(output) && !imitates && !("countersign" in output) && !("output" in output)
    ? { ...output, countersign }
    : { output: output ?? (null as Output), countersign };
}

function plainDecisionOf({ id }: Approved): Decision {
  return { requestId: id, told: approvedText(id) };
}

function approvedText(id: string): string {
  return `A person approved this call as it was (${id}).`;
}

/** The tool's own result, and what is to be told with it. Also works for results that were stored in between. */
export function separate(result: unknown): { output: unknown; told: string | null } {
  if (!isTold(result)) return { output: result, told: null };
  const { countersign, ...rest } = result;
  return { output: "output" in rest ? rest.output : rest, told: countersign.told };
}

/** One text for the model. */
export function tellWith(told: string, result: string): string {
  return `${told}\n\nResult of the tool:\n${result}`;
}

/** What a failed tool throws: the decision, too, where there is something to tell. Nobody knows how far it got. */
export function failureWith(error: unknown, request: Approved): unknown {
  const decision = decisionOf(request);
  if (decision === null) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`${decision.told}\n\nThe tool failed:\n${message}`, { cause: error });
}

function isTold(result: unknown): result is { countersign: Decision } {
  if (typeof result !== "object" || result === null || !("countersign" in result)) return false;
  const { countersign } = result;
  return isPlainObject(countersign) && typeof countersign.told === "string";
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** For the model, when the tool did not run. */
export function refusalText(
  request: Pick<ApprovalRequest, "id" | "status" | "expiresAt" | "resolutionNote">,
): string {
  const { id, status, expiresAt, resolutionNote } = request;
  switch (status) {
    case "REJECTED":
      return `A person rejected this action (${id})${resolutionNote === null ? "." : `, with this note, as a JSON string: ${JSON.stringify(resolutionNote)}`}\nIt was not carried out. Do not call this tool again for the same purpose.`;
    case "EXPIRED":
      return `Nobody decided about this action (${id}) before ${expiresAt}. It was not carried out. This is not a rejection, but do not call the tool again by yourself: say that the approval is missing.`;
    case "CANCELLED":
      return `The request to approve this action (${id}) was cancelled. It was not carried out. Do not call this tool again for the same purpose.`;
    default:
      throw new Error(`there is nothing to refuse: ${id} is ${status}`);
  }
}

/** For the model, when its input is one that nobody is asked about. */
export function unfitText(problem: string): string {
  return `This input is one that the tool cannot take: ${problem}\nSo nobody is asked to approve it, and it was not carried out. Call the tool again only with an input that fits.`;
}

/** For the model, when a tool is called past Countersign. */
export const unapprovedText =
  "Countersign holds no approval of this action. It was not carried out.";

/** For the model, when something was approved that the tool cannot take. */
export function unusableText(
  request: Pick<ApprovalRequest, "id" | "payload" | "effectivePayload">,
  reason: string,
): string {
  return isEdited(request)
    ? `This action was approved with changes (${request.id}) that the tool cannot take: ${reason}\nIt was not carried out. Do not call the tool again with the unchanged input.`
    : `This action was approved as it was (${request.id}), but its input is one that the tool cannot take: ${reason}\nIt was not carried out.`;
}
