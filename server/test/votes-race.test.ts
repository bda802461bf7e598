// Fifty voters on two nodes race for one request, among them some who reject, edit, hand over, cancel or are removed in
// that moment, and sweeps at the end of its time. There is one end, each vote is recorded or refused with the reason, and
// nobody is answered with a fault.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { removeGroupMember } from "../src/operations/people/manage-group.ts";
import { checkRemoved } from "../src/operations/votings/check-people.ts";
import * as approvalResolution from "../src/storage/approvals/approval-resolution.ts";
import type { Review } from "../src/wire/review-contract.ts";
import { until } from "./patience.ts";
import {
  type Choice,
  decisionBody,
  handOverBody,
  listReviewers,
  openReview,
  postReview,
} from "./test-review.ts";
import { insist, startNode, startService, type TestNode } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { makeEndpoint } from "./test-worker.ts";
import { listBroken } from "./voting-invariants.ts";

const service = await startService();
const otherNode = await startNode(service.database);
const nodes = [service, otherNode];
const { db } = service;
const { ask, read, vote: voteAnew, ...voters } = makeVoters(service);
after(async () => {
  await otherNode.stop();
  await service.stop();
});

const people = Array.from({ length: 50 }, (_, n) => `racer${n}@example.com`);

const endKinds = [
  "request.approved",
  "request.rejected",
  "request.expired",
  "request.cancelled",
] as const;

/** A workspace whose endpoint is told of each vote and stage, and of the end. */
async function workspaceWith(members: readonly string[]) {
  const workspace = await voters.workspaceWith(members);
  await makeEndpoint(db, workspace.id, "https://hooks.example/votes", [
    "request.vote_recorded",
    "request.stage_entered",
    ...endKinds,
  ]);
  return workspace;
}

/** The kinds of the events that are on their way to the endpoint, as often as each is. */
async function webhooksOf(id: string): Promise<string[]> {
  const { rows } = await db.query<{ kind: string }>(
    `select ev.kind from deliveries d join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
     where ev.approval_id = $1 and d.channel = 'webhook' order by ev.id`,
    [id],
  );
  return rows.map(({ kind }) => kind);
}

type Answer = { status: number; code: string | null };

/** Each has the page open before the race begins, so all were shown the same revision. */
async function openPages(id: string) {
  const reviewers = await listReviewers(db, id);
  return Promise.all(
    reviewers.map(async ({ email, token }, n) => {
      const node = nodes[n % nodes.length] as TestNode;
      const review = await openReview(node.app, token);
      const post = async (path: string, body: string | object): Promise<Answer> => {
        for (;;) {
          const { status, json } = await postReview(node.app, `${token}/${path}`, body);
          if (status !== 503) return { status, code: status === 200 ? null : json.error.code };
        }
      };
      return {
        email,
        review,
        vote: (choice: Partial<Choice> = {}) =>
          post("decision", decisionBody(review, { verdict: "approve", ...choice })),
        handOver: (to: string) => post("hand-over", handOverBody(review, to)),
      };
    }),
  );
}

/** The pages have asked how things stand since, and show it. */
async function endIn(id: string, ms: number, pages: readonly { review: Review }[]): Promise<void> {
  const { rows } = await db.query<{ expires_at: Date }>(
    `update approvals set created_at = now_ms() - interval '1 hour',
       expires_at = now_ms() + $2 * interval '1 millisecond' where id = $1
     returning expires_at`,
    [id, ms],
  );
  const expiresAt = rows[0]?.expires_at.toISOString() ?? "";
  for (const { review } of pages) Object.assign(review, { expiresAt });
}

async function votesOf(id: string) {
  const { rows } = await db.query<{ email: string; revision: number }>(
    "select voter_email as email, revision from votes where approval_id = $1 order by created_at",
    [id],
  );
  return rows;
}

