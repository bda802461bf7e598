// Members of a workspace see its requests and deliveries, and act on them.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { dashboardPageItems, searchGlance } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { WorkspaceSettings } from "../src/domain/workspace/workspace-settings.ts";
import * as deliveries from "../src/http/dashboard/deliveries.ts";
import * as requests from "../src/http/dashboard/requests.ts";
import type { DashboardCalls, DashboardRefusal, MemberVisit } from "../src/http/dashboard/visit.ts";
import { FairBudget } from "../src/http/frame/fair-budget.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import * as activity from "../src/storage/workspaces/activity.ts";
import type { RequestDetail, RequestPage } from "../src/wire/dashboard-contract.ts";
import { until } from "./patience.ts";
import { makeMember } from "./test-dashboard.ts";
import { decide, findReviewer, getReview, listReviewers, postReview } from "./test-review.ts";
import { indexEverything } from "./test-search.ts";
import {
  makeWorkspace,
  minimalBody,
  startService,
  testAssets,
  testPublicUrl,
} from "./test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "./test-worker.ts";

let dues = 0;
const service = await startService();
const { db, app } = service;
after(() => service.stop());

const calls: DashboardCalls = {
  db,
  keyring: service.keyring,
  origin: { publicUrl: testPublicUrl },
  assets: testAssets,
  resolutions: service.resolutions,
  heavyReads: new FairBudget({ total: 1, perHolder: 1 }),
  onDue: () => (dues += 1),
  isMailKept: true,
  inBackground: (work) => void work(),
  examineAddress: async () => null,
  callSlack: async () => ({ ok: false, error: "unreachable", retryAfterSeconds: null }),
  readReceipt: async () => ({ missing: "undecided" }),
  oidc: null,
  clock: () => 0,
};

const adminEmail = "admin@example.com";

/** A workspace with the admin who visits it. */
async function makeTeam(settings: Partial<WorkspaceSettings> = {}) {
  const made = await makeWorkspace(db, settings);
  await makeMember(db, { workspaceId: made.id, email: adminEmail, role: "admin" });
  return made;
}

function visit(
  workspaceId: string,
  { query = {}, params = {} }: { query?: object; params?: Record<string, string> } = {},
): MemberVisit {
  return {
    workspaceId,
    role: "admin",
    person: { id: "per_1", email: adminEmail, sessionId: "ses_1" },
    call: {
      requestId: "test",
      isHead: false,
      keyDigest: Buffer.alloc(32),
      params: { workspaceId, ...params },
      query: new URLSearchParams(Object.entries(query)),
      body: Buffer.alloc(0),
      header: () => null,
      address: null,
      signal: new AbortController().signal,
      facts: {},
    },
  };
}

const visitTo = (workspaceId: string, requestId: string) =>
  visit(workspaceId, { params: { requestId } });
const visitToDelivery = (workspaceId: string, deliveryId: string) =>
  visit(workspaceId, { params: { deliveryId } });

function told<Value>(value: Value | DashboardRefusal): Value {
  if (isRefusal(value)) throw new Error(value.message);
  return value as Value;
}

async function list(workspaceId: string, query: object = {}): Promise<RequestPage> {
  return told(await requests.list(calls, visit(workspaceId, { query })));
}

async function summaries(workspaceId: string, query: object = {}): Promise<string[]> {
  return (await list(workspaceId, query)).items.map(({ summary }) => summary);
}

async function show(workspaceId: string, requestId: string): Promise<RequestDetail> {
  return told(await requests.show(calls, visitTo(workspaceId, requestId)));
}

async function ask(key: string, body: object = {}): Promise<string> {
  const reply = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, ...body },
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

async function askGroup(workspaceId: string, key: string, members: string[]): Promise<string> {
  const group = await createGroup(db, { workspaceId, key: "ops", name: "Ops", members });
  assert.ok(!isRefusal(group));
  return ask(key, { notify: "group:ops" });
}

/** Moves a request past its end; nobody has expired it yet. */
async function makeOverdue(workspaceId: string, id: string): Promise<void> {
  await db.query(
    "update approvals set expires_at = now_ms() - interval '1 minute' where workspace_id = $1 and id = $2",
    [workspaceId, id],
  );
}

