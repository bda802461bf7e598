// Each example as a user runs it: a process of its own against the real service, while the test is the reviewer.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Countersign } from "../sdk/src/index.ts";
import { serve } from "../sdk/test/served.ts";
import { until } from "../server/test/patience.ts";
import { makeWorkspace } from "../server/test/test-service.ts";
import { makeEndpoint, startWorker } from "../server/test/test-worker.ts";
import {
  askedFor,
  type Environment,
  type Example,
  killAll,
  startExample,
  written,
} from "./running-example.ts";

const served = await serve();
const worker = startWorker(served.service.database);
const folder = mkdtempSync(join(tmpdir(), "cs-examples-"));
const forwarders: http.Server[] = [];
after(async () => {
  killAll();
  for (const forwarder of forwarders) forwarder.closeAllConnections();
  await worker.stop();
  await Promise.all(forwarders.map((each) => new Promise((resolve) => each.close(resolve))));
  await served.stop();
  rmSync(folder, { recursive: true, force: true });
});

const has = (program: string) => spawnSync(program, ["--version"]).status === 0;
const python = ["python3", "python"].find(
  (program) =>
    spawnSync(program, ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).status === 0,
);
const skipsShell = has("curl") ? {} : { skip: "curl is not installed here" };
const skipsPython =
  python === undefined ? { skip: "Python 3.11 or newer is not installed here" } : {};

function start(command: string, words: string[], environment: Environment): Example {
  return startExample(command, words, { COUNTERSIGN_BASE_URL: served.url, ...environment });
}

/**
 * An endpoint whose receiver starts later. The receiver needs the secret, the secret needs a registered endpoint, and
 * the endpoint needs an address.
 */
async function makeForwarder(workspaceId: string) {
  const receiver = { url: "" };
  const forwarder = http.createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    // The receiver has not started yet: the service will try again.
    if (receiver.url === "") {
      incoming.resume();
      outgoing.writeHead(502).end();
      return;
    }
    const passed = http.request(receiver.url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0);
      answer.pipe(outgoing);
    });
    // Nobody listens yet: the service will try again.
    passed.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(passed);
  });
  const address = await listen(forwarder);
  const { secret } = await makeEndpoint(served.service.db, workspaceId, `${address}/`);
  return { secret, receiver };
}

async function makeUser(): Promise<{ client: Countersign; key: string; workspaceId: string }> {
  const { id: workspaceId, key } = await makeWorkspace(served.service.db);
  return { client: new Countersign({ apiKey: key, baseUrl: served.url }), key, workspaceId };
}

/** A service that has too many callers to hold: it answers at once, and decides after a few calls. */
async function serveEarly(callsUntilDecided: number) {
  const askedAt: number[] = [];
  const server = http.createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => {
      askedAt.push(performance.now());
      const status = askedAt.length > callsUntilDecided ? "REJECTED" : "PENDING";
      const request = { id: "req_1", object: "approval_request", status, resolutionNote: null };
      outgoing.writeHead(200).end(JSON.stringify(request));
    });
  });
  return { url: await listen(server), askedAt };
}

