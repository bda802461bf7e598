// How an approval looks on the wire. Opaque JSON is spliced in as the text it came as: parsing and
// writing it again would round numbers and reorder keys, and cost more.

import type { ApprovalRequest, ApprovalRequestList } from "../../../sdk/src/contract.ts";
import { type Approval, editOf, effectivePayload } from "../domain/approval.ts";
import { type JsonText, toJsonText } from "../domain/json-text.ts";

/** Each field of the contract, as JSON text: the compiler holds us to all of them. */
type Fields<Shape> = { [Name in keyof Shape]: JsonText };

const jsonNull = toJsonText(null);

export function representApproval(approval: Approval): string {
  const { approver, state } = approval;
  const isDecision = state.kind === "APPROVED" || state.kind === "REJECTED";
  return joined({
    id: toJsonText(approval.id),
    object: toJsonText("approval_request"),
    status: toJsonText(state.kind),
    summary: toJsonText(approval.summary),
    payload: approval.payload ?? jsonNull,
    modifiedPayload: editOf(state) ?? jsonNull,
    effectivePayload: effectivePayload(approval) ?? jsonNull,
    metadata: approval.metadata ?? jsonNull,
    agentState: approval.agentState ?? jsonNull,
    reasoning: toJsonText(approval.reasoning),
    recentActions: toJsonText(approval.recentActions),
    agentName: toJsonText(approval.agentName),
    approverEmail: toJsonText(approver.kind === "address" ? approver.email : null),
    approverGroup:
      approver.kind === "group"
        ? (JSON.stringify({ key: approver.key, name: approver.name }) as JsonText)
        : jsonNull,
    resolvedAt: toJsonText(state.kind === "PENDING" ? null : state.at.toISOString()),
    resolvedByEmail: toJsonText(isDecision ? state.byEmail : null),
    resolutionNote: toJsonText(isDecision ? state.note : null),
    expiresAt: toJsonText(approval.expiresAt.toISOString()),
    createdAt: toJsonText(approval.createdAt.toISOString()),
  } satisfies Fields<ApprovalRequest>);
}

export function representList(approvals: Approval[], nextCursor: string | null): string {
  return joined({
    data: `[${approvals.map(representApproval).join(",")}]` as JsonText,
    hasMore: JSON.stringify(nextCursor !== null) as JsonText,
    nextCursor: toJsonText(nextCursor),
  } satisfies Fields<ApprovalRequestList>);
}

/**
 * An approval changes once, when it leaves PENDING, so its status is all that tells two versions of it
 * apart. The number changes when this file begins to write other fields.
 */
export function entityTag(approval: Approval): string {
  return `"1-${approval.state.kind.toLowerCase()}"`;
}

function joined(fields: Record<string, JsonText>): string {
  let members = "";
  for (const name in fields) members += `${members === "" ? "" : ","}"${name}":${fields[name]}`;
  return `{${members}}`;
}