/** Makes many approvals without events or deliveries, older than everything that is asked for now. */
async function fill(
  workspaceId: string,
  count: number,
  { summary = "Filler", after = 0 } = {},
): Promise<void> {
  await db.query(
    `insert into approvals (workspace_id, id, summary, approver_email, created_at, expires_at)
     select $1, 'req_' || lpad(to_hex(1600000000000 + i), 12, '0') || repeat('0', 20), $3 || ' ' || i,
       'ann@example.com', to_timestamp(1600000000 + i / 1000.0), now() + interval '1 day'
     from generate_series($4::int + 1, $4::int + $2::int) as i`,
    [workspaceId, count, summary, after],
  );
}

test("requests are listed newest first, and pages stay stable while new ones arrive", async () => {
  const { id: workspaceId, key } = await makeTeam();
  await fill(workspaceId, dashboardPageItems + 2);
  const newest = await ask(key, { summary: "Newest" });
  const first = await list(workspaceId);
  assert.equal(first.items.length, dashboardPageItems);
  assert.equal(first.items[0]?.id, newest);
  await ask(key, { summary: "Newer still" });
  const second = await list(workspaceId, { cursor: first.nextCursor });
  assert.equal(second.nextCursor, null);
  const ids = [...first.items, ...second.items].map(({ id }) => id);
  assert.equal(new Set(ids).size, dashboardPageItems + 3);
  assert.deepEqual(ids, ids.toSorted().reverse());
});

test("a list is filtered by status, agent, approver and time, and by all of them together", async () => {
  const { id: workspaceId, key } = await makeTeam();
  await askGroup(workspaceId, key, ["bob@example.com"]);
  await ask(key, { summary: "Named", agentName: "billing", notify: "Bob@Example.com" });
  const cancelled = await ask(key, { summary: "Cancelled", agentName: "billing" });
  await service.call("POST", `/v1/requests/${cancelled}/cancel`, { key });
  assert.deepEqual(await summaries(workspaceId, { status: "CANCELLED" }), ["Cancelled"]);
  assert.deepEqual(await summaries(workspaceId, { status: "APPROVED" }), []);
  assert.deepEqual(await summaries(workspaceId, { agent: "billing" }), ["Cancelled", "Named"]);
  assert.deepEqual(await summaries(workspaceId, { agent: "" }), ["Refund order 1042"]);
  assert.deepEqual(await summaries(workspaceId, { approver: "bob@EXAMPLE.com" }), ["Named"]);
  assert.deepEqual(await summaries(workspaceId, { approver: "group:ops" }), ["Refund order 1042"]);
  assert.deepEqual(await summaries(workspaceId, { approver: "group:none" }), []);
  const together = { status: "PENDING", agent: "billing", approver: "bob@example.com" };
  assert.deepEqual(await summaries(workspaceId, together), ["Named"]);
  assert.deepEqual(await summaries(workspaceId, { ...together, agent: "other" }), []);
  const { createdAt } = await show(workspaceId, cancelled);
  assert.ok((await summaries(workspaceId, { from: createdAt })).includes("Cancelled"));
  assert.ok(!(await summaries(workspaceId, { to: createdAt })).includes("Cancelled"));
  assert.deepEqual(await summaries(workspaceId, { from: createdAt, to: createdAt }), []);
});

test("past its end a request is EXPIRED in the list, under each filter and in the count", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const waiting = await ask(key, { summary: "Waiting" });
  const overdue = await ask(key, { summary: "Overdue", agentName: "billing" });
  await makeOverdue(workspaceId, overdue);
  const { items, pending } = await list(workspaceId);
  const shown = items.find(({ id }) => id === overdue);
  assert.deepEqual([shown?.status, shown?.resolvedAt], ["EXPIRED", shown?.expiresAt]);
  assert.deepEqual(pending, {
    count: 1,
    isMore: false,
    oldestCreatedAt: (await show(workspaceId, waiting)).createdAt,
  });
  assert.deepEqual(await summaries(workspaceId, { status: "PENDING" }), ["Waiting"]);
  assert.deepEqual(await summaries(workspaceId, { status: "EXPIRED" }), ["Overdue"]);
  const ofAgent = { status: "EXPIRED", agent: "billing", search: "over" };
  assert.deepEqual(await summaries(workspaceId, ofAgent), ["Overdue"]);
  assert.deepEqual(await summaries(workspaceId, { ...ofAgent, status: "PENDING" }), []);
});

