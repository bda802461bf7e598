// Members see on the dashboard how far several people are: stages, votes, revisions, and who is still awaited.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import type { Overview, RequestDetail, RequestPage } from "../src/wire/dashboard-contract.ts";
import type { HistoryEntry } from "../src/wire/dashboard-history.ts";
import { Sweeper } from "../src/worker/sweeper.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { decide, findReviewer, handOverBody, openReview, postReview } from "./test-review.ts";
import { makeWorkspace, startService, testKeyring } from "./test-service.ts";

let nowMs = 0;
const service = await startService({ clock: () => (nowMs += 1_000) });
const { db, app } = service;
after(() => service.stop());

const ann = "ann@example.com";
const bob = "bob@example.com";
const cy = "cy@example.com";
const cfo = "cfo@example.com";
const admin = "admin@example.com";

async function makeTeam() {
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "Acme" });
  await makeMember(db, { workspaceId, email: admin, role: "admin" });
  const members = [ann, bob, cy];
  const group = await createGroup(db, { workspaceId, key: "finance", name: "Finance", members });
  assert.ok(!isRefusal(group), JSON.stringify(group));
  return { workspaceId, key, cookie: await signIn(service, admin) };
}

type Team = Awaited<ReturnType<typeof makeTeam>>;

async function ask({ key }: Team, body: object = {}): Promise<string> {
  const payment = { summary: "Pay 40,000", notify: "group:finance", payload: { amount: 40000 } };
  const reply = await service.call("POST", "/v1/requests", { key, body: { ...payment, ...body } });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

async function vote(id: string, email: string, choice: Partial<Parameters<typeof decide>[2]> = {}) {
  const { token } = await findReviewer(db, id, { email });
  const reply = await decide(app, token, { verdict: "approve", ...choice });
  assert.equal(reply.status, 200, reply.text);
}

async function handOver(id: string, from: string, to: string): Promise<void> {
  const { token } = await findReviewer(db, id, { email: from });
  const review = await openReview(app, token);
  const reply = await postReview(app, `${token}/hand-over`, handOverBody(review, to));
  assert.equal(reply.status, 200, reply.text);
}

async function sweep(): Promise<void> {
  const faults: unknown[] = [];
  const sweeper = new Sweeper({
    ...{ db, keyring: testKeyring, onDue: () => {} },
    onFault: (fault) => faults.push(fault),
  });
  sweeper.sweep();
  await sweeper.stop();
  assert.deepEqual(faults, []);
}

async function show({ workspaceId, cookie }: Team, requestId: string): Promise<RequestDetail> {
  const reply = await callDashboard(service, "GET /workspaces/:workspaceId/requests/:requestId", {
    cookie,
    params: { workspaceId, requestId },
  });
  assert.equal(reply.status, 200, JSON.stringify(reply.json));
  return reply.json;
}

async function list({ workspaceId, cookie }: Team, query: Record<string, string>) {
  const reply = await callDashboard(service, "GET /workspaces/:workspaceId/requests", {
    ...{ cookie, params: { workspaceId }, query },
  });
  assert.equal(reply.status, 200, JSON.stringify(reply.json));
  return (reply.json as RequestPage).items;
}

/** Oldest first. */
async function summaries(team: Team, query: Record<string, string>): Promise<string[]> {
  return (await list(team, { sort: "oldest", ...query })).map(({ summary }) => summary);
}

function votingOf({ voting }: RequestDetail) {
  assert.ok(voting !== undefined);
  return voting;
}

/** The lines about votes and stages, without their times. */
function linesOf({ history }: RequestDetail): string[] {
  return history.flatMap((entry: HistoryEntry): string[] => {
    switch (entry.kind) {
      case "voted": {
        const outdated = entry.outdatedBy === null ? "" : `, outdated by ${entry.outdatedBy}`;
        return [`${entry.email} ${entry.verdict} ${entry.stage}.${entry.revision}${outdated}`];
      }
      case "revised":
        return [`${entry.email} revised ${entry.revision}`];
      case "stage_entered":
        return [`stage ${entry.stage} ${entry.name}${entry.isAgain ? " again" : ""}`];
      case "escalated":
        return [`escalated to ${entry.name}${entry.isNews ? "" : ", no news"}`];
      case "escalates":
        return [`escalates to ${entry.name}`];
      case "delegated":
      case "handed_over":
        return [`${entry.kind} ${entry.email} to ${entry.toEmail}`];
      case "created":
      case "approved":
      case "rejected":
      case "stuck":
      case "unreachable":
        return [entry.kind];
      default:
        return [];
    }
  });
}

test("a request's page tells its stages, who has voted on this text, and who is still awaited", async () => {
  const team = await makeTeam();
  const id = await ask(team, {
    quorum: 2,
    then: [{ notify: cfo }],
    escalate: [{ afterMinutes: 30, notify: "boss@example.com" }],
  });
  await vote(id, ann, { note: "fine" });
  const detail = await show(team, id);
  const voting = votingOf(detail);
  assert.deepEqual([voting.stage, voting.revision, voting.change], [1, 1, null]);
  assert.deepEqual(
    voting.stages.map(({ name, isGroup, required, state }) => [name, isGroup, required, state]),
    [
      ["Finance", true, 2, "open"],
      [cfo, false, 1, "later"],
    ],
  );
  assert.deepEqual(
    voting.stages.map(({ votes, awaited }) => [
      votes.map(({ email }) => email),
      awaited.map(({ email, voters }) => [email, ...voters.map((voter) => voter.email)]),
    ]),
    [
      [[ann], [bob, cy].map((email) => [email, email])],
      [[], []],
    ],
  );
  const [step] = voting.stages[0]?.steps ?? [];
  assert.deepEqual([step?.name, step?.afterMinutes], ["boss@example.com", 30]);
  assert.ok(step?.dueAt);
  assert.equal(voting.stages[1]?.steps[0]?.dueAt, null, "its stage was not entered");
  assert.deepEqual(linesOf(detail), [
    "created",
    `${ann} approve 1.1`,
    "escalates to boss@example.com",
  ]);
});

test("the history tells revisions, which votes no longer count since when, and stages in order", async () => {
  const team = await makeTeam();
  const id = await ask(team, { quorum: 2, then: [{ notify: cfo }] });
  await vote(id, ann);
  await vote(id, bob);
  await vote(id, cfo, { edit: '{"amount":30000}' });
  const halfway = await show(team, id);
  const { change, revision, stage } = votingOf(halfway);
  assert.deepEqual([stage, revision, change?.byEmail], [1, 2, cfo]);
  assert.equal(change?.payload, '{"amount":30000}');
  await vote(id, cy);
  await vote(id, ann);
  const done = await show(team, id);
  assert.deepEqual(linesOf(done), [
    "created",
    `${ann} approve 1.1, outdated by 2`,
    `${bob} approve 1.1, outdated by 2`,
    `stage 2 ${cfo}`,
    `${cfo} revised 2`,
    `${cfo} approve 2.2`,
    "stage 1 Finance again",
    `${cy} approve 1.2`,
    `${ann} approve 1.2`,
    "approved",
  ]);
  assert.deepEqual(
    votingOf(done).stages.map(({ state, awaited }) => [state, awaited.length]),
    [
      ["complete", 0],
      ["complete", 0],
    ],
  );
  assert.equal(done.edit, '{"amount":30000}');
});

test("hand-overs, delegates and steps are told with who and whom, each once", async () => {
  const team = await makeTeam();
  await db.query(
    `with absence as (
       insert into absences (workspace_id, person, email, delegate_email, starts_at, ends_at)
       values ($1, $2, $2, $3, now_ms() - interval '1 minute', now_ms() + interval '1 day')
     )
     update workspaces set absences_until = now_ms() + interval '1 day' where id = $1`,
    [team.workspaceId, bob, cy],
  );
  const id = await ask(team, {
    notify: "outside@example.com",
    escalate: [
      { afterMinutes: 10, notify: "boss@example.com" },
      { afterMinutes: 20, notify: "outside@example.com" },
    ],
  });
  await handOver(id, "outside@example.com", ann);
  await handOver(id, ann, bob);
  await db.query("update steps set due_at = now_ms() where approval_id = $1", [id]);
  await sweep();
  const detail = await show(team, id);
  const expected = [
    `handed_over outside@example.com to ${ann}`,
    `handed_over ${ann} to ${bob}`,
    `delegated ${bob} to ${cy}`,
    "escalated to boss@example.com",
    "escalated to outside@example.com, no news",
  ];
  assert.deepEqual(linesOf(detail).toSorted(), ["created", ...expected].toSorted());
  assert.deepEqual(
    votingOf(detail).stages[0]?.awaited.map(({ email, voters }) => [
      email,
      voters.map((voter) => voter.email),
    ]),
    [
      ["outside@example.com", [bob, cy]],
      ["boss@example.com", ["boss@example.com"]],
    ],
  );
});

test("members remind those who can still vote once an hour, and the activity notes it", async () => {
  const team = await makeTeam();
  const { workspaceId, cookie } = team;
  const id = await ask(team, { quorum: 2 });
  await vote(id, ann);
  const remind = (requestId: string) =>
    callDashboard(service, "POST /workspaces/:workspaceId/requests/:requestId/remind", {
      cookie,
      params: { workspaceId, requestId },
    });
  const racing = await Promise.all([remind(id), remind(id), remind(id)]);
  assert.deepEqual(racing.map(({ status }) => status).toSorted(), [200, 429, 429]);
  assert.deepEqual(racing.find(({ status }) => status === 200)?.json, { reminded: 2 });
  const again = await remind(id);
  assert.deepEqual([again.status, again.json.error.code], [429, "rate_limited"]);
  assert.match(again.json.error.message, /Try again in 60 minutes/);
  const { json } = await callDashboard(service, "GET /workspaces/:workspaceId/activity", {
    cookie,
    params: { workspaceId },
  });
  // The activity keeps the id alone; the summary is read beside it while there is one.
  const { action, subject } = json.items[0];
  assert.deepEqual([action, subject], ["request.reminded", "Pay 40,000"]);
  const { rows } = await db.query(
    "select subject from activity where workspace_id = $1 and action = $2",
    [workspaceId, action],
  );
  assert.deepEqual(rows, [{ subject: id }]);
  await vote(id, bob);
  assert.equal((await remind(id)).json.error.code, "already_resolved");
  assert.equal((await remind(`req_${"0".repeat(32)}`)).status, 404);
});

test("a plain request's page has nothing of several people", async () => {
  const team = await makeTeam();
  const detail = await show(team, await ask(team));
  assert.ok(!("voting" in detail) && !("progress" in detail) && !("approverLimit" in detail));
});

test("a plain request's page tells the limit that held when it was created", async () => {
  const team = await makeTeam();
  const limit = (rule: string) =>
    db.query("update workspaces set approver_limit = $2 where id = $1", [team.workspaceId, rule]);
  await limit("members");
  const id = await ask(team);
  await limit("anybody");
  const { approverLimit, voting } = await show(team, id);
  assert.deepEqual([approverLimit, voting], ["members", undefined]);
});

test("who stood in before a limit of domains is shown, and votes; about later requests nobody stands in", async () => {
  const team = await makeTeam();
  const { workspaceId } = team;
  const stranger = "x@other.test";
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [stranger] });
  await db.query(
    `with absence as (
       insert into absences (workspace_id, person, email, delegate_email, starts_at, ends_at)
       values ($1, $2, $2, $3, now_ms() - interval '1 minute', now_ms() + interval '1 day')
     )
     update workspaces set absences_until = now_ms() + interval '1 day' where id = $1`,
    [workspaceId, cfo, stranger],
  );
  const before = await ask(team, { summary: "Before", notify: cfo, quorum: 1 });
  await db.query(
    "update workspaces set approver_limit = 'domains', approver_domains = '{example.com}' where id = $1",
    [workspaceId],
  );
  const later = await ask(team, { summary: "Later", notify: cfo, quorum: 1 });
  await sweep();
  const votersOf = async (id: string) =>
    votingOf(await show(team, id)).stages[0]?.awaited.map(({ voters }) =>
      voters.map(({ email }) => email),
    );
  assert.deepEqual(await votersOf(before), [[cfo, stranger]]);
  assert.deepEqual(await votersOf(later), [[cfo]]);
  assert.deepEqual(await summaries(team, { waitingFor: stranger }), ["Before"]);
  assert.deepEqual(await summaries(team, { waitingFor: cfo }), ["Before", "Later"]);
  await vote(before, stranger);
  assert.equal((await show(team, before)).status, "APPROVED");
});

