// Decisions by the readers of review links: what it takes, what they write, and that of all who race one wins.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { inOneStatement, inTransaction } from "../src/database/database.ts";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { issueReviewTicket } from "../src/domain/access/review-ticket.ts";
import type { ReviewDecision } from "../src/domain/approval/review-decision.ts";
import { operatorEvidence } from "../src/domain/proof/evidence.ts";
import { digestOfShown } from "../src/domain/proof/shown-digest.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { shownFields } from "../src/domain/shown/submitted-fields.ts";
import { makeDecideApproval } from "../src/operations/approvals/decide-approval.ts";
import { findReview, findReviewLink } from "../src/operations/approvals/open-review.ts";
import {
  addGroupMember,
  createGroup,
  removeGroupMember,
} from "../src/operations/people/manage-group.ts";
import type { ReviewAccess } from "../src/storage/approvals/reviews.ts";
import * as groups from "../src/storage/people/groups.ts";
import { until } from "./patience.ts";
import { resolveNow } from "./test-evidence.ts";
import {
  type Choice,
  decide,
  decisionBody,
  digestOfReview,
  findReviewer,
  getReview,
  openReview,
  postReview,
  reviewDataOf,
  reviewOf,
  sameOriginHeaders,
} from "./test-review.ts";
import {
  makeWorkspace,
  minimalBody,
  startNode,
  startService,
  testPublicUrl,
} from "./test-service.ts";
import { makeEndpoint, type Receiver, startReceiver, startWorker } from "./test-worker.ts";

let dues = 0;
const service = await startService({ onDue: () => (dues += 1) });
const otherNode = await startNode(service.database);
const { db, app } = service;
after(async () => {
  await otherNode.stop();
  await service.stop();
});

type Asked = { workspaceId: string; key: string; id: string; token: string };

async function ask(body: string | object = { ...minimalBody, payload: { amount: 1 } }) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { json, status } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201);
  const { token } = await findReviewer(db, json.id);
  return { workspaceId, key, id: json.id as string, token } satisfies Asked;
}

async function read({ key, id }: Asked) {
  return service.call("GET", `/v1/requests/${id}`, { key });
}

async function eventsOf({ workspaceId, id }: Asked): Promise<string[]> {
  const { rows } = await db.query<{ kind: string }>(
    "select kind from events where workspace_id = $1 and approval_id = $2 and kind <> 'request.created'",
    [workspaceId, id],
  );
  return rows.map(({ kind }) => kind);
}

async function assertPending(asked: Asked): Promise<void> {
  assert.equal((await read(asked)).json.status, "PENDING");
  assert.deepEqual(await eventsOf(asked), []);
}

/** Moves the end of an approval to so many milliseconds from now. */
/** Answers what pages show once they have asked how things stand. */
async function endIn({ workspaceId, id }: Asked, ms: number): Promise<{ expiresAt: string }> {
  const { rows } = await db.query<{ expires_at: Date }>(
    `update approvals set created_at = now_ms() - interval '1 hour',
       expires_at = now_ms() + $3 * interval '1 millisecond'
     where workspace_id = $1 and id = $2
     returning expires_at`,
    [workspaceId, id, ms],
  );
  return { expiresAt: rows[0]?.expires_at.toISOString() ?? "" };
}

test("an approval names its reader, is told at once, and wakes the worker", async () => {
  const asked = await ask();
  const before = dues;
  const reply = await decide(app, asked.token, { verdict: "approve", note: "Fine." });
  assert.equal(reply.status, 200);
  assert.equal(dues, before + 1);
  const { outcome, now, expiresAt, ticket } = reply.json;
  assert.deepEqual(outcome, {
    status: "APPROVED",
    at: outcome?.at,
    byEmail: "ann@example.com",
    isYours: true,
    note: "Fine.",
    edit: null,
  });
  assert.deepEqual(Object.keys(reply.json).sort(), [
    "expiresAt",
    "now",
    "othersWaiting",
    "outcome",
    "ticket",
  ]);
  assert.ok((outcome?.at ?? "") <= now && now < expiresAt && ticket !== "");
  const { json } = await read(asked);
  assert.deepEqual(
    [json.status, json.resolvedByEmail, json.resolutionNote, json.resolvedAt, json.modifiedPayload],
    ["APPROVED", "ann@example.com", "Fine.", outcome?.at, null],
  );
  assert.deepEqual(json.effectivePayload, { amount: 1 });
  assert.deepEqual(await eventsOf(asked), ["request.approved"]);
});

