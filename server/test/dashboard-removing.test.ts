// Members cancel many requests at once, remove people everywhere, and delete or rename what they no longer want.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement, inTransaction } from "../src/database/database.ts";
import { cancelledAtOnceMax } from "../src/domain/shown/field-limits.ts";
import { listStranded } from "../src/storage/approvals/pending.ts";
import * as storedEndpoints from "../src/storage/deliveries/endpoints.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { until } from "./patience.ts";
import { rowsLookedAt } from "./rows-looked-at.ts";
import { callDashboard, makeMember, signIn } from "./test-dashboard.ts";
import { resolveNow } from "./test-evidence.ts";
import { findReviewer, getReview } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint, startReceiver, startWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

let teams = 0;

/** A workspace, and an admin of it who calls. */
async function makeTeam() {
  const { id: workspaceId, key } = await makeWorkspace(db, { plan: "pro" });
  teams += 1;
  const email = `admin-${teams}@example.com`;
  await makeMember(db, { workspaceId, email, role: "admin" });
  const cookie = await signIn(service, email);
  const call = async (
    name: keyof DashboardApi,
    {
      params = {},
      ...rest
    }: { params?: Record<string, string>; query?: Record<string, string>; body?: unknown } = {},
  ) => callDashboard(service, name, { cookie, params: { workspaceId, ...params }, ...rest });
  const ask = async (body: object = {}): Promise<string> => {
    const all = { ...minimalBody, ...body };
    const { status, json } = await service.call("POST", "/v1/requests", { key, body: all });
    assert.equal(status, 201, JSON.stringify(json));
    return json.id;
  };
  const askMany = (count: number, body: object = {}) =>
    Promise.all(Array.from({ length: count }, () => ask(body)));
  const statusOf = async (id: string): Promise<string> =>
    (await service.call("GET", `/v1/requests/${id}`, { key })).json.status;
  return { workspaceId, key, email, call, ask, askMany, statusOf };
}

async function activityOf(workspaceId: string, action: string) {
  const { rows } = await db.query<{ subject: string; detail: Record<string, string> }>(
    "select subject, detail from activity where workspace_id = $1 and action = $2 order by id",
    [workspaceId, action],
  );
  return rows;
}

const cancelChosen = "POST /workspaces/:workspaceId/requests/cancel";
const cancelMatching = "POST /workspaces/:workspaceId/requests/cancel-matching";
const cancellable = "GET /workspaces/:workspaceId/cancellable";

test("a hundred requests are cancelled in one call, each with its event and webhook, and waiting agents hear at once", async () => {
  const { workspaceId, key, call, askMany, statusOf } = await makeTeam();
  const endpoint = await makeEndpoint(db, workspaceId, "https://hooks.example/a", [
    "request.cancelled",
  ]);
  const ids = await askMany(100);
  const waiting = service.call("GET", `/v1/requests/${ids[7]}?wait=60`, { key });
  const { status, json } = await call(cancelChosen, { body: { ids } });
  assert.deepEqual([status, json], [200, { cancelled: 100, resolvedBefore: [] }]);
  assert.equal((await waiting).json.status, "CANCELLED");
  assert.equal(await statusOf(ids[99] ?? ""), "CANCELLED");
  const { rows } = await db.query(
    `select count(distinct ev.approval_id)::int as requests, count(*)::int as deliveries
     from events ev join deliveries d on d.workspace_id = ev.workspace_id and d.event_id = ev.id
     where ev.workspace_id = $1 and ev.kind = 'request.cancelled' and d.endpoint_id = $2 and d.state = 'due'`,
    [workspaceId, endpoint.id],
  );
  assert.deepEqual(rows, [{ requests: 100, deliveries: 100 }]);
  const [entry, ...more] = await activityOf(workspaceId, "requests.cancelled");
  assert.deepEqual([entry?.subject, entry?.detail.count, more], ["100 requests", "100", []]);
  assert.deepEqual(entry?.detail.requests?.split(" "), ids.toSorted());
});