test("a search finds words by their beginnings, in any case and between any signs", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const summary = `Refund (Ärger) ann.lee@example.com's order_1042 — “urgent” C:\\temp`;
  await ask(key, { summary });
  await ask(key, { summary: "Deploy to production" });
  for (const search of [
    "refund",
    "REF 1042",
    "ärg",
    "ann.lee@exam",
    "order_10",
    "urgent",
    "c:\\te",
    "  refund!  ",
    "example.com's",
  ]) {
    assert.deepEqual(await summaries(workspaceId, { search }), [summary], search);
  }
  for (const search of ["efund", "refund deploy", "':*", "!!!", "a'b", "\\", "refund | zebra"]) {
    assert.deepEqual(await summaries(workspaceId, { search }), [], search);
  }
  assert.deepEqual(await summaries(workspaceId, { search: "refund & !deploy" }), []);
  assert.equal((await summaries(workspaceId, { search: "   " })).length, 2);
  const other = await makeTeam();
  assert.deepEqual(await summaries(other.id, { search: "refund" }), []);
});

test("no summary is too long or too strange to be asked and found", async () => {
  const { id: workspaceId, key } = await makeTeam();
  for (const summary of ["\u{20bb7}".repeat(500), "\u0130".repeat(500), "x ".repeat(250), "!?"]) {
    await ask(key, { summary });
  }
  assert.equal((await list(workspaceId)).items.length, 4);
  assert.equal((await list(workspaceId, { search: "\u{20bb7}".repeat(20) })).items.length, 1);
  assert.equal((await list(workspaceId, { search: "x" })).items.length, 1);
});

test("a search finds an id by itself and by its beginning", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const id = await ask(key);
  await fill(workspaceId, 3);
  for (const search of [id, id.slice(0, 20), id.toUpperCase().replace("REQ", "req")]) {
    assert.deepEqual(
      (await list(workspaceId, { search })).items.map((each) => each.id),
      [id],
    );
  }
  assert.equal((await list(workspaceId, { search: "req_" })).items.length, 4);
  assert.deepEqual(await summaries(workspaceId, { search: `${id}0` }), []);
  assert.deepEqual(await summaries(workspaceId, { search: id, status: "APPROVED" }), []);
  const other = await makeTeam();
  assert.deepEqual(await summaries(other.id, { search: id }), []);
});

test("a search finds what is older than all it looks at first, with every filter and page by page", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const oldest = dashboardPageItems + 5;
  await fill(workspaceId, oldest, { summary: "Zebra" });
  await fill(workspaceId, searchGlance, { after: oldest });
  await indexEverything(db);
  await ask(key, { summary: "Filler zebra", agentName: "keeper" });
  const first = await list(workspaceId, { search: "zeb" });
  assert.equal(first.items[0]?.summary, "Filler zebra");
  assert.equal(first.items.length, dashboardPageItems);
  const second = await list(workspaceId, { search: "zeb", cursor: first.nextCursor });
  assert.equal(second.items.length, 6);
  assert.equal(second.nextCursor, null);
  const filters = { search: "zebra", status: "PENDING", approver: "ann@example.com" };
  assert.equal((await list(workspaceId, filters)).items.length, dashboardPageItems);
  const kept = { search: "zebra filler", status: "PENDING", agent: "keeper" };
  assert.deepEqual(await summaries(workspaceId, kept), ["Filler zebra"]);
  assert.deepEqual(await summaries(workspaceId, { search: "zebra", status: "EXPIRED" }), []);
  assert.deepEqual(await summaries(workspaceId, { search: "zebra filler", agent: "" }), []);
});

