// What ends a wait while calls fail, and what doesn't. The service is played by answers: timers that take no time would
// also be those of a service in this process.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  type ApprovalRequest,
  Countersign,
  CountersignError,
  WaitTimeoutError,
} from "../src/index.ts";

test("a wait of any length ends in time with a WaitTimeoutError", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const client = new Countersign({
    apiKey: "key",
    baseUrl: "http://127.0.0.1:1",
    fetch: async (url) => {
      const seconds = Number(new URL(url).searchParams.get("wait"));
      nowMs += Math.max(1, seconds) * 1_000 + Math.random();
      return new Response('{"id":"req_1","status":"PENDING"}');
    },
  });
  const lengths = Array.from({ length: 300 }, (_, at) => at * 1_005.3);
  for (const timeoutMs of [...lengths, 60_000, 75_000, 120_000, 0.5, 1e-7]) {
    const startedMs = nowMs;
    const failure = await client.requests
      .waitForDecision("req_1", { timeoutMs })
      .catch((error) => error);
    assert.ok(failure instanceof WaitTimeoutError, `${timeoutMs} ms: ${failure}`);
    const tookMs = nowMs - startedMs;
    assert.ok(tookMs >= timeoutMs && tookMs < timeoutMs + 2_000, `${timeoutMs}: ${tookMs} ms`);
  }
});

/** A client whose calls are answered by these, one after the other. Pauses between two tries take no time. */
function clientOf(t: TestContext, answers: (() => Response | Promise<Response>)[]) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const client = new Countersign({
    apiKey: "key",
    baseUrl: "http://127.0.0.1:1",
    retriesMax: 1,
    fetch: async () => answers.shift()?.() ?? assert.fail("it was asked once more"),
  });
  return async (): Promise<ApprovalRequest | CountersignError> => {
    let isOver = false;
    const waiting = client.requests.waitForDecision("req_1").catch((error) => error);
    const over = waiting.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      t.mock.timers.tick(60_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return over;
  };
}

const lost = () => Promise.reject(new TypeError("fetch failed"));
const html = (status: number) => () => new Response(status === 302 ? null : "<html>", { status });
const json = (status: number, code: string) => () =>
  Response.json({ error: { code, message: "Not now" } }, { status });
const told = (status: string, expiresAt = "2999-01-01T00:00:00.000Z") => {
  const text = JSON.stringify({ id: "req_1", status, expiresAt });
  return () => new Response(text);
};

test("once the service was heard, a wait outlives any number of refusals, lost calls and answers of others", async (t) => {
  const passing = [
    json(429, "rate_limited"),
    json(500, "internal_error"),
    lost,
    ...[502, 404, 302, 521, 200].map(html),
    () => new Response("{}"),
    () => new Response('{"id":"req_2","status":"APPROVED"}'),
    () => new Response("null"),
  ];
  for (const first of [told("PENDING"), json(429, "rate_limited"), json(503, "unavailable")]) {
    const often = Array.from({ length: 50 }, () => passing).flat();
    const wait = clientOf(t, [first, ...often, told("APPROVED")]);
    assert.equal((await wait()).status, "APPROVED");
    t.mock.timers.reset();
  }
});

test("what others answer is no sign of the service, and a refusal of its own ends the wait", async (t) => {
  for (const [answer, code] of [
    [html(429), "rate_limited"],
    [json(500, "500"), "500"],
    [() => new Response('{"status":"ok"}'), "not_countersign"],
    [() => new Response("null"), "not_countersign"],
    [lost, "connection_failed"],
    [json(401, "unauthorized"), "unauthorized"],
  ] as const) {
    const failure = await clientOf(t, [answer, answer])();
    assert.ok(failure instanceof CountersignError);
    assert.equal(failure.code, code);
    t.mock.timers.reset();
  }
  const failure = await clientOf(t, [told("PENDING"), json(404, "not_found")])();
  assert.ok(failure instanceof CountersignError && failure.code === "not_found");
});

test("a wait ends when the service is away for long and the request has ended", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => nowMs);
  const away = () => {
    nowMs += 300_000;
    return lost();
  };
  const gone = [told("PENDING", "2026-01-01T00:00:00.000Z"), away, away, away, away];
  const failure = await clientOf(t, gone)();
  assert.ok(failure instanceof CountersignError && failure.code === "connection_failed");
  t.mock.timers.reset();
  const back = [told("PENDING"), ...Array.from({ length: 500 }, () => away), told("REJECTED")];
  assert.equal((await clientOf(t, back)()).status, "REJECTED");
});
