import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  RequestVoting,
  VotingStage,
} from "../../../../../server/src/wire/dashboard-voting.ts";
import { awaitedWords, progressWords, ruleWords, troubleWords } from "./voting-words.ts";

const at = "2026-11-18T08:00:00.000Z";
const approve = (email: string, forEmail: string | null = null) =>
  ({ email, for: forEmail, verdict: "approve", at }) as const;

function stage(changes: Partial<VotingStage>): VotingStage {
  return {
    ...{ name: "Finance", isGroup: true, required: 2, state: "complete" },
    ...{ votes: [], awaited: [], steps: [] },
    ...changes,
  };
}

const cfo = (changes: Partial<VotingStage> = {}) =>
  stage({ name: "cfo@x.example", isGroup: false, required: 1, ...changes });

function voting(stages: VotingStage[], changes: Partial<RequestVoting> = {}): RequestVoting {
  return {
    ...{ stage: stages.length, revision: 1, stages, change: null },
    ...{ approverLimit: "anybody", stuckAt: null, unreachableAt: null },
    ...changes,
  };
}

const both = [approve("ann@x.example"), approve("cy@x.example")];

test("the receipt says how many of whom approved, who came then, and who could be asked", () => {
  const stages = [stage({ votes: both }), cfo({ votes: [approve("cfo@x.example")] })];
  assert.equal(
    ruleWords({ status: "APPROVED", voting: voting(stages, { approverLimit: "members" }) }),
    "Approved by 2 of 2 of Finance, then cfo@x.example; approvers limited to members",
  );
});

test("where one person decided, the receipt still says who could be asked", () => {
  assert.equal(
    ruleWords({ status: "APPROVED", approverLimit: "domains" }),
    "Approvers limited to listed domains",
  );
  assert.equal(ruleWords({ status: "APPROVED" }), "");
});

test("the receipt says which revision was approved, and who changed it", () => {
  const change = { revision: 2, payload: "{}", byEmail: "bob@x.example", at };
  assert.equal(
    ruleWords({ status: "APPROVED", voting: voting([stage({ votes: both })], { change }) }),
    "Approved by 2 of 2 of Finance; revision 2, changed by bob@x.example",
  );
});

test("the receipt names a delegate, and never says of somebody else that they approved", () => {
  const byDelegate = cfo({ votes: [approve("dan@x.example", "cfo@x.example")] });
  assert.equal(
    ruleWords({ status: "APPROVED", voting: voting([byDelegate]) }),
    "Approved by dan@x.example for cfo@x.example",
  );
  const step = { afterMinutes: 30, dueAt: at, doneAt: at };
  const escalated = cfo({
    votes: [approve("eve@x.example")],
    steps: [
      { name: "eve@x.example", outcome: "asked", ...step },
      { name: "Board", outcome: "moot", ...step },
    ],
  });
  assert.equal(
    ruleWords({ status: "APPROVED", voting: voting([escalated]) }),
    "Approved by 1 of 1 of cfo@x.example or eve@x.example",
  );
});

test("a request that ended otherwise says how far it came", () => {
  const stages = [stage({ votes: both.slice(0, 1), state: "open" }), cfo({ state: "later" })];
  const open = voting(stages, { stage: 1 });
  assert.equal(
    ruleWords({ status: "EXPIRED", voting: open }),
    "Approved by then: 1 of 2 of Finance",
  );
  assert.equal(
    ruleWords({ status: "REJECTED", voting: open }),
    "One rejection ends a request, in any stage",
  );
  assert.equal(ruleWords({ status: "PENDING", voting: open }), "");
  assert.equal(ruleWords({ status: "APPROVED" }), "");
});

test("a pending request says what it waits for", () => {
  const one = stage({ votes: both.slice(0, 1), state: "open" });
  assert.equal(awaitedWords(voting([one])), "1 more approval of Finance");
  assert.equal(awaitedWords(voting([stage({ state: "open" })])), "2 approvals of Finance");
  assert.equal(awaitedWords(voting([cfo({ state: "open" })])), "the approval of cfo@x.example");
  const boss = { name: "boss@x.example", afterMinutes: 30, dueAt: at, doneAt: at };
  const steps = [{ ...boss, outcome: "asked" as const }];
  assert.equal(
    awaitedWords(voting([cfo({ state: "open", steps })])),
    "the approval of cfo@x.example or boss@x.example",
    "who was asked, too, can give it as well",
  );
});

test("a row of the list counts approvals, and stages where there are several", () => {
  const votes = { approved: 1, required: 2, stage: 1, stages: 2 };
  assert.equal(progressWords({ votes }), "1 of 2 · stage 1 of 2");
  assert.equal(progressWords({ votes: { ...votes, stages: 1 } }), "1 of 2");
  assert.equal(progressWords({ isStuck: true }), null);
  assert.deepEqual(troubleWords({ isEscalated: true, isUnreachable: true }), [
    "escalated",
    "no mail arrived",
  ]);
});