test("a filter that cannot be understood is refused by the name of its field", async () => {
  const { id: workspaceId } = await makeTeam();
  for (const [field, value] of [
    ["status", "OPEN"],
    ["from", "yesterday"],
    ["to", "2026-02-30"],
    ["cursor", "cmVx"],
    ["search", "a\0b"],
    ["agent", "x".repeat(301)],
    ["sort", "size"],
    ["decidedFrom", "yesterday"],
  ] as const) {
    const refused = await requests.list(calls, visit(workspaceId, { query: { [field]: value } }));
    assert.ok(isRefusal(refused), field);
    assert.deepEqual([refused.refusal, refused.field], ["validation_error", field]);
  }
  const query = { state: "lost" };
  const refused = await deliveries.list(calls, visit(workspaceId, { query }));
  assert.ok(isRefusal(refused));
  assert.deepEqual([refused.refusal, refused.field], ["validation_error", "state"]);
});

test("the history of a request tells when it was redeemed and with which API key", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const created = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const id = created.json.id as string;
  const { token } = await findReviewer(db, id);
  await decide(app, token, { verdict: "approve" });
  const before = (await show(workspaceId, id)).history;
  assert.ok(before.every(({ kind }) => kind !== "redeemed"));
  const { json } = await service.call("POST", `/v1/requests/${id}/redeem`, { key });
  const added = (await show(workspaceId, id)).history.filter(({ kind }) => kind === "redeemed");
  assert.deepEqual(added, [{ kind: "redeemed", at: json.redeemedAt, apiKey: json.redeemedBy }]);
});

test("a request is shown with everything, JSON to the letter, and its history in order", async () => {
  const receiver = await startReceiver();
  const { id: workspaceId, key } = await makeTeam();
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const worker = startWorker(service.database);
  try {
    const body = `{"summary":"Pay","notify":"ann@example.com","agentName":"billing","reasoning":"Due",
      "recentActions":["read"],"payload":{"b":1.0,"a":12345678901234567890},"metadata":{ "t": 1 },"agentState":[1e2]}`;
    const created = await service.call("POST", "/v1/requests", { key, body });
    const id = created.json.id as string;
    const kinds = async () => (await show(workspaceId, id)).history.map(({ kind }) => kind);
    await until(async () => {
      const seen = await kinds();
      return seen.includes("mailed") && seen.includes("delivered");
    }, "the mail and the webhook go out");
    const { token } = await findReviewer(db, id);
    await postReview(app, `${token}/status`, "{}");
    const decided = await decide(app, token, {
      verdict: "approve",
      note: "Fine",
      edit: `{"b":2.0}`,
    });
    assert.equal(decided.status, 200, decided.text);
    await until(async () => (await kinds()).length === 6, "the decision is told to the endpoint");

    const detail = await show(workspaceId, id);
    assert.deepEqual(
      [detail.status, detail.isEdited, detail.resolutionNote, detail.resolvedByEmail],
      ["APPROVED", true, "Fine", "ann@example.com"],
    );
    assert.deepEqual(
      [detail.payload, detail.edit, detail.metadata, detail.agentState],
      [`{"b":1.0,"a":12345678901234567890}`, `{"b":2.0}`, `{ "t": 1 }`, "[1e2]"],
    );
    assert.deepEqual(
      [detail.reasoning, detail.recentActions, detail.agentName, detail.approverEmail],
      ["Due", ["read"], "billing", "ann@example.com"],
    );
    assert.equal(detail.reviewers.length, 1);
    assert.equal(detail.reviewers[0]?.email, "ann@example.com");
    assert.ok(detail.reviewers[0]?.openedAt);
    const order = detail.history.map(({ kind }) => kind);
    assert.equal(order[0], "created");
    assert.deepEqual(order.slice(1, 3).toSorted(), ["delivered", "mailed"]);
    assert.deepEqual(order.slice(3), ["opened", "approved", "delivered"]);
    const times = detail.history.map(({ at }) => at);
    assert.deepEqual(times, times.toSorted());
    const last = detail.history.at(-1);
    assert.ok(last?.kind === "delivered");
    assert.deepEqual([last.event, last.url], ["request.approved", receiver.url]);
    assert.deepEqual(detail.deliveries.map(({ event, state }) => `${event} ${state}`).toSorted(), [
      "request.approved delivered",
      "request.created delivered",
      "request.created delivered",
    ]);

    const delivery = detail.deliveries.find(({ event }) => event === "request.approved");
    const shown = told(
      await deliveries.show(calls, visitToDelivery(workspaceId, delivery?.id ?? "")),
    );
    const heard = receiver.heard.find(({ json }) => json.event === "request.approved");
    assert.equal(shown.request?.body, heard?.body.toString());
    assert.equal(shown.request?.url, receiver.url);
    for (const [name, value] of Object.entries(shown.request?.headers ?? {})) {
      const isPerAttempt = value === "made at each attempt";
      assert.equal(isPerAttempt, /signature|timestamp/.test(name), name);
      if (!isPerAttempt) assert.equal(heard?.headers[name], value, name);
    }
    assert.ok(shown.request?.headers["x-service-delivery-id"]);
    assert.ok(!JSON.stringify(shown).includes(endpoint.secret));
    assert.deepEqual(
      shown.attemptList.map(({ number, outcome, httpStatus, responseStart }) => ({
        number,
        outcome,
        httpStatus,
        responseStart,
      })),
      [{ number: 1, outcome: "delivered", httpStatus: 200, responseStart: "ok" }],
    );
    const mail = detail.deliveries.find(({ destination }) => destination.kind === "mailbox");
    const shownMail = told(
      await deliveries.show(calls, visitToDelivery(workspaceId, mail?.id ?? "")),
    );
    assert.equal(shownMail.request, null);
    assert.ok(!JSON.stringify([detail, shownMail]).includes(token));
  } finally {
    await worker.stop();
    await receiver.close();
  }
});

