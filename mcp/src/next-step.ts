// The next step for a model, a sentence for each status. The most important rule is repeated where the model acts, not
// only in the description of a tool that it read long ago.

import type { ApprovalRequest } from "../../sdk/src/index.ts";

/** For every model that is connected, before it calls anything. */
export const instructions = `Countersign asks a person before you act. Before a sensitive or irreversible action, call request_approval, then await_decision until the status is no longer PENDING.
Only status APPROVED permits the action. Right before you act, call redeem_request: the first call gets effectivePayload, which the approver may have edited. Execute exactly that, once. If it says already_redeemed, do not act.
REJECTED means that a person said no: do not act, and do not ask again for the same thing. EXPIRED means that nobody decided in time: that is neither a yes nor a no. CANCELLED means that the agent or a member cancelled the request. No tool here can decide: only a person can.`;

export function nextStepOf(request: ApprovalRequest): string {
  switch (request.status) {
    case "PENDING":
      return `Still pending: ${undecided(request)}, so do not act. Call await_decision with requestId ${request.id} to go on waiting; each call waits up to 50 seconds, and people often take minutes or hours. Do not create another request for the same action. It expires at ${request.expiresAt}.`;
    case "APPROVED":
      return `${approvedHow(request)} Right before you act, call redeem_request with requestId ${request.id}. Act only if that succeeds, and execute exactly its effectivePayload, once.`;
    case "REJECTED":
      return "Rejected: a person said no. Do not act, and do not ask again for the same action, in other words or in smaller parts. Read resolutionNote for their reason, and tell the user who gave you the task.";
    case "EXPIRED":
      return "Expired: nobody decided in time. That is neither a yes nor a no, so do not act. If the action is still needed, you may ask once more, with a longer ttlMinutes; otherwise tell the user who gave you the task.";
    case "CANCELLED":
      return "Cancelled by the agent or a member. Do not act.";
    default:
      return request.status satisfies never;
  }
}

/** An approval by some of several people is none. */
function undecided({ approvals }: ApprovalRequest): string {
  const { stage = 1, revision, stages = [] } = approvals ?? {};
  const { required = 1, votes = [] } = stages[stage - 1] ?? {};
  if (approvals === undefined) return "nobody has decided yet";
  const counted = votes.filter((vote) => vote.verdict === "approve" && vote.revision === revision);
  return `${counted.length} of ${required} people have approved in stage ${stage} of ${stages.length}, which is no permission`;
}

/** After the one call that may act. */
export function redeemedStep(request: ApprovalRequest): string {
  return `${approvedHow(request)} It is yours to execute now: exactly effectivePayload, once${request.modifiedPayload === null ? "." : ", and not what you asked for."}`;
}

function approvedHow({ modifiedPayload }: ApprovalRequest): string {
  return modifiedPayload === null
    ? "Approved."
    : "Approved with changes: the approver edited the payload.";
}
