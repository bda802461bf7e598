import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { after, type TestContext, test } from "node:test";
import { specTypeSchemas } from "@modelcontextprotocol/client";
import { serve } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace, startNode } from "../../server/test/test-service.ts";
import { command } from "./conversing.ts";

const served = await serve();
after(() => served.stop());

const modern = "2026-07-28";
const tasks = "io.modelcontextprotocol/tasks";
const refund = {
  summary: "Refund order 1042",
  notify: "ann@example.com",
  payload: { orderId: 1042, amount: 49 },
};

type Way = { transport: "http" | "stdio"; version: string };
const ways: Way[] = [
  { transport: "http", version: modern },
  { transport: "stdio", version: modern },
  { transport: "http", version: "2025-11-25" },
  { transport: "stdio", version: "2025-11-25" },
];
/** The command starts anew for each conversation, so the rules are tried over HTTP. */
const quickWays = ways.filter(({ transport }) => transport === "http");

// biome-ignore lint/suspicious/noExplicitAny: each test looks at what it expects there
type Reply = { result?: any; error?: { code: number; message: string; data?: unknown } };
type Conversation = { call: (method: string, params: object) => Promise<Reply>; greeting: Reply };

/** Messages as a client writes them, which declares tasks unless told otherwise. */
async function converse(
  context: TestContext,
  { transport, version }: Way,
  { key, url = served.url, extensions = { [tasks]: {} } }: Place,
): Promise<Conversation> {
  const line = transport === "http" ? overHttp(url, key) : overStdio(context, url, key);
  const clientInfo = { name: "test", version: "1.0.0" };
  const _meta =
    version === modern
      ? {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientInfo": clientInfo,
          "io.modelcontextprotocol/clientCapabilities": { extensions },
        }
      : undefined;
  let id = 0;
  const call = (method: string, params: object) => {
    id += 1;
    return line({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }, version);
  };
  const greeting = await (version === modern
    ? call("server/discover", {})
    : call("initialize", { protocolVersion: version, capabilities: {}, clientInfo }));
  return { call, greeting };
}

type Place = { key: string; url?: string; extensions?: object };
// biome-ignore lint/suspicious/noExplicitAny: a message of any method
type Line = (message: any, version: string) => Promise<Reply>;

function overHttp(url: string, key: string): Line {
  return async (message, version) => {
    const { method, params } = message;
    const name = params.taskId ?? params.name;
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...(method === "initialize" ? {} : { "mcp-protocol-version": version }),
        ...(version === modern ? { "mcp-method": method } : {}),
        ...(version === modern && name !== undefined ? { "mcp-name": name } : {}),
      },
      body: JSON.stringify(message),
    });
    const text = await response.text();
    return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  };
}

function overStdio(context: TestContext, url: string, key: string): Line {
  const child = spawn(command.command, command.args, {
    env: { COUNTERSIGN_API_KEY: key, COUNTERSIGN_BASE_URL: url },
    stdio: ["pipe", "pipe", "ignore"],
  });
  context.after(() => child.stdin.end());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async (message) => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    return JSON.parse((await lines.next()).value ?? "null");
  };
}

/** How a client of this version asks for a task: it did so already, or says so with the call. */
const wish = ({ version }: Way) => (version === modern ? {} : { task: { ttl: 60_000 } });

/** The task that a call was answered with, in the one shape or the other. */
function taskIn({ version }: Way, { result }: Reply) {
  assert.equal(version === modern ? result.resultType : "task", "task", JSON.stringify(result));
  const task = version === modern ? result : result.task;
  assert.equal("content" in result || "structuredContent" in result, false, "a task and no result");
  return task;
}

async function isValid(
  name: "CreateTaskResult" | "GetTaskResult" | "CancelTaskResult",
  value: unknown,
) {
  const outcome = await specTypeSchemas[name]["~standard"].validate(value);
  assert.equal(outcome.issues, undefined, JSON.stringify(outcome.issues));
}

function askIn(way: Way, args: object = refund) {
  return { name: "request_approval", arguments: args, ...wish(way) };
}