test("a list is filtered by the person for whom requests wait, as far as they can still vote", async () => {
  const team = await makeTeam();
  await ask(team, { summary: "By name", notify: "Ann@Example.com" });
  await ask(team, { summary: "By group" });
  const quorum = await ask(team, { summary: "Quorum", quorum: 2 });
  await ask(team, { summary: "Later", notify: cfo, then: [{ notify: ann }] });
  const handed = await ask(team, { summary: "Handed", notify: cfo });
  await ask(team, { summary: "Others", notify: "eve@example.com" });
  await ask(await makeTeam(), { summary: "Elsewhere" });
  await handOver(handed, cfo, ann);
  const all = ["By name", "By group", "Quorum", "Handed"];
  assert.deepEqual(await summaries(team, { waitingFor: " ANN@example.com " }), all);
  assert.deepEqual(await summaries(team, { waitingFor: cfo }), ["Later"]);
  assert.deepEqual(await summaries(team, { waitingFor: ann, sort: "expiry" }), all);
  assert.deepEqual(await summaries(team, { waitingFor: ann, sort: "newest" }), all.toReversed());
  assert.deepEqual(await summaries(team, { waitingFor: ann, search: "by" }), [
    "By name",
    "By group",
  ]);
  assert.deepEqual(await summaries(team, { waitingFor: ann, search: "quorum handed" }), []);
  assert.deepEqual(await summaries(team, { waitingFor: ann, approver: "group:finance" }), [
    "By group",
    "Quorum",
  ]);
  assert.deepEqual(await summaries(team, { waitingFor: ann, status: "APPROVED" }), []);
  await vote(quorum, ann);
  await db.query("delete from group_members where workspace_id = $1 and email = $2", [
    team.workspaceId,
    ann,
  ]);
  const left = await summaries(team, { waitingFor: ann });
  assert.deepEqual(left, ["By name"], "nobody waits for a stand-in who is no colleague any more");
  await db.query(
    "update approvals set expires_at = now_ms() - interval '1 minute' where workspace_id = $1",
    [team.workspaceId],
  );
  assert.deepEqual(await summaries(team, { waitingFor: ann }), [], "nothing waits past its end");
});