test("a rejection carries its note, and the page shows it from then on", async () => {
  const asked = await ask();
  const reply = await decide(app, asked.token, { verdict: "reject", note: "Not today" });
  assert.equal(reply.status, 200);
  const { json } = await read(asked);
  assert.deepEqual([json.status, json.resolutionNote], ["REJECTED", "Not today"]);
  assert.deepEqual(await eventsOf(asked), ["request.rejected"]);
  assert.deepEqual((await openReview(app, asked.token)).outcome, reply.json.outcome);
});

describe("the answer to a decision is what the page is told from then on", () => {
  const choices: [name: string, choice: Choice][] = [
    ["an approval", { verdict: "approve" }],
    ["one with a note", { verdict: "approve", note: "Fine, but…\n\u2028 🙂" }],
    ["one with an edit", { verdict: "approve", edit: '{ "amount":1.00, "\\u0061":"\\ud800" }' }],
    ["one whose edit changes nothing", { verdict: "approve", edit: '{ "amount" : 1 }' }],
    ["a rejection", { verdict: "reject" }],
    ["one with a note", { verdict: "reject", note: 'Not "today"' }],
  ];
  for (const [name, choice] of choices) {
    test(`${name}: ${choice.verdict}`, async () => {
      const asked = await ask();
      const { text, json } = await decide(app, asked.token, choice);
      const { now, ticket } = json;
      const next = await postReview(otherNode.app, `${asked.token}/status`, "{}");
      assert.equal(text, JSON.stringify({ ...next.json, now, ticket }));
      assert.ok(now <= next.json.now);
      const { rows } = await db.query("select id from reviewers where approval_id = $1", [
        asked.id,
      ]);
      assert.equal(ticket, issueReviewTicket(service.keyring, rows[0].id, new Date(now)));
    });
  }
});

test("a decision costs two statements, a body that is none costs one, and a large one is asked about first", async (t) => {
  const asked = await ask();
  const bodyWith = async (edit: string) =>
    decisionBody(await openReview(app, asked.token), { verdict: "approve", edit: `"${edit}"` });
  const large = (await bodyWith("x".repeat(100_000))).replace(/"digest":"[^"]*"/, '"digest":"-"');
  const body = await bodyWith("x".repeat(20_000));
  const query = t.mock.method(service.servicePool, "query");
  // That a key was used is noted a while later, whatever is under way then.
  const statements = () =>
    query.mock.calls
      .map((call) => Object(call.arguments[0]).name)
      .filter((name) => name !== "apiKeys.noteUse");
  assert.equal((await postReview(app, `${asked.token}/decision`, "{broken")).status, 400);
  assert.deepEqual(statements(), ["reviews.find"]);
  query.mock.resetCalls();
  assert.equal((await postReview(app, `${asked.token}/decision`, large)).status, 400);
  assert.deepEqual(statements(), ["reviews.weigh", "reviews.find"]);
  query.mock.resetCalls();
  assert.equal((await postReview(app, `${asked.token}/decision`, body)).status, 200);
  assert.deepEqual(statements(), ["reviews.find", "approvals.resolve"]);
});

