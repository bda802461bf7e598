import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { flawOfMessageBlocks } from "../../../test/fake-slack/block-kit.ts";
import { seenIn, seenInText } from "../../../test/fake-slack/what-is-seen.ts";
import type { VotingRecord } from "../approval/voting-record.ts";
import type { JsonText } from "../shown/json-text.ts";
import { nothingElse } from "../shown/submitted-fields.ts";
import { type MessageFacts, type MessageRequest, slackMessage } from "./slack-message.ts";

const request: MessageRequest = {
  ...nothingElse,
  approvalId: "req_1",
  summary: "Pay 40,000 to Müller & Sons",
  agentName: "payer",
  reasoning: "It is due.",
  payload: '{"amount":40000.00}' as JsonText,
  workspaceName: "Acme",
  groupName: "Finance",
  createdAt: new Date("2026-11-18T09:00:00.000Z"),
  expiresAt: new Date("2026-11-18T12:30:00.000Z"),
  now: new Date("2026-11-18T10:00:00.000Z"),
  voting: null,
  change: null,
  state: { kind: "PENDING" },
  isEdited: false,
  needsSignature: false,
  isWhole: true,
  isSeen: true,
};
const told: MessageFacts = {
  request,
  messageId: "msg_1",
  readerEmail: "ann@acme.example",
  groupId: null,
  showsPayload: true,
  publicUrl: "https://approvals.example",
};
const page = "https://approvals.example/inbox/requests/req_1";

function draw(over: Partial<MessageFacts> = {}, of: Partial<MessageRequest> = {}) {
  const drawn = slackMessage({ ...told, ...over, request: { ...request, ...of } });
  assert.equal(flawOfMessageBlocks(drawn.blocks), null);
  return {
    ...seenIn(drawn.blocks),
    // As of an update, whose text Slack always reads as markup.
    notification: seenInText({ text: drawn.text, isMarkup: true, linksUrls: false }),
  };
}

const labels = (over: Partial<MessageFacts> = {}, of: Partial<MessageRequest> = {}) =>
  draw(over, of).buttons.map(({ label }) => label);

