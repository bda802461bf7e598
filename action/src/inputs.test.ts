import assert from "node:assert/strict";
import { test } from "node:test";
import { readJob } from "./inputs.ts";

const least = {
  ...{
    INPUT_URL: "https://approvals.example.com",
    "INPUT_API-KEY": "cs_1",
    INPUT_SUMMARY: "Deploy",
  },
  ...{ "INPUT_TIMEOUT-MINUTES": "60", GITHUB_SERVER_URL: "https://github.com" },
  ...{ GITHUB_REPOSITORY: "o/r", GITHUB_RUN_ID: "1", GITHUB_JOB: "j", GITHUB_ACTION: "a" },
  GITHUB_RUN_ATTEMPT: "1",
};

test("several people are asked as the inputs say, and without them the question stays as it was", () => {
  const { question } = readJob({
    ...least,
    INPUT_QUORUM: "2",
    INPUT_THEN: '[{"notify": "cfo@example.com"}]',
    "INPUT_REQUESTED-BY": " eve@example.com ",
    INPUT_ESCALATE: '[{"afterMinutes": 30, "notify": "group:ops"}]',
  });
  const { quorum, then, requestedBy, escalate } = question;
  assert.deepEqual(
    [quorum, then, requestedBy, escalate],
    [
      2,
      [{ notify: "cfo@example.com" }],
      "eve@example.com",
      [{ afterMinutes: 30, notify: "group:ops" }],
    ],
  );
  const names = Object.keys(readJob({ ...least, INPUT_QUORUM: "", INPUT_THEN: "" }).question);
  const known = ["summary", "reasoning", "agentName", "metadata", "ttlMinutes"];
  assert.deepEqual(names, known);
});

test("channels are named one after the other, and go to the service as they were named", () => {
  const { question } = readJob({ ...least, INPUT_CHANNELS: "mail, slack_link" });
  assert.deepEqual(question.channels, ["mail", "slack_link"]);
});

test("the audience and whether approvers must sign go to the service as the inputs say", () => {
  const { question } = readJob({
    ...least,
    INPUT_AUDIENCE: "https://deploy.example.com, ledger",
    "INPUT_REQUIRE-SIGNATURE": "true",
  });
  assert.deepEqual(question.audience, ["https://deploy.example.com", "ledger"]);
  assert.equal(question.requireSignature, true);
  const lax = readJob({ ...least, "INPUT_REQUIRE-SIGNATURE": "false" });
  assert.equal(lax.question.requireSignature, false);
});

test("an input about people that can't be read is refused before anybody is asked", () => {
  for (const [input, problem] of [
    [{ INPUT_QUORUM: "two" }, /quorum must be a whole number/],
    [{ INPUT_QUORUM: "-1" }, /quorum must be a whole number/],
    [{ INPUT_THEN: "cfo@example.com" }, /then must be a list in JSON/],
    [{ INPUT_THEN: '{"notify": "a@b.c"}' }, /then must be a list in JSON/],
    [{ INPUT_ESCALATE: "[" }, /escalate must be a list in JSON/],
    [{ "INPUT_REQUIRE-SIGNATURE": "yes" }, /require-signature must be true or false/],
    [{ "INPUT_REQUIRE-SIGNATURE": "True" }, /require-signature must be true or false/],
  ] as const) {
    assert.throws(() => readJob({ ...least, ...input }), problem);
  }
});