describe("edits", () => {
  const payload = '{"id":9007199254740993,"x":1.0,"n":-0,"b":[1,"2"],"2":"\\u0000","1":"\\ud800"}';
  const asWire = (edit: string | null) =>
    `"payload":${payload},"modifiedPayload":${edit},"effectivePayload":${edit ?? payload},`;

  async function approveWith(edit: string) {
    const asked = await ask(`{"summary":"s","notify":"ann@example.com","payload":${payload}}`);
    const reply = await decide(app, asked.token, { verdict: "approve", edit });
    return { asked, reply };
  }

  for (const edit of ["false", "0", '""', "[]", "{}", "1E400", "9007199254740995"]) {
    test(`${edit} is a real edit and wins over the original`, async () => {
      const { asked, reply } = await approveWith(edit);
      assert.equal(reply.status, 200);
      assert.equal(reply.json.outcome?.edit, edit);
      assert.ok((await read(asked)).text.includes(asWire(edit)));
    });
  }

  test("an edit is kept to the last character, in reads, on the page and in webhooks", async () => {
    const edit =
      '{ "id":9007199254740995, "x":1.00, "n":-0.0,\n "b":[ ], "2":"\\u0000\\ud800</script>\u2028" }';
    const { asked, reply } = await approveWith(edit);
    assert.equal(reply.json.outcome?.edit, edit);
    assert.ok((await read(asked)).text.includes(asWire(edit)));
    const { outcome, payload: shown } = await openReview(app, asked.token);
    assert.equal(outcome?.edit, edit);
    assert.equal(shown, payload);
  });

  test("other white space is no edit", async () => {
    const spaced = payload.replaceAll(",", " ,\n\t").replaceAll(":", " : ");
    for (const edit of [payload, ` ${spaced} `]) {
      const { asked, reply } = await approveWith(edit);
      assert.equal(reply.json.outcome?.edit, null);
      assert.ok((await read(asked)).text.includes(asWire(null)));
    }
  });

  test("an edit where the agent sent no payload is an edit", async () => {
    const asked = await ask(minimalBody);
    await decide(app, asked.token, { verdict: "approve", edit: '{"a":1}' });
    assert.deepEqual((await read(asked)).json.effectivePayload, { a: 1 });
  });

  const refused: [edit: string, pattern: RegExp][] = [
    ["null", /^edit: .*"not edited".*\{\}.*reject/],
    ['{"a":1,"a":2}', /^edit\.a: appears more than once/],
    ['{"a":{"b":[0,{"c":1,"\\u0063":2}]}}', /^edit\.a\.b\[1\]\.c: appears more than once/],
    [`${"[".repeat(200)}${"]".repeat(200)}`, /^edit: is nested deeper than 128 levels/],
  ];
  for (const [edit, pattern] of refused) {
    test(`${edit.slice(0, 40)} is refused with an explanation, and nothing is decided`, async () => {
      const { asked, reply } = await approveWith(edit);
      assert.deepEqual([reply.status, reply.json.error.code], [400, "validation_error"]);
      assert.match(reply.json.error.message, pattern);
      await assertPending(asked);
    });
  }

  test("a rejection takes no edit, and broken JSON no decision", async () => {
    const asked = await ask();
    const withEdit = await decide(app, asked.token, { verdict: "reject", edit: "{}" });
    assert.deepEqual([withEdit.status, withEdit.json.error.code], [400, "validation_error"]);
    assert.match(withEdit.json.error.message, /^edit: goes with an approval only/);
    const broken = await decide(app, asked.token, { verdict: "approve", edit: '{"a":}' });
    assert.deepEqual([broken.status, broken.json.error.code], [400, "invalid_json"]);
    assert.match(broken.json.error.message, /line 1, column \d+/);
    await assertPending(asked);
  });

  test("an edit of 200 KB and one of almost 4 MiB are taken", async () => {
    for (const size of [200_000, 4 * 1024 * 1024 - 1_000]) {
      const { asked, reply } = await approveWith(`"${"x".repeat(size)}"`);
      assert.equal(reply.status, 200);
      assert.equal((await read(asked)).json.modifiedPayload.length, size);
    }
    const asked = await ask();
    const tooLarge = await decide(app, asked.token, {
      verdict: "approve",
      edit: `"${"x".repeat(4 * 1024 * 1024)}"`,
    });
    assert.deepEqual([tooLarge.status, tooLarge.json.error.code], [413, "body_too_large"]);
    assert.equal(tooLarge.headers["referrer-policy"], "no-referrer");
    await assertPending(asked);
  });
});

