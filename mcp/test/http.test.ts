import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { apiKeyRandomBytes, formatApiKey } from "../../server/src/domain/access/api-key.ts";
import { mcpAnswerBytesMax } from "../../server/src/domain/limits.ts";
import { revokeKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { until } from "../../server/test/patience.ts";
import { decide, findReviewer } from "../../server/test/test-review.ts";
import {
  makeWorkspace,
  type NodeOptions,
  startNode,
  startService,
  type TestNode,
  testPublicUrl,
} from "../../server/test/test-service.ts";
import { callTool, connect } from "./conversing.ts";

const service = await startService();
after(() => service.stop());
const url = await service.app.listen({ port: 0, host: "127.0.0.1" });

const refund = { summary: "Refund order 1042", notify: "ann@example.com" };

async function startOther(options: NodeOptions = {}): Promise<TestNode & { url: string }> {
  const node = await startNode(service.database, options);
  await node.app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = node.app.server.address() as AddressInfo;
  return { ...node, url: `http://127.0.0.1:${port}` };
}

type Sent = { key?: string; headers?: Record<string, string>; method?: string; body?: string };

async function send({ key, headers = {}, method = "POST", body }: Sent) {
  const response = await fetch(`${url}/mcp`, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...headers,
    },
    ...(method === "POST" ? { body: body ?? message("tools/list", {}) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

function message(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

/** The text of the call with these exact arguments, which JSON.stringify might not write. */
function callText(name: string, args: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
}

/** Of a stream with one message. */
function dataOf(text: string): string {
  return /^data: (.*)$/m.exec(text)?.[1] ?? "";
}

test("a request that is too large for a tool is named, and where to read it", async () => {
  const { key } = await makeWorkspace(service.db);
  const body = { ...refund, payload: { text: "x".repeat(mcpAnswerBytesMax / 2) } };
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  const args = JSON.stringify({ requestId: json.id });
  const { text } = await send({ key, body: callText("get_request", args) });
  assert.match(text, /Read the request over HTTP instead/);
  assert.ok(text.length < 10_000);
});

test("a missing, malformed, unknown or revoked key is 401, whatever the message", async () => {
  const revoked = await makeWorkspace(service.db);
  await revokeKey(service.db, revoked.keyId);
  const unknown = formatApiKey(randomBytes(apiKeyRandomBytes));
  for (const key of ["nonsense", unknown, revoked.key]) {
    for (const body of [message("tools/list", {}), "{", "[]"]) {
      const reply = await send({ key, body });
      assert.equal(reply.status, 401);
      assert.match(
        reply.headers.get("www-authenticate") ?? "",
        /^Bearer resource_metadata="https:/,
      );
      assert.equal(JSON.parse(reply.text).error.code, "unauthorized");
    }
  }
  assert.equal((await send({})).status, 401);
  await assert.rejects(connect({ transport: "http", mode: "auto" }, { url, key: unknown }));
});

test("a key that is revoked is refused by the very next call", async () => {
  const { key, keyId } = await makeWorkspace(service.db);
  assert.equal((await send({ key })).status, 200);
  await revokeKey(service.db, keyId);
  assert.equal((await send({ key })).status, 401);
});

test("a web page that is not ours may not call, and programs may", async () => {
  const { key } = await makeWorkspace(service.db);
  for (const origin of ["https://evil.example", "http://localhost:3000", "null"]) {
    const reply = await send({ key, headers: { origin } });
    assert.equal(reply.status, 403);
    assert.equal(JSON.parse(reply.text).error.code, "cross_origin");
  }
  const ours = new URL(testPublicUrl).origin;
  assert.equal((await send({ key, headers: { origin: ours } })).status, 200);
});

test("there are no sessions to open or to end: GET and DELETE are 405", async () => {
  const { key } = await makeWorkspace(service.db);
  for (const method of ["GET", "DELETE"]) {
    const reply = await send({ key, method });
    assert.equal(reply.status, 405);
    assert.equal(reply.headers.get("allow"), "POST");
  }
  const initialize = message("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  const reply = await send({ key, body: initialize });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("mcp-session-id"), null);
});

test("a body that is no message of the protocol is 400, and a batch is not taken", async () => {
  const { key } = await makeWorkspace(service.db);
  for (const body of ["", "{", `[${message("tools/list", {})}]`, "[]", '"text"', "null", "{}"]) {
    const reply = await send({ key, body });
    assert.equal(reply.status, 400, body);
    assert.ok("error" in JSON.parse(reply.text), body);
  }
});

test("a message has at most 1 MiB, and a larger one is told so", async () => {
  const { key } = await makeWorkspace(service.db);
  const ofBytes = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  assert.equal((await send({ key, body: ofBytes(1024 * 1024) })).status, 400);
  const reply = await send({ key, body: ofBytes(1024 * 1024 + 1) });
  assert.equal(reply.status, 413);
  const { code, message: told } = JSON.parse(reply.text).error;
  assert.deepEqual([code, told], ["body_too_large", "The body may have at most 1048576 bytes."]);
});

test("a key that comes twice is refused wherever it stands, as by the API", async () => {
  const { key } = await makeWorkspace(service.db);
  const twice = (payload: string) =>
    callText("request_approval", `{"summary":"s","notify":"ann@example.com","payload":${payload}}`);
  for (const [body, path] of [
    [twice('{"amount":1,"amount":2}'), "params.arguments.payload.amount"],
    [twice('{"amount":1,"\\u0061mount":2}'), "params.arguments.payload.amount"],
    [callText("get_request", '{"requestId":"a","requestId":"b"}'), "params.arguments.requestId"],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', "id"],
  ] as const) {
    const reply = await send({ key, body });
    assert.equal(reply.status, 400, body);
    const { error, id } = JSON.parse(reply.text);
    assert.deepEqual([error.code, id], [-32600, null]);
    assert.ok(error.message.startsWith(`${path} appears more than once.`), error.message);
  }
  const { json } = await service.call("GET", "/v1/requests", { key });
  assert.deepEqual(json.data, []);
});

test("a payload is as deep as the API takes it, and what is deeper is refused in words", async () => {
  const { key } = await makeWorkspace(service.db);
  const askDeep = async (levels: number) => {
    const payload = "[".repeat(levels) + "]".repeat(levels);
    const args = `{"summary":"s","notify":"ann@example.com","payload":${payload}}`;
    return send({ key, body: callText("request_approval", args) });
  };
  const taken = JSON.parse(dataOf((await askDeep(128)).text)).result;
  assert.equal(taken.structuredContent.status, "PENDING");
  for (const levels of [129, 5_000, 200_000]) {
    const reply = await askDeep(levels);
    assert.equal(reply.status, 400);
    const { code, message: told } = JSON.parse(reply.text).error;
    assert.deepEqual([code, told], [-32600, "params is nested deeper than 131 levels."]);
  }
});

test("half a surrogate pair is no id, and is refused in words", async () => {
  const { key } = await makeWorkspace(service.db);
  for (const [name, args] of [
    ["get_request", '{"requestId":"\\ud800"}'],
    ["await_decision", '{"requestId":"req_\\udc00"}'],
    ["cancel_request", '{"requestId":"\\ud800x"}'],
  ] as const) {
    const { text } = await send({ key, body: callText(name, args) });
    const { result } = JSON.parse(dataOf(text));
    assert.equal(result.isError, true, text);
    assert.match(result.content[0].text, /not well-formed Unicode/);
  }
});

test("numbers that JSON.parse would round arrive and come back as they were written", async () => {
  const { key } = await makeWorkspace(service.db);
  const payload =
    '{"id":9007199254740993,"rate":0.1234567890123456789,"huge":1e400,"n":1.5,"zero":-0,"__proto__":12345678901234567890}';
  const body = callText(
    "request_approval",
    `{"summary":"s","notify":"ann@example.com","payload":${payload}}`,
  );
  const { id } = JSON.parse(dataOf((await send({ key, body })).text)).result.structuredContent;
  const stored = await service.call("GET", `/v1/requests/${id}`, { key });
  assert.ok(stored.text.includes(`"payload":${payload}`), stored.text);
  const { token } = await findReviewer(service.db, id);
  await decide(service.app, token, { verdict: "approve" });
  const answer = dataOf(
    (await send({ key, body: callText("await_decision", `{"requestId":"${id}"}`) })).text,
  );
  assert.ok(answer.includes(`"effectivePayload":${payload}`), answer);
  assert.ok(answer.includes(JSON.stringify(`"effectivePayload":${payload}`).slice(1, -1)), answer);
});

test("a number that no field can have is named as it was written", async () => {
  const { key } = await makeWorkspace(service.db);
  const asked = '"summary":"s","notify":"ann@example.com"';
  for (const [name, args, said] of [
    ["request_approval", `{${asked},"ttlMinutes":-0}`, /ttlMinutes: must be a number .*, not -0\./],
    ["request_approval", `{${asked},"ttlMinutes":1e400}`, /such as 60, not 1e400\./],
    ["await_decision", '{"requestId":"req_1","maxSeconds":-0}', /maxSeconds: must be .*, not -0\./],
    ["request_approval", `{${asked},"ttlMinutes":{}}`, /ttlMinutes: .*expected number/],
  ] as const) {
    const { result } = JSON.parse(dataOf((await send({ key, body: callText(name, args) })).text));
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, said);
  }
});

test("an argument named __proto__ is refused like every other unknown one", async () => {
  const { key } = await makeWorkspace(service.db);
  const asked = '{"summary":"s","notify":"ann@example.com","__proto__":{"payload":{"amount":5}}}';
  for (const [name, args] of [
    ["request_approval", asked],
    ["cancel_request", '{"requestId":"req_1","__proto__":1}'],
  ] as const) {
    const { result } = JSON.parse(dataOf((await send({ key, body: callText(name, args) })).text));
    assert.equal(result.isError, true, args);
    assert.match(result.content[0].text, /Unrecognized key: "argument __proto__"/);
  }
  assert.equal((await service.call("GET", "/v1/requests", { key })).json.data.length, 0);
});

test("the calls of a tool count against the rate of the key", async () => {
  const other = await startOther({ rateLimit: { perSecond: 1, burst: 3 }, clock: () => 0 });
  try {
    const { key } = await makeWorkspace(service.db);
    const post = (body: string) =>
      fetch(`${other.url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          accept: "application/json, text/event-stream",
        },
        body,
      });
    const first = await post(callText("list_pending", "{}"));
    assert.equal(JSON.parse(dataOf(await first.text())).result.isError, undefined);
    assert.equal((await post(message("tools/list", {}))).status, 200);
    const third = await post(message("tools/list", {}));
    assert.equal(third.status, 429, "one for each message, and one for what the tool asked");
    assert.equal(third.headers.get("retry-after"), "1");
  } finally {
    await other.stop();
  }
});

for (const mode of ["auto", "legacy"] as const) {
  test(`any node answers any call of a conversation (${mode})`, async () => {
    const other = await startOther();
    const { key } = await makeWorkspace(service.db);
    const here = await connect({ transport: "http", mode }, { url, key });
    const there = await connect({ transport: "http", mode }, { url: other.url, key });
    try {
      const { id } = (await callTool(here, "request_approval", refund)).value;
      const waiting = callTool(there, "await_decision", { requestId: id });
      await until(() => other.resolutions.waiting > 0);
      const { token } = await findReviewer(service.db, id);
      await decide(service.app, token, { verdict: "approve" });
      assert.equal((await waiting).value.status, "APPROVED");
    } finally {
      await Promise.all([here.close(), there.close()]);
      await other.stop();
    }
  });

  test(`a service that stops tells waiting callers to call again (${mode})`, async () => {
    const other = await startOther();
    const { key } = await makeWorkspace(service.db);
    const client = await connect({ transport: "http", mode }, { url: other.url, key });
    const { id } = (await callTool(client, "request_approval", refund)).value;
    const onProgress = () => {};
    const waiting = [
      callTool(client, "await_decision", { requestId: id }, { onProgress }),
      callTool(client, "await_decision", { requestId: id }),
    ];
    await until(() => other.resolutions.waiting === 2);
    await other.stop();
    for (const { value, isError } of await Promise.all(waiting)) {
      assert.equal(isError, false);
      assert.equal(value.status, "PENDING");
    }
    await client.close();
  });
}