test("nothing of another workspace can be seen or changed, and it looks like what is not there", async () => {
  const mine = await makeTeam();
  const theirs = await makeTeam();
  const id = await ask(theirs.key, { summary: "Theirs" });
  const [delivery] = (await show(theirs.id, id)).deliveries;
  assert.ok(delivery !== undefined);
  const unknown = `req_${"0".repeat(32)}`;
  for (const handle of [requests.show, requests.cancel, requests.mailAgain]) {
    const foreign = await handle(calls, visitTo(mine.id, id));
    assert.ok(isRefusal(foreign));
    assert.equal(foreign.refusal, "not_found");
    assert.deepEqual(await handle(calls, visitTo(mine.id, unknown)), foreign);
    assert.deepEqual(await handle(calls, visitTo(mine.id, "nonsense")), foreign);
  }
  for (const handle of [deliveries.show, deliveries.resend]) {
    const foreign = await handle(calls, visitToDelivery(mine.id, delivery.id));
    assert.ok(isRefusal(foreign));
    assert.equal(foreign.refusal, "not_found");
    assert.deepEqual(await handle(calls, visitToDelivery(mine.id, "nonsense")), foreign);
  }
  assert.deepEqual(await summaries(mine.id), []);
  assert.deepEqual(told(await deliveries.list(calls, visit(mine.id))).items, []);
  const query = { endpoint: "we_1" };
  assert.deepEqual(told(await deliveries.list(calls, visit(mine.id, { query }))).items, []);
  assert.equal((await show(theirs.id, id)).status, "PENDING");
  assert.deepEqual(await activityOf(mine.id), []);
});

test("a request that a member cancels is told to endpoints and noted; a final one is left alone", async () => {
  const { id: workspaceId, key } = await makeTeam();
  await makeEndpoint(db, workspaceId, "http://127.0.0.1:9/hook");
  const id = await ask(key);
  const before = dues;
  const cancelled = told(await requests.cancel(calls, visitTo(workspaceId, id)));
  assert.equal(cancelled.status, "CANCELLED");
  assert.equal(cancelled.history.at(-1)?.kind, "cancelled");
  assert.ok(cancelled.deliveries.some(({ event }) => event === "request.cancelled"));
  assert.equal(dues, before + 1);
  const again = await requests.cancel(calls, visitTo(workspaceId, id));
  assert.ok(isRefusal(again));
  assert.equal(again.refusal, "already_resolved");
  const overdue = await ask(key);
  await makeOverdue(workspaceId, overdue);
  const late = await requests.cancel(calls, visitTo(workspaceId, overdue));
  assert.ok(isRefusal(late));
  assert.equal(late.refusal, "already_resolved");
  assert.equal((await show(workspaceId, overdue)).status, "EXPIRED");
  assert.deepEqual(await activityOf(workspaceId), ["admin@example.com request.withdrawn"]);
});