describe("notes", () => {
  test("2,000 characters are taken, emoji too, and one more is not", async () => {
    const note = "🙂".repeat(2_000);
    const asked = await ask();
    const tooLong = await decide(app, asked.token, { verdict: "reject", note: `${note}!` });
    assert.deepEqual([tooLong.status, tooLong.json.error.code], [400, "validation_error"]);
    assert.match(
      tooLong.json.error.message,
      /^note: must be at most 2000 characters, but has 2001/,
    );
    await assertPending(asked);
    assert.equal((await decide(app, asked.token, { verdict: "reject", note })).status, 200);
    assert.equal((await read(asked)).json.resolutionNote, note);
  });

  test("a blank one is none, and control characters are refused", async () => {
    const asked = await ask();
    const control = await decide(app, asked.token, { verdict: "approve", note: "a\u0000b" });
    assert.match(control.json.error.message, /^note: must not contain control characters/);
    const half = `${decisionBody(await openReview(app, asked.token), { verdict: "approve" }).slice(0, -1)},"note":"\\ud800"}`;
    const surrogate = await postReview(app, `${asked.token}/decision`, half);
    assert.match(surrogate.json.error.message, /^note: must not contain a lone surrogate/);
    await assertPending(asked);
    await decide(app, asked.token, { verdict: "approve", note: " \u200b\n" });
    assert.equal((await read(asked)).json.resolutionNote, null);
  });
});

test("a body that is no decision is refused by the name of what is wrong", async () => {
  const asked = await ask();
  const review = await openReview(app, asked.token);
  const good = { verdict: "approve", digest: digestOfReview(review), ticket: review.ticket };
  const cases: [body: string | object, code: string, pattern: RegExp][] = [
    ["", "invalid_json", /empty/],
    ["{", "invalid_json", /Nothing was decided/],
    ["[]", "validation_error", /must be a JSON object/],
    [Buffer.from([0xff]), "invalid_json", /UTF-8/],
    [{ ...good, verdict: "APPROVE" }, "validation_error", /^verdict: must be approve or reject/],
    [{ ...good, verdict: undefined }, "validation_error", /^verdict: is required/],
    [{ ...good, digest: "abc" }, "validation_error", /^digest: /],
    [{ ...good, digest: undefined }, "validation_error", /^digest: is required/],
    [{ ...good, ticket: 1 }, "validation_error", /^ticket: must be a string, not a number/],
    [{ ...good, note: ["x"] }, "validation_error", /^note: must be a string, not an array/],
    [{ ...good, code: {} }, "validation_error", /^code: must be a string, not an object/],
    [
      `${JSON.stringify(good).slice(0, -1)},"verdict":"reject"}`,
      "validation_error",
      /^verdict: appears more than once/,
    ],
    [
      `${JSON.stringify(good).slice(0, -1)},"other":{"a":1,"a":2}}`,
      "validation_error",
      /^other\.a: appears more than once/,
    ],
  ];
  for (const [body, code, pattern] of cases) {
    const reply = await postReview(app, `${asked.token}/decision`, body);
    assert.deepEqual([reply.status, reply.json.error.code], [400, code], reply.text);
    assert.match(reply.json.error.message, pattern);
  }
  await assertPending(asked);
  const extra = { ...good, note: null, code: null, unknown: [{}] };
  assert.equal((await postReview(app, `${asked.token}/decision`, extra)).status, 200);
});

test("a call that is not from our own page decides nothing, however it is dressed", async () => {
  const asked = await ask();
  const body = decisionBody(await openReview(app, asked.token), { verdict: "approve" });
  const good = sameOriginHeaders();
  const origin = "https://approvals.example";
  const foreign: Record<string, string | string[]>[] = [
    {},
    { origin },
    { "sec-fetch-site": "same-origin" },
    ...["null", "https://evil.example", "http://approvals.example", `${origin}:8443`].map(
      (each) => ({ ...good, origin: each }),
    ),
    ...[
      `${origin}/`,
      `${origin}.evil.example`,
      "",
      `${origin}, ${origin}`,
      origin.toUpperCase(),
    ].map((each) => ({ ...good, origin: each })),
    ...["cross-site", "same-site", "none", "", "Same-Origin", "same-origin, same-origin"].map(
      (each) => ({ ...good, "sec-fetch-site": each }),
    ),
    { ...good, origin: [origin, origin] },
    { ...good, "sec-fetch-site": ["same-origin", "same-origin"] },
  ];
  const types = ["application/json", "text/plain", "application/x-www-form-urlencoded", ""];
  for (const headers of foreign) {
    for (const action of ["decision", "status", "open"]) {
      for (const type of types) {
        const all = { ...headers, "content-type": type };
        const reply = await postReview(app, `${asked.token}/${action}`, body, all);
        assert.deepEqual(
          [reply.status, reply.json.error.code],
          [403, "cross_origin"],
          JSON.stringify(all),
        );
        assert.match(reply.json.error.message, /https:\/\/approvals\.example .* https/);
      }
    }
  }
  await assertPending(asked);
  const mine = { ...good, "content-type": "text/plain" };
  assert.equal((await postReview(app, `${asked.token}/decision`, body, mine)).status, 200);
});

