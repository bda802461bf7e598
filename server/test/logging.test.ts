import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { deriveReviewCode } from "../src/domain/access/review-code.ts";
import { deriveReviewToken } from "../src/domain/access/review-link.ts";
import { registerEndpoint } from "../src/operations/deliveries/manage-endpoint.ts";
import { until } from "./patience.ts";
import { decisionBody, findReviewer, getReview, openReview, postReview } from "./test-review.ts";
import { makeWorkspace, startService } from "./test-service.ts";

const lines: string[] = [];
const service = await startService({ logDestination: { write: (line) => void lines.push(line) } });
after(() => service.stop());

const listening = service.app.listen({ port: 0, host: "127.0.0.1" });

type Line = Record<string, unknown>;
const logged = (): Line[] => lines.map((line) => JSON.parse(line) as Line);

test("every call is one line with its id, route pattern, status and milliseconds", async () => {
  lines.length = 0;
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const created = await service.call("POST", "/v1/requests", {
    key,
    body: { summary: "s", notify: "a@b.co" },
  });
  const read = await service.call("GET", `/v1/requests/${created.json.id}?wait=0`, { key });
  const missing = await service.call("GET", "/nowhere?token=hush");
  const entries = logged();
  assert.equal(entries.length, 3);
  for (const [entry, reply] of [
    [entries[0], created],
    [entries[1], read],
    [entries[2], missing],
  ] as const) {
    assert.equal(entry?.requestId, reply.headers["x-request-id"]);
    assert.equal(entry?.status, reply.status);
    assert.equal(typeof entry?.ms, "number");
    assert.equal(entry?.level, "info");
  }
  assert.equal(entries[1]?.route, "/v1/requests/:id");
  assert.equal(entries[1]?.workspaceId, workspaceId);
  assert.equal(entries[1]?.approvalId, created.json.id);
  assert.doesNotMatch(lines.join(""), /nowhere|hush/);
});

test("a call that cannot be routed or read as HTTP is a line as well", async () => {
  lines.length = 0;
  const badAddress = await service.call("GET", "/v1/requests/%");
  assert.equal(badAddress.status, 401);
  const address = await listening;
  const socket = connect(Number(new URL(address).port), "127.0.0.1");
  socket.end("hush nonsense\r\n\r\n");
  const answer = await text(socket);
  const [, requestId] = /x-request-id: (\S+)/i.exec(answer) ?? [];
  const entries = logged();
  assert.deepEqual(
    entries.map((entry) => [entry.requestId, entry.status]),
    [
      [badAddress.headers["x-request-id"], 401],
      [requestId, 400],
    ],
  );
  assert.doesNotMatch(lines.join(""), /hush/);
});

test("a call whose caller leaves is one line as well, half answered or not at all", async () => {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const { json } = await service.call("POST", "/v1/requests", {
    key,
    body: { summary: "s", notify: "a@b.co" },
  });
  const { id } = json;
  const address = await listening;
  const headers = { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" };
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "await_decision", arguments: { requestId: id }, _meta: { progressToken: 1 } },
  });
  for (const [route, begin] of [
    [
      "/v1/requests/:id",
      (signal: AbortSignal) => fetch(`${address}/v1/requests/${id}?wait=60`, { headers, signal }),
    ],
    [
      "/mcp",
      (signal: AbortSignal) =>
        fetch(`${address}/mcp`, { method: "POST", headers, body, signal }).then((r) => r.text()),
    ],
  ] as const) {
    lines.length = 0;
    const leaving = new AbortController();
    const call = begin(leaving.signal);
    await until(() => service.resolutions.waiting === 1);
    leaving.abort();
    await assert.rejects(call, { name: "AbortError" });
    await until(() => logged().some((line) => line.route === route));
    await until(() => service.resolutions.waiting === 0);
    // Whatever a call writes after its answer it has written before that of a later one.
    const { headers: later } = await service.call("GET", "/v1/requests", { key });
    await until(() => logged().some((line) => line.requestId === later["x-request-id"]));
    const ids = logged().map((line) => line.requestId);
    assert.equal(new Set(ids).size, ids.length, "no call has two lines, nor what a tool asked");
    const own = logged().filter((line) => line.route === route && line.callerLeft === true);
    assert.deepEqual(
      logged().filter((line) => line.workspaceId !== workspaceId),
      [],
    );
    assert.deepEqual(
      own.map((line) => [line.msg, line.status]),
      [["call", 200]],
    );
    assert.equal(typeof own[0]?.ms, "number");
  }
});

