import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { digestHtmlBytesMax, digestRequestsMax } from "../limits.ts";
import { countFitting, type DigestFacts, type DigestRequest, digestMail } from "./digest-mail.ts";

const firstUrl = "https://countersign.example/review/Zk3vYJq0b2mE7xWc9TtR1uHsNfPdLg5oAaQyBiKjUvM";
const secondUrl = "https://countersign.example/review/AAAvYJq0b2mE7xWc9TtR1uHsNfPdLg5oAaQyBiKjUvM";
const first: DigestRequest = {
  summary: "Pay invoice 4711 to Müller & Söhne",
  agentName: "payer",
  groupName: null,
  expiresAt: new Date("2026-11-16T16:11:42Z"),
  reviewUrl: firstUrl,
  reviewCode: null,
  news: null,
};
const second: DigestRequest = {
  ...first,
  summary: "Delete the archive",
  agentName: null,
  groupName: "Ops",
  expiresAt: new Date("2026-11-15T17:00:00Z"),
  reviewUrl: secondUrl,
  reviewCode: "KMW7XQ",
  news: "reminder, time is running out",
};
const facts: DigestFacts = {
  workspaceName: "Acme Shop",
  approverEmail: "ann@acme.example",
  publicUrl: "https://countersign.example/base",
  requests: [first, second],
};

function manyOf(count: number, summary: string): DigestFacts {
  return { ...facts, requests: Array.from({ length: count }, () => ({ ...first, summary })) };
}

test("a digest begins with our words, says how many there are, and lists the earliest deadline first", () => {
  const { subject, text } = digestMail(facts);
  assert.equal(subject, "2 requests are waiting for your decision in Acme Shop");
  assert.equal(
    text,
    `2 requests are waiting for your decision.

Automated agents asked for them within a short time, so this mail lists
them together. Without a decision nothing is approved.

A review page asks for the code of its request. Countersign asks for it
nowhere else.

Workspace: Acme Shop

Request 1 of 2: reminder, time is running out

The agent wrote:
> Delete the archive

Approver group: Ops
Decide by: Sunday, 15 November 2026, 17:00 UTC
Your code: KMW-7XQ
Review request:
${secondUrl}

Request 2 of 2

The agent wrote:
> Pay invoice 4711 to Müller & Söhne

Agent name, unverified:
> payer

Decide by: Monday, 16 November 2026, 16:11 UTC
Review request:
${firstUrl}

----
countersign

You get this mail at ann@acme.example because agents in the workspace
“Acme Shop” ask for your decision. The links are yours alone: do not
pass them on.

The pages they open must be at https://countersign.example. Opening one
decides nothing, and Countersign never asks for a password.
`,
  );
});

test("both parts hold the same links, and no word of others becomes one or leaves its place", () => {
  const shapeOf = (html: string) => html.match(/<\/?[a-z!][^\s>]*/gi) ?? [];
  const plain = shapeOf(digestMail(facts).html).filter((tag) => !/bdi|span/.test(tag));
  const attacks = [
    "</td></tr></table><h1>Approved</h1>",
    '"><a href="https://evil.example">click</a>',
    "invoice_\u202Efdp.exe \u2066hidden\u2069 evil.example",
    `Your code: KMW-7XQ Review request: https://evil.example`,
    "<!--[if mso]><a href='https://evil.example'>x</a><![endif]-->",
  ];
  for (const theirs of attacks) {
    const requests = facts.requests.map((request) => ({
      ...request,
      summary: theirs,
      agentName: request.agentName === null ? null : theirs,
      groupName: request.groupName === null ? null : theirs,
    }));
    const { subject, text, html } = digestMail({ ...facts, workspaceName: theirs, requests });
    const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    assert.deepEqual(hrefs, [secondUrl, firstUrl]);
    assert.deepEqual(
      shapeOf(html).filter((tag) => !/bdi|span/.test(tag)),
      plain,
    );
    for (const part of [subject, text, html]) {
      assert.ok(!/[\u202E\u2066\u2069]/.test(part));
      assert.ok(!/\bevil\.example\b/.test(part));
    }
    assert.equal(text.match(/^Your code: /gm)?.length, 1, "the agent's words stand behind a mark");
  }
});

test("as many fit as a mail program shows in full, and at least one", () => {
  assert.equal(countFitting(manyOf(digestRequestsMax, "Refund order 1042")), digestRequestsMax);
  assert.equal(countFitting(manyOf(digestRequestsMax, "x".repeat(480))), digestRequestsMax);
  assert.equal(countFitting(manyOf(200, "Refund")), digestRequestsMax);
  const chips = "a\u200bb\u200d".repeat(125);
  assert.equal(countFitting(manyOf(3, chips)), 1);
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { minLength: 1, maxLength: 30 }),
      (summaries) => {
        const requests = summaries.map((summary) => ({ ...second, summary }));
        const count = countFitting({ ...facts, requests });
        const { html } = digestMail({ ...facts, requests: requests.slice(0, count) });
        assert.ok(count === 1 || Buffer.byteLength(html) <= digestHtmlBytesMax);
      },
    ),
    { numRuns: 30 },
  );
});
