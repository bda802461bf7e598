import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonText } from "../../domain/shown/json-text.ts";
import { voteLines } from "./request-votes.ts";

const vote = (email: string, more: object = {}) => ({
  ...{ email, verdict: "approve", revision: 2, at: "2026-11-16T12:00:00.000Z", note: null },
  ...{ via: "link", for: null, ...more },
});

test("a request for one person has no lines about votes", () => {
  assert.deepEqual(voteLines(null), []);
});

test("each stage says how many approved the text as it is now, and each vote whether it counts", () => {
  const voting = {
    stage: 1,
    revision: 2,
    stages: [
      {
        notify: "group:finance",
        required: 2,
        votes: [
          vote("ann@x.example", { revision: 1, note: 'two\nlines\u202e "x"' }),
          vote("ben@x.example", { for: "cat@x.example" }),
        ],
      },
      {
        notify: "cfo@x.example",
        required: 1,
        votes: [vote("cfo@x.example", { verdict: "reject" })],
      },
    ],
  };
  const lines = voteLines(JSON.stringify(voting) as JsonText);
  assert.match(lines[0] ?? "", /^ {2}stage 1\* {4}group:finance: 1 of 2 approved$/);
  assert.match(
    lines[1] ?? "",
    /approve ann@x\.example \(revision 1, no longer counts\) "two\\nlines/,
  );
  assert.match(lines[2] ?? "", /approve ben@x\.example for cat@x\.example \(revision 2\)$/);
  assert.match(lines[3] ?? "", /^ {2}stage 2 {5}cfo@x\.example: 0 of 1 approved$/);
  assert.match(lines[4] ?? "", /reject cfo@x\.example \(revision 2\)$/);
  assert.doesNotMatch(lines.join(""), /[\n\u202e]/);
});
