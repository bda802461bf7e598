import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, type TestContext, test } from "node:test";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { Countersign } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import { waitSecondsMax } from "../../server/src/domain/limits.ts";
import * as limits from "../../server/src/domain/shown/field-limits.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { awaitSecondsMax, createInput } from "../src/tool-schemas.ts";
import { makeMcpServer } from "../src/tools.ts";
import { version } from "../src/version.ts";
import { callTool, command } from "./conversing.ts";

const served = await serve();
after(() => served.stop());

async function run(env: Record<string, string>, input = "") {
  const child = spawn(command.command, command.args, { env, stdio: "pipe" });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("exit", resolve)),
  ]);
  return { stdout, stderr, code };
}

test("without a key, or with a wrong address, the command says what to set and fails", async () => {
  const none = await run({});
  assert.equal(none.code, 1);
  assert.match(none.stderr, /COUNTERSIGN_API_KEY/);
  assert.equal(none.stdout, "");
  const bad = await run({ COUNTERSIGN_API_KEY: "cs_x", COUNTERSIGN_BASE_URL: "approvals" });
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /baseUrl must be such as https:/);
});

test("the command ends when its client closes the pipe, and writes nothing but the protocol", async () => {
  const env = { COUNTERSIGN_API_KEY: "cs_x", COUNTERSIGN_BASE_URL: "http://127.0.0.1:9" };
  const { code, stdout } = await run(env, "not json\n");
  assert.equal(code, 0);
  assert.ok(stdout.split("\n").every((line) => line === "" || "jsonrpc" in JSON.parse(line)));
});

test("while somebody waits their client hears of it again and again", async () => {
  const { key } = await makeWorkspace(served.service.db);
  const countersign = new Countersign({ apiKey: key, baseUrl: served.url });
  const server = makeMcpServer({ client: countersign, progressIntervalMs: 50 });
  const client = new Client({ name: "test", version: "1.0.0" });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  try {
    const input = { summary: "Refund order 1042", notify: "ann@example.com" };
    const { id } = (await callTool(client, "request_approval", input)).value;
    const heard: number[] = [];
    const enough = Promise.withResolvers<void>();
    const waiting = callTool(
      client,
      "await_decision",
      { requestId: id },
      {
        onProgress: ({ progress, total }) => {
          assert.equal(total, awaitSecondsMax);
          if (heard.push(progress) === 3) enough.resolve();
        },
      },
    );
    await enough.promise;
    await served.approve(id);
    assert.equal((await waiting).value.status, "APPROVED");
    assert.deepEqual(heard.slice(0, 3), [0, 0.05, 0.1]);
    const total = heard.length;
    await callTool(client, "get_request", { requestId: id });
    assert.equal(heard.length, total, "nothing is told once it is decided");
  } finally {
    await client.close();
  }
});

test("a service that cannot be asked is an error, and never a decision", async () => {
  const baseUrl = "http://127.0.0.1:9";
  const countersign = new Countersign({ apiKey: "cs_x", baseUrl, retriesMax: 0 });
  const server = makeMcpServer({ client: countersign });
  const client = new Client({ name: "test", version: "1.0.0" });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  const { isError, text } = await callTool(client, "await_decision", { requestId: "req_1" });
  assert.equal(isError, true);
  assert.match(text, /^connection_failed: .*do not act/s);
  await client.close();
});

test("the tools name themselves as their package does, and the limits as the service has them", () => {
  const file = join(import.meta.dirname, "..", "package.json");
  assert.equal(JSON.parse(readFileSync(file, "utf8")).version, version);
  assert.ok(awaitSecondsMax < waitSecondsMax);
  const { shape } = createInput;
  const said = (field: keyof typeof shape) => shape[field].description ?? "";
  // The limits of the other fields: server/test/submitted-fields.test.ts.
  assert.ok(said("ttlMinutes").includes(`${limits.ttlMinutesMin} to ${limits.ttlMinutesMax}`));
  assert.ok(said("idempotencyKey").includes(String(limits.idempotencyKeyCharactersMax)));
});