test("mails are sent again to everybody who may still decide, each as a message of its own", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const id = await askGroup(workspaceId, key, ["ann@example.com", "bob@example.com"]);
  const worker = startWorker(service.database);
  try {
    const mailed = async () =>
      (await show(workspaceId, id)).history.flatMap((entry) =>
        entry.kind === "mailed" ? [entry.email] : [],
      );
    await until(async () => (await mailed()).length === 2, "both are asked");
    await db.query(
      "delete from group_members where workspace_id = $1 and email = 'bob@example.com'",
      [workspaceId],
    );
    const tooSoon = await requests.mailAgain(calls, visitTo(workspaceId, id));
    assert.ok(isRefusal(tooSoon), "nobody's mailbox is filled by pressing a button");
    await db.query(
      "update deliveries set finished_at = finished_at - interval '2 minutes' where workspace_id = $1 and finished_at is not null",
      [workspaceId],
    );
    const again = told(await requests.mailAgain(calls, visitTo(workspaceId, id)));
    assert.deepEqual(again, { sent: 1 });
    await until(async () => (await mailed()).length === 3, "ann is asked again");
    assert.deepEqual((await mailed()).toSorted(), [
      "ann@example.com",
      "ann@example.com",
      "bob@example.com",
    ]);
  } finally {
    await worker.stop();
  }
  await db.query("delete from group_members where workspace_id = $1", [workspaceId]);
  const nobody = await requests.mailAgain(calls, visitTo(workspaceId, id));
  assert.ok(isRefusal(nobody));
  assert.equal(nobody.refusal, "conflict");
  told(await requests.cancel(calls, visitTo(workspaceId, id)));
  const late = await requests.mailAgain(calls, visitTo(workspaceId, id));
  assert.ok(isRefusal(late));
  assert.equal(late.refusal, "already_resolved");
  assert.deepEqual(await activityOf(workspaceId), [
    "admin@example.com request.withdrawn",
    "admin@example.com request.mailed_again",
  ]);
});

test("a mail that is under way is not begun a second time", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const id = await ask(key);
  await lease(workspaceId);
  const refused = await requests.mailAgain(calls, visitTo(workspaceId, id));
  assert.ok(isRefusal(refused));
  assert.equal(refused.refusal, "conflict");
  assert.deepEqual(await activityOf(workspaceId), []);
});

test("deliveries are listed newest first, by endpoint and state, page by page", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const one = await makeEndpoint(db, workspaceId, "http://127.0.0.1:9/one");
  const two = await makeEndpoint(db, workspaceId, "http://127.0.0.1:9/two");
  for (let i = 0; i < 20; i += 1) await ask(key);
  const page = async (query: object) =>
    told(await deliveries.list(calls, visit(workspaceId, { query })));
  const first = await page({});
  assert.equal(first.items.length, dashboardPageItems);
  const second = await page({ cursor: first.nextCursor });
  assert.equal(second.items.length, 10);
  assert.equal(second.nextCursor, null);
  const ids = [...first.items, ...second.items].map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted().reverse());
  assert.equal(new Set(ids).size, 60);
  await db.query(
    `update deliveries set state = 'failed', finished_at = now_ms()
     where workspace_id = $1 and endpoint_id = $2`,
    [workspaceId, one.id],
  );
  assert.equal((await page({ endpoint: one.id })).items.length, 20);
  assert.equal((await page({ endpoint: one.id, state: "failed" })).items.length, 20);
  assert.equal((await page({ endpoint: one.id, state: "due" })).items.length, 0);
  assert.equal((await page({ endpoint: two.id, state: "due" })).items.length, 20);
  assert.equal((await page({ state: "due" })).items.length, 40);
  const due = await page({ state: "due" });
  const dueIds = due.items.map(({ id }) => id);
  assert.deepEqual(dueIds, dueIds.toSorted().reverse());
  assert.equal((await page({ state: "failed" })).items.length, 20);
  assert.equal((await page({ state: "delivered" })).items.length, 0);
});