test("a message says what is asked, by whom, where and until when, and leaves the payload out", () => {
  const { text, buttons, notification, links } = draw();
  for (const part of [
    "An automated agent asks for your decision.",
    "The agent wrote\nPay 40,000 to Müller & Sons",
    "Agent name, unverified\npayer",
    "in the workspace “Acme”",
    "Decide by Wednesday, 18 November 2026, 12:30 UTC.",
    "req_1",
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.ok(!text.includes("40000.00") && !text.includes("It is due."));
  assert.equal(
    notification.text,
    "An automated agent asks for your decision. Pay 40,000 to Müller & Sons",
  );
  assert.deepEqual(buttons, [
    { actionId: "countersign_approve", label: "Approve", value: "msg_1" },
    { actionId: "countersign_reject", label: "Reject", value: "msg_1" },
    { actionId: "countersign_review", label: "Open in inbox", url: page },
  ]);
  assert.deepEqual(links, [page]);
  assert.match(draw({ readerEmail: null, groupId: "grp_1" }).text, /asks “Finance” for a decision/);
});

test("where something would not be seen in Slack, the one button leads to the page", () => {
  assert.deepEqual(labels({ showsPayload: false }), ["Review"]);
  assert.deepEqual(labels({}, { isWhole: false, payload: null }), ["Review"]);
  const long = JSON.stringify({ text: "x".repeat(20_000) }) as JsonText;
  assert.deepEqual(labels({}, { payload: long }), ["Review"]);
  assert.deepEqual(labels({}, { summary: "Pay \u202Egnp.exe" }), ["Review"]);
  // No window could approve it, so no button opens one.
  assert.deepEqual(labels({}, { needsSignature: true }), ["Review"]);
});

test("nothing that others wrote is markup, mention, link or emoji, or notifies anybody", () => {
  const hostile =
    "<!channel> <!here> <@U1> <!subteam^S1> <https://evil.example|our bank> *b* _i_ ~s~ `c` :bomb: @everyone https://evil.example &lt;!channel&gt; \u202Etxt\u200B שלום";
  for (const given of [
    { summary: hostile },
    { agentName: hostile.slice(0, 100) },
    { requestedBy: hostile },
    { audience: hostile.split(" ") },
    { workspaceName: hostile },
    { groupName: hostile },
    {
      state: {
        kind: "REJECTED",
        at: request.now,
        byEmail: "eve@acme.example",
        note: hostile,
      } as const,
    },
  ]) {
    for (const readerEmail of [null, "ann@acme.example"]) {
      const { mentions, emoji, formatted, links, notification, text } = draw(
        { readerEmail },
        given,
      );
      const labelsOfOurs = [
        "The agent wrote",
        "Agent name, unverified",
        "For, says the agent",
        "Valid only for",
        "The approver wrote",
      ];
      assert.deepEqual([mentions, emoji, links.filter((url) => url !== page)], [[], [], []]);
      assert.deepEqual(
        formatted.filter((each) => !labelsOfOurs.includes(each)),
        [],
      );
      // Stars may make a word bold there. Nobody is notified or led away by that.
      assert.deepEqual(
        [notification.mentions, notification.emoji, notification.links],
        [[], [], []],
      );
      assert.ok(!/[\u202E\u200B]/.test(text + notification.text));
    }
  }
});

test("a message is within Slack's bounds, whatever it tells of", () => {
  const text = fc.string({ unit: "binary", maxLength: 500 });
  const drawAll = (summary: string, agentName: string, note: string) => {
    const state = { kind: "REJECTED", at: request.now, byEmail: "a@b.example", note } as const;
    draw({}, { summary, agentName, requestedBy: note, audience: Array(5).fill(note) });
    draw({}, { summary, agentName, state });
  };
  fc.assert(fc.property(text, text, text, drawAll), { numRuns: 30 });
  const longest = '\u200B<"\\\n'.repeat(8_000);
  drawAll(longest, longest, longest);
});

test("after the end there is the outcome, the note as the approver's words, and no button", () => {
  const at = new Date("2026-11-18T11:00:00.000Z");
  const state = {
    kind: "APPROVED",
    at,
    byEmail: "bob@acme.example",
    note: "Fine",
    edit: null,
  } as const;
  const { text, buttons, notification } = draw({}, { state, isEdited: true });
  assert.match(text, /This request was approved by bob@acme\.example on Wednesday, 18 November/);
  assert.match(text, /The payload was changed before it was approved\./);
  assert.match(text, /The approver wrote\nFine/);
  assert.match(text, /The agent wrote\nPay/);
  assert.doesNotMatch(text, /Decide by/);
  assert.deepEqual(buttons, []);
  assert.match(notification.text, /approved by bob/);
  assert.match(draw({}, { state: { kind: "EXPIRED", at } }).text, /expired on/);
});

test("somebody who is no longer asked reads nothing more of the request", () => {
  const state = { kind: "REJECTED", at: request.now, byEmail: "b@b.example", note: "No" } as const;
  for (const given of [{}, { state }]) {
    const { text, buttons, notification } = draw({}, { ...given, isSeen: false });
    assert.equal(text, "You are no longer asked about this request.");
    assert.deepEqual([buttons, notification.text], [[], text]);
  }
});

test("who has voted is told, and somebody who has voted has no button to do so again", () => {
  const at = new Date("2026-11-18T09:30:00.000Z");
  const seat = (email: string) => ({
    stage: 1,
    person: email,
    personEmail: email,
    voter: email,
    voterEmail: email,
    reviewerId: `rev_${email}`,
    groupId: "grp_1",
    reason: "asked" as const,
    givenTo: null,
    isValid: true,
  });
  const voting: VotingRecord = {
    workspaceId: "ws_1",
    approvalId: "req_1",
    isTold: true,
    excluded: [],
    revision: 1,
    stages: [
      {
        number: 1,
        notify: "finance",
        groupId: "grp_1",
        groupName: "Finance",
        required: 2,
        enteredAt: at,
        completedAt: null,
        peopleToday: [],
        peopleOfSteps: [],
      },
    ],
    seats: [seat("ann@acme.example"), seat("bob@acme.example")],
    votes: [
      {
        revision: 1,
        stage: 1,
        person: "ann@acme.example",
        voter: "ann@acme.example",
        voterEmail: "ann@acme.example",
        forEmail: null,
        verdict: "approve",
        note: "only for the page",
        via: "link",
        at,
      },
    ],
    change: null,
    isStuck: false,
    handOver: "off",
    now: request.now,
  };
  const ann = draw({}, { voting });
  assert.match(ann.text, /“Finance”, 1 of 2 approved\n• ann@acme\.example approved on/);
  assert.doesNotMatch(ann.text, /only for the page/);
  assert.match(ann.text, /You approved this on/);
  assert.deepEqual(
    ann.buttons.map(({ label }) => label),
    ["Review"],
  );
  assert.equal(labels({ readerEmail: "bob@acme.example" }, { voting })[0], "Approve");
  const group = draw({ readerEmail: null, groupId: "grp_1" }, { voting });
  assert.match(group.text, /asks “Finance” for a decision/);
  assert.equal(group.buttons.length, 3);

  const long = `${"a".repeat(64)}@${`${"b".repeat(60)}.`.repeat(3)}example`;
  const votes = voting.votes.flatMap((vote) =>
    Array.from({ length: 11 }, () => ({ ...vote, voterEmail: long, forEmail: long })),
  );
  // Slack refuses a text that is too long, and the message would say forever what was true before.
  assert.match(draw({ readerEmail: null }, { voting: { ...voting, votes } }).text, /cut here/);
});