/** The command and a line to it, beside the service. Lines are written as they are, and not by a client. */
async function openCommand(context: TestContext) {
  const { key } = await makeWorkspace(served.service.db);
  const child = spawn(command.command, command.args, {
    env: { COUNTERSIGN_API_KEY: key, COUNTERSIGN_BASE_URL: served.url },
    stdio: "pipe",
  });
  context.after(() => child.stdin.end());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const send = async (line: string | Buffer) => {
    child.stdin.write(Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
    return (await lines.next()).value ?? "null";
  };
  const call = (id: number, method: string, params: string) =>
    send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
  const ask = (id: number, more: string) => {
    const args = `{"summary":"s","notify":"ann@example.com",${more}}`;
    return call(id, "tools/call", `{"name":"request_approval","arguments":${args}}`);
  };
  const about = '"capabilities":{},"clientInfo":{"name":"test","version":"1"}';
  await call(1, "initialize", `{"protocolVersion":"2025-06-18",${about}}`);
  const list = () => served.service.call("GET", "/v1/requests", { key });
  return { send, call, ask, list };
}

test("an argument named __proto__ is refused, and a key of that name in a payload arrives", async (context) => {
  const { ask, list } = await openCommand(context);
  const { result } = JSON.parse(await ask(2, '"__proto__":{"payload":{"amount":5}}'));
  assert.match(result.content[0].text, /Unrecognized key: "argument __proto__"/);
  await ask(3, '"payload":{"__proto__":{"amount":5}}');
  assert.match((await list()).text, /"payload":\{"__proto__":\{"amount":5\}\}/);
});

test("a payload reaches people over the command as it was written, and comes back so", async (context) => {
  const { ask, call, list } = await openCommand(context);
  const payload =
    '{"account":9007199254740993,"h":1e400,"rate":0.1234567890123456789,"zero":-0,"__proto__":12345678901234567890}';
  const { id } = JSON.parse(await ask(2, `"payload":${payload}`)).result.structuredContent;
  assert.ok((await list()).text.includes(`"payload":${payload}`));
  await served.approve(id);
  const params = `{"name":"await_decision","arguments":{"requestId":"${id}"}}`;
  const answer = await call(3, "tools/call", params);
  assert.ok(answer.includes(`"effectivePayload":${payload}`), answer);
});

test("a message to the command that two readers could read differently is refused, and its sender hears of it", async (context) => {
  const { ask, send, list } = await openCommand(context);
  const deep = "[".repeat(129) + "]".repeat(129);
  for (const [id, more, said] of [
    [2, '"payload":{"amount":1,"amount":2}', /^params\.arguments\.payload\.amount appears more/],
    [3, '"payload":{"amount":1,"\\u0061mount":2}', /^params\.arguments\.payload\.amount appears/],
    [4, `"payload":${deep}`, /^params is nested deeper than 131 levels\.$/],
  ] as const) {
    const answer = JSON.parse(await ask(id, more));
    assert.deepEqual([answer.id, answer.error.code], [id, -32600]);
    assert.match(answer.error.message, said);
  }
  for (const [line, code] of [
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', -32600],
    ["[]", -32600],
    ["7", -32600],
    ["{}", -32600],
    ["[".repeat(300_000), -32600],
    ["not json", -32700],
    [Buffer.from([0x22, 0xff, 0x22]), -32700],
  ] as const) {
    const answer = JSON.parse(await send(line));
    assert.deepEqual([answer.id, answer.error.code], [null, code], String(line).slice(0, 50));
  }
  const { result } = JSON.parse(await ask(5, '"payload":"\u{1f4b8} after all that"'));
  assert.equal(result.structuredContent.status, "PENDING");
  assert.equal((await list()).json.data.length, 1);
});