test("a delivery names its request, and deliveries are found by event and time", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const { id: endpoint } = await makeEndpoint(db, workspaceId, "http://127.0.0.1:9/hook");
  const kept = await ask(key, { summary: "Kept" });
  const cancelled = await ask(key, { summary: "Cancelled" });
  await service.call("POST", `/v1/requests/${cancelled}/cancel`, { key });
  const page = async (query: object) => {
    const { items } = told(
      await deliveries.list(calls, visit(workspaceId, { query: { endpoint, ...query } })),
    );
    return items.map(({ event, requestSummary }) => `${event} ${requestSummary}`);
  };
  assert.deepEqual(await page({ event: "request.cancelled" }), ["request.cancelled Cancelled"]);
  assert.deepEqual(await page({ event: "request.cancelled", state: "due" }), [
    "request.cancelled Cancelled",
  ]);
  assert.deepEqual(await page({ event: "webhook.test" }), []);
  assert.equal((await page({ event: "request.created" })).length, 2);
  const { createdAt } = await show(workspaceId, cancelled);
  assert.deepEqual(await page({ to: createdAt }), ["request.created Kept"]);
  assert.equal((await page({ from: createdAt, event: "request.created" })).length, 1);
  assert.deepEqual(await page({ from: createdAt, to: createdAt }), []);
  assert.equal((await show(workspaceId, kept)).deliveries[0]?.requestSummary, "Kept");
});

test("a code to sign in is nobody's to see or send again but its reader's", async () => {
  const { id: workspaceId } = await makeTeam();
  const { rows } = await db.query<{ id: string }>(
    `with event as (
       insert into events (workspace_id, kind, detail) values ($1, 'person.signing_in', '{}')
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, recipient)
     select workspace_id, id, 'ann@example.com' from event returning id`,
    [workspaceId],
  );
  const id = rows[0]?.id ?? "";
  for (const query of [{}, { state: "due" }]) {
    assert.deepEqual(told(await deliveries.list(calls, visit(workspaceId, { query }))).items, []);
  }
  for (const handle of [deliveries.show, deliveries.resend]) {
    const refused = await handle(calls, visitToDelivery(workspaceId, id));
    assert.ok(isRefusal(refused));
    assert.equal(refused.refusal, "not_found");
  }
});

test("a delivery is sent again and noted, but not while it is under way nor to a disabled endpoint", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const endpoint = await makeEndpoint(db, workspaceId, "http://127.0.0.1:9/hook");
  const id = await ask(key);
  const found = (await show(workspaceId, id)).deliveries;
  const webhook = found.find(({ destination }) => destination.kind === "endpoint");
  const mail = found.find(({ destination }) => destination.kind === "mailbox");
  const resend = (deliveryId = "") =>
    deliveries.resend(calls, visitToDelivery(workspaceId, deliveryId));
  await db.query(
    "update deliveries set state = 'failed', finished_at = now_ms() where workspace_id = $1",
    [workspaceId],
  );
  const before = dues;
  assert.equal(told(await resend(webhook?.id)).state, "due");
  assert.equal(dues, before + 1);
  await lease(workspaceId);
  const underWay = await resend(webhook?.id);
  assert.ok(isRefusal(underWay));
  assert.equal(underWay.refusal, "conflict");
  await db.query(
    "update deliveries set lease_token = null, leased_until = null where workspace_id = $1",
    [workspaceId],
  );
  await db.query(
    "update endpoints set disabled_at = now_ms(), disabled_reason = 'Broken' where workspace_id = $1 and id = $2",
    [workspaceId, endpoint.id],
  );
  const disabled = await resend(webhook?.id);
  assert.ok(isRefusal(disabled));
  assert.equal(disabled.refusal, "validation_error");
  assert.doesNotMatch(disabled.message, /countersign/);
  told(await requests.cancel(calls, visitTo(workspaceId, id)));
  const pointless = await resend(mail?.id);
  assert.ok(isRefusal(pointless));
  assert.equal(pointless.refusal, "validation_error");
  assert.deepEqual(await activityOf(workspaceId), [
    "admin@example.com request.withdrawn",
    "admin@example.com deliveries.resent",
  ]);
});