test("a request that was decided in between is told, and stays as it was", async () => {
  const { workspaceId, call, ask, askMany, statusOf } = await makeTeam();
  const stranger = await (await makeTeam()).ask();
  const [approved, expired, open] = [await ask(), await ask(), ...(await askMany(1))] as [
    string,
    string,
    string,
  ];
  await resolveNow(
    inOneStatement(db),
    { workspaceId, id: approved },
    { status: "APPROVED", byEmail: "ann@example.com", note: null, edit: null },
  );
  await db.query("update approvals set expires_at = now_ms() where id = $1", [expired]);
  const { status, json } = await call(cancelChosen, {
    body: { ids: [approved, expired, open, stranger, open] },
  });
  assert.equal(status, 200);
  assert.deepEqual(json, {
    cancelled: 1,
    resolvedBefore: [
      { status: "APPROVED", count: 1 },
      { status: "EXPIRED", count: 1 },
    ],
  });
  assert.equal(await statusOf(approved), "APPROVED");
  assert.equal(await statusOf(expired), "EXPIRED");
  const { rows } = await db.query("select status from approvals where id = $1", [stranger]);
  assert.deepEqual(rows, [{ status: "PENDING" }], "another workspace's request is untouched");
  // One request is told like one that was cancelled alone.
  assert.deepEqual(await activityOf(workspaceId, "request.withdrawn"), [
    { subject: open, detail: { request: open } },
  ]);
});

test("all that match are cancelled only if the search can find all, and by no unknown filter", async () => {
  const { workspaceId, call, ask, statusOf } = await makeTeam();
  const id = await ask({ payload: "zebra" });
  await db.query("insert into search_backlog values ($1, 'req_g')", [workspaceId]);
  for (const [query, expected] of [
    [{ search: "zebra" }, 409],
    [{ agentName: "payer" }, 400],
    [{ constructor: "" }, 400],
  ] as const) {
    const counted = await call(cancellable, { query });
    const cancelled = await call(cancelMatching, { query, body: { upTo: id } });
    assert.deepEqual([counted.status, cancelled.status], [expected, expected]);
  }
  assert.equal(await statusOf(id), "PENDING");
  assert.equal((await call(cancellable, { query: { agent: "payer" } })).status, 200);
});

test("however cancels and decisions race, each request ends once, with one event", async () => {
  const { workspaceId, call, askMany } = await makeTeam();
  const ids = await askMany(40);
  const decide = (id: string) =>
    resolveNow(
      inOneStatement(db),
      { workspaceId, id },
      { status: "REJECTED", byEmail: "ann@example.com", note: null },
    );
  const [one, other, ...decided] = await Promise.all([
    call(cancelChosen, { body: { ids } }),
    call(cancelChosen, { body: { ids: ids.toReversed() } }),
    ...ids.slice(0, 20).map(decide),
  ]);
  const rejected = decided.filter((at) => at !== null).length;
  assert.equal(one.json.cancelled + other.json.cancelled + rejected, 40);
  const { rows } = await db.query(
    `select count(*)::int as events, count(distinct approval_id)::int as requests from events
     where workspace_id = $1 and kind in ('request.cancelled', 'request.rejected')`,
    [workspaceId],
  );
  assert.deepEqual(rows, [{ events: 40, requests: 40 }]);
});