describe("a decision counts for what was shown, on a page of ours", () => {
  let asked: Asked;
  before(async () => {
    asked = await ask();
  });

  async function assertStale(change: object, token = asked.token) {
    const review = await openReview(app, token);
    const body = { ...JSON.parse(decisionBody(review, { verdict: "approve" })), ...change };
    const reply = await postReview(app, `${token}/decision`, body);
    assert.deepEqual([reply.status, reply.json.error.code], [409, "stale_view"], reply.text);
    assert.equal(reply.json.status?.outcome, null);
    await assertPending(asked);
    return reply.json.status;
  }

  test("another digest decides nothing, and says how to go on", async () => {
    const review = await openReview(app, asked.token);
    const changed = shownFields.map(({ name, kind }) => ({
      ...review,
      [name]: kind === "texts" ? ["x"] : `${review[name as keyof typeof review] ?? ""} `,
    }));
    for (const other of [
      ...changed,
      { ...review, payload: '{"amount":2}' },
      { ...review, payload: '{"amount": 1}' },
      { ...review, payload: null },
      { ...review, summary: `${review.summary} ` },
      { ...review, agentName: "somebody" },
      { ...review, reasoning: "" },
      { ...review, recentActions: ["x"] },
      { ...review, id: `${review.id}0` },
    ]) {
      await assertStale({ digest: digestOfReview(other) });
    }
  });

  test("a broken, foreign or expired ticket decides nothing, and a fresh one comes with the refusal", async () => {
    const other = await ask();
    const { ticket } = await openReview(app, asked.token);
    const foreign = (await openReview(app, other.token)).ticket;
    const { rows } = await db.query("select id from reviewers where approval_id = $1", [asked.id]);
    const [{ id: reviewerId }] = rows;
    const stranger = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
    const now = Date.now();
    const day = 24 * 3_600_000;
    for (const bad of [
      "",
      "x",
      foreign,
      `${ticket}x`,
      ticket.slice(0, -1),
      ticket.replace(/^\d/, "9"),
      issueReviewTicket(stranger, reviewerId, new Date(now)),
      issueReviewTicket(service.keyring, reviewerId, new Date(now - day - 60_000)),
    ]) {
      await assertStale({ ticket: bad });
    }
    const fresh = await assertStale({ ticket: "" });
    const review = await openReview(app, asked.token);
    const body = decisionBody({ ...review, ticket: fresh?.ticket ?? "" }, { verdict: "approve" });
    assert.equal((await postReview(app, `${asked.token}/decision`, body)).status, 200);
  });

  test("a ticket stands until a day has passed, and through a rotation of the secret key", async () => {
    const second = await ask();
    const keyText = service.keyring.current.keyObject.export().toString("base64");
    const rotated = parseKeyring(`${randomBytes(32).toString("base64")},${keyText}`) as Keyring;
    const node = await startNode(service.database, { keyring: rotated });
    try {
      const { rows } = await db.query("select id from reviewers where approval_id = $1", [
        second.id,
      ]);
      const old = new Date(Date.now() - 24 * 3_600_000 + 60_000);
      const ticket = issueReviewTicket(service.keyring, rows[0].id, old);
      const review = await openReview(node.app, second.token);
      const body = decisionBody({ ...review, ticket }, { verdict: "reject" });
      assert.equal((await postReview(node.app, `${second.token}/decision`, body)).status, 200);
    } finally {
      await node.stop();
    }
  });
});

