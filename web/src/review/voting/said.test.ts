import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReviewerPlace } from "../../../../server/src/domain/shown/reviewer-place.ts";
import type {
  ReviewStage,
  ReviewVote,
  ReviewVoting,
} from "../../../../server/src/wire/review-contract.ts";
import { editorOf, isCounted, mayApprove, mayHandOver, mayReject } from "./rights.ts";
import {
  aheadSaid,
  approvalSaid,
  countedIn,
  countOf,
  headingOf,
  placeSaid,
  type Said,
} from "./said.ts";

function vote(email: string, minute = 0, isYours = false): ReviewVote {
  const at = `2026-11-16T12:${String(minute).padStart(2, "0")}:00.000Z`;
  return { email, at, note: null, for: null, isYours };
}

function stage(name: string, required: number, ...approvals: ReviewVote[]): ReviewStage {
  return { name, isGroup: !name.includes("@"), required, approvals };
}

function votingOf(stages: ReviewStage[], more: Partial<ReviewVoting> = {}): ReviewVoting {
  const open = stages.findIndex(({ required, approvals }) => approvals.length < required);
  return {
    stage: open === -1 ? stages.length : open + 1,
    revision: 1,
    stages,
    you: { kind: "asked", for: null },
    outdatedVote: null,
    isStuck: false,
    handOver: "workspace",
    ...more,
  };
}

/** Names of others have brackets around them here. */
function text(said: Said | null): string {
  return (said ?? [])
    .map((part) => (typeof part === "string" ? part : `‹${part.theirs}›`))
    .join("");
}

const finance = stage("Finance", 2, vote("ann@x.example"));
const cfo = stage("cfo@x.example", 1);

test("the page says how many more must approve, of whom, and who is asked next", () => {
  assert.equal(countOf(finance), "1 of 2");
  assert.equal(text(aheadSaid(votingOf([finance]))), "1 more person of ‹Finance› must approve.");
  assert.equal(
    text(aheadSaid(votingOf([stage("Finance", 2), cfo, stage("Board", 3)]))),
    "2 more people in stage 1, ‹Finance›, must approve; then ‹cfo@x.example› is asked, then ‹Board›.",
  );
  const second = votingOf([stage("Finance", 1, vote("ann@x.example")), cfo]);
  assert.equal(text(aheadSaid(second)), "1 more person in stage 2, ‹cfo@x.example›, must approve.");
  assert.equal(text(aheadSaid(votingOf([stage("Finance", 1, vote("ann@x.example"))]))), "");
});

test("a count says of which stage it is, because others may have approved the same text", () => {
  assert.equal(countedIn(votingOf([finance])), "");
  const second = votingOf([stage("Finance", 1, vote("ann@x.example")), cfo]);
  assert.equal(countedIn(second), "Stage 2: ");
});

test("nobody is said to be asked in a later stage that an edit there completed already", () => {
  const chief = stage("cfo@x.example", 1, vote("cfo@x.example"));
  const voting = votingOf([stage("Finance", 2), chief, stage("Board", 1)], { revision: 2 });
  assert.equal(
    text(aheadSaid(voting)),
    "2 more people in stage 1, ‹Finance›, must approve; then ‹Board› is asked.",
  );
  assert.equal(
    text(aheadSaid(votingOf([finance, chief], { revision: 2 }))),
    "1 more person in stage 1, ‹Finance›, must approve.",
  );
});

test("one approval that is enough is not counted", () => {
  assert.equal(isCounted(votingOf([stage("ann@x.example", 1)])), false);
  assert.equal(isCounted(votingOf([finance])), true);
  assert.equal(isCounted(votingOf([cfo, cfo])), true);
});

const places: Record<ReviewerPlace["kind"], { you: ReviewerPlace; said: string }[]> = {
  asked: [
    { you: { kind: "asked", for: null }, said: "" },
    {
      you: { kind: "asked", for: "rita@x.example" },
      said: "You decide in place of ‹rita@x.example›. The two of you count as one person.",
    },
  ],
  voted: [
    {
      you: { kind: "voted", at: "", verdict: "approve", for: null },
      said: "Your approval is recorded. 1 more person in stage 1, ‹Finance›, must approve; then ‹cfo@x.example› is asked.",
    },
    {
      you: { kind: "voted", at: "", verdict: "approve", for: "rita@x.example" },
      said: "Your approval in place of ‹rita@x.example› is recorded. 1 more person in stage 1, ‹Finance›, must approve; then ‹cfo@x.example› is asked.",
    },
    {
      you: { kind: "voted", at: "", verdict: "reject", for: null },
      said: "Your rejection is recorded.",
    },
  ],
  needed_later: [
    {
      you: { kind: "needed_later", stage: 2, for: null },
      said: "You are needed in stage 2, ‹cfo@x.example›; somebody else of ‹Finance› must approve here. You can still reject.",
    },
  ],
  handed_over: [
    {
      you: { kind: "handed_over", to: "carl@x.example" },
      said: "You gave this to ‹carl@x.example›. You can’t decide it any more.",
    },
  ],
  seat_taken: [
    {
      you: { kind: "seat_taken", by: "dora@x.example" },
      said: "‹dora@x.example› approved already. You share one approval, so there is nothing to do for you.",
    },
  ],
  other_stage: [
    {
      you: { kind: "other_stage", stage: 2 },
      said: "You’ll get a mail once stage 1 is complete.",
    },
  ],
  not_asked: [{ you: { kind: "not_asked" }, said: "You are not asked about it just now." }],
};