test("all that match a filter are counted first, cancelled in bounded calls, and nothing asked since is", async () => {
  const { workspaceId, call, ask, askMany, statusOf } = await makeTeam();
  const other = await ask({ agentName: "payer" });
  const count = cancelledAtOnceMax + 5;
  await askMany(count, { agentName: "runaway" });
  const query = { agent: "runaway", status: "PENDING" };
  const { json: counted } = await call(cancellable, { query });
  assert.deepEqual([counted.count, counted.isMore], [count, false]);
  const later = await ask({ agentName: "runaway" });
  let next: string | null = counted.upTo;
  const steps: number[] = [];
  while (next !== null) {
    const { status, json } = await call(cancelMatching, { query, body: { upTo: next } });
    assert.equal(status, 200, JSON.stringify(json));
    steps.push(json.cancelled);
    next = json.next;
  }
  assert.deepEqual(steps, [cancelledAtOnceMax, 5]);
  assert.equal(await statusOf(other), "PENDING");
  assert.equal(await statusOf(later), "PENDING");
  const [entry] = await activityOf(workspaceId, "requests.cancelled");
  assert.equal(entry?.detail.filter, "agent runaway");
  const { json: left } = await call(cancellable, { query });
  assert.deepEqual(left, { count: 1, isMore: false, upTo: later });
});

test("a call that cancels too much, nothing, or what can't be cancelled is refused", async () => {
  const { call } = await makeTeam();
  const id = `req_${"0".repeat(32)}`;
  for (const ids of [[], Array.from({ length: cancelledAtOnceMax + 1 }, () => id), ["req_1"]]) {
    const { status, json } = await call(cancelChosen, { body: { ids } });
    assert.deepEqual([status, json.error.code], [400, "validation_error"]);
  }
  const { json } = await call(cancellable, { query: { status: "APPROVED" } });
  assert.deepEqual([json.error.code, json.error.field], ["validation_error", "status"]);
});

async function makeGroup(
  call: Awaited<ReturnType<typeof makeTeam>>["call"],
  key: string,
  members: string[],
): Promise<string> {
  const name = `Group ${key}`;
  const { status, json } = await call("POST /workspaces/:workspaceId/groups", {
    body: { key, name, members },
  });
  assert.equal(status, 200, JSON.stringify(json));
  return json.id;
}

test("a member is removed from all groups with their membership, and their links end", async () => {
  const { workspaceId, call, ask } = await makeTeam();
  const email = "leaver@example.com";
  const memberId = await makeMember(db, { workspaceId, email, role: "viewer" });
  await makeGroup(call, "finance", [email, "ann@example.com"]);
  await makeGroup(call, "alone", ["Leaver@Example.com"]);
  await makeGroup(call, "others", ["ann@example.com"]);
  const byGroup = await ask({ notify: "group:finance" });
  await ask({ notify: email });
  const params = { memberId };
  const { json: removal } = await call("GET /workspaces/:workspaceId/members/:memberId/removal", {
    params,
  });
  assert.deepEqual(
    removal.groups.map(({ name, isOnlyMember }: Record<string, unknown>) => [name, isOnlyMember]),
    [
      ["Group finance", false],
      ["Group alone", true],
    ],
  );
  assert.deepEqual(removal.pending, { count: 1, isMore: false });
  const { token } = await findReviewer(db, byGroup, { email });
  assert.equal((await getReview(service.app, token)).status, 200);
  const remove = "POST /workspaces/:workspaceId/members/:memberId/remove";
  assert.deepEqual((await call(remove, { params, body: { groups: true } })).json, { done: true });
  assert.equal((await getReview(service.app, token)).status, 404);
  const { json } = await call("GET /workspaces/:workspaceId/groups");
  assert.deepEqual(
    json.groups.map(({ key, members }: Record<string, unknown>) => [key, members]),
    [
      ["finance", ["ann@example.com"]],
      ["alone", []],
      ["others", ["ann@example.com"]],
    ],
  );
  assert.deepEqual(
    // Entries of one transaction have one time, and no order.
    (await activityOf(workspaceId, "group.member_removed")).map(({ subject }) => subject).sort(),
    ["Group alone", "Group finance"],
  );
});

