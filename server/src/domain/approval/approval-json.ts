// An approval as JSON text, field by field. Opaque JSON is spliced in as the text it came as: parsing and
// writing it again would round numbers and reorder keys, and cost more.

import { type JsonText, toJsonText } from "../shown/json-text.ts";
import { type AdditionName, additions } from "../shown/submitted-fields.ts";
import { type Approval, editOf, effectivePayload } from "./approval.ts";

/** Each field of a shape, as JSON text. The compiler holds every user of the type to all of them. */
export type JsonFields<Shape> = { [Name in keyof Shape]: JsonText };

const jsonNull = toJsonText(null);

/** The fields that answers and webhooks have in common, in the contract's order. */
export function approvalFields(approval: Approval) {
  const { approver, state } = approval;
  const isDecision = state.kind === "APPROVED" || state.kind === "REJECTED";
  return {
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
      approver.kind === "group" ? toJsonText({ key: approver.key, name: approver.name }) : jsonNull,
    resolvedAt: toJsonText(state.kind === "PENDING" ? null : state.at.toISOString()),
    resolvedByEmail: toJsonText(isDecision ? state.byEmail : null),
    resolutionNote: toJsonText(isDecision ? state.note : null),
    expiresAt: toJsonText(approval.expiresAt.toISOString()),
    ...additionFields(approval),
    ...votingField(approval),
  };
}

function votingField({ voting }: Approval): { approvals?: JsonText } {
  return voting === null ? {} : { approvals: voting };
}

/** Only given additions: a request without any is answered as it always was. */
function additionFields(approval: Approval): { [Name in AdditionName]?: JsonText } {
  const fields: Record<string, JsonText> = {};
  for (const { name, kind } of additions) {
    const value = approval[name];
    if (value === null || (Array.isArray(value) && value.length === 0)) continue;
    fields[name] = kind === "json" ? (value as JsonText) : toJsonText(value);
  }
  return fields;
}

export function joinFields(fields: Record<string, JsonText>): JsonText {
  let members = "";
  for (const name in fields) members += `${members === "" ? "" : ","}"${name}":${fields[name]}`;
  return `{${members}}` as JsonText;
}