test("of two tabs the second is told who decided what and when, and changes nothing", async () => {
  const asked = await ask();
  const first = await openReview(app, asked.token);
  const second = await openReview(otherNode.app, asked.token);
  const won = await postReview(
    app,
    `${asked.token}/decision`,
    decisionBody(first, { verdict: "approve", edit: '{"amount":2}', note: "Two" }),
  );
  assert.equal(won.status, 200);
  const before = (await read(asked)).text;
  for (const verdict of ["approve", "reject"] as const) {
    const lost = await postReview(
      otherNode.app,
      `${asked.token}/decision`,
      decisionBody(second, { verdict, note: "late" }),
    );
    assert.deepEqual([lost.status, lost.json.error.code], [409, "already_resolved"]);
    assert.match(lost.json.error.message, /was approved by ann@example\.com at \d{4}-/);
    assert.deepEqual(lost.json.status?.outcome, won.json.outcome);
  }
  assert.equal((await read(asked)).text, before);
  assert.deepEqual(await eventsOf(asked), ["request.approved"]);
});

test("a cancelled or expired request cannot be decided any more", async () => {
  const cancelled = await ask();
  const review = await openReview(app, cancelled.token);
  await service.call("POST", `/v1/requests/${cancelled.id}/cancel`, { key: cancelled.key });
  const body = decisionBody(review, { verdict: "approve" });
  const late = await postReview(app, `${cancelled.token}/decision`, body);
  assert.deepEqual([late.status, late.json.error.code], [409, "already_resolved"]);
  assert.match(late.json.error.message, /was cancelled at/);
  assert.deepEqual(
    [late.json.status?.outcome?.status, late.json.status?.outcome?.byEmail],
    ["CANCELLED", null],
  );

  const expired = await ask();
  const seen = await openReview(app, expired.token);
  await endIn(expired, -1);
  const tooLate = await postReview(
    app,
    `${expired.token}/decision`,
    decisionBody(seen, { verdict: "approve" }),
  );
  assert.deepEqual([tooLate.status, tooLate.json.error.code], [409, "already_resolved"]);
  assert.equal(tooLate.json.status?.outcome?.status, "EXPIRED");
  assert.equal((await read(expired)).json.status, "EXPIRED");
  assert.deepEqual(await eventsOf(expired), ["request.expired"]);
});

test("around the very end a decision either counts before it or not at all", async () => {
  for (const ms of [-1, 0, 1, 2, 4, 8, 16, 30]) {
    const asked = await ask();
    const review = await openReview(app, asked.token);
    const end = await endIn(asked, ms);
    const body = decisionBody({ ...review, ...end }, { verdict: "approve" });
    const reply = await postReview(app, `${asked.token}/decision`, body);
    const { json } = await read(asked);
    assert.equal(json.status, reply.status === 200 ? "APPROVED" : "EXPIRED", `${ms} ms`);
    assert.ok(json.resolvedAt <= json.expiresAt);
    assert.equal((await eventsOf(asked)).length, 1);
  }
});