test("a member's groups stay theirs unless the removal asks for them", async () => {
  const { workspaceId, call } = await makeTeam();
  const email = "leaver@example.com";
  const memberId = await makeMember(db, { workspaceId, email, role: "viewer" });
  await makeGroup(call, "finance", [email]);
  await call("POST /workspaces/:workspaceId/members/:memberId/remove", { params: { memberId } });
  const { json } = await call("GET /workspaces/:workspaceId/groups");
  assert.deepEqual(json.groups[0].members, [email]);
});

test("a deleted group is asked no more, its pending requests are cancelled, and its history stays", async () => {
  const { workspaceId, key, call, ask, statusOf } = await makeTeam();
  const groupId = await makeGroup(call, "finance", ["ann@example.com", "ben@example.com"]);
  const notify = "group:finance";
  const decided = await ask({ notify });
  await resolveNow(
    inOneStatement(db),
    { workspaceId, id: decided },
    { status: "APPROVED", byEmail: "ann@example.com", note: null, edit: null },
  );
  const open = [await ask({ notify }), await ask({ notify })];
  const params = { groupId };
  const foreseen = await call("GET /workspaces/:workspaceId/groups/:groupId/deletion", { params });
  assert.deepEqual(foreseen.json, { pending: { count: 2, isMore: false } });
  const remove = "POST /workspaces/:workspaceId/groups/:groupId/delete";
  assert.deepEqual((await call(remove, { params })).json, { cancelled: 2 });
  for (const id of open) assert.equal(await statusOf(id), "CANCELLED");
  const refused = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, notify },
  });
  assert.deepEqual([refused.status, refused.json.error.code], [404, "unknown_group"]);
  const { json: read } = await service.call("GET", `/v1/requests/${decided}`, { key });
  assert.deepEqual(read.approverGroup, { key: "finance", name: "Group finance" });
  assert.deepEqual((await call("GET /workspaces/:workspaceId/groups")).json, { groups: [] });
  for (const name of [remove, "POST /workspaces/:workspaceId/groups/:groupId"] as const) {
    const { status } = await call(name, { params, body: { name: "Again" } });
    assert.equal(status, 404, name);
  }
  const [entry] = await activityOf(workspaceId, "group.deleted");
  assert.deepEqual(entry, {
    subject: "Group finance",
    detail: { key: "finance", members: "ann@example.com, ben@example.com" },
  });
  // The key is free again, and the list finds the requests of both by it.
  await makeGroup(call, "finance", ["cy@example.com"]);
  const fresh = await ask({ notify });
  const { json: listed } = await call("GET /workspaces/:workspaceId/requests", {
    query: { approver: notify },
  });
  assert.deepEqual(
    listed.items.map(({ id }: { id: string }) => id),
    [decided, ...open, fresh].toSorted().toReversed(),
  );
});

/** The create has found its group, and waits for the month's count until everything else is done. */
async function createAround<Reply>(
  workspaceId: string,
  create: () => Promise<Reply>,
  act: () => Promise<void>,
): Promise<Reply> {
  const late = await inTransaction(db, async (tx) => {
    await tx.query("select from monthly_usage where workspace_id = $1 for update", [workspaceId]);
    const creating = create();
    await until(async () => {
      const { rowCount } = await db.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rowCount === 1;
    });
    await act();
    return { creating };
  });
  return late.creating;
}