for (const way of ways) {
  const how = `${way.transport}, ${way.version}`;

  test(`a person is asked as a task, which says what they decided once they did (${how})`, async (context) => {
    const { key } = await makeWorkspace(served.service.db);
    const { call } = await converse(context, way, { key });
    const created = await call("tools/call", askIn(way));
    const task = taskIn(way, created);
    assert.equal(task.status, "working");
    assert.ok(task.pollInterval === 5_000 || task.pollIntervalMs === 5_000);
    if (way.version !== modern) await isValid("CreateTaskResult", created.result);

    // Another process or another connection, which knows nothing but the id.
    const later = await converse(context, way, { key });
    const { taskId } = task;
    const working = (await later.call("tasks/get", { taskId })).result;
    assert.equal(working.status, "working");
    assert.match(working.statusMessage, /do not act/);
    const id = /req_\w+/.exec(taskId)?.[0] ?? "";
    await served.approve(id, '{"orderId":1042,"amount":9}', "Less");

    const done = (await later.call("tasks/get", { taskId })).result;
    assert.equal(done.status, "completed");
    if (way.version !== modern) await isValid("GetTaskResult", done);
    assert.equal(done.createdAt, task.createdAt);
    const result =
      way.version === modern ? done.result : (await later.call("tasks/result", { taskId })).result;
    assert.equal(result.structuredContent.status, "APPROVED");
    assert.deepEqual(result.structuredContent.effectivePayload, { orderId: 1042, amount: 9 });
    assert.match(result.content[0].text, /^Approved with changes/);
    if (way.version !== modern) {
      assert.deepEqual(result._meta["io.modelcontextprotocol/related-task"], { taskId });
    }
  });
}

for (const way of quickWays) {
  const how = `${way.transport}, ${way.version}`;

  test(`a wait is a task, and a rejection completes it (${how})`, async (context) => {
    const { key } = await makeWorkspace(served.service.db);
    const { call } = await converse(context, way, { key });
    const { json } = await served.service.call("POST", "/v1/requests", { key, body: refund });
    const wait = { name: "await_decision", arguments: { requestId: json.id }, ...wish(way) };
    const [one, two] = [await call("tools/call", wait), await call("tools/call", wait)];
    const { taskId } = taskIn(way, one);
    assert.notEqual(taskIn(way, two).taskId, taskId, "two waits are two tasks");
    await served.reject(json.id, "No");
    const { result } = await call("tasks/get", { taskId });
    assert.equal(result.status, "completed");
    assert.match(result.statusMessage, /^Rejected/);
  });

  test(`cancelling what asked cancels the request, and cancelling a wait leaves it (${how})`, async (context) => {
    const { key } = await makeWorkspace(served.service.db);
    const { call } = await converse(context, way, { key });
    const { taskId } = taskIn(way, await call("tools/call", askIn(way)));
    const requestId = /req_\w+/.exec(taskId)?.[0] ?? "";
    const wait = { name: "await_decision", arguments: { requestId }, ...wish(way) };
    const waiting = taskIn(way, await call("tools/call", wait)).taskId;
    const statusOf = async () => {
      const { json } = await served.service.call("GET", `/v1/requests/${requestId}`, { key });
      return json.status;
    };

    const left = await call("tasks/cancel", { taskId: waiting });
    if (way.version === modern) assert.equal(left.result.resultType, "complete");
    else assert.match(left.error?.message ?? "", /only waits.*stop polling/);
    assert.equal(await statusOf(), "PENDING");

    const { result } = await call("tasks/cancel", { taskId });
    if (way.version !== modern) {
      await isValid("CancelTaskResult", result);
      assert.equal(result.status, "cancelled");
    }
    assert.equal(await statusOf(), "CANCELLED");
    assert.equal((await call("tasks/get", { taskId })).result.status, "cancelled");
    assert.equal((await call("tasks/get", { taskId: waiting })).result.status, "completed");
    const again = await call("tasks/cancel", { taskId });
    assert.equal(again.error?.code, way.version === modern ? undefined : -32602);
  });

  test(`a task is known to the keys of its workspace alone (${how})`, async (context) => {
    const mine = await makeWorkspace(served.service.db);
    const theirs = await makeWorkspace(served.service.db);
    const { taskId } = taskIn(
      way,
      await (await converse(context, way, mine)).call("tools/call", askIn(way)),
    );
    const { call } = await converse(context, way, theirs);
    const unknown = await call("tasks/get", { taskId: taskId.replace(/\w{4}$/, "0000") });
    assert.equal(unknown.error?.code, -32602);
    const methods = [
      "tasks/get",
      "tasks/cancel",
      way.version === modern ? "tasks/update" : "tasks/result",
    ];
    for (const method of methods) {
      assert.deepEqual((await call(method, { taskId })).error, unknown.error, method);
    }
    for (const odd of [
      "",
      "ask.",
      "ask.req_1/../x",
      "wait.req_1.zzzzzzzzz.x",
      "ask.req_\u00e9",
      "x".repeat(5_000),
    ]) {
      assert.equal((await call("tasks/get", { taskId: odd })).error?.code, -32602, odd);
    }
    const id = /req_\w+/.exec(taskId)?.[0];
    const { json } = await served.service.call("GET", `/v1/requests/${id}`, mine);
    assert.equal(json.status, "PENDING");
  });

  test(`a call that is refused makes no task, and says why (${how})`, async (context) => {
    const { key } = await makeWorkspace(served.service.db);
    const { call } = await converse(context, way, { key });
    for (const [args, said] of [
      [{ summary: "s" }, /^no_approver: /],
      [{ ...refund, approved: true }, /approved/],
    ] as const) {
      const { result, error } = await call("tools/call", askIn(way, args));
      assert.match(error?.message ?? result.content[0].text, said);
      assert.equal(error === undefined, way.version === modern);
    }
    const { json } = await served.service.call("GET", "/v1/requests", { key });
    assert.deepEqual(json.data, []);
  });
}

