// Traces of real processes, read by a real collector: what they tell, what they never tell, and that no collector, however
// bad, costs anything but traces.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { openDatabase } from "../src/database/database.ts";
import { type Collector, type ExportedSpan, startCollector } from "./fake-collector.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import { startMailserver } from "./test-mailbox.ts";
import { environmentOn, type Program, startProgram, untilWritten } from "./test-program.ts";
import {
  decisionBody,
  findReviewer,
  reviewDataOf,
  reviewOf,
  sameOriginHeaders,
} from "./test-review.ts";
import { makeWorkspace } from "./test-service.ts";
import { makeEndpoint, startReceiver } from "./test-worker.ts";

const database = await makeTestDatabase();
const db = openDatabase({
  connection: database.connection,
  connectionsMax: 2,
  onIdleFault: () => {},
});
const { id: workspaceId, key } = await makeWorkspace(db, { included: 100_000, cap: 100_000 });
const receiver = await startReceiver();
const mailserver = await startMailserver();
const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
after(async () => {
  await receiver.close();
  await mailserver.close();
  await db.end();
  await database.drop();
});

const environment = {
  ...environmentOn(database.url),
  WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
  CALLBACK_ALLOW_CIDRS: "127.0.0.1/32",
  SMTP_URL: mailserver.url,
  LOG_FORMAT: "json",
  RATE_LIMIT: "0",
};
const collectors: Collector[] = [];
after(() => Promise.all(collectors.map((collector) => collector.close())));

async function collect(answer: number | "never" | "a page" = 200): Promise<Collector> {
  const collector = await startCollector(answer);
  collectors.push(collector);
  return collector;
}

function start(settings: Record<string, string>): Program {
  return startProgram({ ...environment, OTEL_BSP_SCHEDULE_DELAY: "50", ...settings });
}

async function addressOf(program: Program): Promise<string> {
  const [, address = ""] = await untilWritten(program, /"address":"(http:[^"]+)".*"serving"/);
  return address;
}

async function stop(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
}

type Sent = { body?: object; headers?: Record<string, string>; method?: string };

function call(address: string, path: string, { body, headers, method = "GET" }: Sent = {}) {
  const all = { authorization: `Bearer ${key}`, ...headers };
  const text = body === undefined ? null : JSON.stringify(body);
  return fetch(`${address}${path}`, { method, headers: all, body: text });
}

function create(address: string, body: object = {}, headers: Record<string, string> = {}) {
  const asked = { summary: "hush-summary", notify: "hush-approver@example.com", ...body };
  return call(address, "/v1/requests", { method: "POST", body: asked, headers });
}

const theirTrace = "0af7651916cd43dd8448eb211c80319c";
const theirSpan = "b7ad6b7169203331";
const traceparent = `00-${theirTrace}-${theirSpan}-01`;

const byName = (collector: Collector, name: string) =>
  collector.spans.filter((span) => span.name === name);

/** The one span of this name; the test waits for it. */
function spanOf(collector: Collector, name: string): Promise<ExportedSpan> {
  return until(() => byName(collector, name)[0], `a span ${name}`);
}