test("each place of a reader has its own words, and only those who may decide get the buttons", () => {
  const headings = new Set<string | null>();
  for (const { you, said } of Object.values(places).flat()) {
    const voting = votingOf([finance, cfo], { you });
    assert.equal(text(placeSaid(voting)), said);
    headings.add(headingOf(voting));
    assert.equal(mayApprove(voting), you.kind === "asked", you.kind);
    assert.equal(mayReject(voting), ["asked", "needed_later"].includes(you.kind), you.kind);
  }
  assert.equal(headings.size, 8);
  assert.ok(mayApprove(undefined) && mayReject(undefined), "without votes as ever");
});

test("a reader whose stage is over is not promised another mail", () => {
  const you: ReviewerPlace = { kind: "other_stage", stage: 1 };
  const voting = votingOf([stage("Finance", 1, vote("ann@x.example")), cfo], { you });
  assert.equal(headingOf(voting), "Stage 1 is complete");
  assert.equal(text(placeSaid(voting)), "Stage 2 is open now. Your approval isn’t needed for it.");
  assert.equal(mayHandOver(voting), false);
});

test("who is asked just now may hand over, unless the workspace forbids it", () => {
  const may = (you: ReviewerPlace, handOver: ReviewVoting["handOver"] = "group") =>
    mayHandOver(votingOf([finance, cfo], { you, handOver }));
  assert.equal(may({ kind: "asked", for: null }), true);
  assert.equal(may({ kind: "asked", for: null }, "off"), false);
  assert.equal(may({ kind: "needed_later", stage: 2, for: null }), true);
  assert.equal(may({ kind: "other_stage", stage: 2 }), false);
  assert.equal(may({ kind: "voted", at: "", verdict: "approve", for: null }), false);
  assert.equal(may({ kind: "handed_over", to: "carl@x.example" }), false);
  assert.equal(mayHandOver(undefined), true);
});

test("the second step says what an approval leads to, and who is the last one", () => {
  const plainly = { changes: null, hasPayload: true };
  assert.equal(
    text(approvalSaid(votingOf([finance, cfo]), plainly)),
    "Your approval counts for exactly this payload. 1 more person in stage 2, ‹cfo@x.example›, must approve.",
  );
  assert.equal(
    text(approvalSaid(votingOf([stage("Finance", 3, vote("ann@x.example"))]), plainly)),
    "Your approval counts for exactly this payload. 1 more person of ‹Finance› must approve.",
  );
  assert.equal(
    text(approvalSaid(votingOf([finance]), plainly)),
    "You are the last one who must approve: the agent will run exactly this payload.",
  );
});

test("where too few people are left, no page says that the last approval is near", () => {
  const you: ReviewerPlace = { kind: "voted", at: "", verdict: "approve", for: null };
  const stuck = votingOf([finance], { isStuck: true });
  assert.equal(headingOf(stuck), "This can’t be approved any more");
  assert.equal(text(placeSaid({ ...stuck, you })), "Your approval is recorded. ");
  const said = text(approvalSaid(stuck, { changes: null, hasPayload: true }));
  assert.match(said, /^Your approval counts .* nothing is approved/);
});

test("the second step says that an edit starts over, and whose approvals it voids", () => {
  const edited = { changes: "2 changes", hasPayload: true };
  assert.equal(
    text(approvalSaid(votingOf([finance, cfo]), edited)),
    "With your 2 changes it is a new text. 1 earlier approval no longer counts. 2 more approvals are needed for it.",
  );
  assert.equal(
    text(approvalSaid(votingOf([stage("Finance", 2)]), edited)),
    "With your 2 changes it is a new text. 1 more approval is needed for it.",
  );
});

test("the first who approved the current text is the one who changed it", () => {
  const stages = [stage("Finance", 2, vote("bob@x.example", 9), vote("ann@x.example", 3)), cfo];
  assert.equal(editorOf(votingOf(stages)), null, "the agent's own text");
  assert.equal(editorOf(votingOf(stages, { revision: 2 }))?.email, "ann@x.example");
  assert.equal(
    editorOf(
      votingOf(
        [finance, cfo].map((one) => ({ ...one, approvals: [] })),
        { revision: 2 },
      ),
    ),
    null,
  );
});