test("a client that declares no tasks gets none, and is told so if it asks for one", async (context) => {
  const { key } = await makeWorkspace(served.service.db);
  for (const way of ways.filter(({ version }) => version === modern)) {
    const { call } = await converse(context, way, { key, extensions: {} });
    const { result } = await call("tools/call", { name: "request_approval", arguments: refund });
    assert.equal(result.resultType, "complete");
    assert.equal(result.structuredContent.status, "PENDING");
    const { error } = await call("tasks/get", { taskId: `ask.${result.structuredContent.id}` });
    assert.equal(error?.code, -32021);
    assert.deepEqual(error?.data, { requiredCapabilities: { extensions: { [tasks]: {} } } });
  }
});

test("a client of a version without tasks sees nothing of them", async (context) => {
  const { key } = await makeWorkspace(served.service.db);
  for (const transport of ["http", "stdio"] as const) {
    const { call, greeting } = await converse(
      context,
      { transport, version: "2025-06-18" },
      { key },
    );
    assert.deepEqual(greeting.result.capabilities, { tools: { listChanged: false } });
    const { result: list } = await call("tools/list", {});
    assert.equal(
      list.tools.some((tool: object) => "execution" in tool),
      false,
    );
    const asked = { name: "request_approval", arguments: refund, task: {} };
    const { result } = await call("tools/call", asked);
    assert.equal(result.structuredContent.status, "PENDING");
    const { error } = await call("tasks/get", { taskId: `ask.${result.structuredContent.id}` });
    assert.equal(error?.code, -32601);
  }
});

test("a client of 2025-11-25 learns which tools may be tasks, and another tool as a task does nothing", async (context) => {
  const { key } = await makeWorkspace(served.service.db);
  for (const transport of ["http", "stdio"] as const) {
    const way = { transport, version: "2025-11-25" };
    const { call, greeting } = await converse(context, way, { key });
    const { capabilities } = greeting.result;
    assert.deepEqual(capabilities.tasks, { cancel: {}, requests: { tools: { call: {} } } });
    const { result: list } = await call("tools/list", {});
    const supporting = list.tools.filter(({ execution }: { execution?: object }) => execution);
    assert.deepEqual(
      supporting.map(({ name }: { name: string }) => name),
      ["request_approval", "await_decision"],
    );
    const { json } = await served.service.call("POST", "/v1/requests", { key, body: refund });
    await served.approve(json.id);
    const redeem = { name: "redeem_request", arguments: { requestId: json.id } };
    assert.equal((await call("tools/call", { ...redeem, task: {} })).error?.code, -32601);
    assert.equal((await call("tools/call", redeem)).result.isError, undefined);
    const plain = { name: "await_decision", arguments: { requestId: json.id } };
    assert.equal((await call("tools/call", plain)).result.structuredContent.status, "APPROVED");
    assert.equal((await call("tasks/list", {})).error?.code, -32601);
  }
});

test("the result of a task is waited for, on whichever node somebody asks", async (context) => {
  const node = await startNode(served.service.database, {});
  await node.app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(node.app.server.address() as AddressInfo).port}`;
  const way = { transport: "http", version: "2025-11-25" } as const;
  const { key } = await makeWorkspace(served.service.db);
  const here = await converse(context, way, { key });
  const there = await converse(context, way, { key, url });
  const asked = { name: "request_approval", arguments: refund, task: {} };
  const { taskId } = (await here.call("tools/call", asked)).result.task;
  const waiting = there.call("tasks/result", { taskId });
  await until(() => node.resolutions.waiting > 0);
  await served.approve(/req_\w+/.exec(taskId)?.[0] ?? "");
  assert.equal((await waiting).result.structuredContent.status, "APPROVED");

  const next = (await here.call("tools/call", asked)).result.task.taskId;
  const cut = there.call("tasks/result", { taskId: next });
  await until(() => node.resolutions.waiting > 0);
  await node.stop();
  assert.match((await cut).error?.message ?? "", /^Still pending.*Poll tasks\/get/);
  assert.equal((await here.call("tasks/get", { taskId: next })).result.status, "working");
});
