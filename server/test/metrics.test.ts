// The service's own figures, read from real processes as Prometheus reads them: what they tell, what they never tell, and
// who may read them.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { openDatabase } from "../src/database/database.ts";
import {
  figureOf,
  hasPromtool,
  promtool,
  promtoolMissing,
  type Sample,
  samplesOf,
} from "./metrics-text.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import { environmentOn, type Program, startProgram, untilWritten } from "./test-program.ts";
import { makeWorkspace, minimalBody } from "./test-service.ts";
import { makeEndpoint, startReceiver } from "./test-worker.ts";

const database = await makeTestDatabase();
const db = openDatabase({
  connection: database.connection,
  connectionsMax: 2,
  onIdleFault: () => {},
});
const { id: workspaceId, key } = await makeWorkspace(db, { included: 1_000, cap: 1_000 });
const receiver = await startReceiver();
const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
after(async () => {
  await receiver.close();
  await db.end();
  await database.drop();
});

const environment = {
  ...environmentOn(database.url),
  WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
  LOG_FORMAT: "json",
};
const token = "0123456789abcdef0123456789abcdef";

async function serviceAddressOf(program: Program): Promise<string> {
  const [, address = ""] = await untilWritten(program, /"address":"(http:[^"]+)".*"serving"/);
  return address.replace("localhost", "127.0.0.1");
}

async function metricsAddressOf(program: Program): Promise<string> {
  const [, port] = await untilWritten(program, /"port":(\d+),"msg":"metrics are served"/);
  return `http://127.0.0.1:${port}/metrics`;
}

function read(address: string, given: string | null = null, method = "GET"): Promise<Response> {
  const headers: Record<string, string> = given === null ? {} : { authorization: given };
  return fetch(address, { method, headers });
}

async function scrape(address: string, given: string | null = null) {
  const answer = await read(address, given);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  return { text, samples: samplesOf(text) };
}

async function stop(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
}

function call(address: string, method: string, path: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  const text = body === undefined ? null : JSON.stringify(body);
  return fetch(`${address}${path}`, { method, headers, body: text });
}