test("a request that is created while its group is deleted and made again is cancelled, unless somebody may decide it", async (t) => {
  const { workspaceId, key, email, call, ask, statusOf } = await makeTeam();
  await ask();
  const remove = "POST /workspaces/:workspaceId/groups/:groupId/delete";
  const strand = async (group: string, members: string[]) => {
    const create = () =>
      service.call("POST", "/v1/requests", {
        key,
        body: { ...minimalBody, notify: `group:${group}` },
      });
    const groupId = await makeGroup(call, group, ["ann@example.com"]);
    const { status, json } = await createAround(workspaceId, create, async () => {
      assert.equal((await call(remove, { params: { groupId } })).status, 200);
      assert.equal(await makeGroup(call, group, members), groupId);
    });
    assert.equal(status, 201);
    return json.id as string;
  };
  const kept = await strand("same", ["Ann@Example.com"]);
  const stranded = await strand("other", ["ben@example.com"]);
  const asked = await ask({ notify: "group:other" });
  await call("POST /workspaces/:workspaceId/groups/:groupId", {
    params: { groupId: (await groupIdOf(workspaceId, "other")) as string },
    body: { name: "Renamed" },
  });
  const worker = startWorker(service.database);
  t.after(() => worker.stop());
  await until(async () => (await statusOf(stranded)) === "CANCELLED", "nobody could decide it");
  const { rows: told } = await db.query(
    `select actor_email, detail ->> 'group' as name from activity
     where workspace_id = $1 and detail::text like '%' || $2 || '%'`,
    [workspaceId, stranded],
  );
  assert.deepEqual(told, [{ actor_email: email, name: "Group other" }]);
  for (const id of [kept, asked]) assert.equal(await statusOf(id), "PENDING");
});

async function groupIdOf(workspaceId: string, key: string): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(
    "select id from groups where workspace_id = $1 and key = $2",
    [workspaceId, key],
  );
  return rows[0]?.id;
}

test("deleted groups are found by the time of their deletion, however many groups there are", async () => {
  const { workspaceId } = await makeTeam();
  await db.query(
    `insert into groups (workspace_id, key, name, deleted_at, last_deleted_at)
     select $1, 'g' || n, 'G', now() - interval '1 day', now() - interval '1 day'
     from generate_series(1, 2000) as n`,
    [workspaceId],
  );
  await db.query("analyze groups");
  const client = await db.connect();
  try {
    const { counts } = await rowsLookedAt(client, () => listStranded(client, 100));
    assert.ok((counts.groups ?? 0) < 100, `${counts.groups} groups`);
  } finally {
    client.release();
  }
});

test("a request that is created while its group is deleted is refused or cancelled, every time", async (t) => {
  const { workspaceId, key, email, call, ask } = await makeTeam();
  await ask();
  const notify = "group:finance";
  const create = () =>
    service.call("POST", "/v1/requests", { key, body: { ...minimalBody, notify } });
  const remove = "POST /workspaces/:workspaceId/groups/:groupId/delete";
  const answers: Awaited<ReturnType<typeof create>>[] = [];
  for (let round = 0; round < 4; round += 1) {
    const groupId = await makeGroup(call, "finance", ["ann@example.com"]);
    const creates = Array.from({ length: 25 }, create);
    await Promise.race(creates);
    assert.equal((await call(remove, { params: { groupId } })).status, 200);
    answers.push(...(await Promise.all(creates)));
  }
  const groupId = await makeGroup(call, "finance", ["ann@example.com"]);
  const stranded = await createAround(workspaceId, create, async () => {
    assert.equal((await call(remove, { params: { groupId } })).status, 200);
  });
  answers.push(stranded);
  for (const { status, json } of answers) {
    assert.ok(status === 201 || json.error.code === "unknown_group", JSON.stringify(json));
  }
  assert.equal(stranded.status, 201);
  const worker = startWorker(service.database);
  t.after(() => worker.stop());
  await until(async () => {
    const { rows } = await db.query(
      "select count(*)::int as pending from approvals where workspace_id = $1 and group_id is not null and status = 'PENDING'",
      [workspaceId],
    );
    return rows[0].pending === 0;
  });
  const { rows: told } = await db.query(
    `select actor_email, detail ->> 'group' as name from activity
     where workspace_id = $1 and detail::text like '%' || $2 || '%'`,
    [workspaceId, stranded.json.id],
  );
  assert.deepEqual(told, [{ actor_email: email, name: "Group finance" }]);
});