test("no key, secret, token or word of a body is ever logged, whatever happens", async () => {
  lines.length = 0;
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const endpoint = await registerEndpoint(service.db, service.keyring, {
    workspaceId,
    url: "https://hook.example/path-secret",
    eventKinds: null,
    examineAddress: async () => null,
  });
  assert.ok("secret" in endpoint);
  const body = {
    summary: "hush-summary",
    notify: "hush@example.com",
    payload: "hush-payload",
    agentState: "hush-state",
  };
  const headers = { "idempotency-key": "hush-key" };
  await service.call("POST", "/v1/requests", { key, body, headers });
  await service.call("POST", "/v1/requests", { key, body: { ...body, summary: "hush2" }, headers });
  await service.call("POST", "/v1/requests", { key, body: "{hush-broken" });
  await service.call("GET", `/v1/requests/${key}?wait=hush`, { key });
  await service.call("GET", `/v1/requests?agentName=hush-agent`, { key: `${key}x` });
  // A constraint that a row breaks quotes the row in PostgreSQL's own message.
  await service.db.query(
    "alter table approvals add constraint no_hush check (summary <> 'hush-refused')",
  );
  const fault = await service.call("POST", "/v1/requests", {
    key,
    body: { ...body, summary: "hush-refused" },
  });
  assert.equal(fault.status, 500);
  assert.equal(fault.json.error.code, "internal_error");
  assert.ok(fault.json.error.message.includes(fault.headers["x-request-id"] ?? "?"));
  const logText = lines.join("");
  assert.match(logText, /no_hush/, "the fault itself is logged by the name of its constraint");
  const { rows } = await service.db.query(
    "select token_nonce from reviewers where workspace_id = $1",
    [workspaceId],
  );
  const tokens = rows.flatMap(({ token_nonce }) => [
    deriveReviewToken(service.keyring.current, token_nonce),
    deriveReviewCode(service.keyring.current, token_nonce),
  ]);
  assert.equal(tokens.length, 2);
  for (const secret of [key, key.slice(3, 30), endpoint.secret, "path-secret", ...tokens]) {
    assert.equal(logText.includes(secret), false);
  }
  assert.doesNotMatch(logText.replaceAll("no_hush", ""), /hush/);
});

test("a reviewer's calls are logged by pattern and ids, without link, code, ticket or words", async () => {
  const { id: workspaceId, key } = await makeWorkspace(service.db, { reviewCode: true });
  const body = { summary: "hush-summary", notify: "hush@example.com", payload: "hush-payload" };
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  const { token, code } = await findReviewer(service.db, json.id);
  lines.length = 0;
  await getReview(service.app, token);
  await service.app.inject({ method: "HEAD", url: `/countersign/review/${token}?hush` });
  await getReview(service.app, `${token}hush/${token}`);
  const { ticket } = await openReview(service.app, token, code);
  await postReview(service.app, `${token}/status`, { code: "hush" });
  await postReview(service.app, `${token}/decision`, { hush: 1 });
  await postReview(service.app, `${token}/decision`, { hush: 1 }, {});
  await service.db.query("alter table reviewers rename column code_tries to hidden");
  const fault = await getReview(service.app, token);
  await service.db.query("alter table reviewers rename column hidden to code_tries");
  assert.equal(fault.status, 503);
  const calls = logged().filter(({ msg }) => msg === "call");
  assert.deepEqual(
    calls.map(({ method, route, status }) => [method, route, status]),
    [
      ["GET", "/review/:token", 200],
      ["HEAD", "/review/:token", 200],
      ["GET", "/review/*", 404],
      ["POST", "/review/:token/open", 200],
      ["POST", "/review/:token/status", 403],
      ["POST", "/review/:token/decision", 400],
      ["POST", "/review/:token/decision", 403],
      ["GET", "/review/:token", 503],
    ],
  );
  assert.deepEqual([calls[0]?.workspaceId, calls[0]?.approvalId], [workspaceId, json.id]);
  for (const secret of [token, token.slice(5, 25), code, ticket, ticket.slice(20, 40)]) {
    assert.equal(lines.join("").includes(secret), false);
  }
  assert.doesNotMatch(lines.join(""), /hush/);
});

test("a decision is logged with the ids of its request, whatever becomes of it", async () => {
  const { id: workspaceId, key } = await makeWorkspace(service.db, { reviewCode: true });
  const body = { summary: "s", notify: "ann@example.com" };
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  const { token, code } = await findReviewer(service.db, json.id);
  const review = await openReview(service.app, token, code);
  const good = decisionBody(review, { verdict: "approve", code });
  const post = (sent: string) => postReview(service.app, `${token}/decision`, sent);
  lines.length = 0;
  await post("{broken");
  await post(decisionBody(review, { verdict: "approve" }));
  await post(decisionBody({ ...review, ticket: "" }, { verdict: "approve", code }));
  await service.db.query("alter table events rename column kind to hidden");
  await post(good);
  await service.db.query("alter table events rename column hidden to kind");
  await post(good);
  await post(good);
  const calls = logged().filter(({ msg }) => msg === "call");
  assert.deepEqual(
    calls.map(({ status }) => status),
    [400, 403, 409, 503, 200, 409],
  );
  for (const call of calls) {
    assert.deepEqual([call.workspaceId, call.approvalId], [workspaceId, json.id]);
  }
});

test("a row that the database refuses harms none of those that were gathered with it", async () => {
  const { key } = await makeWorkspace(service.db);
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      const summary = n % 10 === 5 ? "hush-refused" : "fine";
      return service.call("POST", "/v1/requests", { key, body: { summary, notify: "a@b.co" } });
    }),
  );
  assert.deepEqual(
    replies.map(({ status }) => status),
    Array.from({ length: 40 }, (_, n) => (n % 10 === 5 ? 500 : 201)),
  );
});