test("that a review page was opened is known from its script, never from following the link", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const id = await ask(key);
  const { token } = await findReviewer(db, id);
  const openedAt = async () => (await show(workspaceId, id)).reviewers[0]?.openedAt;
  assert.equal((await getReview(app, token)).status, 200);
  assert.equal(await openedAt(), null);
  assert.equal((await postReview(app, `${token}/status`, "{}", {})).status, 403);
  assert.equal(await openedAt(), null);
  await postReview(app, `${token}/status`, "{}");
  const first = await openedAt();
  assert.ok(first);
  await postReview(app, `${token}/status`, "{}");
  assert.equal(await openedAt(), first);
});

test("a page that asks for a code counts as opened once the code was right", async () => {
  const { id: workspaceId, key } = await makeTeam({ reviewCode: true });
  const id = await ask(key);
  const [reviewer] = await listReviewers(db, id);
  assert.ok(reviewer !== undefined);
  const openedAt = async () => (await show(workspaceId, id)).reviewers[0]?.openedAt;
  await postReview(app, `${reviewer.token}/status`, { code: "wrong" });
  assert.equal(await openedAt(), null);
  await postReview(app, `${reviewer.token}/status`, { code: reviewer.code });
  assert.ok(await openedAt());
});

async function activityOf(workspaceId: string): Promise<string[]> {
  const found = await activity.list(db, { workspaceId, beforeId: null, limit: 100 });
  return found
    .filter(({ actor }) => actor !== null)
    .map(({ actor, action }) => `${actor} ${action}`);
}

/** As if a worker were busy with every delivery of the workspace. */
async function lease(workspaceId: string): Promise<void> {
  await db.query(
    `update deliveries set lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour'
     where workspace_id = $1`,
    [workspaceId],
  );
}

test("messages beside mail are told, with what became of them, and only where there are some", async () => {
  const { id: workspaceId, key } = await makeTeam();
  const id = await ask(key, { notify: "ann@example.com" });
  assert.ok(!("messages" in (await show(workspaceId, id))));
  await db.query(
    `insert into channel_messages (workspace_id, approval_id, channel, target, state, drawn, sent_at, failed_at, failure)
     values ($1, $2, 'push', 'ann@example.com', 'sent', 1, now_ms(), null, null),
       ($1, $2, 'slack', 'ann@example.com', 'failed', 0, null, now_ms(), 'channel_not_found')`,
    [workspaceId, id],
  );
  const shown = await show(workspaceId, id);
  assert.deepEqual(
    shown.messages?.map(({ channel, to, state, failure }) => ({ channel, to, state, failure })),
    [
      { channel: "push", to: "ann@example.com", state: "sent", failure: null },
      { channel: "slack", to: "ann@example.com", state: "failed", failure: "channel_not_found" },
    ],
  );
  const lines = (history: RequestDetail["history"]) =>
    history.filter(({ kind }) => kind.startsWith("message_")).map(({ at, ...line }) => line);
  const to = "ann@example.com";
  const failed = { kind: "message_failed", channel: "slack", to, failure: "channel_not_found" };
  assert.deepEqual(lines(shown.history), [
    { kind: "message_sent", channel: "push", to },
    { ...failed, isMailed: false },
  ]);
  const worker = startWorker(service.database);
  try {
    await until(async () => {
      const { history } = await show(workspaceId, id);
      return history.some(({ kind }) => kind === "mailed");
    });
  } finally {
    await worker.stop();
  }
  const { history } = await show(workspaceId, id);
  assert.deepEqual(lines(history)[1], { ...failed, isMailed: true });
  // One that had arrived was its reader's word until it failed: the mail from before is not instead.
  await db.query(
    "update channel_messages set state = 'due', sent_at = now_ms(), failed_at = now_ms() + interval '1 minute' where channel = 'slack' and approval_id = $1",
    [id],
  );
  const retried = lines((await show(workspaceId, id)).history);
  assert.deepEqual(retried.at(-1), { ...failed, isMailed: false, isRetried: true });
});
