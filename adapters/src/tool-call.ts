// What all adapters share: asking a person about one call of a tool, which input it may then run with, and what the
// model is told when it may not run at all.

import type { ApprovalRequest, Countersign, CreateRequest, DecidedRequest } from "@countersign/sdk";

/** What the approver is told besides the payload, which is the tool's input. */
export type Describe<Input> = (input: Input) => Omit<CreateRequest, "payload">;

export type AskOptions = {
  /** Only for a call that will be made again with the same key; without one, an abort withdraws the request. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
};

/** Asks about one call and waits for the decision. */
export async function askAndWait(
  countersign: Countersign,
  input: CreateRequest,
  { idempotencyKey, signal }: AskOptions,
): Promise<DecidedRequest> {
  const stop = signal === undefined ? {} : { signal };
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  const { id } = await countersign.requests.create(input, { ...key, ...stop });
  try {
    return await countersign.requests.waitForDecision(id, stop);
  } catch (error) {
    // Nobody will come back for this decision, so nobody should be bothered with it any longer. Whether that works
    // does not matter: an approval that nobody waits for runs nothing.
    const isAbandoned = signal?.aborted === true && idempotencyKey === undefined;
    if (isAbandoned) await countersign.requests.cancel(id).catch(() => {});
    throw error;
  }
}

/**
 * A key for a call that may be made again. The run's id is part of it because some models number their calls anew in
 * each run, and the approval of one run must never serve another.
 */
export async function keyOf(...parts: [framework: string, ...string[]]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${parts[0]}-${hex}`;
}

/** Whether what may be executed is something else than what was asked for. */
export function isEdited({
  payload,
  effectivePayload,
}: Pick<ApprovalRequest, "payload" | "effectivePayload">): boolean {
  return JSON.stringify(effectivePayload) !== JSON.stringify(payload);
}

/**
 * Which of several decided requests was decided last. Each decision sends a webhook, and only the last one may go on
 * with what waits for all of them, or it would go on once for each.
 */
export function lastDecided(requests: ApprovalRequest[]): string | undefined {
  const stamp = ({ resolvedAt, expiresAt, id }: ApprovalRequest) =>
    `${resolvedAt ?? expiresAt} ${id}`;
  return requests.toSorted((one, other) => (stamp(one) < stamp(other) ? 1 : -1))[0]?.id;
}

/** What the service takes. */
const agentStateBytesMax = 262_144;

/** Says what to do about a state that the service would refuse. */
export function refuseLargeState(agentState: object): void {
  const bytes = new TextEncoder().encode(JSON.stringify(agentState)).length;
  if (bytes <= agentStateBytesMax) return;
  throw new RangeError(
    `the state of this run has ${bytes} bytes, and agentState takes ${agentStateBytesMax}: give the agent less history, or keep the run in a store of your own and ask with its key as agentState`,
  );
}

/** For the model, when the tool did not run. */
export function refusalText(
  request: Pick<ApprovalRequest, "id" | "status" | "expiresAt" | "resolutionNote">,
): string {
  const { id, status, expiresAt, resolutionNote } = request;
  switch (status) {
    case "REJECTED":
      return `A person rejected this action (${id})${resolutionNote === null ? "." : `: ${resolutionNote}`}\nIt was not carried out. Do not call this tool again for the same purpose.`;
    case "EXPIRED":
      return `Nobody decided about this action (${id}) before ${expiresAt}. It was not carried out. This is not a rejection, but do not call the tool again by yourself: say that the approval is missing.`;
    case "CANCELLED":
      return `The request to approve this action (${id}) was withdrawn. It was not carried out. Do not call this tool again for the same purpose.`;
    default:
      throw new Error(`there is nothing to refuse: ${id} is ${status}`);
  }
}

/** For the model, when an edit was approved that the tool cannot take. */
export function unusableText(id: string, reason: string): string {
  return `This action was approved with changes (${id}) that the tool cannot take: ${reason}\nIt was not carried out. Do not call the tool again with the unchanged input.`;
}
