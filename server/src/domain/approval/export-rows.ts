// A request as a line of a file: as CSV for people and their spreadsheets, and as JSON Lines for programs.

import type { ApprovalRequest } from "../../../../sdk/src/contract.ts";
import { type JsonText, toJsonText } from "../shown/json-text.ts";
import { type Approval, editOf } from "./approval.ts";
import { approvalFields, type JsonFields, joinFields } from "./approval-json.ts";

export const exportFormats = ["csv", "jsonl"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export type ExportedFile = {
  type: string;
  /** The text before the first request. */
  start: string;
  line: (approval: Approval) => string;
};

export const exportedFiles: Record<ExportFormat, ExportedFile> = {
  csv: {
    type: "text/csv; charset=utf-8; header=present",
    // Excel takes a file for UTF-8 only if it begins so.
    start: `\ufeff${csvLine(csvColumns().map(([name]) => name))}`,
    line: (approval) => csvLine(csvColumns().map(([, cellOf]) => cellOf(approval))),
  },
  jsonl: {
    type: "application/jsonl; charset=utf-8",
    start: "",
    line: (approval) => `${jsonOf(approval)}\n`,
  },
};

/** What the API answers for the request, on one line. Between the parts of JSON a line break means no more than a space. */
function jsonOf(approval: Approval): string {
  return joinFields({
    id: toJsonText(approval.id),
    object: toJsonText("approval_request"),
    ...approvalFields(approval),
    createdAt: toJsonText(approval.createdAt.toISOString()),
  } satisfies JsonFields<ApprovalRequest>).replaceAll(/[\r\n]/g, " ");
}

type Cell = (approval: Approval) => string;

/** Named as in the API. A function, because the table above is made of it when the module is read. */
function csvColumns(): [name: string, cell: Cell][] {
  return [
    ["id", ({ id }) => id],
    ["status", ({ state }) => state.kind],
    ["summary", ({ summary }) => textCell(summary)],
    ["agentName", ({ agentName }) => textCell(agentName)],
    [
      "approverEmail",
      ({ approver }) => textCell(approver.kind === "address" ? approver.email : null),
    ],
    ["approverGroup", ({ approver }) => (approver.kind === "group" ? approver.key : "")],
    ["createdAt", ({ createdAt }) => createdAt.toISOString()],
    ["expiresAt", ({ expiresAt }) => expiresAt.toISOString()],
    ["resolvedAt", ({ state }) => ("at" in state ? state.at.toISOString() : "")],
    ["resolvedByEmail", ({ state }) => textCell("byEmail" in state ? state.byEmail : null)],
    ["resolutionNote", ({ state }) => textCell("note" in state ? state.note : null)],
    ["payload", ({ payload }) => jsonCell(payload)],
    ["modifiedPayload", ({ state }) => jsonCell(editOf(state))],
    ["metadata", ({ metadata }) => jsonCell(metadata)],
  ];
}

/** RFC 4180. Every cell is quoted. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\r\n`;
}

/**
 * Spreadsheets take such a start for a formula; where they divide at semicolons or tabs, also one after those; and after
 * a line break, when somebody pastes the cell or a program splits the file at lines. The quotes of a cell that is divided
 * fall away.
 */
const formulaStart = /^[\t\r\n]|(?<=^|[;\t\r\n][\s"]*)[=+\-@＝＋－＠]/g;

/** An apostrophe makes text of a formula, and spreadsheets and people know it as that. */
export function textCell(text: string | null): string {
  return (text ?? "").replaceAll(formulaStart, "'$&");
}

/**
 * After a semicolon such a sign is inside a string, where an escape means the same. Between the parts of JSON a tab or a
 * line break means no more than a space.
 */
export function jsonCell(json: JsonText | null): string {
  if (json === null) return "";
  const onOneLine = json.replaceAll(/[\t\r\n]/g, " ");
  const escaped = onOneLine.replaceAll(/(?<=;\s*)[=+\-@＝＋－＠]/g, toEscape);
  return /^[-0-9\s]/.test(escaped) ? `'${escaped}` : escaped;
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
