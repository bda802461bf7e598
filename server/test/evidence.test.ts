// The evidence of decisions: what each way in leaves, that a refused decision leaves nothing, and that strangers' words
// in it do no harm.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { issueReviewTicket } from "../src/domain/access/review-ticket.ts";
import { userAgentCharactersMax } from "../src/domain/limits.ts";
import { decideForTrial } from "../src/operations/approvals/decide-for-trial.ts";
import { listOfApproval } from "../src/storage/proof/evidence.ts";
import * as workspaces from "../src/storage/workspaces/workspaces.ts";
import type { Review } from "../src/wire/review-contract.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { resolveNow } from "./test-evidence.ts";
import { callInbox, openPlace } from "./test-inbox.ts";
import {
  type Choice,
  decisionBody,
  digestOfReview,
  findReviewer,
  listReviewers,
  openReview,
  postReview,
  sameOriginHeaders,
} from "./test-review.ts";
import { minimalBody, startService, testPublicUrl } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { app, db, keyring } = service;
after(() => service.stop());
const { workspaceWith, ask, vote } = makeVoters(service);
const [ann, bob] = ["ann@example.com", "bob@example.com"];

async function asked(body: object = { notify: ann, payload: { amount: 1 } }) {
  const { id: workspaceId, key, ...workspace } = await workspaceWith([ann, bob]);
  const { id } = await ask(key, { ...minimalBody, ...body });
  const { token, code } = await findReviewer(db, id, { email: ann });
  return { ...workspace, workspaceId, key, id: id as string, token, code };
}

type Asked = { workspaceId: string; id: string };

const evidenceOf = ({ workspaceId, id }: Asked) =>
  listOfApproval(db, { workspaceId, approvalId: id });

async function onlyOne(where: Asked) {
  const all = await evidenceOf(where);
  assert.equal(all.length, 1);
  const [evidence] = all;
  assert.ok(evidence !== undefined);
  return evidence;
}

type Sent = { choice?: Choice; says?: object; headers?: Record<string, string | string[]> };

/** As the page sends it, with what it says of itself. */
function send(token: string, review: Review, { choice, says = {}, headers = {} }: Sent = {}) {
  const body = decisionBody(review, choice ?? { verdict: "approve" });
  const told = Object.entries(says).map((said) =>
    said.map((part) => JSON.stringify(part)).join(":"),
  );
  const whole = `{${[...told, body.slice(1)].join(",")}`;
  return postReview(app, `${token}/decision`, whole, { ...sameOriginHeaders(), ...headers });
}

test("a decision by link leaves what was shown, the way in, the address, the browser and the page", async () => {
  const there = await asked();
  const review = await openReview(app, there.token);
  const reply = await send(there.token, review, {
    choice: { verdict: "reject", note: "No." },
    says: { page: "Bv55mHW-", opened: review.ticket },
    headers: { "user-agent": "Firefox/140" },
  });
  assert.equal(reply.status, 200, reply.text);
  const { at, openedAt, openMs, ...rest } = await onlyOne(there);
  assert.deepEqual(rest, {
    ...{ revision: 1, voter: ann, email: ann, forEmail: null, verdict: "reject" },
    shown: { version: 2, digest: Buffer.from(digestOfReview(review), "hex") },
    ...{ amr: ["mail"], address: "127.0.0.1", userAgent: "Firefox/140", page: "Bv55mHW-" },
    signed: null,
  });
  assert.equal(at.toISOString(), reply.json.outcome?.at);
  assert.equal(openedAt?.toISOString(), review.now);
  assert.equal(openMs, at.getTime() - Date.parse(review.now));
});

test("a code that was typed is a second way in", async () => {
  const there = await asked();
  await db.query("update reviewers set needs_code = true where approval_id = $1", [there.id]);
  const { token, code } = there;
  const review = await openReview(app, token, code);
  assert.equal((await send(token, review, { choice: { verdict: "approve", code } })).status, 200);
  assert.deepEqual((await onlyOne(there)).amr, ["mail", "code"]);
});