describe("a service with metrics on a port of their own", () => {
  test("tells of calls by their route, of attempts, batches and what waits, and names nobody", async (t) => {
    const program = startProgram({ ...environment, METRICS_PORT: "0" });
    const [address, metrics] = [await serviceAddressOf(program), await metricsAddressOf(program)];
    const body = { ...minimalBody, agentName: "tell-tale-agent", callbackUrl: receiver.url };
    const created = await call(address, "POST", "/v1/requests", minimalBody);
    assert.equal(created.status, 201);
    const { id } = (await created.json()) as { id: string };
    assert.equal((await call(address, "GET", `/v1/requests/${id}`)).status, 200);
    assert.equal((await call(address, "GET", `/v1/requests/${id}?wait=1`)).status, 200);
    assert.equal((await call(address, "GET", "/v1/requests/req_tell-tale-id")).status, 404);
    assert.equal((await call(address, "GET", "/tell-tale-path?tell=tale")).status, 404);
    assert.equal((await call(address, "POST", `/v1/requests/${id}/cancel`)).status, 200);
    assert.ok([201, 400].includes((await call(address, "POST", "/v1/requests", body)).status));
    const delivered = { channel: "webhook", outcome: "delivered" };
    const { text, samples } = await until(async () => {
      const found = await scrape(metrics);
      const seen = (name: string, labels: Record<string, string>) =>
        figureOf(found.samples, name, labels) ?? 0;
      const isThere =
        seen("countersign_calls_total", {}) >= 7 &&
        seen("countersign_attempts_total", delivered) >= 2 &&
        seen("countersign_attempts_total", { channel: "mail", outcome: "kept" }) >= 1 &&
        seen("countersign_batch_items_count", { statement: "attempt" }) >= 1;
      return isThere ? found : null;
    }, "attempts among the figures");

    const calls = (labels: Record<string, string>) =>
      figureOf(samples, "countersign_calls_total", labels);
    const route = "/v1/requests/:id";
    assert.equal(calls({ route, method: "GET", status: "2xx" }), 2);
    assert.equal(calls({ route, method: "GET", status: "4xx" }), 1);
    assert.equal(calls({ route: "/v1/requests/:id/cancel", method: "POST", status: "2xx" }), 1);
    assert.equal(calls({ route: "unknown", method: "GET", status: "4xx" }), 1);
    const timed = (wait: string) =>
      figureOf(samples, "countersign_call_seconds_count", { route, wait });
    assert.deepEqual([timed("no"), timed("yes")], [2, 1], "waits are timed apart");
    const present = {
      countersign_first_attempt_seconds_count: { channel: "webhook" },
      countersign_batch_items_count: { statement: "create" },
      countersign_pool_connections: { pool: "worker", state: "in_use" },
      countersign_pending_requests: {},
      countersign_expiry_lag_seconds: {},
      countersign_oldest_due_seconds: { channel: "webhook" },
      countersign_log_lag_seconds: {},
      countersign_database_clock_ahead_seconds: {},
      countersign_waiting_callers: {},
      countersign_listener_losses_total: {},
      countersign_event_loop_busy_seconds_total: {},
      nodejs_eventloop_lag_p99_seconds: {},
    };
    for (const [name, labels] of Object.entries(present)) {
      assert.notEqual(figureOf(samples, name, labels), null, `${name} is missing`);
    }
    assert.equal(figureOf(samples, "countersign_database_answers"), 1);
    assert.equal(figureOf(samples, "countersign_listener_connected"), 1);
    assert.equal(
      figureOf(samples, "countersign_pool_connections", { pool: "calls", state: "max" }),
      10,
    );

    const secrets = [workspaceId, key, id, endpoint.id, endpoint.secret, "tell-tale", "tale"];
    const theirs = [minimalBody.summary, minimalBody.notify, "127.0.0.1"];
    for (const each of [...secrets, ...theirs]) {
      assert.ok(!text.includes(each), `the figures tell ${each}`);
    }
    assert.deepEqual(
      labelsOf(samples).filter((label) => !knownLabels.has(label)),
      [],
    );
    await t.test("and promtool finds nothing to complain about", (tool) => {
      if (!hasPromtool) return tool.skip(promtoolMissing);
      // Of Node's own figures it dislikes some names.
      const ours = text.split("\n").filter((line) => /^(# \w+ )?countersign_/.test(line));
      assert.equal(promtool(["check", "metrics"], `${ours.join("\n")}\n`), "");
    });
    await stop(program);
  });

  test("answers nothing else there, and nothing on the service's port", async () => {
    const program = startProgram({ ...environment, METRICS_PORT: "0", ROLE: "api" });
    const [address, metrics] = [await serviceAddressOf(program), await metricsAddressOf(program)];
    assert.equal((await read(`${address}/metrics`)).status, 404);
    assert.equal((await read(metrics.replace("/metrics", "/v1/requests"))).status, 404);
    assert.equal((await read(metrics, null, "POST")).status, 405);
    const head = await read(metrics, null, "HEAD");
    assert.deepEqual([head.status, await head.text()], [200, ""]);
    await stop(program);
  });

  test("refuses who lacks the token, if one is set, also in a worker", async () => {
    const program = startProgram({
      ...environment,
      ...{ METRICS_PORT: "0", METRICS_TOKEN: token, ROLE: "worker" },
    });
    const metrics = await metricsAddressOf(program);
    for (const wrong of [null, "Bearer", token, `Bearer ${token}x`, `Basic ${token}`]) {
      const answer = await read(metrics, wrong);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
      assert.doesNotMatch(await answer.text(), /countersign_/);
    }
    // The name of a scheme may be written in any case.
    await scrape(metrics, `bearer ${token}`);
    const { samples } = await scrape(metrics, `Bearer ${token}`);
    assert.equal(
      figureOf(samples, "countersign_pool_connections", { pool: "worker", state: "max" }),
      6,
    );
    assert.equal(figureOf(samples, "countersign_waiting_callers"), null, "it serves no calls");
    await stop(program);
  });

  test("tells what it knows while the database is away, and that it is", async () => {
    const nobody = "postgres://nobody@127.0.0.1:1/none";
    const program = startProgram({ ...environment, METRICS_PORT: "0", DATABASE_URL: nobody });
    const { samples } = await scrape(await metricsAddressOf(program));
    assert.equal(figureOf(samples, "countersign_database_answers"), 0);
    assert.equal(figureOf(samples, "countersign_listener_connected"), 0);
    assert.notEqual(figureOf(samples, "countersign_waiting_callers"), null);
    for (const name of ["pending_requests", "oldest_due_seconds", "log_lag_seconds"]) {
      assert.equal(figureOf(samples, `countersign_${name}`), null, `${name} is not known`);
    }
    await stop(program);
  });

  test("whose port is taken doesn't start, and says so in one line", async () => {
    const { port } = new URL(receiver.url);
    const program = startProgram({ ...environment, METRICS_PORT: port });
    assert.equal((await program.ended).code, 1);
    assert.match(program.errors, /^countersign: Cannot serve metrics on [^\n]+METRICS_PORT\.\n$/);
  });
});

describe("a service with a token alone", () => {
  test("tells its figures on its own port, to who has the token", async () => {
    const program = startProgram({ ...environment, METRICS_TOKEN: token, ROLE: "api" });
    const metrics = `${await serviceAddressOf(program)}/metrics`;
    for (const wrong of [null, `Bearer ${key}`, `Bearer ${token.slice(1)}`]) {
      const answer = await read(metrics, wrong);
      assert.equal(answer.status, 401);
      assert.equal(((await answer.json()) as Envelope).error.code, "unauthorized");
    }
    const refused = { route: "/metrics", method: "GET", status: "4xx" };
    await until(async () => {
      const { samples } = await scrape(metrics, `Bearer ${token}`);
      return figureOf(samples, "countersign_calls_total", refused) === 3;
    }, "the refused calls among the figures");
    assert.ok(!program.output.includes(token), "the token is not logged");
    await stop(program);
  });
});

test("without the settings there are no figures", async () => {
  const program = startProgram({ ...environment, ROLE: "api" });
  const address = await serviceAddressOf(program);
  assert.equal((await read(`${address}/metrics`, `Bearer ${token}`)).status, 404);
  assert.doesNotMatch(program.output, /metrics are served/);
  await stop(program);
});

/** Each has few values: those of Node's own figures, and ours. */
const knownLabels = new Set([
  ...["kind", "le", "major", "minor", "patch", "space", "type", "version"],
  ...["channel", "method", "outcome", "pool", "route", "state", "statement", "status", "wait"],
]);

type Envelope = { error: { code: string } };

function labelsOf(samples: Sample[]): string[] {
  return [...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))].toSorted();
}
