import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { flawOfView } from "../../../test/fake-slack/block-kit.ts";
import { randomJsonText } from "../../../test/random-json.ts";
import { type Keyring, parseKeyring } from "../access/keyring.ts";
import type { StageRecord, VotingRecord } from "../approval/voting-record.ts";
import { digestOfShown } from "../proof/shown-digest.ts";
import { isSameJson } from "../shown/json-diff.ts";
import type { JsonText } from "../shown/json-text.ts";
import { nothingElse } from "../shown/submitted-fields.ts";
import { jsonMisleads } from "./page-only.ts";
import { textsOf } from "./slack-blocks.ts";
import { digestOfSlackLinkCode, slackLinkCodeOf } from "./slack-link-code.ts";
import { decisionModal, fitsIntoModal, jsonLines, type ModalReview } from "./slack-modal.ts";
import {
  isOldModal,
  issueModalTicket,
  type ModalTicket,
  readModalTicket,
} from "./slack-modal-ticket.ts";
import { obstacleOf } from "./slack-voting-words.ts";

const now = new Date("2026-11-18T10:00:00.000Z");
const review: ModalReview = {
  ...nothingElse,
  approvalId: "req_1",
  summary: "Pay 40,000 to *Müller* & <!channel> <https://evil.example|here> :tada:",
  agentName: "payer",
  reasoning: "The invoice is due.\nIt was checked.",
  recentActions: ["Read invoice 4711", "Asked the bank"],
  requestedBy: "eve@acme.example",
  audience: ["payments.acme.example", "<!channel>"],
  payload: '{"amount":40000.00,"id":9007199254740993,"big":1E400,"to":"M\\u00fcller"}' as JsonText,
  workspaceName: "Acme",
  groupName: "Finance",
  reviewer: { email: "ann@acme.example" },
  createdAt: new Date("2026-11-18T09:00:00.000Z"),
  expiresAt: new Date("2026-11-18T12:30:00.000Z"),
  now,
  voting: null,
  change: null,
};

function drawn(of: ModalReview, verdict: "approve" | "reject" = "approve") {
  return decisionModal(of, { verdict, metadata: "m" });
}

test("the modal shows everything the page would show, to the digit", () => {
  assert.equal(fitsIntoModal(review), true);
  const texts = textsOf(drawn(review).blocks);
  const all = texts.join("\n");
  for (const part of [
    review.summary,
    "payer",
    "eve@acme.example",
    "payments.acme.example",
    "<!channel>",
    "The invoice is due.\nIt was checked.",
    '"amount": 40000.00,',
    '"id": 9007199254740993,',
    '"big": 1E400,',
    '"to": "Müller"',
    "Read invoice 4711",
    "Asked the bank",
    "The agent will run exactly this payload.",
    "in 2 hours 30 minutes",
    "Acme",
    "ann@acme.example",
    "req_1",
    digestOfShown(review),
  ]) {
    assert.ok(all.includes(part), part);
  }
});

test("others' words are never markup", () => {
  const { blocks } = drawn(review);
  assert.doesNotMatch(
    JSON.stringify(blocks),
    /mrkdwn|"type":"(?:link|user|channel|broadcast|emoji)"/,
  );
  assert.doesNotMatch(JSON.stringify(blocks), /"emoji":true/);
});

test("hidden characters are visible in the modal, and send their reader to the page", () => {
  const tricky = { ...review, summary: "Pay \u202eevil", payload: '{"a":"x\\u200by"}' as JsonText };
  assert.equal(fitsIntoModal(tricky), false);
  const all = textsOf(drawn(tricky).blocks).join("\n");
  assert.ok(all.includes("[U+202E RLO]"));
  assert.ok(all.includes('"x[U+200B ZWSP]y"'));
});

test("what is too long, too deep or too much does not fit", () => {
  const withPayload = (text: string) => ({ ...review, payload: text as JsonText });
  assert.equal(fitsIntoModal(withPayload(JSON.stringify("a".repeat(2_900)))), true);
  assert.equal(fitsIntoModal(withPayload(JSON.stringify("a".repeat(3_000)))), false);
  assert.equal(fitsIntoModal(withPayload(JSON.stringify(Array(1_900).fill(1)))), true);
  assert.equal(fitsIntoModal(withPayload(JSON.stringify(Array(3_000).fill(1)))), false);
  assert.equal(fitsIntoModal(withPayload(`${"[".repeat(8)}1${"]".repeat(8)}`)), true);
  assert.equal(fitsIntoModal(withPayload(`${"[".repeat(9)}1${"]".repeat(9)}`)), false);
  assert.equal(fitsIntoModal(withPayload(`"${"a".repeat(5_000_000)}"`)), false);
  assert.equal(fitsIntoModal({ ...review, agentName: "ann@acme.example" }), false);
});

test("any request that fits keeps to Slack's limits", () => {
  const anyText = fc.string({ maxLength: 400 });
  fc.assert(
    fc.property(
      anyText,
      fc.array(anyText, { maxLength: 10 }),
      fc.array(fc.tuple(anyText, fc.integer()), { maxLength: 80 }),
      (summary, recentActions, entries) => {
        const payload = JSON.stringify(Object.fromEntries(entries)) as JsonText;
        const each = { ...review, summary, recentActions, payload };
        if (!fitsIntoModal(each)) return;
        const view = drawn(each);
        assert.ok(view.blocks.length <= 100);
        assert.ok(view.title.text.length <= 24 && (view.submit?.text.length ?? 0) <= 24);
        assert.equal(flawOfView(view), null);
        for (const text of textsOf(view.blocks))
          assert.ok(text.length >= 1 && text.length <= 3_000);
      },
    ),
  );
});

