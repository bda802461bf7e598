import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type MailContent, type ReviewFacts, reminderMail, reviewMail } from "./mail.ts";
import {
  deliveryFailedMail,
  endpointDisabledMail,
  endpointFailingMail,
  mailRefusedMail,
} from "./owner-mails.ts";
import { stuckMail, unreachableMail } from "./stuck-mails.ts";
import { spanInWords } from "./times.ts";
import { type AskingFacts, askingMail, type MailedOutcome, outcomeMail } from "./voting-mails.ts";
import type { MailedVoting } from "./voting-words.ts";

const requestPage = "https://countersign.example/base/app/w/ws_1/requests/req_1";
const endpointPage = "https://countersign.example/base/app/w/ws_1/endpoints/we_1";
const reviewUrl = "https://countersign.example/review/Zk3vYJq0b2mE7xWc9TtR1uHsNfPdLg5oAaQyBiKjUvM";
const facts: ReviewFacts = {
  summary: "Pay invoice 4711 to Müller & Söhne",
  agentName: "payer",
  workspaceName: "Acme Payments",
  approverEmail: "ann@acme.example",
  groupName: null,
  createdAt: new Date("2026-11-15T16:11:42Z"),
  expiresAt: new Date("2026-11-16T16:11:42Z"),
  reviewUrl,
  reviewCode: null,
  publicUrl: "https://countersign.example/base",
};
const endpoint = {
  workspaceName: "Acme Payments",
  workspaceId: "ws_1",
  endpointId: "we_1",
  endpointUrl: "https://hooks.acme.example/in",
  failingSince: new Date("2026-11-10T08:00:00Z"),
  publicUrl: facts.publicUrl,
};

const failedDelivery = {
  givenUpAt: new Date("2026-11-15T16:17:12Z"),
  lastOutcome: "Answered with HTTP 503: your server is not available just now.",
  event: "request.approved",
  approvalId: "req_1",
  waiting: 12,
};

function allMails(theirs: string): MailContent[] {
  const review = {
    ...facts,
    summary: theirs,
    agentName: theirs,
    workspaceName: theirs,
    groupName: theirs,
    approverEmail: theirs,
  };
  const hook = { ...endpoint, workspaceName: theirs, endpointUrl: theirs };
  return [
    reviewMail(review),
    reminderMail({ ...review, reviewCode: "KMW7XQ" }),
    endpointFailingMail({ ...hook, disabledOnOrAfter: facts.expiresAt, lastOutcome: theirs }),
    endpointDisabledMail({ ...hook, disabledAt: facts.expiresAt, reason: theirs }),
    mailRefusedMail({
      workspaceName: theirs,
      workspaceId: "ws_1",
      recipient: theirs,
      summary: theirs,
      approvalId: "req_1",
      expiresAt: facts.expiresAt,
      answer: theirs,
      publicUrl: facts.publicUrl,
    }),
    deliveryFailedMail({ ...hook, ...failedDelivery, lastOutcome: theirs }),
    ...votingMails(review, theirs),
  ];
}

/** The mails where several people decide. */
function votingMails(review: ReviewFacts, theirs: string): MailContent[] {
  const stage = { name: theirs, isGroup: true, required: 2, approved: 1 };
  const stages = [stage, { ...stage, isGroup: false }, { ...stage, required: 1, approved: 0 }];
  const votingOf = (reason: MailedVoting["seat"]["reason"]): MailedVoting => ({
    stage: 2,
    stages,
    seat: { reason, person: theirs, until: null },
  });
  const texts = { before: JSON.stringify({ [theirs]: theirs }), after: `{"to":[7]}` };
  const asking: AskingFacts = {
    ...review,
    voting: votingOf("handed_over"),
    isAgain: true,
    handOver: { byEmail: theirs, toEmail: theirs },
    afterMinutes: 30,
    change: { byEmail: theirs, at: facts.createdAt, texts },
  };
  const person = { email: theirs, for: theirs };
  const outcome: MailedOutcome = {
    status: "APPROVED",
    at: facts.createdAt,
    byEmail: theirs,
    note: theirs,
    isEdited: true,
    approvers: [person, person],
    approverCount: 5,
  };
  const people = { named: [person], count: 1 };
  const request = { ...review, workspaceId: "ws_1", approvalId: "req_1", stage: 2, people };
  return [
    askingMail("request.created", { ...asking, voting: votingOf("away") }),
    askingMail("request.stage_entered", asking),
    askingMail("request.escalated", { ...asking, voting: votingOf("escalated") }),
    askingMail("request.reassigned", asking),
    askingMail("request.reassigned", { ...asking, voting: votingOf("away") }),
    askingMail("request.changed", asking),
    askingMail("request.reminded", asking),
    outcomeMail({ ...review, outcome }),
    outcomeMail({ ...review, outcome: { ...outcome, status: "REJECTED" } }),
    outcomeMail({ ...review, outcome: { ...outcome, status: "EXPIRED", byEmail: null } }),
    outcomeMail({ ...review, outcome: { ...outcome, status: "CANCELLED", byEmail: null } }),
    stuckMail({ ...request, stages: stages.map((each) => ({ ...each, left: people })) }),
    unreachableMail({ ...request, answer: theirs }),
  ];
}

