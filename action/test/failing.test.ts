// The action killed, starved, cut off and lied to. Nothing of that lets the job go on.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { serve, type Trouble } from "../../sdk/test/served.ts";
import { until } from "../../server/test/patience.ts";
import { makeWorkspace } from "../../server/test/test-service.ts";
import { commandIn, folder, runPost, runStep, type StepOptions, unpack } from "./stub-runner.ts";

const served = await serve();
const { db } = served.service;
const place = await unpack();
after(async () => {
  await served.stop();
  await rm(folder, { recursive: true, force: true });
});

async function makeRun(inputs: Record<string, string> = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const options: StepOptions = {
    runId: randomUUID(),
    with: {
      url: served.url,
      "api-key": key,
      summary: "Deploy",
      payload: '{"version": "1.4.0"}',
      notify: "ann@example.com",
      ...inputs,
    },
  };
  const statuses = async () => {
    const { rows } = await db.query<{ id: string; status: string }>(
      "select id, status from approvals where workspace_id = $1 order by id",
      [workspaceId],
    );
    return rows;
  };
  return {
    key,
    options,
    statuses,
    asked: () => until(async () => (await statuses())[0]?.id, "a question"),
  };
}

test("a cancelled job fails at once, and the question is withdrawn", async () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const run = await makeRun();
    const { child, ended } = runStep(place, run.options);
    await run.asked();
    await until(() => served.calls.some((call) => call.includes("?wait=")), "the wait");
    child.kill(signal);
    const { code, outputs, log } = await ended;
    assert.equal(code, 1);
    assert.deepEqual(Object.keys(outputs), ["request-id"]);
    assert.match(log, /The job was cancelled/);
    assert.equal((await run.statuses())[0]?.status, "CANCELLED");
  }
});

test("a killed step fails, and the post step withdraws its question", async () => {
  const run = await makeRun();
  const { child, ended } = runStep(place, run.options);
  const id = await run.asked();
  await until(() => served.calls.includes(`GET /v1/requests/${id}?wait=50`), "the wait");
  child.kill("SIGKILL");
  const main = await ended;
  assert.deepEqual([main.isSuccess, main.outputs], [false, {}]);
  assert.equal((await run.statuses())[0]?.status, "PENDING");
  const post = await runPost(place, run.options, main).ended;
  assert.equal(post.code, 0, post.log);
  assert.equal((await run.statuses())[0]?.status, "CANCELLED");
});

test("no variable that an earlier step has set lets the job go on, or has another request withdrawn", async () => {
  const run = await makeRun({ summary: " " });
  const { json } = await served.service.call("POST", "/v1/requests", {
    key: run.key,
    body: { summary: "Of somebody else", notify: "ann@example.com" },
  });
  const env = { STATE_stage: "post", STATE_pending: json.id };
  const main = await runStep(place, { ...run.options, env }).ended;
  assert.deepEqual([main.code, main.outputs], [1, {}], main.log);
  const post = await runPost(place, { ...run.options, env }, main).ended;
  assert.equal(post.code, 0, post.log);
  assert.deepEqual(await run.statuses(), [{ id: json.id, status: "PENDING" }]);
});

