// The first start of a service that others use, and a trial that becomes one: no secret reaches a log, and the trial's
// owner does not stay.

import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import {
  environmentOn,
  jsonOf,
  type Program,
  runCommand,
  startProgram,
  untilWritten,
} from "./test-program.ts";

const waitMs = 300_000;
const publicUrl = "https://approvals.example";
const commands = [/workspace create/, /member add/, /key create/, /sign-in-link/];
const secrets = /cs_[0-9A-Za-z]{20}|#token=/;

const folder = mkdtempSync(join(tmpdir(), "cs-public-"));
chmodSync(folder, 0o755); // PostgreSQL is another user's when this is root's
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

describe("a first start that is no trial makes no key and no link, and says which commands do", () => {
  test("with the embedded database under a public name", { timeout: waitMs }, async () => {
    const environment = { DATA_DIR: join(folder, "public"), PUBLIC_URL: publicUrl };
    const program = startProgram(environment);
    await addressOf(program);
    assert.doesNotMatch(program.output, secrets);
    for (const command of commands) assert.match(program.output, command);
    assert.deepEqual(jsonOf(await runCommand(environment, ["workspace", "list", "--json"])), []);
    await stop(program);
    const again = startProgram(environment);
    await addressOf(again);
    assert.doesNotMatch(again.output, secrets);
    await stop(again);
  });

  test("with an external database, even on this machine", { timeout: waitMs }, async () => {
    const database = await makeTestDatabase();
    const environment = environmentOn(database.url);
    const program = startProgram(environment);
    await addressOf(program);
    await untilWritten(program, /there is no workspace yet/);
    assert.doesNotMatch(program.output, secrets);
    for (const command of commands) assert.match(program.output, command);
    for (const line of program.output.trim().split("\n")) JSON.parse(line);
    await stop(program);
    await database.drop();
  });

  test("nor does a worker, which shows nobody anything: the first key waits for who listens", async () => {
    const environment = { DATA_DIR: join(folder, "worker") };
    const worker = startProgram({ ...environment, ROLE: "worker" });
    await untilWritten(worker, /"msg":"working"/);
    await stop(worker);
    const program = startProgram(environment);
    await untilWritten(program, /API key {3}cs_/);
    await stop(program);
  });
});

test("the trial's owner is removed when the service goes public: sessions and links end, and it says how to name another", {
  timeout: waitMs,
}, async () => {
  const local = { DATA_DIR: join(folder, "trial") };
  const run = (...words: string[]) => runCommand(local, [...words, "--json"]);
  const trial = startProgram(local);
  const address = await addressOf(trial);
  const cookie = await signIn(address, tokenIn(trial.output));
  const { url } = jsonOf(await run("sign-in-link", "--email", "owner@localhost"));
  await stop(trial);
  const [{ id: workspaceId }] = jsonOf(await run("workspace", "list"));
  const emails = async () => {
    const found: { email: string }[] = jsonOf(
      await run("member", "list", "--workspace", workspaceId),
    );
    return found.map(({ email }) => email);
  };

  const opened = startProgram({ ...local, PUBLIC_URL: publicUrl });
  const publicAddress = await addressOf(opened);
  assert.deepEqual(await emails(), []);
  const advice = new RegExp(
    `"level":"warn".*owner@localhost.*member add --workspace ${workspaceId}`,
  );
  assert.match(opened.output, advice);
  assert.doesNotMatch(opened.output, secrets);
  assert.equal((await follow(publicAddress, tokenIn(url), publicUrl)).status, 401);
  const me = await fetch(`${publicAddress}/app/api/me`, {
    headers: { cookie: `__Host-${cookie}` },
  });
  assert.equal(me.status, 401);
  const refused = await runCommand(local, ["sign-in-link", "--email", "owner@localhost"]);
  assert.match(refused.stderr, /member of no workspace/);
  await stop(opened);

  for (const email of ["owner@localhost", "ann@example.com"]) {
    await run("member", "add", "--workspace", workspaceId, "--email", email, "--role", "owner");
  }
  const deciding = await runCommand(local, ["decide", "req_1", "approve"]);
  assert.match(deciding.stderr, /is not one that is only tried out/, "an invitation is no trial");
  const again = startProgram({ ...local, PUBLIC_URL: publicUrl });
  await addressOf(again);
  assert.deepEqual(await emails(), ["ann@example.com"]);
  assert.match(again.output, /owner@localhost.*was removed/);
  assert.doesNotMatch(again.output, advice);
  await stop(again);

  const third = startProgram({ ...local, PUBLIC_URL: publicUrl });
  await addressOf(third);
  assert.doesNotMatch(third.output, /owner@localhost/);
  await stop(third);
});

async function addressOf(program: Program): Promise<string> {
  const [, printed, logged = ""] = await untilWritten(
    program,
    /^ {2}Address {3}(http:\S+)$|"address":"(http:[^"]+)"/m,
  );
  const address = (printed ?? logged).replace("localhost", "127.0.0.1");
  const isReady = async () => (await fetch(`${address}/readyz`)).status === 200;
  await until(isReady, "it is ready");
  return address;
}

function tokenIn(text: string): string {
  return /#token=([\w-]+)/.exec(text)?.[1] ?? "";
}

function follow(address: string, token: string, origin: string): Promise<Response> {
  return fetch(`${address}/app/api/sign-in/link`, {
    method: "POST",
    headers: { origin, "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ token }),
  });
}

async function signIn(address: string, token: string): Promise<string> {
  const { status, headers } = await follow(
    address,
    token,
    address.replace("127.0.0.1", "localhost"),
  );
  assert.equal(status, 200);
  return headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

async function stop(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
}
