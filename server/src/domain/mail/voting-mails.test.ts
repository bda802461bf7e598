import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mailedChangesMax } from "../approval/voting-limits.ts";
import { describeChanges } from "./payload-changes.ts";
import { stuckMail, unreachableMail } from "./stuck-mails.ts";
import { type AskingFacts, askingMail, type MailedOutcome, outcomeMail } from "./voting-mails.ts";
import type { MailedSeat, MailedStage } from "./voting-words.ts";

const finance: MailedStage = { name: "Finance", isGroup: true, required: 2, approved: 1 };
const cfo: MailedStage = { name: "cfo@acme.example", isGroup: false, required: 1, approved: 0 };
const asked: MailedSeat = { reason: "asked", person: "ann@acme.example", until: null };
const facts: AskingFacts = {
  summary: "Pay 40,000 to Müller & Söhne",
  agentName: "payer",
  workspaceName: "Acme Payments",
  approverEmail: "ann@acme.example",
  groupName: "Finance",
  createdAt: new Date("2026-11-15T16:11:42Z"),
  expiresAt: new Date("2026-11-16T16:11:42Z"),
  reviewUrl: "https://countersign.example/review/Zk3vYJq0b2mE7xWc9TtR1uHsNfPdLg5oAaQyBiKjUvM",
  reviewCode: null,
  publicUrl: "https://countersign.example",
  voting: { stage: 1, stages: [finance, cfo], seat: asked },
  isAgain: false,
  handOver: null,
  afterMinutes: null,
  change: null,
};
const outcome: MailedOutcome = {
  status: "APPROVED",
  at: new Date("2026-11-15T17:00:00Z"),
  byEmail: "cfo@acme.example",
  note: "Fine,\nbut ask earlier.",
  isEdited: true,
  approvers: [
    { email: "ann@acme.example", for: null },
    { email: "bob@acme.example", for: "eve@acme.example" },
    { email: "cfo@acme.example", for: null },
  ],
  approverCount: 3,
};

/** On one line, as a reader takes it in. */
function flat(text: string): string {
  return text.replaceAll(/\n(?:> )? */g, " ");
}

test("a mail says how many of how many approved, and which stage comes before and after", () => {
  const { text } = askingMail("request.created", facts);
  assert.match(text, /^Approvals: 1 of 2 so far in this stage$/m);
  assert.match(text, /^Stage: 1 of 2, then cfo@acme\.example$/m);
  const later = askingMail("request.stage_entered", {
    ...facts,
    voting: { stage: 2, stages: [finance, cfo], seat: { ...asked, person: "cfo@acme.example" } },
  });
  assert.match(later.text, /^Approvals: 0 of 1 so far in this stage$/m);
  assert.match(later.text, /^Stage: 2 of 2, after “Finance”$/m);
  assert.match(flat(later.text), /because you are named as the approver in the workspace/);
  const alone = askingMail("request.created", {
    ...facts,
    voting: { stage: 1, stages: [finance], seat: asked },
  });
  assert.match(alone.text, /^Approvals: 1 of 2 so far$/m);
  assert.doesNotMatch(alone.text, /Stage/);
});

test("where one approval is enough, a mail says what it always said", () => {
  const { voting: _, ...plain } = { ...facts, groupName: null };
  const single = { stage: 1, stages: [cfo], seat: asked };
  for (const kind of ["request.created", "request.expiring"] as const) {
    const expected = askingMail(kind, plain);
    assert.deepEqual(askingMail(kind, { ...plain, voting: single }), expected);
  }
});

test("somebody who stands in learns for whom, until when, and that they count once", () => {
  const until = new Date("2026-11-20T08:00:00Z");
  const seat: MailedSeat = { reason: "away", person: "eve@acme.example", until };
  const voting = { stage: 1, stages: [finance], seat };
  for (const kind of ["request.created", "request.reassigned"] as const) {
    const words = flat(askingMail(kind, { ...facts, voting }).text);
    assert.match(
      words,
      /in place of eve@acme\.example, who is away until Friday, 20 November 2026, 08:00 UTC\. Both of you may vote; together you count once\./,
    );
    assert.match(words, /because you stand in for eve@acme\.example in the workspace/);
  }
});

test("a hand-over names who gave it, whose vote it is, and who is asked for somebody away", () => {
  const eve = "eve@acme.example";
  const bob = "bob@acme.example";
  const seat: MailedSeat = { reason: "handed_over", person: eve, until: null };
  const mailOf = (byEmail: string, { reason }: Pick<MailedSeat, "reason">) =>
    askingMail("request.reassigned", {
      ...facts,
      voting: { stage: 1, stages: [finance], seat: { ...seat, reason } },
      handOver: { byEmail, toEmail: "dee@acme.example" },
    });
  const own = mailOf(eve, seat);
  assert.equal(own.subject, "Handed over to you: Pay 40,000 to Müller & Söhne");
  assert.match(flat(own.text), /eve@acme\.example handed their vote on this request over to you\./);
  assert.match(
    flat(mailOf(bob, seat).text),
    /bob@acme\.example handed the vote of eve@acme\.example on this request over to you\./,
  );
  assert.match(
    flat(mailOf(eve, { reason: "away" }).text),
    /handed their vote on this request over to dee@acme\.example, who is away\. Both of you/,
  );
});