test("a deleted endpoint gets nothing more, and its deliveries stay readable", async (t) => {
  const { workspaceId, call, ask } = await makeTeam();
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  const worker = startWorker(service.database, { webhookRetryDelaysMs: [600_000, 600_000] });
  t.after(async () => {
    await worker.stop();
    await receiver.close();
  });
  const { id: endpointId } = await makeEndpoint(db, workspaceId, receiver.url);
  await ask();
  const { id: deliveryId } = await until(async () => {
    const { rows } = await db.query<{ id: string }>(
      `select id from deliveries
       where endpoint_id = $1 and state = 'due' and attempts = 1 and lease_token is null`,
      [endpointId],
    );
    return rows[0] ?? null;
  }, "a first attempt failed");
  const params = { endpointId };
  const foreseen = await call("GET /workspaces/:workspaceId/endpoints/:endpointId/deletion", {
    params,
  });
  assert.deepEqual(foreseen.json, { due: { count: 1, isMore: false } });
  const remove = "POST /workspaces/:workspaceId/endpoints/:endpointId/delete";
  assert.deepEqual((await call(remove, { params })).json, { done: true });
  const later = await ask();
  const { rows } = await db.query(
    `select from deliveries d join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
     where ev.approval_id = $1 and d.endpoint_id is not null`,
    [later],
  );
  assert.deepEqual(rows, [], "no delivery is made for it");
  await until(async () => {
    const found = await db.query("select state from deliveries where id = $1", [deliveryId]);
    return found.rows[0].state === "skipped";
  }, "what was due is skipped");
  assert.deepEqual(await storedEndpoints.listLiveSecrets(db, { workspaceId, id: endpointId }), []);
  assert.deepEqual((await call("GET /workspaces/:workspaceId/endpoints")).json, { endpoints: [] });
  const show = "GET /workspaces/:workspaceId/endpoints/:endpointId";
  const { json: shown } = await call(show, { params });
  assert.equal(shown.url, receiver.url);
  assert.match(shown.deletedAt, /^20/);
  const { json: delivery } = await call("GET /workspaces/:workspaceId/deliveries/:deliveryId", {
    params: { deliveryId },
  });
  assert.equal(delivery.attemptList.length, 1);
  const resend = await call("POST /workspaces/:workspaceId/deliveries/:deliveryId/resend", {
    params: { deliveryId },
  });
  assert.equal(resend.status, 400);
  assert.match(resend.json.error.message, /was deleted/);
  assert.equal(delivery.destination.isDeleted, true);
  for (const action of ["enable", "rotate", "test", "delete"] as const) {
    const name = `POST /workspaces/:workspaceId/endpoints/:endpointId/${action}` as const;
    assert.equal((await call(name, { params })).status, 404, action);
  }
  assert.equal((await activityOf(workspaceId, "endpoint.deleted"))[0]?.subject, receiver.url);
});

test("an endpoint has a name if it is given one, and is told as before without", async () => {
  const { workspaceId, call } = await makeTeam();
  const { id: endpointId } = await makeEndpoint(db, workspaceId, "https://hooks.example/a");
  const change = (body: object) =>
    call("POST /workspaces/:workspaceId/endpoints/:endpointId", { params: { endpointId }, body });
  const { json: before } = await change({});
  assert.deepEqual(Object.keys(before), [
    "id",
    "url",
    "eventKinds",
    "createdAt",
    "disabledAt",
    "disabledReason",
    "failingSince",
  ]);
  assert.equal((await change({ name: "Ledger" })).json.name, "Ledger");
  const { json: refused } = await change({ name: "two\nlines" });
  assert.equal(refused.error.field, "name");
  assert.equal((await change({ url: "https://93.184.215.14/b" })).json.name, "Ledger");
  assert.equal("name" in (await change({ name: "" })).json, false);
  assert.deepEqual(
    (await activityOf(workspaceId, "endpoint.changed")).map(({ detail }) => detail.name),
    ["from none to Ledger", undefined, "from Ledger to none"],
  );
});
