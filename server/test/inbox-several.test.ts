// Several decisions at once: of one agent, each with the digest and the ticket of its own request, and a result of its own.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { formBytesMax } from "../src/domain/limits.ts";
import { inboxDecisionsMax } from "../src/domain/shown/field-limits.ts";
import type { InboxDecision, InboxRow } from "../src/wire/inbox-contract.ts";
import { signIn } from "./test-dashboard.ts";
import { callInbox, openPlace } from "./test-inbox.ts";
import { digestOfReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());
const voters = makeVoters(service);

function somebody(name = "ann"): string {
  return `${name}-${randomUUID().slice(0, 8)}@example.com`;
}

async function ask(key: string, body: object): Promise<string> {
  const reply = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, ...body },
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

async function rowsOf(cookie: string): Promise<InboxRow[]> {
  return (await callInbox(service, "GET /list", { cookie })).json.waiting;
}

/** What the page sends for a request that it has displayed. */
async function chosen(cookie: string, { id }: Pick<InboxRow, "id">): Promise<InboxDecision> {
  const review = await openPlace(service, cookie, id);
  return { id, digest: digestOfReview(review), ticket: review.ticket };
}

async function chooseAll(cookie: string, rows: readonly InboxRow[]): Promise<InboxDecision[]> {
  return Promise.all(rows.map((row) => chosen(cookie, row)));
}

function send(cookie: string, body: object | string) {
  return callInbox(service, "POST /decisions", { cookie, body });
}

async function statusOf(key: string, id: string): Promise<string> {
  return (await service.call("GET", `/v1/requests/${id}`, { key })).json.status;
}

test("of twenty, one that a colleague decided and one that expired are refused, and the others count", async () => {
  const [ann, bob] = [somebody("ann"), somebody("bob")];
  const { key } = await voters.workspaceWith([ann, bob]);
  const asked: string[] = [];
  for (let at = 0; at < inboxDecisionsMax; at += 1) {
    asked.push((await voters.ask(key, { summary: `Pay ${at}`, agentName: "payer" })).id);
  }
  const cookie = await signIn(service, ann);
  const rows = await rowsOf(cookie);
  const decisions = await chooseAll(cookie, rows);
  const [decided, expired] = [rows[3], rows[7]];
  await voters.vote(decided?.requestId ?? "", bob, { verdict: "reject" });
  await db.query("update approvals set expires_at = now_ms() where id = $1", [expired?.requestId]);
  const reply = await send(cookie, { verdict: "approve", note: "All paid.", decisions });
  assert.equal(reply.status, 200, reply.text);
  const { results } = reply.json;
  assert.deepEqual(
    results.map(({ id }: { id: string }) => id),
    decisions.map(({ id }) => id),
  );
  for (const [at, { kind, status, problem }] of results.entries()) {
    if (at === 3 || at === 7) {
      assert.deepEqual([kind, problem.error.code], ["refused", "already_resolved"]);
      assert.equal(problem.status.outcome.status, at === 3 ? "REJECTED" : "EXPIRED");
    } else {
      assert.deepEqual([at, kind, status.outcome.status], [at, "recorded", "APPROVED"]);
      assert.deepEqual([status.outcome.byEmail, status.outcome.note], [ann, "All paid."]);
    }
  }
  const statuses = await Promise.all(asked.map((id) => statusOf(key, id)));
  assert.equal(statuses.filter((status) => status === "APPROVED").length, inboxDecisionsMax - 2);
  assert.deepEqual(await rowsOf(cookie), []);
});

test("a request of another agent, key or workspace refuses all of them, and nothing is decided", async () => {
  const email = somebody();
  const [one, two] = [await makeWorkspace(db), await makeWorkspace(db)];
  const first = await ask(one.key, { notify: email, agentName: "payer" });
  const others = [
    [one.key, await ask(one.key, { notify: email, agentName: "other" })],
    [one.key, await ask(one.key, { notify: email })],
    [two.key, await ask(two.key, { notify: email, agentName: "payer" })],
  ] as const;
  const cookie = await signIn(service, email);
  const rows = await rowsOf(cookie);
  const of = (id: string) => rows.find(({ requestId }) => requestId === id) as InboxRow;
  for (const [key, other] of others) {
    const decisions = await chooseAll(cookie, [of(first), of(other)]);
    const reply = await send(cookie, { verdict: "approve", decisions });
    assert.deepEqual([reply.status, reply.json.error.code], [400, "validation_error"]);
    assert.match(reply.json.error.message, /one agent/);
    assert.deepEqual(
      [await statusOf(one.key, first), await statusOf(key, other)],
      ["PENDING", "PENDING"],
    );
  }
});

