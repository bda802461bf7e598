// A secret key that is lost or wrong is told when the program starts, before anything is made or tried under another.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { postmasterPid } from "./postmaster.ts";
import { makeTestDatabase } from "./test-database.ts";
import {
  assertRefused,
  environmentOn,
  jsonOf,
  type Program,
  runCommand,
  startProgram,
  untilWritten,
} from "./test-program.ts";
import { testKeyring } from "./test-service.ts";

const timeout = 300_000;
const folder = mkdtempSync(join(tmpdir(), "cs-key-start-"));
chmodSync(folder, 0o755); // PostgreSQL is another user's when this is root's
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

test("a key file that is gone is told by server and commands, and never made anew", {
  timeout,
}, async () => {
  const dataDir = join(folder, "data");
  const environment = { DATA_DIR: dataDir };
  const file = join(dataDir, "secret-key");
  const first = startProgram(environment);
  await untilWritten(first, /API key {3}cs_/);
  await stop(first);
  renameSync(file, `${file}.away`);

  const advice = /neither .*secret-key nor a SECRET_KEY.*restore the file from the backup/;
  const refused = startProgram(environment);
  await assertRefusedStart(refused, advice);
  assertRefused(
    await runCommand(environment, ["sign-in-link", "--email", "owner@localhost"]),
    advice,
  );
  assert.equal(existsSync(file), false);
  assert.equal(postmasterPid(dataDir), null, "a PostgreSQL was left running");

  renameSync(`${file}.away`, file);
  const restored = startProgram(environment);
  await untilWritten(restored, /countersign is running/);
  await stop(restored);
});

test("a wrong SECRET_KEY is refused at start and by commands that would seal with it, until the lost one is given up", {
  timeout,
}, async () => {
  const database = await makeTestDatabase();
  const right = environmentOn(database.url);
  const id = testKeyring.current.id;
  const make = (name: string) => ["webhook", "create", "--workspace", name, "--url", url, "--json"];
  const url = "https://93.184.215.14/hook";
  const words = ["workspace", "create", "--name", "Acme", "--json"];
  const { id: workspaceId } = jsonOf(await runCommand(right, words));
  const endpoint = jsonOf(await runCommand(right, make(workspaceId)));

  const wrong = { ...right, SECRET_KEY: randomBytes(32).toString("base64") };
  const advice = new RegExp(`SECRET_KEY lacks the key ${id}.*LOST_SECRET_KEYS=${id}`);
  const refused = startProgram(wrong);
  await assertRefusedStart(refused, advice);
  assert.doesNotMatch(refused.output, /"msg":"serving"/);
  assertRefused(await runCommand(wrong, make(workspaceId)), advice);
  assertRefused(await runCommand(wrong, ["webhook", "rotate", endpoint.id]), advice);

  for (const environment of [
    { ...wrong, SECRET_KEY: `${wrong.SECRET_KEY},${right.SECRET_KEY}` },
    { ...wrong, LOST_SECRET_KEYS: id },
  ]) {
    const program = startProgram(environment);
    await untilWritten(program, /"msg":"serving"/);
    await stop(program);
  }
  const givenUp = { ...wrong, LOST_SECRET_KEYS: id };
  const { stdout } = await runCommand(givenUp, ["doctor", "--json"]);
  const found = JSON.parse(stdout).find(({ check }: { check: string }) => check === "secret key");
  assert.equal(found.state, "warning");
  assert.match(found.detail, new RegExp(`given up \\(${id}\\)`));
  await database.drop();
});

async function assertRefusedStart(program: Program, advice: RegExp): Promise<void> {
  assert.notEqual((await program.ended).code, 0);
  assert.match(program.errors, /^countersign: [^\n]+\n$/, "exactly one line");
  assert.match(program.errors, advice);
}

async function stop(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
}
