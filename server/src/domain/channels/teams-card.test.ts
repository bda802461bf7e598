import assert from "node:assert/strict";
import { test } from "node:test";
import { type TeamsRequest, teamsMessageBytesMax, teamsMessageOf } from "./teams-card.ts";

const request: TeamsRequest = {
  id: "req_1",
  workspaceName: "Acme",
  groupName: "Finance",
  summary: "Pay 40,000\nto Müller",
  agentName: null,
  expiresAt: new Date("2026-11-16T16:11:30Z"),
  outcome: null,
};

function wordsOf(changes: Partial<TeamsRequest>): string {
  const texts: string[] = [];
  JSON.stringify(teamsMessageOf({ ...request, ...changes }, "https://a.example"), (name, value) => {
    if (name === "text") texts.push(value);
    return value;
  });
  return texts.join("|");
}

test("a card says what is asked, of whom and until when", () => {
  assert.equal(
    wordsOf({}),
    "Approval needed|The agent wrote|Pay 40,000|to Müller|Workspace: |Acme|Asked: |Finance|Expires: |Monday, 16 November 2026, 16:11 UTC",
  );
});

test("the last card says how it ended, and by whom", () => {
  const byEmail = "ann@example.com";
  const by = "|Decided by: |ann[@]example[.]com";
  const ended = (outcome: TeamsRequest["outcome"]) => wordsOf({ outcome });
  assert.ok(ended({ status: "APPROVED", byEmail, isEdited: false }).startsWith("Approved|"));
  assert.ok(
    ended({ status: "APPROVED", byEmail, isEdited: true }).startsWith("Approved with changes|"),
  );
  assert.ok(ended({ status: "REJECTED", byEmail, isEdited: false }).endsWith(by));
  assert.ok(ended({ status: "EXPIRED" }).startsWith("Expired without a decision|"));
  assert.ok(!ended({ status: "CANCELLED" }).includes("Expires"));
});

test("the worst words still fit into what Teams takes, and say that there is more", () => {
  for (const worst of [
    "\u202E\u200B",
    "😀",
    "\u0000\u0001",
    "a.b@c.de ",
    "\n",
    "a\n",
    '"\\',
    "\u{E0001}\uFFFC",
  ]) {
    const long = worst.repeat(500);
    const message = teamsMessageOf(
      { ...request, summary: long, agentName: long, workspaceName: long, groupName: long },
      "https://a.example",
    );
    const bytes = Buffer.byteLength(JSON.stringify(message));
    assert.ok(bytes <= teamsMessageBytesMax, `${JSON.stringify(worst)}: ${bytes} bytes`);
    assert.ok(JSON.stringify(message).isWellFormed());
  }
  assert.match(wordsOf({ summary: "\u202E\u200B".repeat(250) }), /… \(more in the inbox\)/);
});
