import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReviewVoting } from "../../../../server/src/wire/review-contract.ts";
import { isRecorded } from "./recorded.ts";

const asked: ReviewVoting = {
  stage: 1,
  revision: 1,
  stages: [],
  you: { kind: "asked", for: null },
  outdatedVote: null,
  isStuck: false,
  handOver: "workspace",
};

test("a vote whose answer was lost is known by what the service says later, also once it is outdated", () => {
  assert.equal(isRecorded(asked, asked), false);
  assert.equal(isRecorded(undefined, undefined), false);
  const voted: ReviewVoting = {
    ...asked,
    you: { kind: "voted", at: "2026-11-16T12:00:00.000Z", verdict: "approve", for: null },
  };
  assert.equal(isRecorded(asked, voted), true);
  const outdated = { ...asked, outdatedVote: { revision: 1, at: "2026-11-16T12:00:00.000Z" } };
  assert.equal(isRecorded(asked, outdated), true);
  assert.equal(isRecorded(outdated, outdated), false, "an older vote, which was outdated before");
});