test("a payload's lines hold exactly its values, whatever they are", () => {
  fc.assert(
    fc.property(randomJsonText, (text) => {
      // Others get chips, and then they are not JSON any more.
      if (jsonMisleads(text)) return;
      assert.equal(isSameJson(jsonLines(text).join("\n"), text), true);
    }),
  );
  assert.deepEqual(jsonLines('{"a":-0.0e+10,"a2":"\\"\\\\"}'), [
    "{",
    '  "a": -0.0e+10,',
    '  "a2": "\\"\\\\"',
    "}",
  ]);
});

const stage = (number: number, required: number): StageRecord => ({
  number,
  notify: number === 1 ? "group:finance" : "cfo@acme.example",
  groupId: number === 1 ? "grp_1" : null,
  groupName: number === 1 ? "Finance" : null,
  required,
  enteredAt: number === 1 ? now : null,
  completedAt: null,
  peopleToday: number === 1 ? [] : ["cfo@acme.example"],
  peopleOfSteps: [],
});
const seatOf = (email: string) => ({
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
  excluded: ["eve@acme.example"],
  revision: 2,
  stages: [stage(1, 2), stage(2, 1)],
  seats: ["ann@acme.example", "bob@acme.example", "joe@acme.example"].map(seatOf),
  votes: [1, 2].flatMap((revision) =>
    (revision === 1 ? ["ann", "bob"] : ["bob"]).map((name) => ({
      revision,
      stage: 1,
      person: `${name}@acme.example`,
      voter: `${name}@acme.example`,
      voterEmail: `${name}@acme.example`,
      forEmail: null,
      verdict: "approve" as const,
      note: revision === 2 ? "Less, please" : null,
      via: "link" as const,
      at: now,
    })),
  ),
  change: { byEmail: "bob@acme.example", at: now },
  isStuck: false,
  handOver: "workspace",
  now,
};

test("with several people the modal says who voted, what was changed, and what comes next", () => {
  const change = {
    revision: 2,
    payload: '{"amount":30000.0,"id":9007199254740993,"big":1E400,"to":"M\\u00fcller"}' as JsonText,
    byEmail: "bob@acme.example",
    at: now,
  };
  const changed = { ...review, voting, change };
  assert.equal(fitsIntoModal(changed), true);
  const all = textsOf(drawn(changed).blocks).join("\n");
  for (const part of [
    "Your approval counts for exactly this payload. 1 more person in stage 2, cfo@acme.example, must approve.",
    "no longer counts: bob@acme.example changed the payload.",
    "1 difference from what the agent sent:",
    "amount\n  before: 40000.00\n  after: 30000.0",
    "Approvals: Stage 1 of 2, “Finance”, 1 of 2 approved",
    "bob@acme.example approved on",
    "Less, please",
    "Approvals: Stage 2 of 2, cfo@acme.example, 0 of 1 approved",
  ]) {
    assert.ok(all.includes(part), `${part}\n\n${all}`);
  }
  assert.match(
    textsOf(drawn(changed, "reject").blocks)[0] ?? "",
    /^One rejection ends the request/,
  );
  const hidden = { ...change, payload: '{"amount":"\\u200b"}' as JsonText };
  assert.equal(fitsIntoModal({ ...changed, change: hidden }), false);
});

test("nobody is asked in Slack what the rules would refuse", () => {
  assert.equal(obstacleOf(voting, "ann@acme.example", "approve"), null);
  assert.match(obstacleOf(voting, "bob@acme.example", "approve") ?? "", /^You approved this on/);
  assert.match(obstacleOf(voting, "eve@acme.example", "approve") ?? "", /not asked/);
  assert.match(obstacleOf(voting, "cfo@acme.example", "reject") ?? "", /not asked/);
});

const keyring = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
const owner = { teamId: "T1", slackUserId: "U1" };
const ticket: ModalTicket = {
  messageId: "msg_1",
  reviewerId: "rev_1",
  verdict: "approve",
  revision: 1,
  digest: "0".repeat(64),
  reviewTicket: "1.x",
  place: "2 for bob@acme.example",
};

test("a modal's ticket counts for its opener and its verdict, for an hour", () => {
  const issued = issueModalTicket(keyring, ticket, { owner, now });
  const read = (text: string, who = owner) => readModalTicket(keyring, text, who);
  assert.deepEqual(read(issued), { ...ticket, issuedAt: now });
  const after = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
  assert.equal(isOldModal({ issuedAt: now }, after(60)), false);
  assert.equal(isOldModal({ issuedAt: now }, after(61)), true);
  assert.equal(read(issued, { ...owner, slackUserId: "U2" }), null);
  assert.equal(read(issued, { ...owner, teamId: "T2" }), null);
  const [content = "", signature = ""] = issued.split(".");
  const edited = Buffer.from(content, "base64url").toString().replace("approve", "reject");
  assert.equal(read(`${Buffer.from(edited).toString("base64url")}.${signature}`), null);
  for (const text of ["", ".", "x", `${content}.`, `.${signature}`, "x".repeat(4_000)]) {
    assert.equal(read(text), null);
  }
  const other = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  assert.equal(readModalTicket(other, issued, owner), null);
});

test("a code is the same in any case and with any spaces, and nothing else is one", () => {
  const code = slackLinkCodeOf(randomBytes(8));
  assert.match(code, /^[2-9A-Z]{8}$/);
  const digest = digestOfSlackLinkCode(code);
  assert.deepEqual(
    digestOfSlackLinkCode(` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `),
    digest,
  );
  for (const typed of ["", "0OIL1U23", `${code}2`, code.slice(1)]) {
    assert.equal(digestOfSlackLinkCode(typed), null);
  }
});