test("nothing waits for somebody whose own key asked, also if it became theirs after they were asked", async () => {
  const team = await makeTeam();
  await ask(team, { summary: "By name", notify: ann });
  await ask(team, { summary: "By group" });
  await ask(team, { summary: "Quorum", quorum: 2 });
  const setOwner = (owner: string) =>
    db.query("update api_keys set owner_email = $2 where workspace_id = $1", [
      team.workspaceId,
      owner,
    ]);
  await setOwner("Ann@Example.com");
  assert.deepEqual(await summaries(team, { waitingFor: ann }), []);
  assert.deepEqual(await summaries(team, { waitingFor: ann, search: "by" }), []);
  assert.deepEqual(await summaries(team, { waitingFor: bob }), ["By group", "Quorum"]);
  await setOwner(bob);
  await ask(team, { summary: "After", notify: ann });
  assert.deepEqual(await summaries(team, { waitingFor: ann }), ["After"], "a former owner's");
});

test("rows count approvals and stages, and requests are found that escalated or reach nobody", async () => {
  const team = await makeTeam();
  const escalate = [{ afterMinutes: 10, notify: "boss@example.com" }];
  const escalated = await ask(team, { summary: "Escalated", quorum: 2, escalate });
  await ask(team, { summary: "In time", quorum: 2, escalate });
  const stuck = await ask(team, { summary: "Stuck", quorum: 3, then: [{ notify: cfo }] });
  const silent = await ask(team, { summary: "Silent", requestedBy: "rita@example.com" });
  await ask(team, { summary: "Plain" });
  await vote(escalated, bob);
  await db.query("update steps set due_at = now_ms() where approval_id = $1", [escalated]);
  await db.query("delete from group_members where workspace_id = $1 and email = $2", [
    team.workspaceId,
    cy,
  ]);
  await sweep();
  await db.query("update votings set unreachable_at = now_ms() where approval_id = $1", [silent]);
  assert.deepEqual(await summaries(team, { escalated: "yes" }), ["Escalated"]);
  assert.deepEqual(await summaries(team, { unreachable: "yes" }), ["Stuck", "Silent"]);
  assert.deepEqual(await summaries(team, { unreachable: "yes", sort: "expiry" }), [
    "Stuck",
    "Silent",
  ]);
  assert.deepEqual(await summaries(team, { unreachable: "yes", search: "silent" }), ["Silent"]);
  assert.deepEqual(await summaries(team, { unreachable: "yes", waitingFor: cfo }), []);
  assert.deepEqual(await summaries(team, { escalated: "yes", unreachable: "yes" }), []);
  assert.deepEqual(await summaries(team, { escalated: "yes", waitingFor: ann }), ["Escalated"]);
  const rows = await list(team, { sort: "oldest" });
  assert.deepEqual(
    rows.map(({ summary, progress }) => [summary, progress]),
    [
      ["Escalated", { votes: votesOf(1, 2), isEscalated: true }],
      ["In time", { votes: votesOf(0, 2) }],
      ["Stuck", { votes: votesOf(0, 3, 2), isStuck: true }],
      ["Silent", { isUnreachable: true }],
      ["Plain", undefined],
    ],
  );
  assert.ok(votingOf(await show(team, stuck)).stuckAt);
  assert.ok(linesOf(await show(team, stuck)).includes("stuck"));
  const refused = await callDashboard(service, "GET /workspaces/:workspaceId/requests", {
    cookie: team.cookie,
    params: { workspaceId: team.workspaceId },
    query: { escalated: "no" },
  });
  assert.deepEqual([refused.status, refused.json.error.field], [400, "escalated"]);
});

