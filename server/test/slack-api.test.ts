// What a call of Slack's web API makes of answers, good, slow, hostile and none.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { answerAtResponseUrl, callSlack } from "../src/outbound/slack-api.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let answer: Answer = (_request, response) => response.end("{}");
let apiUrl = "";
const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  answer(request, response, body);
});

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const token = "xoxb-secret";
const call = (timeoutMs = 5_000) => callSlack({ token, method: "auth.test", apiUrl, timeoutMs });

test("arguments go as a form, so that every method takes them, and the token in the header alone", async () => {
  let seen: unknown;
  answer = (request, response, body) => {
    const { authorization, "content-type": type } = request.headers;
    seen = [
      request.method,
      request.url,
      authorization,
      type,
      Object.fromEntries(new URLSearchParams(body)),
    ];
    response.end('{"ok":true,"ts":"1.2"}');
  };
  const blocks = [{ type: "divider" }];
  const body = { channel: "C1", text: "a&b=ü", blocks, unfurl_links: false, thread_ts: undefined };
  const result = await callSlack({ token, method: "chat.postMessage", body, apiUrl });
  assert.deepEqual(result, { ok: true, body: { ok: true, ts: "1.2" } });
  assert.deepEqual(seen, [
    "POST",
    "/api/chat.postMessage",
    "Bearer xoxb-secret",
    "application/x-www-form-urlencoded",
    { channel: "C1", text: "a&b=ü", blocks: '[{"type":"divider"}]', unfurl_links: "false" },
  ]);
});

test("a refusal has Slack's code, what is missing, and how long to wait", async () => {
  answer = (_, response) => response.end('{"ok":false,"error":"channel_not_found"}');
  assert.deepEqual(await call(), {
    ok: false,
    error: "channel_not_found",
    retryAfterSeconds: null,
  });
  answer = (_, response) =>
    response.end('{"ok":false,"error":"missing_scope","needed":"chat:write","provided":"x"}');
  assert.deepEqual(await call(), {
    ok: false,
    error: "missing_scope",
    retryAfterSeconds: null,
    needed: "chat:write",
  });
  answer = (_, response) => response.writeHead(429, { "retry-after": "30" }).end("slow down");
  assert.deepEqual(await call(), { ok: false, error: "ratelimited", retryAfterSeconds: 30 });
});

test("whatever else comes back is one of three codes, and quotes nothing of it", async () => {
  for (const text of [
    "<html>busy</html>",
    "[]",
    "null",
    "{}",
    '{"ok":"true"}',
    '{"ok":false,"error":"<b>"}',
    '{"ok":false,"error":{"a":1}}',
    `{"ok":true,"pad":"${"x".repeat(2 * 1024 * 1024)}"}`,
  ]) {
    answer = (_, response) => response.end(text);
    assert.deepEqual(
      await call(),
      { ok: false, error: "bad_answer", retryAfterSeconds: null },
      text.slice(0, 40),
    );
  }
  answer = (_, response) => response.writeHead(503, { "retry-after": "7" }).end("{}");
  assert.deepEqual(await call(), { ok: false, error: "bad_answer", retryAfterSeconds: 7 });
  answer = (_, response) => response.writeHead(500).end('{"ok":true}');
  assert.equal((await call()).ok, false);
});

test("a redirect is not followed: it would carry the token away", async () => {
  const visited: string[] = [];
  answer = (request, response) => {
    visited.push(request.url ?? "");
    response.writeHead(307, { location: "/api/elsewhere" }).end("{}");
  };
  assert.equal((await call()).ok, false);
  assert.deepEqual(visited, ["/api/auth.test"]);
});

test("an answer that trickles is as late as none, and a cut one is none", async () => {
  answer = (_, response) => {
    response.write('{"ok"');
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  };
  const timedOut = { ok: false, error: "timeout", retryAfterSeconds: null };
  assert.deepEqual(await call(100), timedOut);
  answer = () => {};
  assert.deepEqual(await call(100), timedOut);
  answer = (request) => request.socket.destroy();
  const unreachable = { ok: false, error: "unreachable", retryAfterSeconds: null };
  assert.deepEqual(await call(), unreachable);
  answer = (request, response) => {
    response.writeHead(200, { "content-length": "100" }).write('{"ok":true}');
    setImmediate(() => request.socket.destroy());
  };
  assert.deepEqual(await call(), unreachable);
  assert.deepEqual(
    await callSlack({ token, method: "auth.test", apiUrl: "http://127.0.0.1:1/" }),
    unreachable,
  );
});

test("a click is answered at its own address, without a token", async () => {
  let seen: unknown;
  answer = (request, response, body) => {
    seen = [request.headers.authorization, JSON.parse(body)];
    response.end("ok");
  };
  const message = { text: "Only you see this.", response_type: "ephemeral" };
  assert.equal((await answerAtResponseUrl(`${apiUrl}hook`, message)).ok, true);
  assert.deepEqual(seen, [undefined, message]);
});