test("an escalation says after how long, and that those before may still vote", () => {
  const seat: MailedSeat = { ...asked, reason: "escalated" };
  const voting = { stage: 1, stages: [finance], seat };
  const { subject, text } = askingMail("request.escalated", { ...facts, voting, afterMinutes: 90 });
  assert.equal(subject, "Escalated to you: Pay 40,000 to Müller & Söhne");
  assert.match(flat(text), /It has waited for 1 hour 30 minutes without a decision/);
  assert.match(flat(text), /because this request was escalated to you in the workspace/);
});

test("a mail that asks again because of an edit names who changed what", () => {
  const change = {
    byEmail: "bob@acme.example",
    at: new Date("2026-11-15T16:30:00Z"),
    texts: {
      before: `{"amount": 40000, "to": "A", "memo": "x"}`,
      after: `{"amount": 12000.50, "to": "A", "iban": "DE1"}`,
    },
  };
  const { subject, text } = askingMail("request.changed", { ...facts, change });
  assert.equal(subject, "Changed, review again: Pay 40,000 to Müller & Söhne");
  assert.match(
    flat(text),
    /bob@acme\.example changed the payload on Sunday, 15 November 2026, 16:30 UTC/,
  );
  assert.ok(
    text.includes(`Changed:
> amount
> before: 40000
> after: 12000.50

Added:
> iban
> after: "DE1"

Removed:
> memo
> before: "x"
`),
    text,
  );
  const large = askingMail("request.changed", { ...facts, change: { ...change, texts: null } });
  assert.match(flat(large.text), /The review page shows what was changed\./);
});

test("few changes are told, each cut around what differs, and the rest is counted", () => {
  const many = (value: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`key${n}`, value])));
  const { quotes, more } = describeChanges(many(1), many(2));
  assert.deepEqual([quotes.length, more], [mailedChangesMax, 30]);
  const start = "a".repeat(5_000);
  const [quote] = describeChanges(`["${start}1${start}"]`, `["${start}2${start}"]`).quotes;
  assert.match(quote?.text ?? "", /^\[0\]\nbefore: …a{24}1a+…\nafter: …a{24}2a+…$/);
  const spread = describeChanges("[1]", `[1,\n\t{"x":\n 2}]`).quotes;
  assert.deepEqual(spread[0]?.text, `[1]\nafter: {"x": 2}`);
});

test("no change of a payload makes a mail large, whatever is in it", () => {
  fc.assert(
    fc.property(
      fc.json({ stringUnit: "binary" }),
      fc.json({ stringUnit: "binary" }),
      (before, after) => {
        const change = {
          byEmail: "bob@acme.example",
          at: facts.createdAt,
          texts: { before, after },
        };
        const { text, html } = askingMail("request.changed", { ...facts, change });
        assert.ok(text.length < 8_000, `${text.length}`);
        assert.ok(html.length < 96_000, `${html.length}`);
      },
    ),
    { numRuns: 200 },
  );
  const hidden = JSON.stringify(
    Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, "\u200b\u202e".repeat(500)])),
  );
  const texts = { before: "{}", after: hidden };
  const change = { byEmail: "bob@acme.example", at: facts.createdAt, texts };
  const { html } = askingMail("request.changed", { ...facts, change });
  assert.ok(html.length < 96_000, `${html.length}`);
});

test("everybody who was asked learns who decided, when, with which note, and that it was changed", () => {
  const { subject, text } = outcomeMail({ ...facts, outcome });
  assert.equal(subject, "Approved: Pay 40,000 to Müller & Söhne");
  assert.match(text, /^Outcome: Approved by cfo@acme\.example$/m);
  assert.match(text, /^Time: Sunday, 15 November 2026, 17:00 UTC$/m);
  assert.match(
    flat(text),
    /Approvals: ann@acme\.example, bob@acme\.example \(for eve@acme\.example\), cfo@acme\.example/,
  );
  assert.match(text, /^Payload: Changed by an approver/m);
  assert.ok(text.includes("Note with the decision:\n> Fine,\n> but ask earlier.\n"));
  assert.doesNotMatch(text, /Decide by/);
  const expired = { ...outcome, status: "EXPIRED", byEmail: null, note: null } as const;
  const late = outcomeMail({ ...facts, outcome: { ...expired, isEdited: false } });
  assert.match(late.text, /^Outcome: Expired$/m);
  assert.match(flat(late.text), /Too few people approved in time, so nothing was approved\./);
});

test("owners learn in which stage people are missing, and whom no mail has reached", () => {
  const request = {
    workspaceName: "Acme Payments",
    workspaceId: "ws_1",
    approvalId: "req_1",
    summary: facts.summary,
    expiresAt: facts.expiresAt,
    publicUrl: facts.publicUrl,
  };
  const left = { named: [], count: 0 };
  const { text } = stuckMail({
    ...request,
    stages: [
      { ...finance, left },
      { ...cfo, left: null },
    ],
  });
  assert.match(flat(text), /Stage 1: “Finance”: 1 of 2 approved; nobody is left who could/);
  assert.match(text, /^Stage 2: cfo@acme\.example: 0 of 1 approved$/m);
  const people = {
    named: [{ email: "ann@acme.example" }, { email: "bob@acme.example" }],
    count: 12,
  };
  const missed = unreachableMail({ ...request, stage: 2, people, answer: "550 no such user" });
  assert.match(missed.text, /^Asked: ann@acme\.example, bob@acme\.example and 10 more$/m);
  assert.match(missed.text, /^> 550 no such user$/m);
  assert.ok(missed.text.includes("/app/w/ws_1/requests/req_1\n"));
});