test("figures tell how long stages took by whom they ask, and how many requests escalated", async () => {
  const team = await makeTeam();
  const look = async () => {
    const reply = await callDashboard(service, "GET /workspaces/:workspaceId/overview", {
      cookie: team.cookie,
      params: { workspaceId: team.workspaceId },
    });
    assert.equal(reply.status, 200, JSON.stringify(reply.json));
    return (reply.json as Overview).stages;
  };
  await ask(team);
  assert.equal(await look(), undefined, "nobody voted");
  const ids: string[] = [];
  for (const minutes of [10, 20, 60]) {
    const id = await ask(team, { quorum: 2, then: [{ notify: "CFO@example.com" }] });
    ids.push(id);
    await vote(id, ann);
    await vote(id, bob);
    await db.query(
      `update stages set entered_at = completed_at - $2 * interval '1 minute'
       where approval_id = $1 and number = 1`,
      [id, minutes],
    );
    if (minutes < 60) await vote(id, "CFO@example.com");
  }
  const [first, , pending] = ids;
  await db.query("update votings set escalated_at = now_ms() where approval_id = any ($1)", [
    [first, pending],
  ]);
  const stages = await look();
  assert.equal(stages?.escalated, 2, "pending ones count");
  assert.deepEqual(
    stages?.perApprover.map(({ name, isGroup, stages: count }) => [name, isGroup, count]),
    [
      ["Finance", true, 2],
      [cfo, false, 2],
    ],
    "the stages of a pending request don't",
  );
  const { medianMs = 0, p90Ms = 0 } = stages?.perApprover[0] ?? {};
  assert.ok(Math.abs((medianMs ?? 0) / 600_000 - 1) < 0.03, `${medianMs}`);
  assert.ok(Math.abs((p90Ms ?? 0) / 1_200_000 - 1) < 0.03, `${p90Ms}`);
});

function votesOf(approved: number, required: number, stages = 1) {
  return { approved, required, stage: 1, stages };
}