/** What must hold after every race. */
async function assertOneEnd(
  { key, workspaceId, id }: { key: string; workspaceId: string; id: string },
  answers: readonly { email: string; answer: Answer }[],
) {
  const faults = answers.filter(({ answer }) => answer.status !== 200 && answer.status !== 409);
  // The link of somebody who is no longer in the group leads nowhere.
  assert.deepEqual(
    faults.filter(({ answer }) => answer.status !== 404),
    [],
  );
  const counted = answers.filter(({ answer }) => answer.status === 200).map(({ email }) => email);
  assert.deepEqual((await votesOf(id)).map(({ email }) => email).sort(), counted.sort());
  assert.deepEqual(await listBroken(db, { workspaceId, approvalId: id }), []);
  const end = await read(key, id);
  const webhooks = await webhooksOf(id);
  const resolved = end.status === "PENDING" ? [] : [`request.${end.status.toLowerCase()}`];
  assert.deepEqual(
    webhooks.filter((kind) => endKinds.some((each) => each === kind)),
    resolved,
    "one webhook event for the resolution",
  );
  const told = webhooks.filter((kind) => kind === "request.vote_recorded");
  assert.equal(told.length, counted.length, "and one for each vote");
  return { ...end, counted };
}

test("fifty racing voters make one resolution with exactly the required votes, and the others learn why not", async () => {
  const { key, id: workspaceId } = await workspaceWith(people);
  const { id } = await ask(key, { quorum: 20 });
  const pages = await openPages(id);
  const answers = await Promise.all(
    pages.map(async ({ email, vote }) => ({ email, answer: await vote() })),
  );
  const end = await assertOneEnd({ key, workspaceId, id }, answers);
  assert.equal(end.status, "APPROVED");
  assert.equal(end.counted.length, 20);
  const others = answers.filter(({ answer }) => answer.status !== 200);
  assert.deepEqual([...new Set(others.map(({ answer }) => answer.code))], ["already_resolved"]);
  const last = (await votesOf(id)).at(-1);
  assert.equal(end.resolvedByEmail, last?.email);
});

test("racing voters of two stages fill the first, and whoever is needed later waits for the second", async () => {
  const { key, id: workspaceId } = await workspaceWith(people);
  const [first = "", second = ""] = people;
  const then = [
    { notify: first, quorum: 1 },
    { notify: second, quorum: 1 },
  ];
  const { id } = await ask(key, { quorum: 5, then });
  const pages = await openPages(id);
  const answers = await Promise.all(
    pages.map(async ({ email, vote }) => ({ email, answer: await vote() })),
  );
  await assertOneEnd({ key, workspaceId, id }, answers);
  const codes = new Set(answers.flatMap(({ answer }) => answer.code ?? []));
  for (const code of codes)
    assert.ok(["vote_refused", "needed_later", "already_resolved"].includes(code), code);
  // Whoever was too early votes again. By their first vote they may have met their stage already.
  for (const email of [first, second]) {
    const has = (await votesOf(id)).some((each) => each.email === email);
    if (!has) assert.equal((await voteAnew(id, email)).status, 200, email);
  }
  const end = await read(key, id);
  assert.equal(end.status, "APPROVED");
  assert.equal(end.resolvedByEmail, second);
  const [ofFirst, ...later] = end.approvals.stages.map((stage: { votes: { email: string }[] }) =>
    stage.votes.map(({ email }) => email),
  );
  assert.equal(ofFirst.length, 5);
  assert.ok(!ofFirst.includes(first) && !ofFirst.includes(second), ofFirst.join(", "));
  assert.deepEqual(later, [[first], [second]]);
  // In no order: ids begin with the moment at which a vote came, and a vote that came first may be counted last.
  const webhooks = await webhooksOf(id);
  assert.deepEqual(webhooks.filter((kind) => kind !== "request.vote_recorded").sort(), [
    "request.approved",
    "request.stage_entered",
    "request.stage_entered",
  ]);
});

test("of racing edits one makes the next revision, and no vote on the text before it is recorded after it", async () => {
  const { key, id: workspaceId } = await workspaceWith(people);
  const { id } = await ask(key, { quorum: 20 });
  const pages = await openPages(id);
  // Too few approve without an edit, so one edit is always made.
  const answers = await Promise.all(
    pages.map(async ({ email, vote }, n) => {
      const answer = await vote(n % 4 !== 0 ? { edit: `{"amount":${n}}` } : {});
      return { email, answer };
    }),
  );
  const end = await assertOneEnd({ key, workspaceId, id }, answers);
  const votes = await votesOf(id);
  assert.equal(end.status, "PENDING");
  assert.equal(end.approvals.revision, 2);
  assert.equal(votes.filter(({ revision }) => revision === 2).length, 1, "the editor's own");
  const late = answers.filter(({ answer }) => answer.status === 409);
  assert.deepEqual([...new Set(late.map(({ answer }) => answer.code))], ["stale_view"]);
});