test("each needs the digest and the ticket of its own request, and another's place is not there", async () => {
  const [email, eve] = [somebody(), somebody("eve")];
  const { key } = await makeWorkspace(db);
  const ids: string[] = [];
  for (const summary of ["one", "two", "three", "four"]) {
    ids.push(await ask(key, { notify: email, summary }));
  }
  await ask(key, { notify: eve });
  const cookie = await signIn(service, email);
  const foreign = (await rowsOf(await signIn(service, eve)))[0] as InboxRow;
  const rows = await rowsOf(cookie);
  const [one, two, three, four] = (await chooseAll(cookie, rows)) as [
    ...[InboxDecision, InboxDecision, InboxDecision, InboxDecision],
  ];
  const decisions = [
    { ...one, digest: two.digest },
    { ...two, ticket: one.ticket },
    { ...three, ticket: "" },
    { ...four, id: foreign.id },
    { ...four, id: "rev_'; drop table votes" },
    four,
  ];
  const reply = await send(cookie, { verdict: "reject", decisions });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(
    reply.json.results.map((each: { kind: string; problem?: { error: { code: string } } }) =>
      each.kind === "recorded" ? each.kind : each.problem?.error.code,
    ),
    ["stale_view", "stale_view", "stale_view", "not_found", "not_found", "recorded"],
  );
  const statuses = await Promise.all(ids.map((id) => statusOf(key, id)));
  assert.deepEqual(statuses.sort(), ["PENDING", "PENDING", "PENDING", "REJECTED"]);
});

test("a body that names a request twice, too many, none or nonsense decides nothing", async () => {
  const email = somebody();
  const { key } = await makeWorkspace(db);
  const id = await ask(key, { notify: email });
  const cookie = await signIn(service, email);
  const [row] = await rowsOf(cookie);
  const one = await chosen(cookie, row as InboxRow);
  const many = Array.from({ length: inboxDecisionsMax + 1 }, (_, at) => ({ ...one, id: `r${at}` }));
  const bad: (object | string)[] = [
    { verdict: "approve", decisions: [one, one] },
    { verdict: "approve", decisions: many },
    { verdict: "approve", decisions: [] },
    { verdict: "approve" },
    { verdict: "approve", decisions: "all" },
    { verdict: "approve", decisions: [null] },
    { verdict: "approve", decisions: [[]] },
    { verdict: "approve", decisions: [{ ...one, digest: "x" }] },
    { verdict: "approve", decisions: [{ ...one, ticket: 1 }] },
    { verdict: "perhaps", decisions: [one] },
    { verdict: "approve", note: "\u0000", decisions: [one] },
    `{"verdict":"approve","verdict":"reject","decisions":[${JSON.stringify(one)}]}`,
    `{"verdict":"approve","decisions":[{"id":"x",${JSON.stringify(one).slice(1)}]}`,
    "[]",
    "{",
    "",
  ];
  for (const body of bad) {
    const reply = await send(cookie, body);
    assert.equal(reply.status, 400, `${JSON.stringify(body).slice(0, 200)}: ${reply.text}`);
  }
  const large = await send(cookie, {
    verdict: "approve",
    decisions: [one],
    x: "x".repeat(formBytesMax),
  });
  assert.equal(large.status, 413);
  assert.equal(await statusOf(key, id), "PENDING");
});

test("the same decisions sent twice at once are recorded once", async () => {
  const email = somebody();
  const { key } = await makeWorkspace(db);
  for (let at = 0; at < 5; at += 1) await ask(key, { notify: email });
  const cookie = await signIn(service, email);
  const decisions = await chooseAll(cookie, await rowsOf(cookie));
  const replies = await Promise.all(
    ["approve", "reject"].map((verdict) => send(cookie, { verdict, decisions })),
  );
  for (let at = 0; at < 5; at += 1) {
    const kinds = replies.map(({ json }) => json.results[at].kind).sort();
    assert.deepEqual(kinds, ["recorded", "refused"]);
  }
});
