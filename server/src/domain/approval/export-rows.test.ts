import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonText } from "../shown/json-text.ts";
import { nothingElse } from "../shown/submitted-fields.ts";
import type { Approval } from "./approval.ts";
import { exportedFiles } from "./export-rows.ts";

const at = new Date("2026-03-01T12:00:00.000Z");
const pendingApproval: Approval = {
  id: "req_1",
  ...nothingElse,
  summary: "Refund",
  approver: { kind: "address", email: "ann@example.com" },
  createdAt: at,
  expiresAt: at,
  state: { kind: "PENDING" },
  voting: null,
};

/** Reads CSV by RFC 4180. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted = "", end] of text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/gs)) {
    row.push(quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

function csvOf(approval: Partial<Approval>): Record<string, string> {
  const { start, line } = exportedFiles.csv;
  const [names = [], values = []] = cellsOf(
    start.slice(1) + line({ ...pendingApproval, ...approval }),
  );
  assert.equal(names.length, values.length);
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}

test("no cell of a CSV file is a formula to a spreadsheet, whatever divides its cells", () => {
  for (const text of [
    "=1+1",
    "+1",
    "-1",
    "@sum",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "a;=1",
    "a;\t @b",
    "Refund\n=HYPERLINK(1)",
    "x\r@SUM(1)\r\n\n +1",
    "x;\"=cmd|'/C calc'!A0\";y",
    'x\n "" -1',
  ]) {
    const { summary = "", resolutionNote = "" } = csvOf({
      summary: text,
      state: { kind: "REJECTED", at, byEmail: "ann@example.com", note: text },
    });
    for (const cell of [summary, resolutionNote]) {
      for (const part of cell.split(/[;\t\r\n]/))
        assert.doesNotMatch(part, /^[\s"]*[=+\-@＝]/, text);
    }
  }
  const payload = '{"a":"x;=cmd|calc"}' as JsonText;
  const cell = csvOf({ payload }).payload ?? "";
  assert.doesNotMatch(cell, /;=/);
  assert.deepEqual(JSON.parse(cell), JSON.parse(payload));
  const tabbed = '{"a":[\n\t-5,\r\n\t-6]}' as JsonText;
  const flat = csvOf({ payload: tabbed }).payload ?? "";
  assert.doesNotMatch(flat, /[\t\r\n]/);
  assert.deepEqual(JSON.parse(flat), JSON.parse(tabbed));
});

test("texts, quotes and line breaks come back from a CSV file as they were", () => {
  const summary = 'Say "hi", then\r\nleave; 1-2 = -1 ✓';
  assert.equal(csvOf({ summary }).summary, summary);
  assert.ok(exportedFiles.csv.start.startsWith("\ufeff"));
});

test("a CSV file tells who decided what and when, with note and edit, and numbers to the last digit", () => {
  const payload = '{"n":9007199254740993,"b":1.0}' as JsonText;
  const edit = "12345678901234567890" as JsonText;
  const row = csvOf({
    payload,
    state: { kind: "APPROVED", at, byEmail: "bob@example.com", note: "Fine", edit },
  });
  assert.deepEqual(
    [row.status, row.resolvedByEmail, row.resolvedAt, row.resolutionNote, row.payload],
    ["APPROVED", "bob@example.com", at.toISOString(), "Fine", payload],
  );
  assert.equal(row.modifiedPayload, "'12345678901234567890");
});

test("each line of a JSON file is one request, exact to the last digit", () => {
  const payload = '{\n "n": 9007199254740993,\r\n "b": 1.0 }' as JsonText;
  const line = exportedFiles.jsonl.line({ ...pendingApproval, payload });
  assert.match(line, /^[^\r\n]*\n$/);
  assert.ok(line.includes('"n": 9007199254740993'));
  assert.equal(JSON.parse(line).id, "req_1");
});