/** When the request's time is over, seen from the start of the race. */
const roundsEndInMs = [30, 600_000, 600_000, 600_000];

test("votes race with rejections, edits, hand-overs, cancels, the end of the time and removals: one end, no fault", async (t) => {
  const ends: string[] = [];
  for (const [round, endsInMs] of roundsEndInMs.entries()) {
    const { key, id: workspaceId, groupId } = await workspaceWith(people);
    const { id } = await ask(key, { quorum: 18, then: [{ notify: "group:finance", quorum: 20 }] });
    const pages = await openPages(id);
    await endIn(id, endsInMs, pages);
    const removals = pages.slice(40, 44).map(async ({ email }) => {
      const removed = await removeGroupMember(nodes[round % 2]?.db ?? db, groupId, email);
      assert.ok(!isRefusal(removed), JSON.stringify(removed));
      await checkRemoved(otherNode.db, 10);
    });
    const passes = pages.slice(44, 48).map(({ handOver }, n) => handOver(people[n] ?? ""));
    const voting = pages.map(async ({ email, vote }, n) => {
      const choice: Partial<Choice> =
        n === 30 && round === 2
          ? { verdict: "reject" }
          : n % 10 === 7 && round < 2
            ? { edit: `{"amount":${n}}` }
            : {};
      return { email, answer: await vote(choice) };
    });
    const cancels =
      round === 3 ? [insist(otherNode, "POST", `/v1/requests/${id}/cancel`, { key })] : [];
    const sweeps = nodes.map((node) =>
      approvalResolution.expireOverdue(inOneStatement(node.db), { from: null, limit: 10 }),
    );
    const answers = await Promise.all(voting);
    const passed = await Promise.all(passes);
    for (const { status } of passed) assert.ok([200, 404, 409].includes(status), `${status}`);
    await Promise.all([...removals, ...cancels, ...sweeps]);
    const { status } = await assertOneEnd({ key, workspaceId, id }, answers);
    ends.push(status);
  }
  t.diagnostic(`ends: ${ends.join(", ")}`);
});

test("a vote that has waited until the end of the time is too late", async () => {
  const [ann = "", bob = ""] = people;
  const { key, id: workspaceId, groupId } = await workspaceWith([ann, bob]);
  const { id } = await ask(key, { quorum: 1 });
  const [page] = await openPages(id);
  assert.ok(page !== undefined);
  await endIn(id, 1_000, [page]);
  const holder = await db.connect();
  try {
    await holder.query("begin");
    await holder.query("select from group_members where group_id = $1 for update", [groupId]);
    const voting = page.vote();
    await until(async () => {
      const { rows } = await db.query(
        "select from approvals where id = $1 and expires_at <= now()",
        [id],
      );
      return rows.length > 0;
    }, "the end of the time");
    await holder.query("commit");
    assert.deepEqual(await voting, { status: 409, code: "already_resolved" });
  } finally {
    holder.release();
  }
  assert.equal((await read(key, id)).status, "EXPIRED");
  assert.deepEqual(await listBroken(db, { workspaceId, approvalId: id }), []);
});

test("of two hand-overs of one vote at the same moment one happens, and of a hand-over and a vote one", async () => {
  const { key, id: workspaceId } = await workspaceWith(people.slice(0, 10));
  const outside = "outside@example.com";
  for (let round = 0; round < 6; round += 1) {
    const { id } = await ask(key, { notify: outside, quorum: 1 });
    const [one, other] = [await openPages(id), await openPages(id)].map(([page]) => page);
    assert.ok(one !== undefined && other !== undefined);
    const isVote = round % 2 === 0;
    const answers = await Promise.all([
      one.handOver(people[1] ?? ""),
      isVote ? other.vote() : other.handOver(people[2] ?? ""),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    const { rows } = await db.query<{ voter: string; given_to: string | null }>(
      "select voter, given_to from seats where approval_id = $1 and given_to is null",
      [id],
    );
    assert.equal(rows.length, 1, "one may vote");
    assert.deepEqual(await listBroken(db, { workspaceId, approvalId: id }), []);
  }
});