describe("a service whose traces go to a collector", () => {
  test("tells of calls, statements and deliveries, and of nothing that is a secret or somebody's", async () => {
    const collector = await collect();
    const program = start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=collector-secret",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    });
    const address = await addressOf(program);
    const created = await create(
      address,
      {
        payload: { hush: "hush-payload" },
        metadata: { hush: "hush-metadata" },
        callbackUrl: receiver.url.replace("/hook", "/hush-callback?hush=query"),
      },
      { traceparent, tracestate: "hush=state", "idempotency-key": "hush-key" },
    );
    assert.equal(created.status, 201, await created.clone().text());
    const { id } = (await created.json()) as { id: string };
    const { token, code } = await findReviewer(db, id);
    const page = await fetch(`${address}/review/${token}?hush=query`, { headers: { traceparent } });
    const review = reviewOf(reviewDataOf(await page.text()));
    const decided = await fetch(`${address}/review/${token}/decision`, {
      method: "POST",
      headers: sameOriginHeaders(address),
      body: decisionBody(review, { verdict: "approve", note: "hush-note" }),
    });
    assert.equal(decided.status, 200);
    assert.equal((await call(address, `/v1/requests/${id}?hush=query`)).status, 200);
    assert.equal((await call(address, "/hush-path?hush=query")).status, 404);
    assert.equal((await call(address, "/v1/requests", { method: "REPORT" })).status, 405);

    const post = await spanOf(collector, "POST /v1/requests");
    assert.deepEqual([post.traceId, post.parentSpanId, post.kind], [theirTrace, theirSpan, 2]);
    assert.deepEqual(post.attributes, {
      "http.request.method": "POST",
      "http.route": "/v1/requests",
      "http.response.status_code": 201,
    });
    const statement = await until(
      () => collector.spans.find(({ parentSpanId }) => parentSpanId === post.spanId),
      "its statement",
    );
    assert.deepEqual([statement.traceId, statement.kind], [theirTrace, 3]);
    assert.deepEqual(statement.attributes, {
      "db.system.name": "postgresql",
      "db.query.summary": statement.name,
    });
    const shown = await spanOf(collector, "GET /review/:token");
    assert.notEqual(shown.traceId, theirTrace, "a stranger's trace doesn't go on here");
    assert.deepEqual(shown.links, [theirTrace]);
    const decision = await spanOf(collector, "POST /review/:token/decision");
    const transaction = await until(
      () => collector.spans.find(({ parentSpanId }) => parentSpanId === decision.spanId),
      "what it asked",
    );
    assert.equal(transaction.traceId, decision.traceId);
    await spanOf(collector, "GET /v1/requests/:id");
    const unknown = await spanOf(collector, "GET");
    assert.deepEqual([unknown.attributes["http.response.status_code"], unknown.status], [404, 0]);
    for (const channel of ["webhook", "mail", "callback"]) {
      const attempt = await spanOf(collector, `deliver ${channel}`);
      assert.equal(attempt.attributes["countersign.channel"], channel);
      assert.equal(attempt.kind, 3);
      assert.notEqual(attempt.traceId, theirTrace);
    }
    await until(
      () => byName(collector, "deliver callback").length === 1 && mailserver.received.length > 0,
      "the mail",
    );
    await stop(program);

    assert.equal(collector.resource["service.name"], "countersign");
    assert.equal(collector.resource["deployment.environment.name"], "test");
    assert.equal(collector.calls[0]?.path, "/v1/traces");
    assert.equal(collector.calls[0]?.headers["x-collector-key"], "collector-secret");
    const logged = program.output.split("\n").filter((line) => line.includes(theirTrace));
    assert.ok(
      logged.some((line) => line.includes('"route":"/v1/requests"')),
      "the call's line names its trace",
    );
    const exported = Buffer.concat(collector.bytes).toString("latin1");
    const ids = [id, workspaceId, endpoint.id];
    const secrets = [key, key.slice(3, 30), token, code, endpoint.secret, endpoint.secret.slice(6)];
    const theirs = ["hush", "example.com", "/hook", new URL(receiver.url).port, "owner"];
    for (const each of [...ids, ...secrets, ...theirs]) {
      assert.ok(!exported.includes(each), `the traces tell ${each}`);
    }
    const keys = new Set(collector.spans.flatMap(({ attributes }) => Object.keys(attributes)));
    assert.deepEqual(
      [...keys].filter((each) => !knownAttributes.has(each)),
      [],
    );
    assert.ok(!program.output.includes("collector-secret"));
    for (const { statusMessage } of collector.spans) assert.equal(statusMessage, "");
  });

  test("ignores a traceparent that is none, and never fails because of one", async () => {
    const collector = await collect();
    const program = start({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own`,
      ROLE: "api",
    });
    const address = await addressOf(program);
    for (const wrong of malformed) {
      const answer = await call(address, "/v1/requests/req_1", { headers: { traceparent: wrong } });
      assert.equal(answer.status, 404, wrong);
    }
    const both = new Headers({ authorization: `Bearer ${key}` });
    for (let n = 0; n < 2; n += 1) both.append("traceparent", traceparent);
    assert.equal((await fetch(`${address}/v1/requests`, { headers: both })).status, 200);
    await until(() => byName(collector, "GET /v1/requests").length > 0, "the last call");
    await stop(program);
    const spans = byName(collector, "GET /v1/requests/:id");
    assert.equal(spans.length, malformed.length);
    for (const { traceId, parentSpanId } of [...spans, ...byName(collector, "GET /v1/requests")]) {
      assert.equal(parentSpanId, "");
      assert.notEqual(traceId, theirTrace);
    }
    assert.equal(collector.calls[0]?.path, "/own");
  });

  test("records what the sampler says, and lets an operator take no traces of callers", async () => {
    const collector = await collect();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ROLE: "api" };
    const none = start({ ...settings, OTEL_TRACES_SAMPLER: "parentbased_always_off" });
    const sampling = await addressOf(none);
    assert.equal((await create(sampling)).status, 201);
    assert.equal((await call(sampling, "/v1/requests", { headers: { traceparent } })).status, 200);
    const strangers = await fetch(`${sampling}/review/x`, { headers: { traceparent } });
    assert.equal(strangers.status, 404);
    await stop(none);
    const [first, ...more] = collector.spans.filter(({ kind }) => kind === 2);
    assert.deepEqual([first?.name, first?.traceId], ["GET /v1/requests", theirTrace]);
    assert.deepEqual(
      more,
      [],
      "neither an agent without a trace nor a stranger with one is recorded",
    );
    assert.match(none.output, new RegExp(`"trace_id":"${theirTrace}"`));
    assert.equal(none.output.match(/"trace_id"/g)?.length, 1);

    const deaf = start({ ...settings, OTEL_PROPAGATORS: "none" });
    const address = await addressOf(deaf);
    assert.equal((await create(address, {}, { traceparent })).status, 201);
    await stop(deaf);
    const [post] = byName(collector, "POST /v1/requests");
    assert.notEqual(post?.traceId, theirTrace);
    assert.deepEqual(post?.links, []);
  });

  test("shows a statement that calls share in the trace of each, and sends what is left at its end", async () => {
    const collector = await collect();
    const program = start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      // So only the end of the process sends them.
      OTEL_BSP_SCHEDULE_DELAY: "600000",
      ROLE: "api",
    });
    const address = await addressOf(program);
    const answers = await Promise.all(Array.from({ length: 60 }, () => create(address)));
    assert.ok(answers.every(({ status }) => status === 201));
    assert.equal(collector.spans.length, 0);
    await stop(program);
    const posts = byName(collector, "POST /v1/requests");
    assert.equal(posts.length, 60);
    assert.equal(new Set(posts.map(({ traceId }) => traceId)).size, 60);
    let shared = 0;
    for (const { spanId } of posts) {
      const parts = collector.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
      assert.ok(parts.length > 0, "its statement is told");
      shared += parts.filter(({ attributes }) => "countersign.shared_by" in attributes).length;
    }
    assert.ok(shared > 0, "some shared a statement");
  });

  test("shows a call that a tool makes within the call of the tool, also on one connection with others", async () => {
    const collector = await collect();
    const program = start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ROLE: "api" });
    const address = await addressOf(program);
    const { id } = (await (await create(address)).json()) as { id: string };
    const headers = { accept: "application/json, text/event-stream" };
    const params = { name: "get_request", arguments: { requestId: id } };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const answer = await call(address, "/mcp", { method: "POST", headers, body });
    assert.match(await answer.text(), /PENDING/);
    assert.equal((await call(address, `/v1/requests/${id}?wait=0`)).status, 200);
    await stop(program);
    const [tool] = byName(collector, "POST /mcp");
    const [inner, own] = byName(collector, "GET /v1/requests/:id");
    assert.deepEqual(
      [inner?.parentSpanId, inner?.traceId, inner?.kind],
      [tool?.spanId, tool?.traceId, 1],
    );
    assert.deepEqual([own?.parentSpanId, own?.kind], ["", 2]);
    assert.notEqual(own?.traceId, tool?.traceId);
  });

  test("names a fault of the database by its code alone", async () => {
    const collector = await collect();
    const program = start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ROLE: "api" });
    const address = await addressOf(program);
    await db.query(
      "alter table approvals add constraint no_hush check (summary <> 'hush-refused')",
    );
    const answer = await create(address, { summary: "hush-refused" });
    await db.query("alter table approvals drop constraint no_hush");
    assert.equal(answer.status, 500);
    await stop(program);
    const [post] = byName(collector, "POST /v1/requests");
    assert.deepEqual([post?.status, post?.attributes["error.type"]], [2, "500"]);
    const faults = collector.spans.filter(({ status, kind }) => status === 2 && kind === 3);
    assert.deepEqual(
      [...new Set(faults.map(({ attributes }) => attributes["error.type"]))],
      ["23514"],
    );
    assert.doesNotMatch(Buffer.concat(collector.bytes).toString("latin1"), /hush/);
  });
});

describe("a collector that", () => {
  for (const [what, answer] of [
    ["never answers", "never"],
    ["answers 500", 500],
    ["answers 503", 503],
    ["answers with a page", "a page"],
    ["is not there", null],
  ] as const) {
    test(`${what} fails no call, is logged once at most, is kept little for, and is not waited for at the end`, async () => {
      const collector = answer === null ? null : await collect(answer);
      const url = collector?.url ?? "http://127.0.0.1:1";
      const program = start({
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_BSP_MAX_QUEUE_SIZE: "64",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "16",
        OTEL_EXPORTER_OTLP_TIMEOUT: answer === "never" ? "600000" : "1000",
        ROLE: "api",
      });
      const address = await addressOf(program);
      for (let round = 0; round < 10; round += 1) {
        const reads = Array.from({ length: 50 }, () => call(address, "/v1/requests/req_1"));
        assert.ok((await Promise.all(reads)).every(({ status }) => status === 404));
      }
      if (answer === "never") await until(() => (collector?.spans.length ?? 0) > 0, "an export");
      else await untilWritten(program, /"why":"[^"]+"/);
      // A stop that waited for the collector would be cut short, and end with 1.
      await stop(program);
      const told = program.output.match(/traces are being lost/g) ?? [];
      assert.ok(told.length <= 1, `it was told ${told.length} times`);
      assert.doesNotMatch(program.output, /"level":"error"|trace_id[^\n]+being lost/);
      assert.doesNotMatch(program.output, /hush|"why":"\w+Delegate"/);
      assert.equal(program.errors, "");
      if (answer === "never") {
        const kept = collector?.spans.length ?? 0;
        assert.ok(kept <= 16 + 64, `${kept} spans were kept: more than one batch and the queue`);
      }
    });
  }
});

describe("without a collector", () => {
  const loaded = async (settings: Record<string, string>): Promise<string[]> => {
    const file = join(tmpdir(), `cs-loaded-${process.pid}-${Math.random()}`);
    const script = `import{registerHooks as r}from"node:module";import{writeFileSync as w}from"node:fs";
      const all=[];r({load:(u,c,n)=>{all.push(u);return n(u,c)}});
      process.on("exit",()=>w(${JSON.stringify(file)},JSON.stringify(all)))`;
    const hook = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const program = start({ ...settings, NODE_OPTIONS: hook });
    const address = await addressOf(program);
    assert.equal((await create(address, {}, { traceparent })).status, 201);
    await stop(program);
    return JSON.parse(readFileSync(file, "utf8")) as string[];
  };

  test("not one module of OpenTelemetry is loaded, and calls are served as ever", async () => {
    const off = [
      {},
      { OTEL_SERVICE_NAME: "x", OTEL_TRACES_SAMPLER: "nonsense" },
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_SDK_DISABLED: "TRUE" },
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1", OTEL_TRACES_EXPORTER: "none" },
    ];
    for (const settings of off) {
      const urls = await loaded(settings);
      assert.ok(urls.length > 100 && urls.some((url) => url.includes("fastify")));
      assert.deepEqual(
        urls.filter((url) => /opentelemetry|src\/tracing/.test(url)),
        [],
      );
    }
    const on = await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: (await collect()).url });
    assert.ok(
      on.some((url) => url.includes("@opentelemetry/sdk-trace")),
      "the look finds them",
    );
  });
});

test("a setting that cannot be used ends the start with one line", async () => {
  for (const [name, value] of [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://user:hush@collector"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
  ] as const) {
    const base = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
    const program = start({ ...base, [name]: value });
    assert.equal((await program.ended).code, 1, name);
    assert.match(program.errors, new RegExp(`^countersign: [^\\n]*${name}: must [^\\n]+\\n$`));
    assert.doesNotMatch(program.errors, /hush/);
  }
});

const malformed = [
  "",
  "garbage",
  "00",
  "é",
  `00-${theirTrace}-${theirSpan}`,
  `00-${theirTrace}-${theirSpan}-01-more`,
  `ff-${theirTrace}-${theirSpan}-01`,
  `00-${"0".repeat(32)}-${theirSpan}-01`,
  `00-${theirTrace}-${"0".repeat(16)}-01`,
  `00-${theirTrace.toUpperCase()}-${theirSpan}-01`,
  `00-${theirTrace}-${theirSpan}-zz`,
  `00-${theirTrace}-${theirSpan}-01, ${traceparent}`,
  "-".repeat(8_000),
];

const knownAttributes = new Set([
  ...["http.request.method", "http.route", "http.response.status_code", "error.type"],
  ...["db.system.name", "db.query.summary", "countersign.shared_by"],
  ...["countersign.channel", "countersign.outcome"],
]);
