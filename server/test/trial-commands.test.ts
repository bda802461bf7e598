// The commands of a developer's laptop, as the quickstart tells them: a service on its embedded database, a listener that
// prints webhooks, and decisions from the terminal. And everywhere else they refuse.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Endpoint } from "../src/storage/deliveries/endpoints.ts";
import { until } from "./patience.ts";
import { postmasterPid } from "./postmaster.ts";
import { makeTestDatabase } from "./test-database.ts";
import {
  assertRefused,
  environmentOn,
  jsonOf,
  type Program,
  runCommand,
  runProcess,
  startProgram,
  textOf,
  untilWritten,
} from "./test-program.ts";

const folder = mkdtempSync(join(tmpdir(), "cs-trial-"));
const dataDir = join(folder, "data");
const trial = { DATA_DIR: dataDir };
/** In a process that the commands share, unless a test is about the commands as people type them. */
const run = (...words: string[]) => runCommand(trial, words);

after(async () => {
  await until(() => postmasterPid(dataDir) === null);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

describe("on a laptop", () => {
  let server: Program;
  let address: string;
  let key: string;

  before(async () => {
    chmodSync(folder, 0o755); // PostgreSQL is another user's when this is root's
    server = startProgram(trial);
    [, address = ""] = await untilWritten(server, /^ {2}Address {3}(http:\S+)$/m);
    [, key = ""] = await untilWritten(server, /^ {2}API key {3}(cs_\w+)/m);
  });
  after(async () => {
    server.child.kill("SIGTERM");
    await server.ended;
  });

  async function ask(): Promise<string> {
    const body =
      '{"summary": "Refund order 1042", "payload": {"amount": 49.00}, "notify": "owner@localhost"}';
    const headers = { authorization: `Bearer ${key}` };
    const reply = await fetch(`${address}/v1/requests`, { method: "POST", headers, body });
    assert.equal(reply.status, 201);
    return ((await reply.json()) as { id: string }).id;
  }

  async function read(id: string): Promise<string> {
    const headers = { authorization: `Bearer ${key}` };
    const reply = await fetch(`${address}/v1/requests/${id}`, { headers });
    return reply.text();
  }

  async function listenAnd(work: (listener: Program, endpointId: string) => Promise<void>) {
    const listener = startProgram(trial, ["listen", "--port", "0"]);
    const [, endpointId = ""] = await untilWritten(listener, /registered as (we_\w+)/);
    await work(listener, endpointId);
    listener.child.kill("SIGINT");
    const end = await listener.ended;
    assert.equal(end.code, 0, listener.errors);
  }

  test("the quickstart's test event arrives, verified, and so does each event of a decided request", async () => {
    await listenAnd(async (listener, endpointId) => {
      const sent = await runProcess(trial, ["webhook", "test", endpointId]);
      assert.match(textOf(sent), /delivered \(HTTP 204\)/);
      await untilWritten(listener, /webhook\.test {2}verified {2}req_test\n +Your endpoint works/);
      const id = await ask();
      await untilWritten(listener, new RegExp(`request\\.created {2}verified {2}${id}`));
      const edit = join(folder, "edit.json");
      writeFileSync(edit, '{"amount": 12.10}\n');
      const words = ["decide", id, "approve", "--edit", edit, "--note", "less, please"];
      const decide = await runProcess(trial, words);
      assert.equal(textOf(decide), `${id} is APPROVED with changes, decided as owner@localhost.`);
      await untilWritten(
        listener,
        new RegExp(
          `request\\.approved {2}verified {2}${id}\\n +Refund order 1042\\n +APPROVED by owner@localhost, with changes\\n +note: less, please\\n +effectivePayload: \\{"amount": 12\\.10\\}`,
        ),
      );
      assert.match(await read(id), /"status":"APPROVED".*"effectivePayload":\{"amount": 12\.10\}/);
    });
    const listed: Endpoint[] = jsonOf(await run("webhook", "list", "--json"));
    assert.equal(listed[0]?.disabledReason, "countersign listen has ended");
  });

  test("a webhook that the service did not sign is refused and told as such", async () => {
    await listenAnd(async (listener) => {
      const [, url = ""] = await untilWritten(listener, /Listening on (http:\S+\/)/);
      const forged = { "x-service-signature": `t=${Math.floor(Date.now() / 1_000)},v1=00` };
      const reply = await fetch(url, { method: "POST", headers: forged, body: "{}" });
      assert.equal(reply.status, 400);
      await untilWritten(listener, /NOT VERIFIED: it is signed with another secret/);
      const strange = {
        "x-service-signature": forged["x-service-signature"].replace("00", "é".repeat(64)),
      };
      assert.equal(
        (await fetch(url, { method: "POST", headers: strange, body: "{}" })).status,
        400,
      );
      assert.equal((await fetch(url)).status, 405);
    });
  });

  test("a secret of an endpoint elsewhere verifies, and nothing is registered", async () => {
    const before = jsonOf(await run("webhook", "list", "--json"));
    const listener = startProgram({}, ["listen", "--port", "0", "--secret", "whsec_abc", "--json"]);
    const [, url = ""] = await until(
      () => /Listening on (http:\S+\/)/.exec(listener.errors),
      "it says where",
    );
    await fetch(url, { method: "POST", body: "{}" });
    await untilWritten(listener, /"isVerified":false,"flaw":"it has no signature/);
    listener.child.kill("SIGTERM");
    assert.equal((await listener.ended).code, 0);
    assert.deepEqual(jsonOf(await run("webhook", "list", "--json")), before);
  });

  test("a decision from the terminal follows the rules of the review page", async () => {
    const id = await ask();
    const broken = join(folder, "broken.json");
    writeFileSync(broken, '{"amount": 12.10,}');
    const refusals: [string[], RegExp][] = [
      [[id, "maybe"], /maybe is neither approve nor reject/],
      [["req_unknown", "approve"], /there is no request req_unknown/],
      [[id, "approve", "--as", "eve@example.com"], /not asked about .* but owner@localhost was/],
      [[id, "approve", "--edit", broken], /broken\.json is not valid JSON: line 1, column 18/],
      [[id, "approve", "--edit", join(folder, "none.json")], /none\.json cannot be read/],
      [[id, "reject", "--note", "x".repeat(2_001)], /note: must be at most 2000 characters/],
    ];
    for (const [words, pattern] of refusals) assertRefused(await run("decide", ...words), pattern);
    writeFileSync(broken, "null");
    assertRefused(
      await run("decide", id, "approve", "--edit", broken),
      /edit: cannot be null, because null means "not edited"/,
    );
    const told = jsonOf(await run("decide", id, "reject", "--note", "no", "--json"));
    assert.deepEqual(told, {
      id,
      status: "REJECTED",
      resolvedByEmail: "owner@localhost",
      isEdited: false,
    });
    assertRefused(await run("decide", id, "approve"), /was rejected by owner@localhost/);
    assert.match(await read(id), /"status":"REJECTED".*"resolutionNote":"no"/);
  });

  test("nothing can be decided from the terminal once the service was public, or could be", async () => {
    const id = await ask();
    const decide = ["decide", id, "approve"];
    for (const [name, value] of [
      ["PUBLIC_URL", "https://approvals.example.com"],
      ["SMTP_URL", "smtp://localhost:25"],
    ] as const) {
      const outcome = await runCommand({ ...trial, [name]: value }, decide);
      assertRefused(outcome, /`countersign decide` is for development/);
      const listening = await runProcess({ ...trial, [name]: value }, ["listen", "--port", "0"]);
      assertRefused(listening, /`countersign listen` is for development/);
    }
    // The operator's own shell may lack what the service runs with, and the first owner is still a member.
    server.child.kill("SIGTERM");
    await server.ended;
    server = startProgram({ ...trial, SMTP_URL: "smtp://localhost:25" });
    [, address = ""] = await untilWritten(server, /^ {2}Address {3}(http:\S+)$/m);
    assertRefused(await run(...decide), /is not one that is only tried out/);
    assert.match(await read(id), /"status":"PENDING"/);
  });
});

test("on an external database nothing is decided from the terminal", async () => {
  const database = await makeTestDatabase();
  const outcome = await runCommand(environmentOn(database.url), ["decide", "req_1", "approve"]);
  await database.drop();
  assertRefused(outcome, /`countersign decide` is for development/);
});