test("the page is open since its data came, however often its ticket was renewed; a foreign ticket tells nothing", async () => {
  const ours = (id: string, at: string) => issueReviewTicket(keyring, id, new Date(at));
  const long = "2026-01-31T12:00:00.000Z";
  for (const whose of ["own", "another's", "nonsense"]) {
    const there = await asked();
    const review = await openReview(app, there.token);
    const { rows } = await db.query<{ id: string }>(
      "select id from reviewers where approval_id = $1",
      [there.id],
    );
    const opened =
      whose === "nonsense" ? "1.x" : ours(whose === "own" ? (rows[0]?.id ?? "") : "rev_1", long);
    assert.equal((await send(there.token, review, { says: { opened } })).status, 200);
    const { openedAt, openMs, at } = await onlyOne(there);
    assert.equal(openedAt?.toISOString(), whose === "own" ? long : review.now, whose);
    assert.equal(openMs, at.getTime() - (openedAt?.getTime() ?? 0));
  }
});

test("a page that was opened in the future was open for no time", async () => {
  const there = await asked();
  const review = await openReview(app, there.token);
  const { rows } = await db.query<{ id: string }>(
    "select id from reviewers where approval_id = $1",
    [there.id],
  );
  const opened = issueReviewTicket(
    keyring,
    rows[0]?.id ?? "",
    new Date("2100-01-01T00:00:00.000Z"),
  );
  assert.equal((await send(there.token, review, { says: { opened } })).status, 200);
  assert.equal((await onlyOne(there)).openMs, 0);
});

test("a decision in the inbox leaves its session, and whether a passkey opened that", async () => {
  for (const [method, amr] of [
    ["code", ["session"]],
    ["passkey", ["session", "passkey"]],
  ] as const) {
    const there = await asked();
    const cookie = await signIn(service, ann);
    await db.query("update sessions set method = $1", [method]);
    const found = await callInbox(service, `GET /find/${there.id}`, { cookie });
    const review = await openPlace(service, cookie, found.json.id);
    const { ticket } = review;
    const body = {
      ...{ verdict: "approve", digest: digestOfReview(review), ticket, opened: ticket },
      page: "FRRkl0RL",
    };
    const path = `POST /reviews/${found.json.id}/decision`;
    const reply = await callInbox(service, path, { cookie, body });
    assert.equal(reply.status, 200, reply.text);
    const { amr: left, page, openedAt } = await onlyOne(there);
    assert.deepEqual([left, page], [amr, "FRRkl0RL"]);
    assert.equal(openedAt?.toISOString(), review.now);
  }
});

test("several at once leave one each, with the digest of their own request", async () => {
  const { id: workspaceId, key } = await workspaceWith([ann, bob]);
  await ask(key, { notify: bob });
  const cookie = await signIn(service, bob);
  const decisions: object[] = [];
  const digests = new Map<string, string>();
  for (const summary of ["One", "Two", "Three"]) {
    const { id } = await ask(key, { ...minimalBody, summary, notify: bob, agentName: "payer" });
    const found = await callInbox(service, `GET /find/${id}`, { cookie });
    const review = await openPlace(service, cookie, found.json.id);
    const { ticket } = review;
    digests.set(id, digestOfReview(review));
    decisions.push({ id: found.json.id, digest: digestOfReview(review), ticket, opened: ticket });
  }
  const body = { verdict: "approve", page: "FRRkl0RL", decisions };
  const reply = await callInbox(service, "POST /decisions", { cookie, body });
  assert.equal(reply.status, 200, reply.text);
  for (const [id, digest] of digests) {
    const { shown, amr, page, openedAt } = await onlyOne({ workspaceId, id });
    assert.equal(shown.digest.toString("hex"), digest);
    assert.deepEqual([amr[0], page, openedAt !== null], ["session", "FRRkl0RL", true]);
  }
});

test("a trial's decision says that the operator made it", async () => {
  const there = await asked();
  await workspaces.markTrial(inOneStatement(db), there.workspaceId);
  const result = await decideForTrial(
    { db, keyring, origin: { publicUrl: testPublicUrl }, onDue: () => {} },
    { id: there.id, verdict: "approve", note: null, edit: null, email: null },
  );
  await workspaces.unmarkTrials(inOneStatement(db));
  assert.ok("approvalId" in result, JSON.stringify(result));
  const { amr, address, userAgent, page, openedAt, openMs } = await onlyOne(there);
  assert.deepEqual(amr, ["operator"]);
  assert.deepEqual([address, userAgent, page, openedAt, openMs], [null, null, null, null, null]);
});