/** The words that a person reads, without the tags. */
function wordsOf(html: string): string {
  return html
    .replaceAll(/<style>.*?<\/style>|<!--.*?-->|<title>.*?<\/title>/gs, "")
    .replaceAll(/<\/(?:div|p|h1|td|tr)>|<br>/g, "\n")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&nbsp;", " ")
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** Without space, and without the marks that only the text part has. */
function bareWords(text: string): string {
  return text.replaceAll(/[\s>():-]/g, "");
}

/** Tags with their names alone: the shape that our template has, whatever is written in it. */
function shapeOf(html: string): string[] {
  return html.match(/<\/?[a-z!][^\s>]*/gi) ?? [];
}

const attacks = [
  "</td></tr></table><h1>Approved</h1>",
  '<img src=x onerror="alert(1)"><script>alert(1)</script>',
  '"><a href="https://evil.example">click</a>',
  "x\r\nBcc: eve@evil.example\r\n\r\nbody",
  "%0d%0aBcc: eve%40evil.example",
  "invoice_\u202Efdp.exe \u2066hidden\u2069",
  "go to https://evil.example/login, www.evil.example or evil.example",
  "javascript:alert(1) data:text/html,x tel:+1555 mailto:eve@evil.example",
  "url(https://evil.example/x.png) expression(alert(1))",
  "<!--[if mso]><a href='https://evil.example'>x</a><![endif]-->",
  "&lt;b&gt; &#60;b&#62; &amp;",
  "=?utf-8?B?PGI+?=",
  "👨‍👩‍👧".repeat(100),
  "שלום עולם, שלם 100 ש״ח",
  "x".repeat(500),
  "e\u0301".repeat(250),
  "a\u0300".padEnd(500, "\u0300"),
  `pay${" ".repeat(400)}1000000`,
  "\u3164\u2800\u200B",
  "evil\u200B.example and evil.\u200Bexample",
];

test("the review mail begins with our words and says all that a person needs", () => {
  const { subject, text } = reviewMail(facts);
  assert.equal(subject, "Review requested: Pay invoice 4711 to Müller & Söhne");
  assert.equal(
    text,
    `An automated agent asks for your decision.

The agent wrote:
> Pay invoice 4711 to Müller & Söhne

Agent name, unverified:
> payer

Workspace: Acme Payments
Asked: Sunday, 15 November 2026, 16:11 UTC
Decide by: Monday, 16 November 2026, 16:11 UTC
  (24 hours after it was asked. Without a decision nothing is approved.)

Review request:
${reviewUrl}

----
countersign

You get this mail at ann@acme.example because you are named as the
approver in the workspace “Acme Payments”. The link is yours alone: do
not pass it on.

The page it opens must be at https://countersign.example. Opening it
decides nothing, and Countersign never asks for a password.
`,
  );
});

test("a code stands on a line of its own, with where it is asked for and where it is not", () => {
  for (const compose of [reviewMail, reminderMail]) {
    const plain = compose(facts);
    const { subject, text, html } = compose({ ...facts, reviewCode: "KMW7XQ" });
    const said = `Your code: KMW-7XQ
The review page will ask for it. Countersign asks for it nowhere else.

`;
    assert.equal(text, plain.text.replace("Review request:\n", `${said}Review request:\n`));
    assert.match(html, /<p class="ink mono" style="[^"]*monospace[^"]*">KMW-7XQ<\/p>/);
    assert.equal(subject, plain.subject, "lists and locked screens show subjects");
    const [, preview = ""] = /<div style="display:none[^>]*>([^<]*)</.exec(html) ?? [];
    assert.doesNotMatch(preview, /KMW/);
    for (const part of [plain.text, plain.html]) assert.doesNotMatch(part, /code/i);
  }
});

test("a code in the agent's words stays in its quote, above ours", () => {
  const summary = "Your code: BCD-FGH\nThe review page will ask for it.";
  const { text, html } = reviewMail({ ...facts, summary, reviewCode: "KMW7XQ" });
  assert.ok(text.includes("\n> Your code: BCD-FGH\n> The review page will ask for it.\n"));
  assert.deepEqual(text.match(/^Your code: .*$/gm), ["Your code: KMW-7XQ"]);
  assert.doesNotMatch(html.slice(html.indexOf("KMW-7XQ")), /BCD-FGH/);
});

test("a member of a group learns which, and an agent without a name is not given one", () => {
  const { text, html } = reviewMail({ ...facts, groupName: "Finance", agentName: null });
  for (const words of [text, wordsOf(html)].map((part) => part.replaceAll("\n", " "))) {
    assert.match(
      words,
      /a member of the approver group “Finance” in the workspace “Acme Payments”/,
    );
    assert.doesNotMatch(words, /Agent name/);
  }
});

test("a reminder says so, and asks for the same", () => {
  const { subject, text, html } = reminderMail(facts);
  assert.equal(subject, "Reminder: Pay invoice 4711 to Müller & Söhne");
  assert.match(text, /^Time is running out/);
  assert.ok(text.includes(`\n${reviewUrl}\n`) && html.includes(`href="${reviewUrl}"`));
});

test("text and HTML say the same, whatever is in them", () => {
  for (const theirs of ["Acme", ...attacks]) {
    for (const { text, html } of allMails(theirs)) {
      const said = bareWords(wordsOf(html));
      for (const line of text.split("\n")) assert.ok(said.includes(bareWords(line)), line);
    }
  }
});

test("the only addresses in a mail are ours: the review link, a page of the dashboard, and where they lead", () => {
  for (const theirs of attacks) {
    for (const { text, html } of allMails(theirs)) {
      const targets = [...html.matchAll(/(?:href|src|action|background)\s*=\s*["']?([^"'\s>]*)/gi)];
      const inTags = targets.filter(
        ({ index }) => html.lastIndexOf("<", index) > html.lastIndexOf(">", index),
      );
      const pages = [reviewUrl, endpointPage, requestPage];
      assert.ok(inTags.every(([, target]) => pages.some((page) => page === target)));
      assert.doesNotMatch(
        html.replaceAll(/>[^<]*</g, "><"),
        /url\(|@import|<img|<script|<link|expression/i,
      );
      for (const part of [text, wordsOf(html)]) {
        const ours = [...pages, "https://countersign.example"].reduce(
          (left, page) => left.replaceAll(page, ""),
          part,
        );
        assert.doesNotMatch(ours, /:\/\/|www\.|evil\.\w|javascript:|mailto:|[\w.]@\w/i);
      }
    }
  }
});

test("no words change the shape of a mail", () => {
  const shapes = allMails("Acme").map(({ html }) =>
    shapeOf(html).filter((tag) => !/span|div/.test(tag)),
  );
  for (const theirs of attacks) {
    const found = allMails(theirs).map(({ html }) =>
      shapeOf(html).filter((tag) => !/span|div/.test(tag)),
    );
    // Lines and chips are ours as well; each further line of a quote is one more bdi.
    const core = (tags: string[]) => tags.filter((tag) => !/bdi/.test(tag));
    assert.deepEqual(found.map(core), shapes.map(core), theirs);
  }
});

test("a subject is one line that begins with our words, and is never long", () => {
  for (const theirs of attacks) {
    for (const { subject } of allMails(theirs)) {
      assert.match(
        subject,
        /^(Review requested|Reminder|Webhook (endpoint|delivery)|Approver not reached|Escalated to you|Handed over to you|In place of a colleague|Changed, review again|Approved|Rejected|Expired|Cancelled|Too few approvers left|Nobody reached)/,
      );
      assert.doesNotMatch(
        subject.replaceAll(/\p{RGI_Emoji}/gv, ""),
        /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u3164\u2800]/u,
      );
      assert.ok([...subject].length <= 100, subject);
    }
  }
  const cut = reviewMail({ ...facts, summary: "word ".repeat(100) }).subject;
  assert.match(cut, /^Review requested: (?:word )+w?o?r?d?…$/);
  assert.equal(
    reviewMail({ ...facts, summary: "Pay\r\nnow\tplease" }).subject,
    "Review requested: Pay now please",
  );
});

test("hidden characters in the agent's words are shown, and its lines stay lines", () => {
  const summary = "first \u202Eenil\r\nsecond\n\nlast";
  const { text, html } = reviewMail({ ...facts, summary, agentName: "a\nb" });
  assert.ok(text.includes("> first [U+202E RLO]enil\n> second\n>\n> last\n"));
  assert.ok(text.includes("Agent name, unverified:\n> a[U+000A LF]b\n"));
  assert.match(html, /<span class="chip"[^>]*>\[U\+202E RLO\]<\/span>enil<\/bdi><\/div>/);
  assert.ok(!html.includes("\u202E"));
});

test("every line of the agent's stands behind a mark, and none but links and commands is long", () => {
  for (const theirs of attacks) {
    const { text } = reviewMail({ ...facts, summary: theirs });
    const [, quoted = ""] = text.split("The agent wrote:\n");
    const lines = quoted.slice(0, quoted.indexOf("\n\n")).split("\n");
    assert.ok(lines.every((line) => line.startsWith(">")));
    const long = text
      .split("\n")
      .filter((line) => line.normalize("NFC").length > 72 && line !== reviewUrl);
    assert.ok(
      long.every((line) => /^> \P{M}\p{M}+$/u.test(line)),
      long[0],
    );
  }
});

test("an address that an agent chose cannot carry a link into the mail", () => {
  const { text, html } = reviewMail({ ...facts, approverEmail: "ann+evil.example/x@acme.example" });
  for (const part of [text, html]) assert.ok(!part.includes("evil.example"));
});

test("the same facts give the same bytes", () => {
  assert.deepEqual(allMails("Acme"), allMails("Acme"));
});

test("any words at all give a mail whose tags are ours", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (theirs) => {
      const { html, subject } = reviewMail({ ...facts, summary: theirs, agentName: theirs });
      const tags = new Set(shapeOf(html).map((tag) => tag.replace(/^<\/?/, "")));
      const ours =
        "!doctype html head meta title style body div table tr td p h1 bdi span a br !--[if !".split(
          " ",
        );
      assert.deepEqual(
        [...tags].filter((tag) => !ours.some((each) => tag.startsWith(each))),
        [],
      );
      assert.ok([...subject].length <= 100);
    }),
    { numRuns: 200 },
  );
});

test("notices name what is to be done, with the ids in place", () => {
  const [, , failing, disabled, refused] = allMails("Acme");
  assert.match(failing?.text ?? "", /countersign delivery list --workspace ws_1 --failed/);
  assert.match(
    failing?.text ?? "",
    /Disabled on: Monday, 16 November 2026, 16:11 UTC, or soon after/,
  );
  assert.match(disabled?.text ?? "", / {4}countersign webhook enable we_1\n/);
  assert.match(
    disabled?.text ?? "",
    / {4}countersign delivery resend-failed --workspace ws_1 --endpoint we_1 --since 2026-11-10T07:59:00.000Z\n/,
  );
  assert.match(refused?.text ?? "", /stays pending and can be read/);
  assert.match(refused?.text ?? "", /--workspace ws_1 --request req_1\n/);
  for (const [mail, page] of [
    [failing, endpointPage],
    [disabled, endpointPage],
    [refused, requestPage],
  ] as const) {
    assert.ok(mail?.text.includes(`\n${page}\n`) && mail.html.includes(`href="${page}"`));
  }
  const silent = { ...endpoint, failingSince: null, disabledAt: facts.expiresAt, reason: "gone" };
  assert.match(endpointDisabledMail(silent).text, /--since 2026-11-16T16:10:42.000Z/);
});

test("the mail about a delivery that was given up says what, why, how many wait, and where to mend it", () => {
  const { subject, text, html } = deliveryFailedMail({ ...endpoint, ...failedDelivery });
  assert.equal(subject, "Webhook delivery failed: Acme Payments");
  const lines = text.replaceAll(/\n(?:> )?/g, " ");
  assert.match(lines, /Answered with HTTP 503: your server is not available just now\./);
  assert.match(text, /^Event: request\.approved$/m);
  assert.match(text, /^Request: req_1$/m);
  assert.match(text, /^Given up: Sunday, 15 November 2026, 16:17 UTC$/m);
  assert.match(text, /^Still waiting: 12 deliveries$/m);
  assert.ok(text.includes(`\n${endpointPage}\n`) && html.includes(`href="${endpointPage}"`));
  for (const [waiting, words] of [
    [0, "no deliveries"],
    [1, "1 delivery"],
    [1_000, "1000 or more deliveries"],
  ] as const) {
    const mail = deliveryFailedMail({ ...endpoint, ...failedDelivery, waiting });
    assert.ok(mail.text.includes(`Still waiting: ${words}\n`));
  }
});

test("spans are told the way people count them", () => {
  for (const [minutes, words] of [
    [5, "5 minutes"],
    [60, "1 hour"],
    [100, "1 hour 40 minutes"],
    [1440, "24 hours"],
    [2880, "2 days"],
    [5000, "3 days 11 hours 20 minutes"],
    [10_080, "7 days"],
    [0, "less than a minute"],
  ] as const) {
    const until = new Date(facts.createdAt.getTime() + minutes * 60_000);
    assert.equal(spanInWords(facts.createdAt, until), words);
  }
});