describe("groups", () => {
  async function askGroup(members: string[]) {
    const { id: workspaceId, key } = await makeWorkspace(db);
    const group = await createGroup(db, { workspaceId, key: "ops", name: "Operations", members });
    if (isRefusal(group)) throw new Error(group.message);
    const body = { summary: "s", notify: "group:ops", payload: 1 };
    const { json } = await service.call("POST", "/v1/requests", { key, body });
    const token = async (email: string) => (await findReviewer(db, json.id, { email })).token;
    return { workspaceId, key, id: json.id as string, token: "", tokenOf: token, group };
  }

  test("the first decision wins and names its member; the others' links show who decided", async () => {
    const asked = await askGroup(["Ann@Example.com", "bob@example.com"]);
    const [ann, bob] = [
      await asked.tokenOf("Ann@Example.com"),
      await asked.tokenOf("bob@example.com"),
    ];
    const bobsView = await openReview(app, bob);
    assert.deepEqual(
      [bobsView.groupName, bobsView.reviewerEmail],
      ["Operations", "bob@example.com"],
    );
    assert.equal((await decide(app, ann, { verdict: "reject", note: "No" })).status, 200);
    const body = decisionBody(bobsView, { verdict: "approve" });
    const lost = await postReview(app, `${bob}/decision`, body);
    assert.deepEqual([lost.status, lost.json.error.code], [409, "already_resolved"]);
    assert.match(lost.json.error.message, /was rejected by Ann@Example\.com at/);
    const { outcome } = await openReview(app, bob);
    assert.deepEqual(
      [outcome?.byEmail, outcome?.isYours, outcome?.note],
      ["Ann@Example.com", false, "No"],
    );
    assert.equal((await openReview(app, ann)).outcome?.isYours, true);
    assert.equal((await read(asked)).json.resolvedByEmail, "Ann@Example.com");
  });

  test("a removed member's link is dead at once, and alive again when they are back", async () => {
    const asked = await askGroup(["ann@example.com", "bob@example.com"]);
    const ann = await asked.tokenOf("ann@example.com");
    const body = decisionBody(await openReview(app, ann), { verdict: "approve" });
    await removeGroupMember(db, asked.group.id, "ANN@example.com");
    for (const [action, sent] of [
      ["decision", body],
      ["status", "{}"],
      ["open", "{}"],
    ] as const) {
      const reply = await postReview(app, `${ann}/${action}`, sent);
      assert.deepEqual([reply.status, reply.json.error.code], [404, "not_found"]);
    }
    assert.equal((await getReview(app, ann)).status, 404);
    await assertPending(asked);
    await addGroupMember(db, asked.group.id, "aNN@example.com");
    assert.equal((await postReview(app, `${ann}/decision`, body)).status, 200);
    await removeGroupMember(db, asked.group.id, "ann@example.com");
    assert.equal((await getReview(app, ann)).status, 404, "not even the outcome");
  });

  test("a removal that is under way is waited for, and then nothing is decided", async () => {
    const asked = await askGroup(["ann@example.com", "bob@example.com"]);
    const where = { workspaceId: asked.workspaceId, id: asked.id };
    const resolution = { status: "APPROVED", note: null, edit: null } as const;
    const resolve = (byEmail: string) =>
      resolveNow(inOneStatement(db), where, { ...resolution, byEmail });
    const ann = await asked.tokenOf("ann@example.com");
    const body = decisionBody(await openReview(app, ann), { verdict: "approve" });
    const decisions = await inTransaction(db, async (tx) => {
      const member = { workspaceId: asked.workspaceId, groupId: asked.group.id };
      await groups.removeMember(tx, { ...member, email: "ann@example.com" });
      const stored = resolve("ann@example.com");
      const posted = postReview(app, `${ann}/decision`, body);
      await until(async () => {
        const { rows } = await db.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length === 2;
      }, "the decisions wait");
      return { stored, posted };
    });
    assert.equal(await decisions.stored, null);
    const { status, json } = await decisions.posted;
    assert.deepEqual([status, json.error.code], [404, "not_found"]);
    await assertPending(asked);
    assert.equal(await resolve("carol@example.com"), null, "never a member");
    assert.notEqual(await resolve("BOB@example.com"), null);
  });
});

describe("what follows from a decision", () => {
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  test("the webhook tells it as GET does, to the last character", async (t) => {
    const payload = '{"id":9007199254740993,"x":1.0,"n":-0,"b":1,"2":"\\u0000","1":"\\ud800"}';
    const edit = '{"id":9007199254740995, "x":1.0,"n":-0,"b":1,"2":"\\u0000","1":"\\udfff"}';
    const { id: workspaceId, key } = await makeWorkspace(db);
    await makeEndpoint(db, workspaceId, receiver.url, ["request.approved"]);
    const { json } = await service.call("POST", "/v1/requests", {
      key,
      body: `{"summary":"s","notify":"ann@example.com","payload":${payload},"metadata":1.0}`,
    });
    const { token } = await findReviewer(db, json.id);
    assert.equal((await openReview(app, token)).payload, payload);
    await decide(app, token, { verdict: "approve", edit });
    const worker = startWorker(service.database);
    t.after(() => worker.stop());
    await until(() => receiver.heard.length > 0, "the webhook");
    const body = receiver.heard[0]?.body.toString() ?? "";
    const spliced = `"payload":${payload},"modifiedPayload":${edit},"effectivePayload":${edit},`;
    assert.ok(body.includes(spliced), body);
    assert.equal(receiver.heard.length, 1);
  });
});