test("a decision that is refused leaves nothing", async () => {
  const there = await asked();
  const review = await openReview(app, there.token);
  const refused = [
    await send(there.token, { ...review, summary: "Another" }),
    await send(there.token, { ...review, ticket: "1.x" }),
    await send(there.token, review, { headers: { origin: "https://evil.example" } }),
  ];
  for (const { status } of refused) assert.notEqual(status, 200);
  assert.deepEqual(await evidenceOf(there), []);
  await service.call("POST", `/v1/requests/${there.id}/cancel`, { key: there.key });
  assert.equal((await send(there.token, review)).status, 409);
  assert.deepEqual(await evidenceOf(there), [], "neither does a cancel");
});

test("of fifty who race, the one who decides leaves evidence", async () => {
  const members = Array.from({ length: 50 }, (_, n) => `racer${n}@example.com`);
  const { id: workspaceId, key } = await workspaceWith(members);
  const { id } = await ask(key, {});
  const pages = await Promise.all(
    (await listReviewers(db, id)).map(async ({ email, token }) => {
      return { email, token, review: await openReview(app, token) };
    }),
  );
  const replies = await Promise.all(
    pages.map(async ({ email, token, review }, n) => {
      const verdict = n % 2 === 0 ? "approve" : "reject";
      return {
        email,
        verdict,
        status: (await send(token, review, { choice: { verdict } })).status,
      };
    }),
  );
  const won = replies.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  const { email, verdict } = await onlyOne({ workspaceId, id });
  assert.deepEqual({ email, verdict, status: 200 }, won[0]);
});

test("votes leave one each, of the revision for which they count", async () => {
  const { id: workspaceId, key } = await workspaceWith([ann, bob, "cy@example.com"]);
  const { id } = await ask(key, { quorum: 2 });
  assert.equal((await vote(id, ann)).status, 200);
  assert.equal((await vote(id, bob, { edit: '{"amount":1}' })).status, 200);
  const { token } = await findReviewer(db, id, { email: ann });
  const review = await openReview(app, token);
  assert.equal(review.change?.revision, 2);
  assert.equal((await send(token, review, { says: { page: "Bv55mHW-" } })).status, 200);
  const all = await evidenceOf({ workspaceId, id });
  assert.deepEqual(
    all.map(({ email, revision, verdict }) => [email, revision, verdict]),
    [
      [ann, 1, "approve"],
      [bob, 2, "approve"],
      [ann, 2, "approve"],
    ],
  );
  assert.equal(all[2]?.shown.digest.toString("hex"), digestOfReview(review));
  assert.equal(all[2]?.page, "Bv55mHW-");
  assert.notDeepEqual(all[0]?.shown.digest, all[2]?.shown.digest);
  assert.equal((await vote(id, ann)).status, 409);
  assert.equal((await evidenceOf({ workspaceId, id })).length, 3, "a refused vote leaves nothing");
});

test("a workspace that was renamed meanwhile, another expiry and another group's name are another view", async () => {
  const there = await asked({ notify: "group:finance", payload: 1 });
  const review = await openReview(app, there.token);
  assert.equal(review.groupName, "Finance");
  for (const change of [
    { workspaceName: "Acme Ltd" },
    { expiresAt: new Date(Date.parse(review.expiresAt) + 1).toISOString() },
    { groupName: "finance" },
    { groupName: null },
  ]) {
    const reply = await send(there.token, { ...review, ...change });
    assert.equal(reply.json.error.code, "stale_view", JSON.stringify(change));
  }
  await db.query("update workspaces set name = 'Umbrella' where id = $1", [there.workspaceId]);
  const stale = await send(there.token, review);
  assert.deepEqual([stale.status, stale.json.error.code], [409, "stale_view"]);
  assert.deepEqual(await evidenceOf(there), []);
  const again = await openReview(app, there.token);
  assert.equal(again.workspaceName, "Umbrella");
  assert.equal((await send(there.token, again)).status, 200);
});