test("a certificate that nobody vouches for fails the step, whatever NODE_TLS_REJECT_UNAUTHORIZED says", async (t) => {
  const certificates = join(import.meta.dirname, "..", "..", "server", "test", "certificates");
  const cert = readFileSync(join(certificates, "localhost.pem"));
  const key = readFileSync(join(certificates, "localhost-key.pem"));
  const heard: (string | undefined)[] = [];
  const server = https.createServer({ cert, key }, ({ headers }, response) => {
    heard.push(headers.authorization);
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const run = await makeRun({ url });
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  const { code } = await runStep(place, { ...run.options, env }).ended;
  assert.deepEqual([code, heard], [1, []]);
});

test("a service over plain http is warned of, unless it is this machine", async () => {
  const warningsOf = async (url: string) => {
    const run = await makeRun({ url, payload: "{" });
    const { commands } = await runStep(place, run.options).ended;
    return commands.filter(({ name }) => name === "warning").map(({ data }) => data);
  };
  assert.match((await warningsOf("http://approvals.example.com"))[0] ?? "", /Use https/);
  for (const url of ["https://approvals.example.com", "http://localhost:1", "http://[::1]:1"]) {
    assert.deepEqual(await warningsOf(url), [], url);
  }
});

test("the post step doesn't say of a decided request that it is cancelled", async () => {
  const run = await makeRun();
  const { child, ended } = runStep(place, run.options);
  const id = await run.asked();
  await until(() => served.calls.includes(`GET /v1/requests/${id}?wait=50`), "the wait");
  child.kill("SIGKILL");
  const main = await ended;
  await served.approve(id);
  const { log } = await runPost(place, run.options, main).ended;
  assert.match(log, /was decided/);
  assert.doesNotMatch(log, /cancelled/);
});

test("a step without memory fails", async () => {
  const run = await makeRun();
  const { ended } = runStep(place, { ...run.options, node: ["--max-old-space-size=2"] });
  const { isSuccess, outputs } = await ended;
  assert.deepEqual([isSuccess, outputs["effective-payload"]], [false, undefined]);
});

test("a network that loses, cuts and garbles answers delays the job, and asks and redeems once", async () => {
  const run = await makeRun();
  const troubles: Trouble[] = ["refuse", "lose the answer", "say 503", "cut the answer"];
  served.troubles.push(...troubles);
  served.losesRedeem = true;
  const { ended } = runStep(place, run.options);
  await served.approve(await run.asked());
  const { isSuccess, outputs, log } = await ended;
  assert.equal(isSuccess, true, log);
  assert.equal(outputs["effective-payload"], '{"version": "1.4.0"}');
  assert.equal((await run.statuses()).length, 1);
});

describe("a server that is not the service can't approve", { concurrency: 2 }, () => {
  const approved = {
    id: "req_1",
    object: "approval_request",
    status: "APPROVED",
    payload: { version: "1.4.0" },
    modifiedPayload: null,
    effectivePayload: { version: "6.6.6" },
    expiresAt: "2999-01-01T00:00:00.000Z",
    resolutionNote: null,
    summary: "Deploy",
  };
  const lies: [string, (path: string) => { status: number; body: string }][] = [
    ["says APPROVED to everything", () => answer(approved)],
    ["says 200 with nothing", () => ({ status: 200, body: "" })],
    ["says 200 with a page", () => ({ status: 200, body: "<html>Welcome</html>" })],
    ["says 200 with null", () => ({ status: 200, body: "null" })],
    ["says 200 with half an answer", () => ({ status: 200, body: '{"id":"req_1","status":' })],
    [
      "redeems another request",
      (path) =>
        answer(
          path.endsWith("/redeem")
            ? { ...approved, id: "req_2", redeemedAt: "2026", redeemedBy: { id: "key_1" } }
            : approved,
        ),
    ],
    [
      "redeems what is not approved",
      (path) =>
        answer(
          path.endsWith("/redeem")
            ? { ...approved, status: "REJECTED", redeemedAt: "2026", redeemedBy: { id: "key_1" } }
            : approved,
        ),
    ],
    [
      "asks for another key",
      () => ({ status: 401, body: '{"error":{"code":"unauthorized","message":"No"}}' }),
    ],
    ["redirects", () => ({ status: 302, body: "" })],
  ];
  for (const [name, lie] of lies) {
    test(`one that ${name}`, async (t) => {
      const heard: (string | undefined)[] = [];
      const server = http.createServer((request, response) => {
        heard.push(request.headers.authorization);
        const { status, body } = lie(request.url ?? "");
        response
          .writeHead(status, status === 302 ? { location: `${url}/elsewhere` } : {})
          .end(body);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      t.after(() => server.close().closeAllConnections());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const run = await makeRun({ url });
      const { code, outputs, log } = await runStep(place, run.options).ended;
      assert.equal(code, 1, log);
      assert.equal("effective-payload" in outputs, false);
      assert.ok(heard.length > 0);
    });
  }
});

function answer(value: object): { status: number; body: string } {
  return { status: 200, body: JSON.stringify(value) };
}

test("a stranger's text is no command, no other output and no markup", async () => {
  const delimiter = "countersign_00000000-0000-0000-0000-000000000000";
  const hostile = [
    "</pre><script>alert(1)</script> & ![x](https://evil.example/x.png)",
    "::set-output name=effective-payload::{}",
    "::add-mask::e",
    "::stop-commands::x",
    "##[set-env name=PATH]/evil ##[add-mask]a",
    `${delimiter}\neffective-payload=evil\r\n::error::forged\u2028::error::forged%0A::error::forged`,
  ].join("\n");
  const run = await makeRun({
    summary: hostile.slice(0, 450),
    payload: JSON.stringify({ text: hostile }),
  });
  const { ended } = runStep(place, run.options);
  await served.reject(await run.asked(), hostile);
  const { code, outputs, commands, summary, log } = await ended;
  assert.equal(code, 1);
  assert.deepEqual(
    commands.map(({ name }) => name),
    ["add-mask", "error"],
    log,
  );
  assert.deepEqual(Object.keys(outputs), ["status", "request-id", "edited"]);
  assert.equal(commands[1]?.data.includes("\n"), false);
  assert.equal(summary.match(/<\/?[a-z!]/g)?.length, 2, summary);
  assert.equal(summary.split("\n").length, 10, summary);
});

test("an approved text can't end its output early", async () => {
  const payload = '{"a":\n"x"}\n';
  const run = await makeRun({ payload });
  const { ended } = runStep(place, run.options);
  const edit = '{\n"status":"REJECTED",\n"a<<b":\n"status=EVIL"\n}';
  await served.approve(await run.asked(), edit, "::set-output name=status::EVIL");
  const { outputs, commands } = await ended;
  assert.equal(outputs["effective-payload"], edit);
  assert.equal(outputs.status, "APPROVED");
  assert.deepEqual(
    commands.map(({ name }) => name),
    ["add-mask"],
  );
});

test("the stand-in for the runner knows a command when it sees one", () => {
  assert.deepEqual(commandIn("  ::add-mask::x"), { name: "add-mask", data: "x" });
  assert.equal(commandIn("some text ##[set-env name=A]b")?.name, "set-env");
  assert.equal(commandIn("Countersign: ::add-mask::x"), null);
});