test("200 who approve, reject, cancel and look at the same moment leave one state and one event", async () => {
  for (const endsInMs of [3, 40, 150, 60_000]) {
    const { id: workspaceId, key } = await makeWorkspace(db);
    const members = Array.from({ length: 20 }, (_, n) => `m${n}@example.com`);
    await createGroup(db, { workspaceId, key: "all", name: "All", members });
    const { json: created } = await service.call("POST", "/v1/requests", {
      key,
      body: { summary: "s", notify: "group:all", payload: { a: 1 } },
    });
    const asked = { workspaceId, key, id: created.id as string, token: "" };
    const readers = await Promise.all(
      members.map(async (email) => {
        const { token } = await findReviewer(db, asked.id, { email });
        return { token, review: await openReview(app, token) };
      }),
    );
    const end = await endIn(asked, endsInMs);
    const wins = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const node = n % 2 === 0 ? service : otherNode;
        const { token, review } = readers[n % readers.length] as (typeof readers)[number];
        const way = Math.floor(n / 2) % 4;
        if (way === 0) {
          const path = `/v1/requests/${asked.id}/cancel`;
          return (await node.call("POST", path, { key })).status === 200;
        }
        if (way === 1) {
          const reply = await getReview(node.app, token);
          assert.equal(reply.status, 200);
          return false;
        }
        const verdict = way === 2 ? "approve" : "reject";
        const reply = await postReview(
          node.app,
          `${token}/decision`,
          decisionBody({ ...review, ...end }, { verdict, note: `by ${n}` }),
        );
        assert.ok(reply.status === 200 || reply.json.error.code === "already_resolved", reply.text);
        return reply.status === 200;
      }),
    );
    const { json } = await read(asked);
    assert.equal(wins.filter(Boolean).length, json.status === "EXPIRED" ? 0 : 1);
    assert.notEqual(json.status, "PENDING");
    assert.deepEqual(await eventsOf(asked), [`request.${json.status.toLowerCase()}`]);
    for (const { token } of readers) {
      const { outcome } = reviewOf(reviewDataOf((await getReview(app, token)).text));
      assert.deepEqual([outcome?.status, outcome?.at], [json.status, json.resolvedAt]);
    }
  }
});

describe("somebody whose address is proven", () => {
  const decideApproval = makeDecideApproval(
    { ...service, origin: { publicUrl: testPublicUrl } },
    () => {},
  );

  async function accessTo({ id }: Asked, email = "ann@example.com"): Promise<ReviewAccess> {
    const { rows } = await db.query<{ id: string }>(
      "select id from reviewers where approval_id = $1",
      [id],
    );
    return { kind: "person", reviewerId: rows[0]?.id ?? "", email, via: "inbox" };
  }

  test("decides without link and code, and the event tells where", async () => {
    const asked = await ask({ ...minimalBody, notify: "Ann@example.com", payload: { amount: 1 } });
    await db.query("update reviewers set needs_code = true where approval_id = $1", [asked.id]);
    const access = await accessTo(asked);
    const review = await findReview(db, access);
    assert.ok(review !== null);
    assert.equal(review.reviewer.needsCode, false);
    const ticket = issueReviewTicket(service.keyring, review.reviewer.id, review.now);
    const digest = digestOfShown(review);
    const decision = {
      verdict: "approve",
      digest,
      ticket,
      note: null,
      code: null,
      edit: null,
      signed: null,
    };
    const result = await decideApproval(
      access,
      review,
      decision as ReviewDecision,
      operatorEvidence,
    );
    assert.ok("decided" in result);
    const { rows } = await db.query(
      "select detail from events where approval_id = $1 and kind = 'request.approved'",
      [asked.id],
    );
    assert.deepEqual(rows, [{ detail: { via: "inbox" } }]);
  });

  test("finds nothing under another address or another spelling of the mailbox", async () => {
    const asked = await ask({ ...minimalBody, notify: "ann@example.com" });
    for (const email of ["bob@example.com", "ann+agent@example.com", ""]) {
      const access = await accessTo(asked, email);
      assert.equal(await findReview(db, access), null);
      assert.equal(await findReviewLink(db, access), null);
    }
  });
});