async function listen(server: http.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  forwarders.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function assertPaused(askedAt: number[], pauseMs: number): void {
  // The first call asks, the second waits; from then on there is a pause before each.
  for (const [at, time] of askedAt.entries()) {
    if (at >= 2) assert.ok(time - (askedAt[at - 1] ?? 0) >= pauseMs, String(askedAt));
  }
}

async function expire(client: Countersign, id: string): Promise<void> {
  await served.service.db.query(
    "update approvals set created_at = created_at - interval '2 days', expires_at = now_ms() - interval '1 second' where id = $1",
    [id],
  );
  await client.requests.get(id);
}

async function countOf(client: Countersign): Promise<number> {
  return (await client.requests.listPage()).data.length;
}

describe("the refund agent", () => {
  const startAgent = (key: string, file = join(folder, randomUUID())) => {
    const environment = { COUNTERSIGN_API_KEY: key, REFUND_AGENT_FILE: file };
    return {
      ...{ file },
      agent: start(process.execPath, ["examples/refund-agent/main.ts"], environment),
    };
  };

  test("pays what was approved, as it was edited, and ends with 0", async () => {
    const { key } = await makeUser();
    const { agent, file } = startAgent(key);
    const id = await askedFor(agent);
    await written(agent, /Open the review link in .*\/dev\/mail/);
    assert.doesNotMatch(agent.output, /Refunding/);
    await served.approve(id, '{"orderId": 1042, "amount": 12.5}');
    assert.equal(await agent.ended, 0);
    assert.match(agent.output, /Refunding 12\.50 EUR for order 1042/);
    assert.equal(existsSync(file), false);
  });

  test("killed while it waits, it goes on from the id that it kept, and asks nobody twice", async () => {
    const { key, client } = await makeUser();
    const first = startAgent(key);
    const id = await askedFor(first.agent);
    await until(() => readFileSync(first.file, "utf8").includes(id), "the kept id");
    first.agent.child.kill("SIGKILL");
    await first.agent.ended;
    const { agent } = startAgent(key, first.file);
    await written(agent, new RegExp(`Going on with ${id}`));
    await served.approve(id);
    assert.equal(await agent.ended, 0);
    assert.match(agent.output, /Refunding 49\.00 EUR/);
    assert.equal(await countOf(client), 1);
  });

  test("two that go on with the same request pay once, and the other says that it did not", async () => {
    const { key } = await makeUser();
    const first = startAgent(key);
    const id = await askedFor(first.agent);
    await until(() => readFileSync(first.file, "utf8").includes(id), "the kept id");
    const file = join(folder, randomUUID());
    copyFileSync(first.file, file);
    const second = startAgent(key, file);
    await written(second.agent, new RegExp(`Going on with ${id}`));
    await served.approve(id);
    const codes = [await first.agent.ended, await second.agent.ended];
    const output = first.agent.output + second.agent.output;
    assert.deepEqual(codes.sort(), [0, 3], output);
    assert.equal(output.match(/Refunding/g)?.length, 1);
    assert.match(output, /Not paid again: This request was redeemed at/);
  });

  test("ends with 1 when rejected, 2 when nobody decides or it is cancelled, and pays nothing", async () => {
    for (const [end, code, said] of [
      ["reject", 1, /Rejected, nothing was paid\. Refunded in May/],
      ["expire", 2, /nobody decided about/],
      ["cancel", 2, /was cancelled/],
    ] as const) {
      const { key, client } = await makeUser();
      const { agent } = startAgent(key);
      const id = await askedFor(agent);
      if (end === "reject") await served.reject(id, "Refunded in May");
      else if (end === "expire") await expire(client, id);
      else await client.requests.cancel(id);
      assert.equal(await agent.ended, code, agent.output);
      assert.match(agent.output, said);
      assert.doesNotMatch(agent.output, /Refunding/);
    }
  });

  test("an edit that is no refund, a wrong key and no key pay nothing, and end with 3", async () => {
    const { key } = await makeUser();
    for (const amount of ['"all"', "9007199254740993"]) {
      const { agent, file } = startAgent(key);
      await served.approve(await askedFor(agent), `{"orderId": 1042, "amount": ${amount}}`);
      assert.equal(await agent.ended, 3);
      assert.match(agent.output, /changes that are no refund, nothing was paid/);
      assert.equal(existsSync(file), false, "the next run asks anew");
    }
    const wrong = startAgent("cs_wrong").agent;
    assert.equal(await wrong.ended, 3);
    assert.match(wrong.output, /Something is wrong: /);
    const none = startAgent("").agent;
    assert.equal(await none.ended, 3);
    assert.match(none.output, /COUNTERSIGN_API_KEY/);
  });
});

describe("the stateless worker", () => {
  async function startWorkerExample(words: string[], environment: Environment) {
    const example = start(process.execPath, ["examples/stateless-worker/main.ts", ...words], {
      PORT: "0",
      COUNTERSIGN_API_KEY: "cs_of_nobody",
      ...environment,
    });
    const [, port] = await written(example, /webhooks on port (\d+)/);
    return { example, url: `http://127.0.0.1:${port}/` };
  }

  /** The fields of its own request that the worker looks at. */
  const own = {
    agentName: "stateless-worker",
    approverEmail: "owner@localhost",
    summary: 'Send "b" to a',
    payload: { to: "a", subject: "b" },
    effectivePayload: { to: "a", subject: "b" },
    agentState: { customer: "Ann", done: [], left: [] },
  };
  const bodyOf = (event: string, data: object) =>
    JSON.stringify({ event, createdAt: "x", data: { ...own, ...data } });

  /** Posts a webhook that the service did not send, or sent before. A replay can change its other headers. */
  async function post(url: string, secret: string, body: string) {
    const t = Math.floor(Date.now() / 1_000);
    const v1 = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
    const headers = {
      "x-service-signature": `t=${t},v1=${v1}`,
      "x-service-delivery-id": randomUUID(),
    };
    return (await fetch(url, { method: "POST", body, headers })).status;
  }

  test("another worker than the one that asked resumes from the agent's state, with what was approved", async () => {
    const { key, workspaceId } = await makeUser();
    const { secret, receiver } = await makeForwarder(workspaceId);
    const environment = { COUNTERSIGN_API_KEY: key, COUNTERSIGN_WEBHOOK_SECRET: secret };
    const asker = (await startWorkerExample([], environment)).example;
    const id = await askedFor(asker);
    asker.child.kill("SIGKILL");
    await asker.ended;
    const { example, url } = await startWorkerExample(["--no-ask"], environment);
    receiver.url = url;
    await served.approve(id, '{"to": "ann@customer.example", "subject": "Sorry"}');
    await written(example, /now: close the ticket/);
    assert.match(example.output, /Sending "Sorry" to ann@customer\.example/);
    assert.match(example.output, /Resumed for Ann after: found the order, wrote the mail/);
  });

  test("an event that comes again, to two workers at once and to one that started since, sends one mail", async () => {
    const secret = "whsec_test";
    const { client, key } = await makeUser();
    const environment = { COUNTERSIGN_WEBHOOK_SECRET: secret, COUNTERSIGN_API_KEY: key };
    const { summary, payload, agentName, agentState } = own;
    const asked = { summary, payload, agentName, agentState, notify: own.approverEmail };
    const { id } = await client.requests.create(asked);
    await served.approve(id);
    const body = bodyOf("request.approved", { id });
    const first = await startWorkerExample(["--no-ask"], environment);
    const second = await startWorkerExample(["--no-ask"], environment);
    const urls = [first.url, second.url, first.url, second.url];
    const statuses = await Promise.all(urls.map((url) => post(url, secret, body)));
    assert.deepEqual(statuses, [204, 204, 204, 204]);
    const said = (pattern: RegExp) =>
      `${first.example.output}${second.example.output}`.match(pattern)?.length ?? 0;
    await until(() => said(/Not sent again/g) === 3, "three of them say so");
    assert.equal(said(/Sending/g), 1);
    first.example.child.kill("SIGKILL");
    await first.example.ended;
    const third = await startWorkerExample(["--no-ask"], environment);
    assert.equal(await post(third.url, secret, body), 204);
    await written(third.example, /Not sent again: This request was redeemed at/);
    assert.doesNotMatch(third.example.output, /Sending/);
  });

  test("the webhook is answered before the work, which may take long", async () => {
    const secret = "whsec_test";
    const answered = Promise.withResolvers<void>();
    const slow = http.createServer((_incoming, outgoing) => {
      void answered.promise.then(() => outgoing.writeHead(404).end("{}"));
    });
    const { example, url } = await startWorkerExample(["--no-ask"], {
      COUNTERSIGN_WEBHOOK_SECRET: secret,
      COUNTERSIGN_BASE_URL: await listen(slow),
    });
    assert.equal(await post(url, secret, bodyOf("request.approved", { id: "req_1" })), 204);
    answered.resolve();
    await written(example, /Failed: /);
    assert.doesNotMatch(example.output, /Sending/);
  });

  test("a wrongly signed webhook is refused; a rejection, an expiry and an unusable edit send nothing", async () => {
    const secret = "whsec_test";
    const { example, url } = await startWorkerExample(["--no-ask"], {
      COUNTERSIGN_WEBHOOK_SECRET: secret,
    });
    assert.equal(await post(url, "whsec_other", bodyOf("request.approved", { id: "req_0" })), 400);
    await written(example, /Refused what did not verify \(signature_mismatch\)/);
    const rejected = bodyOf("request.rejected", { id: "req_1", resolutionNote: "not now" });
    assert.equal(await post(url, secret, rejected), 204);
    await written(example, /Rejected req_1, no mail was sent\. not now/);
    assert.equal(await post(url, secret, bodyOf("request.expired", { id: "req_2" })), 204);
    await written(example, /Not decided about req_2/);
    const edited = bodyOf("request.approved", { id: "req_3", effectivePayload: { to: 5 } });
    assert.equal(await post(url, secret, edited), 204);
    await written(example, /Approved req_3 with changes that are no mail/);
    const stateless = bodyOf("request.approved", { id: "req_4", agentState: null });
    assert.equal(await post(url, secret, stateless), 204);
    await written(example, /Approved req_4, but there is no agent to go on with/);
    for (const [at, difference] of [
      { agentName: "another" },
      { summary: "Say hello" },
      { approverEmail: "eve@example.com" },
      { approverEmail: null, approverGroup: { key: "people", name: "People" } },
      { payload: { to: "c", subject: "d" } },
      { payload: null },
    ].entries()) {
      const others = bodyOf("request.approved", { id: `req_other_${at}`, ...difference });
      assert.equal(await post(url, secret, others), 204);
      await written(example, new RegExp(`Left alone.*req_other_${at}`));
    }
    assert.doesNotMatch(example.output, /Sending/);
  });

  test("without a secret it says how to get one, and ends with 3", async () => {
    const example = start(process.execPath, ["examples/stateless-worker/main.ts"], {});
    assert.equal(await example.ended, 3);
    assert.match(example.output, /countersign webhook create --workspace/);
  });
});

describe("the deploy gate", skipsShell, () => {
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const startGate = (key: string, environment: Environment = {}, words: string[] = []) =>
    start("sh", ["examples/deploy-gate/gate.sh", ...words], {
      COUNTERSIGN_API_KEY: key,
      GITHUB_SHA: commit,
      GITHUB_REPOSITORY: "acme/shop",
      GATE_PAUSE_SECONDS: "0",
      ...environment,
    });

  /** All that the gate needs, and no jq. */
  function pathWithoutJq(): string {
    const programs = join(folder, "programs");
    mkdirSync(programs, { recursive: true });
    for (const name of "sh curl sed tr git tail cut cksum grep basename sleep date od".split(" ")) {
      const { stdout } = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
      if (!existsSync(join(programs, name))) symlinkSync(stdout.trim(), join(programs, name));
    }
    return programs;
  }

  for (const [which, environmentOf] of [
    ["with jq", () => ({})],
    ["without jq", () => ({ PATH: pathWithoutJq() })],
  ] as const) {
    const skips = which === "with jq" && !has("jq") ? { skip: "jq is not installed here" } : {};

    test(
      `${which}: an approved commit passes once with 0, and is asked about once`,
      skips,
      async () => {
        const { key, client } = await makeUser();
        const gate = startGate(key, environmentOf());
        const id = await askedFor(gate);
        const { summary, payload } = await client.requests.get(id);
        assert.equal(summary, "Deploy acme/shop to production: 0123456789ab");
        assert.deepEqual(payload, { repository: "acme/shop", commit, environment: "production" });
        await served.approve(id);
        assert.equal(await gate.ended, 0, gate.output);
        assert.match(gate.output, new RegExp(`Approved: ${commit}`));
        const again = startGate(key, environmentOf());
        assert.equal(await again.ended, 3, again.output);
        assert.match(again.output, /used already.*GATE_ATTEMPT.*redeemed at/);
        assert.equal(await countOf(client), 1);
        const elsewhere = startGate(key, environmentOf(), ["staging"]);
        await served.reject(await askedFor(elsewhere), "not there");
        assert.equal(await elsewhere.ended, 1);
      },
    );

    test(
      `${which}: 1 for a rejection, 2 for an expiry and a cancel, which can be asked about again`,
      skips,
      async () => {
        const { key, client } = await makeUser();
        const rejected = startGate(key, { ...environmentOf(), GITHUB_SHA: "a" });
        await served.reject(await askedFor(rejected), "not on\n::error::a Friday");
        assert.equal(await rejected.ended, 1, rejected.output);
        if (which === "with jq")
          assert.match(rejected.output, /Rejected: not on ::error::a Friday/);
        const expired = startGate(key, { ...environmentOf(), GITHUB_SHA: "b" });
        await expire(client, await askedFor(expired));
        assert.equal(await expired.ended, 2, expired.output);
        const cancelled = startGate(key, { ...environmentOf(), GITHUB_SHA: "c" });
        await client.requests.cancel(await askedFor(cancelled));
        assert.equal(await cancelled.ended, 2, cancelled.output);
        const again = startGate(key, { ...environmentOf(), GITHUB_SHA: "c", GATE_ATTEMPT: "2" });
        await served.approve(await askedFor(again));
        assert.equal(await again.ended, 0, again.output);
      },
    );

    test(
      `${which}: approved with changes, it does not pass, whatever the changes say`,
      skips,
      async () => {
        const { key } = await makeUser();
        const gate = startGate(key, environmentOf());
        await served.approve(await askedFor(gate), '{"commit": "f", "status": "APPROVED"}');
        assert.equal(await gate.ended, 3, gate.output);
        assert.match(gate.output, /approved with changes/);
        const second = startGate(key, { ...environmentOf(), GITHUB_SHA: "d" });
        const id = await askedFor(second);
        await served.reject(id, 'no","status":"APPROVED');
        assert.equal(await second.ended, 1, second.output);
      },
    );
  }

  test("names with quotes, backslashes, dollars and line ends arrive as they are, and run nothing", async () => {
    const { key, client } = await makeUser();
    const repository = `a"b\\c $(touch ${folder}/hacked) \`id\` ü 'x'`;
    const gate = startGate(key, { GITHUB_REPOSITORY: `${repository}\nline` }, ["pro\tduction"]);
    const { payload, summary } = await client.requests.get(await askedFor(gate));
    const expected = { repository: `${repository} line`, commit, environment: "pro duction" };
    assert.deepEqual(payload, expected);
    assert.match(summary, /^Deploy a"b\\c/);
    await client.requests.cancel((await client.requests.listPage()).data[0]?.id ?? "");
    assert.equal(await gate.ended, 2, gate.output);
    assert.equal(existsSync(join(folder, "hacked")), false);
  });

  test("passing faults are outlived; lasting ones are trouble, and the key is shown to nobody", async () => {
    const { key } = await makeUser();
    served.troubles.push("lose the answer", "say 503", "refuse");
    const gate = startGate(key, { GITHUB_SHA: "e" });
    const id = await askedFor(gate);
    const before = served.calls.length;
    served.losesRedeem = true;
    await served.approve(id);
    assert.equal(await gate.ended, 0, gate.output);
    const redeems = served.calls.slice(before).filter((call) => call.endsWith("/redeem"));
    assert.equal(redeems.length, 2);
    served.troubles.push("cut the answer");
    const cut = startGate(key, { GITHUB_SHA: "f" });
    const cutId = await askedFor(cut);
    served.cutsRedeem = true;
    await served.approve(cutId);
    assert.equal(await cut.ended, 0, cut.output);
    const wrong = startGate("cs_wrong");
    assert.equal(await wrong.ended, 3);
    assert.match(wrong.output, /the service answered 401/);
    const gone = startGate(key, {
      COUNTERSIGN_BASE_URL: "http://127.0.0.1:9",
      GATE_FAILURES_MAX: "2",
    });
    assert.equal(await gone.ended, 3);
    assert.match(gone.output, /no answer from http:\/\/127\.0\.0\.1:9 after 2 tries/);
    const none = startGate("");
    assert.equal(await none.ended, 3);
    assert.match(none.output, /COUNTERSIGN_API_KEY is not set/);
    for (const { output } of [gate, wrong, gone]) assert.equal(output.includes(key), false);
  });

  test("a service that answers early is asked again after a pause", async () => {
    const early = await serveEarly(4);
    const gate = startGate("cs_key", { COUNTERSIGN_BASE_URL: early.url, GATE_PAUSE_SECONDS: "1" });
    assert.equal(await gate.ended, 1, gate.output);
    assert.equal(early.askedAt.length, 5);
    assertPaused(early.askedAt, 1_000);
  });

  test("an answer that is not the service's passes nothing", async () => {
    const { key } = await makeUser();
    served.troubles.push("say HTML");
    const gate = startGate(key, { GITHUB_SHA: "9" });
    assert.equal(await gate.ended, 3);
    assert.match(gate.output, /no answer of Countersign/);
  });
});

describe("the Python example", skipsPython, () => {
  const startPython = (word: string, environment: Environment) =>
    start(python ?? "", ["examples/python/refund.py", word], {
      PYTHONDONTWRITEBYTECODE: "1",
      ...environment,
    });

  test("asks, waits, and executes what was approved, as it was edited", async () => {
    const { key } = await makeUser();
    const example = startPython("ask", { COUNTERSIGN_API_KEY: key });
    const id = await askedFor(example);
    await served.approve(id, '{"order_id": 1042, "amount": 12.10}');
    assert.equal(await example.ended, 0, example.output);
    assert.match(example.output, /Refunding 12\.10 EUR for order 1042/);
  });

  test("a waiting program and a receiver that hear of the same approval pay once", async () => {
    const { key, workspaceId } = await makeUser();
    const { secret, receiver } = await makeForwarder(workspaceId);
    const environment = { COUNTERSIGN_API_KEY: key, COUNTERSIGN_WEBHOOK_SECRET: secret };
    const receiving = startPython("receive", { PORT: "0", ...environment });
    const [, port] = await written(receiving, /webhooks on port (\d+)/);
    receiver.url = `http://127.0.0.1:${port}/`;
    const asking = startPython("ask", environment);
    served.losesRedeem = true;
    await served.approve(await askedFor(asking));
    const code = await asking.ended;
    await written(receiving, /Refunding|Not paid: This request was redeemed at/);
    const output = asking.output + receiving.output;
    assert.equal(output.match(/Refunding/g)?.length, 1, output);
    assert.equal(code, /Refunding/.test(asking.output) ? 0 : 3, output);
  });

  test("pays only what its own approver was asked, in its own words, and what it pays in any case", async () => {
    const { client, key, workspaceId } = await makeUser();
    const { secret, receiver } = await makeForwarder(workspaceId);
    const environment = { COUNTERSIGN_API_KEY: key, COUNTERSIGN_WEBHOOK_SECRET: secret };
    const receiving = startPython("receive", { PORT: "0", ...environment });
    const [, port] = await written(receiving, /webhooks on port (\d+)/);
    receiver.url = `http://127.0.0.1:${port}/`;
    const own = {
      summary: "Refund order 7 (5 EUR)",
      notify: "owner@localhost",
      agentName: "python-example",
      payload: { order_id: 7, amount: 5 },
    };
    const others = [
      { ...own, notify: "eve@example.com" },
      { ...own, agentName: "other" },
      { ...own, summary: "Pay" },
    ];
    for (const request of others) await served.approve((await client.requests.create(request)).id);
    const large = await client.requests.create(own);
    await served.approve(large.id, '{"order_id": 7, "amount": 5000000}');
    await served.approve((await client.requests.create(own)).id);
    const count = (word: RegExp) => receiving.output.match(word)?.length ?? 0;
    await until(() => count(/Not paid: /g) + count(/Refunding/g) === 5, "all webhooks are handled");
    assert.equal(count(/was not asked for this action/g), 3, receiving.output);
    assert.equal(count(/no refund that this program makes/g), 1, receiving.output);
    assert.equal(count(/Refunding 5 EUR for order 7/g), 1, receiving.output);
  });

  test("ends with 1, 2 or 3 when it may not execute, and outlives what passes", async () => {
    const { key, client } = await makeUser();
    const ask = () => startPython("ask", { COUNTERSIGN_API_KEY: key });
    served.troubles.push("lose the answer", "say 503");
    const rejected = ask();
    await served.reject(await askedFor(rejected), "Refunded in May");
    assert.equal(await rejected.ended, 1, rejected.output);
    assert.match(rejected.output, /REJECTED, nothing was paid\. Refunded in May/);
    assert.equal(await countOf(client), 1);
    const expired = ask();
    await expire(client, await askedFor(expired));
    assert.equal(await expired.ended, 2, expired.output);
    const unusable = ask();
    await served.approve(await askedFor(unusable), '"all of it"');
    assert.equal(await unusable.ended, 3, unusable.output);
    const cut = ask();
    const cutId = await askedFor(cut);
    served.cutsRedeem = true;
    await served.approve(cutId);
    assert.equal(await cut.ended, 0, cut.output);
    assert.match(cut.output, /Refunding/);
    const nowhere = startPython("ask", { COUNTERSIGN_BASE_URL: "approvals.example.com" });
    assert.equal(await nowhere.ended, 3, nowhere.output);
    const wrong = startPython("ask", { COUNTERSIGN_API_KEY: "cs_wrong" });
    assert.equal(await wrong.ended, 3);
    assert.match(wrong.output, /Something is wrong: .*key/);
    for (const { output } of [rejected, expired, unusable])
      assert.doesNotMatch(output, /Refunding/);
  });

  test("believes a webhook that the service sent, and nothing else", async () => {
    const { client, workspaceId } = await makeUser();
    const { secret, receiver } = await makeForwarder(workspaceId);
    const environment = { PORT: "0", COUNTERSIGN_WEBHOOK_SECRET: secret };
    const example = startPython("receive", environment);
    const [, port] = await written(example, /webhooks on port (\d+)/);
    const url = `http://127.0.0.1:${port}/`;
    receiver.url = url;
    const { id } = await client.requests.create({ summary: "Refund", notify: "ann@example.com" });
    await served.approve(id);
    await written(example, new RegExp(`Verified request\\.approved about ${id}`));
    const body = '{"event": "request.approved", "data": {"id": "req_1"}}';
    const now = Math.floor(Date.now() / 1_000);
    const sign = (t: number, key: string) =>
      `t=${t},v1=${createHmac("sha256", key).update(`${t}.${body}`).digest("hex")}`;
    for (const [signature, status] of [
      [sign(now, secret), 204],
      [`${sign(now, "whsec_old")},${sign(now, secret).split(",")[1]}`, 204],
      [sign(now, "whsec_other"), 400],
      [sign(now - 400, secret), 400],
      [sign(now + 400, secret), 400],
      [sign(now, secret).toUpperCase(), 400],
      [`t=${now}`, 400],
      ["", 400],
    ] as const) {
      const headers = { "x-service-signature": signature };
      const answer = await fetch(url, { method: "POST", body, headers });
      assert.equal(answer.status, status, signature);
    }
    const tampered = await fetch(url, {
      method: "POST",
      body: body.replace("req_1", "req_2"),
      headers: { "x-service-signature": sign(now, secret) },
    });
    assert.equal(tampered.status, 400);
  });
});