test("whatever a browser calls itself, what is kept can be read, and not more than browsers need", async () => {
  for (const [header, kept] of [
    ["\u0000\u0007Fire\u009b31mfox\u007f", "Fire31mfox"],
    ["x".repeat(100_000), "x".repeat(userAgentCharactersMax)],
    ["a\ud800b\udc00c", "abc"],
    ["\u202eevil\u200b", "evil"],
    ["\t \r\n", null],
    ["😀".repeat(400), "😀".repeat(userAgentCharactersMax)],
  ] as const) {
    const there = await asked();
    const review = await openReview(app, there.token);
    const reply = await send(there.token, review, { headers: { "user-agent": header } });
    assert.equal(reply.status, 200, reply.text);
    assert.equal((await onlyOne(there)).userAgent, kept, JSON.stringify(header.slice(0, 20)));
  }
});

test("what a page says of itself is a hash, or nothing, and never a reason to refuse", async () => {
  for (const page of [
    ...["", "short", "<script>", "x".repeat(65), "Bv55mHW-\n", "Bv55 mHW", "\u0000aaaaaaa"],
    ...[7, null, {}, ["Bv55mHW-"], true],
  ]) {
    const there = await asked();
    const review = await openReview(app, there.token);
    const reply = await send(there.token, review, { says: { page } });
    assert.equal(reply.status, 200, reply.text);
    assert.equal((await onlyOne(there)).page, null, JSON.stringify(page));
  }
  const there = await asked();
  const review = await openReview(app, there.token);
  const wrong = await send(there.token, review, { says: { opened: 7 } });
  assert.equal(wrong.status, 400);
  assert.deepEqual(await evidenceOf(there), []);
});

test("the address is the one that a trusted proxy heard, not one that a caller made up", async () => {
  for (const [forwarded, kept] of [
    ["203.0.113.7", "203.0.113.7"],
    ["198.51.100.1, 203.0.113.7", "203.0.113.7"],
    ["'; drop table evidence; --", "127.0.0.1"],
    ["203.0.113.7, unknown", "127.0.0.1"],
    ["[2001:db8::7]:443", "2001:db8::7"],
    [`${"9".repeat(5_000)}, x`, "127.0.0.1"],
  ] as const) {
    const there = await asked();
    const review = await openReview(app, there.token);
    const headers = { "x-forwarded-for": forwarded };
    assert.equal((await send(there.token, review, { headers })).status, 200);
    assert.equal((await onlyOne(there)).address, kept, forwarded.slice(0, 40));
  }
});

test("evidence never changes", async () => {
  const there = await asked();
  const decided = { status: "REJECTED", byEmail: ann, note: null } as const;
  await resolveNow(inOneStatement(db), there, decided);
  await assert.rejects(
    db.query("update evidence set address = '198.51.100.1' where approval_id = $1", [there.id]),
    /never changes/,
  );
  assert.equal((await onlyOne(there)).address, "203.0.113.7");
});

test("the dashboard tells it to members, with the request; a pending request has none", async () => {
  const there = await asked();
  await makeMember(db, {
    workspaceId: there.workspaceId,
    email: "owner@example.com",
    role: "owner",
  });
  const cookie = await signIn(service, "owner@example.com");
  const params = { workspaceId: there.workspaceId, requestId: there.id };
  const show = async () => {
    const name = "GET /workspaces/:workspaceId/requests/:requestId";
    return (await callDashboard(service, name, { cookie, params })).json;
  };
  assert.equal("evidence" in (await show()), false);
  const review = await openReview(app, there.token);
  const says = { page: "Bv55mHW-", opened: review.ticket };
  const reply = await send(there.token, review, { says, headers: { "user-agent": "Firefox/140" } });
  const at = reply.json.outcome?.at ?? "";
  const digest = Buffer.from(digestOfReview(review), "hex").toString("base64url");
  assert.deepEqual((await show()).evidence, [
    {
      ...{ email: ann, for: null, verdict: "approve", at, revision: 1 },
      ...{ shown: { v: 2, digest }, openedAt: review.now },
      openMs: Date.parse(at) - Date.parse(review.now),
      ...{ amr: ["mail"], address: "127.0.0.1", userAgent: "Firefox/140", page: "Bv55mHW-" },
      ...{ credentialId: null, isSigned: false },
    },
  ]);
});
