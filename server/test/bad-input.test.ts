import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { storedFields } from "../src/domain/shown/submitted-fields.ts";
import { hangMs, until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService({ requestTimeoutMs: 1_500 });
const port = Number(new URL(await service.app.listen({ port: 0, host: "127.0.0.1" })).port);
const { id: workspaceId, key } = await makeWorkspace(service.db);
after(() => service.stop());

/** Sends bytes over a socket of its own and reads until the server closes it or has answered. */
function raw(bytes: string | Buffer, { endsAfterMs = hangMs } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const timer = setTimeout(() => socket.destroy(), endsAfterMs);
    socket.on("data", (chunk) => {
      text += chunk;
      const [, length] = /content-length: (\d+)/i.exec(text) ?? [];
      const start = text.indexOf("\r\n\r\n");
      if (
        length !== undefined &&
        start !== -1 &&
        Buffer.byteLength(text.slice(start + 4)) >= Number(length)
      )
        socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

function countConnections(): Promise<number> {
  return new Promise((resolve, reject) => {
    service.app.server.getConnections((error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}

function assertEnvelope(answer: string, status: number, code: string): void {
  assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), answer.slice(0, 200));
  assert.match(answer, /x-request-id: [0-9a-f-]{36}/i);
  const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)) as {
    error: { code: string; message: string };
  };
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error), ["code", "message"]);
  assert.equal(body.error.code, code);
}

const head = (extra = "") =>
  `POST /v1/requests HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${extra}`;

async function storedNothing(): Promise<void> {
  const { rows } = await service.db.query(
    "select count(*)::int as count from approvals where workspace_id = $1",
    [workspaceId],
  );
  assert.equal(rows[0].count, 0);
}

const post = (body: string | Buffer | object, headers = {}) =>
  service.call("POST", "/v1/requests", { key, body, headers });

test("bodies that are no JSON, no UTF-8 or no object are 400 at once and store nothing", async () => {
  const bodies: [string | Buffer, string][] = [
    ["", "invalid_json"],
    ["{", "invalid_json"],
    ["summary=x&notify=y", "invalid_json"],
    ["{'summary':'x'}", "invalid_json"],
    ['{"summary":"x",}', "invalid_json"],
    ['{"summary":NaN}', "invalid_json"],
    ["\ufeff{}", "invalid_json"],
    [Buffer.from([0xff, 0xfe, 0x7b, 0x00]), "invalid_json"],
    [Buffer.from('{"summary":"\u00e9"}', "latin1"), "invalid_json"],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "invalid_json"],
    ["\u0000", "invalid_json"],
    [`${"[".repeat(50_000)}`, "invalid_json"],
    [`${"[".repeat(50_000)}${"]".repeat(50_000)}`, "validation_error"],
    [
      `{"summary":"s","notify":"a@b.co","payload":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`,
      "validation_error",
    ],
    ["[]", "validation_error"],
    ["null", "validation_error"],
    ['"text"', "validation_error"],
    ["{}", "validation_error"],
  ];
  for (const [body, code] of bodies) {
    const reply = await post(body);
    const shown = String(body).slice(0, 40);
    assert.equal(reply.status, 400, shown);
    assert.equal(reply.json.error.code, code, shown);
  }
  await storedNothing();
});

test("every text field refuses what PostgreSQL could not store, with 400 and never 500", async () => {
  const set = (field: string, value: string) =>
    JSON.stringify({ ...minimalBody, [field]: "@" }).replace('"@"', value);
  const texts = storedFields.filter(({ kind }) => kind === "text" || kind === "required_text");
  for (const field of ["notify", ...texts.map(({ name }) => name)]) {
    for (const value of ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udfff\\ud800"']) {
      const reply = await post(set(field, value));
      assert.deepEqual(
        [reply.status, reply.json.error.code],
        [400, "validation_error"],
        `${field} ${value}`,
      );
      assert.ok(reply.json.error.message.startsWith(`${field}: `));
    }
  }
  const reply = await post(set("recentActions", '["\\u0000"]'));
  assert.equal(reply.json.error.code, "validation_error");
  await storedNothing();
});

test("a body of exactly 4 MiB is read, one byte more is 413, also when its length is not announced", async () => {
  const filler = (bytes: number) => {
    const start = '{"x":"';
    return `${start}${"a".repeat(bytes - start.length - 2)}"}`;
  };
  const mebibytes = 4 * 1024 * 1024;
  assert.equal((await post(filler(mebibytes))).json.error.code, "validation_error");
  const tooLarge = await post(filler(mebibytes + 1));
  assert.deepEqual([tooLarge.status, tooLarge.json.error.code], [413, "body_too_large"]);
  const announced = await raw(`${head(`Content-Length: ${1e12}`)}\r\n\r\n{`);
  assertEnvelope(announced, 413, "body_too_large");
  const chunk = `${(1024 * 1024).toString(16)}\r\n${"a".repeat(1024 * 1024)}\r\n`;
  const chunked = await raw(
    `${head("Transfer-Encoding: chunked")}\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`,
  );
  assertEnvelope(chunked, 413, "body_too_large");
  await storedNothing();
});

test("requests that are no proper HTTP are answered in the envelope, and the process lives", async () => {
  assertEnvelope(await raw("nonsense\r\n\r\n"), 400, "validation_error");
  assertEnvelope(await raw("GET / HTTP/9.9\r\n\r\n"), 400, "validation_error");
  assertEnvelope(await raw("FROB / HTTP/1.1\r\nHost: x\r\n\r\n"), 400, "validation_error");
  assertEnvelope(
    await raw(`GET / HTTP/1.1\r\nHost: x\r\nBad Header\r\n\r\n`),
    400,
    "validation_error",
  );
  assertEnvelope(
    await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`),
    431,
    "validation_error",
  );
  assertEnvelope(
    await raw(`GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`),
    431,
    "validation_error",
  );
  assertEnvelope(
    await raw(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])),
    400,
    "validation_error",
  );
  assertEnvelope(
    await raw(`${head("Content-Length: 2\r\nTransfer-Encoding: chunked")}\r\n\r\n{}`),
    400,
    "validation_error",
  );
  assertEnvelope(await raw(`${head("Content-Length: abc")}\r\n\r\n{}`), 400, "validation_error");
  assertEnvelope(
    await raw(`${head("Content-Length: 2\r\nContent-Length: 3")}\r\n\r\n{}`),
    400,
    "validation_error",
  );
  assert.equal((await service.call("GET", "/healthz")).status, 200);
  await storedNothing();
});

test("legal but unusual HTTP is answered in the envelope too", async () => {
  const noHost = await raw(`GET /v1/requests/x HTTP/1.1\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  assertEnvelope(noHost, 404, "not_found");
  const expecting = await raw(`${head("Expect: the-unexpected\r\nContent-Length: 1")}\r\n\r\n{`);
  assertEnvelope(expecting, 400, "invalid_json");
  for (const method of ["QUERY", "PROPFIND", "SEARCH", "PURGE"]) {
    const answer = await raw(`${method} /v1/requests HTTP/1.1\r\nHost: x\r\n\r\n`);
    assertEnvelope(answer, 405, "method_not_allowed");
    assert.match(answer, /allow: POST, GET, HEAD/i);
  }
  assertEnvelope(await raw("PROPFIND /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"), 404, "not_found");
});

test("the answer 413 reaches a caller who sends all of its body before reading", async () => {
  const body = "x".repeat(5 * 1024 * 1024);
  const answer = await raw(`${head(`Content-Length: ${body.length}`)}\r\n\r\n${body}`);
  assertEnvelope(answer, 413, "body_too_large");
  await storedNothing();
});

test("headers that come twice are not believed", async () => {
  const body = JSON.stringify(minimalBody);
  const length = `Content-Length: ${body.length}`;
  const twoKeys = await raw(`${head(`Authorization: Bearer ${key}\r\n${length}`)}\r\n\r\n${body}`);
  assertEnvelope(twoKeys, 401, "unauthorized");
  const twoIdempotencyKeys = await raw(
    `${head(`Idempotency-Key: a\r\nIdempotency-Key: b\r\n${length}`)}\r\n\r\n${body}`,
  );
  assertEnvelope(twoIdempotencyKeys, 400, "validation_error");
  await storedNothing();
});

test("a body that stops half-way or is cut off stores nothing and holds up nobody", async () => {
  let isOver = false;
  const halves = Promise.all([
    raw(`${head("Content-Length: 500")}\r\n\r\n{"summary":"`, { endsAfterMs: 300 }),
    raw(`${head("Transfer-Encoding: chunked")}\r\n\r\n1\r\n{\r\n`, { endsAfterMs: 300 }),
  ]).finally(() => {
    isOver = true;
  });
  while (!isOver) assert.equal((await service.call("GET", "/readyz")).status, 200);
  for (const answer of await halves) assert.doesNotMatch(answer, /^HTTP\/1\.1 (?:2|500)/);
  // The server has noticed that they are gone.
  await until(async () => (await countConnections()) === 0, "the sockets to be closed");
  await storedNothing();
});

test("a body that never ends is refused with 408 once its time is over", async () => {
  const answer = await raw(`${head("Content-Length: 500")}\r\n\r\n{"summary":"`);
  assertEnvelope(answer, 408, "request_timeout");
  await storedNothing();
});

test("addresses full of tricks are answered 404, never 500", async () => {
  for (const path of [
    "/v1/requests/%",
    "/v1/requests/%ff",
    "/v1/requests/%2e%2e%2f",
    "/v1/requests/..%00",
    "/v1/requests/'%20or%201=1%20--",
    "/v1/requests/req_%F0%9F%98%80",
    "/v1/requests/;drop%20table%20approvals",
    "/v1/requests/__proto__",
    "//v1/requests",
    "/v1//requests",
    "/v1/requests/",
    "/%c0%ae",
  ]) {
    const reply = await service.call("GET", path, { key });
    assert.equal(reply.status, 404, path);
    assert.equal(reply.json.error.code, "not_found", path);
  }
});

test("text that looks like SQL is text", async () => {
  const { id, key: otherKey } = await makeWorkspace(service.db);
  const summary = "'); drop table approvals; --";
  const body = { ...minimalBody, summary, agentName: summary, payload: { [summary]: summary } };
  const { json } = await service.call("POST", "/v1/requests", { key: otherKey, body });
  assert.equal(json.summary, summary);
  const list = await service.call("GET", `/v1/requests?agentName=${encodeURIComponent(summary)}`, {
    key: otherKey,
  });
  assert.equal(list.json.data.length, 1);
  const { rows } = await service.db.query(
    "select count(*)::int as count from approvals where workspace_id = $1",
    [id],
  );
  assert.equal(rows[0].count, 1);
});
