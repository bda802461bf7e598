// Backup and restore of the embedded database, with real processes: the drill that an operator should do once, the
// refusals, and restores that are killed.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { until } from "./patience.ts";
import { isAlive, postmasterPid } from "./postmaster.ts";
import {
  assertRefused,
  type Environment,
  environmentOn,
  jsonOf,
  type Program,
  runCommand,
  runProcess,
  startProgram,
  textOf,
  untilWritten,
} from "./test-program.ts";

const waitMs = 900_000;
const folder = mkdtempSync(join(tmpdir(), "cs-back-"));
chmodSync(folder, 0o755); // PostgreSQL is another user's when this is root's
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

let count = 0;
/** A DATA_DIR with the secret key of another, as an operator prepares it. */
function newDataDir(keyOf?: string): string {
  count += 1;
  const dataDir = join(folder, `data-${count}`);
  if (keyOf === undefined) return dataDir;
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(join(keyOf, "secret-key"), join(dataDir, "secret-key"));
  return dataDir;
}

type Arrival = { id: string; body: string };
const arrivals: Arrival[] = [];
/** What the receiver answers to events of the request of this summary. */
let refused = "";
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const isRefused = refused !== "" && body.includes(refused);
  if (!isRefused) arrivals.push({ id: String(request.headers["webhook-id"]), body });
  response.statusCode = isRefused ? 500 : 204;
  response.end();
});
const arrivedOf = (text: string) => arrivals.filter(({ body }) => body.includes(text));

const source = newDataDir();
const first = join(folder, "first.backup");
/** Retries wait for longer than any test. */
const settings = { WEBHOOK_RETRY_DELAYS: "3h,3h", LOG_FORMAT: "json", RATE_LIMIT: "0" };
const on = (dataDir: string): Environment => ({ ...settings, DATA_DIR: dataDir });
const run = (dataDir: string, ...words: string[]) => runCommand(on(dataDir), [...words, "--json"]);

let key = "";
let workspace = "";

before(async () => {
  await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
});
after(() => receiver.close());

async function serve(dataDir: string): Promise<{ program: Program; address: string }> {
  const program = startProgram(on(dataDir));
  const [, address = ""] = await untilWritten(program, /^ {2}Address {3}(http:\S+)$/m);
  return { program, address: address.replace("localhost", "127.0.0.1") };
}

async function stop(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  assert.equal((await program.ended).code, 0);
}

async function call(url: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  return fetch(url, {
    headers,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
}

async function ask(address: string, summary: string): Promise<string> {
  const body = { summary, payload: { amount: 1 }, notify: "owner@localhost" };
  const reply = await call(`${address}/v1/requests`, body);
  assert.equal(reply.status, 201);
  return ((await reply.json()) as { id: string }).id;
}

async function statusOf(address: string, id: string): Promise<string | number> {
  const reply = await call(`${address}/v1/requests/${id}`);
  return reply.ok ? ((await reply.json()) as { status: string }).status : reply.status;
}

type Listed = { id: string; event: string; state: string; attempts: number; lastOutcome: string };

async function deliveriesOf(dataDir: string, request: string): Promise<Listed[]> {
  const words = ["delivery", "list", "--workspace", workspace, "--request", request];
  return jsonOf(await run(dataDir, ...words));
}

describe("a drill", { timeout: waitMs }, () => {
  let decided = "";
  let owed = "";
  let lost = "";
  let owedDelivery = "";

  before(async () => {
    const { program, address } = await serve(source);
    [, key = ""] = await untilWritten(program, /^ {2}API key {3}(cs_\w+)/m);
    [{ id: workspace }] = jsonOf(await run(source, "workspace", "list"));
    const { port } = receiver.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/hook`;
    jsonOf(await run(source, "webhook", "create", "--workspace", workspace, "--url", url));
    decided = await ask(address, "decided later");
    refused = "owed at the backup";
    owed = await ask(address, refused);
    const isSettled = async () => {
      const all = [...(await deliveriesOf(source, decided)), ...(await deliveriesOf(source, owed))];
      return (
        all.length === 4 && all.every(({ attempts, lastOutcome }) => attempts === 1 && lastOutcome)
      );
    };
    await until(isSettled, "each delivery was tried once");
    const due = (await deliveriesOf(source, owed)).filter(({ state }) => state === "due");
    assert.equal(due.length, 1);
    owedDelivery = due[0]?.id ?? "";

    // The service goes on while it is backed up: requests are made all the time.
    const made: string[] = [];
    let isBackedUp = false;
    const asking = (async () => {
      while (!isBackedUp) made.push(await ask(address, `beside the backup ${made.length}`));
    })();
    await until(() => made.length > 2);
    const words = ["backup", first];
    const backup = textOf(await runProcess(on(source), words).finally(() => (isBackedUp = true)));
    await asking;
    assert.match(backup, /^Wrote .*: \d+ bytes, as of 20.*The secret key is not in it/);

    // What the backup doesn't know: the delivery arrives, a request is decided, another is made.
    refused = "";
    jsonOf(await run(source, "delivery", "resend", owedDelivery));
    await until(() => arrivals.some(({ id }) => id === owedDelivery));
    jsonOf(await run(source, "decide", decided, "approve"));
    lost = await ask(address, "lost with the machine");
    await until(() => arrivedOf(lost).length === 1);
    await until(() => arrivedOf(decided).length === 2);
    await stop(program);
  });

  test("the file says in its first lines what it is, of which version and when, and is its owner's alone", () => {
    const bytes = readFileSync(first);
    const [title, facts = ""] = bytes.toString("latin1", 0, 1_000).split("\n");
    assert.match(title ?? "", /^Countersign backup .*countersign restore FILE$/);
    const { format, madeAt, migration, postgres } = JSON.parse(facts);
    assert.equal(format, 1);
    assert.ok(Math.abs(Date.now() - Date.parse(madeAt)) < waitMs * 10);
    const newest = readdirSync(join(import.meta.dirname, "..", "migrations"))
      .sort()
      .at(-1);
    assert.deepEqual({ migration, postgres }, { migration: newest, postgres: "18" });
    assert.equal(statSync(first).mode & 0o777, 0o600);
    const left = readdirSync(folder).filter((name) => name.endsWith(".part"));
    assert.deepEqual(left, []);
  });

  test("neither the secret key nor a password of the database is in it", () => {
    const bytes = readFileSync(first);
    const begin = bytes.indexOf("\n", bytes.indexOf("\n") + 1) + 1;
    const tar = gunzipSync(bytes.subarray(begin, bytes.length - 72));
    assert.ok(tar.includes("owed at the backup"), "the search looks at what is in it");
    const text = readFileSync(join(source, "secret-key"), "utf8").trim();
    assert.ok(!tar.includes(text));
    assert.ok(!tar.includes(Buffer.from(text, "base64")));
    for (const name of ["superuser-password", "role-password", "service-password"]) {
      assert.ok(!tar.includes(readFileSync(join(source, "postgres", name), "utf8").trim()), name);
    }
  });

  test("a restore is as of the backup; what was due is held, and sent again only when the operator says so", async () => {
    const dataDir = newDataDir(source);
    const restored = jsonOf(await run(dataDir, "restore", first));
    assert.equal(restored.held.messages, 0);
    assert.ok(restored.held.deliveries >= 1);
    assert.equal(postmasterPid(dataDir), null);
    assert.deepEqual(readdirSync(dataDir).sort(), ["postgres", "secret-key"]);

    const before = arrivals.length;
    const { program, address } = await serve(dataDir);
    assert.equal(await statusOf(address, decided), "PENDING", "decided after the backup");
    assert.equal(await statusOf(address, owed), "PENDING");
    assert.equal(await statusOf(address, lost), 404, "made after the backup");
    const ofOwed = await deliveriesOf(dataDir, owed);
    const held = ofOwed.find(({ id }) => id === owedDelivery);
    assert.deepEqual(
      [held?.state, held?.lastOutcome, held?.attempts],
      ["skipped", "held_by_restore", 2],
    );
    // The worker takes the oldest first, so anything older would have been sent by now.
    const fresh = await ask(address, "after the restore");
    await until(() => arrivedOf(fresh).length === 1);
    assert.deepEqual(
      arrivals.slice(before).map(({ body }) => JSON.parse(body).data.id),
      [fresh],
    );

    // The log has noticed: it goes on under another name.
    const isReopened = async () => {
      const logs: { origin: string; isClosed: boolean }[] = jsonOf(
        await run(dataDir, "log", "status"),
      );
      const open = logs.filter(({ isClosed }) => !isClosed);
      return open.length === 2 && open.every(({ origin }) => origin.endsWith("/2"));
    };
    await until(isReopened, "both logs were reopened");

    const { released } = jsonOf(await run(dataDir, "delivery", "release"));
    assert.equal(released, restored.held.deliveries);
    await until(() => arrivals.filter(({ id }) => id === owedDelivery).length === 2);
    const [once, again] = arrivals.filter(({ id }) => id === owedDelivery);
    assert.equal(again?.body, once?.body, "the same bytes");
    assert.equal(jsonOf(await run(dataDir, "delivery", "release")).released, 0);
    jsonOf(await run(dataDir, "decide", decided, "reject"));
    assert.equal(await statusOf(address, decided), "REJECTED");

    // A backup of what was restored is one like any other.
    const second = join(folder, "second.backup");
    jsonOf(await run(dataDir, "backup", second));
    await stop(program);
    const next = newDataDir(source);
    jsonOf(await run(next, "restore", second));
    const { program: third, address: nextAddress } = await serve(next);
    assert.equal(await statusOf(nextAddress, decided), "REJECTED");
    await stop(third);
  });

  test("a restore that is asked to send again holds nothing", async () => {
    const dataDir = newDataDir(source);
    const restored = jsonOf(await run(dataDir, "restore", first, "--send-again"));
    assert.equal(restored.held, null);
    const [delivery] = (await deliveriesOf(dataDir, owed)).filter(({ id }) => id === owedDelivery);
    assert.deepEqual([delivery?.state, delivery?.attempts], ["due", 1]);
  });

  describe("is refused, and leaves nothing,", () => {
    const refuses = async (
      dataDir: string,
      pattern: RegExp,
      { file = first, more = {} }: { file?: string; more?: Environment } = {},
    ) => {
      assertRefused(await runCommand({ ...on(dataDir), ...more }, ["restore", file]), pattern);
      const left = existsSync(dataDir) ? readdirSync(dataDir) : [];
      assert.deepEqual(
        left.filter((name) => name !== "secret-key"),
        [],
      );
    };
    const altered = (change: (bytes: Buffer) => Buffer) => {
      count += 1;
      const path = join(folder, `altered-${count}`);
      writeFileSync(path, change(readFileSync(first)));
      return path;
    };
    /** As somebody makes it who knows the format. */
    const ofFacts = (change: object) =>
      altered((bytes) => {
        const at = bytes.indexOf("\n") + 1;
        const end = bytes.indexOf("\n", at);
        const facts = { ...JSON.parse(bytes.toString("utf8", at, end)), ...change };
        const body = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(JSON.stringify(facts)),
          bytes.subarray(end, bytes.length - 72),
        ]);
        const digest = createHash("sha256").update(body).digest("hex");
        return Buffer.concat([body, Buffer.from(`sha256 ${digest}\n`)]);
      });

    test("a file with one other bit, one that is cut short, and one that is none", async () => {
      const flipped = altered((bytes) => {
        const at = Math.floor(bytes.length / 2);
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        return bytes;
      });
      const dataDir = newDataDir(source);
      await refuses(dataDir, /cut short or changed/, { file: flipped });
      const cut = altered((bytes) => bytes.subarray(0, bytes.length - 1_000));
      await refuses(dataDir, /cut short or changed/, { file: cut });
      const head = altered((bytes) => bytes.subarray(0, 300));
      await refuses(dataDir, /cut short or changed/, { file: head });
      await refuses(dataDir, /no backup/, { file: altered(() => Buffer.from("a\nb\nc\n")) });
      await refuses(dataDir, /no such file/, { file: join(folder, "nowhere") });
    });

    test("a backup of a newer program, another PostgreSQL or another kind of machine", async () => {
      const dataDir = newDataDir(source);
      const migration = "9999_from_tomorrow.sql";
      await refuses(dataDir, /newer version .* 9999_from_tomorrow/, {
        file: ofFacts({ migration }),
      });
      await refuses(dataDir, /newer version/, { file: ofFacts({ format: 2 }) });
      await refuses(dataDir, /of PostgreSQL 99/, { file: ofFacts({ postgres: "99" }) });
      await refuses(dataDir, /made on amiga-m68k/, { file: ofFacts({ platform: "amiga-m68k" }) });
    });

    test("without the secret key, and with another one", async () => {
      await refuses(newDataDir(), /secret key is missing/);
      const SECRET_KEY = randomBytes(32).toString("base64");
      await refuses(newDataDir(), /LOST_SECRET_KEYS/, { more: { SECRET_KEY } });
    });

    test("into a DATA_DIR with anything in it, or for an external database", async () => {
      assertRefused(await runCommand(on(source), ["restore", first]), /is not empty.*postgres/);
      const more = environmentOn("postgres://localhost/nowhere");
      await refuses(newDataDir(source), /external PostgreSQL.*pg_dump/, { more });
    });
  });

  test("a backup writes over nothing, and needs a database", async () => {
    const bytes = statSync(first).size;
    assertRefused(await runCommand(on(source), ["backup", first]), /exists/);
    assert.equal(statSync(first).size, bytes);
    const nowhere = newDataDir();
    const target = join(folder, "none.backup");
    assertRefused(await runCommand(on(nowhere), ["backup", target]), /no database in/);
    assert.ok(!existsSync(nowhere) && !existsSync(target));
    assertRefused(await runCommand(on(source), ["backup", "/nowhere/at/all"]), /can't be used/);
  });

  test("a restore that is killed at any point leaves nothing that starts, and the next one clears up", async () => {
    const points: [string, (staged: string) => boolean][] = [
      ["unpacking", (staged) => existsSync(join(staged, "data/base"))],
      ["replaying the log", (staged) => existsSync(join(staged, "data/recovery.signal"))],
      ["at its PostgreSQL", (staged) => postmasterPid(dirname(staged)) !== null],
    ];
    for (const [name, isThere] of points) {
      const { dataDir, staged } = await killedRestore(name, isThere);
      const orphan = postmasterPid(dirname(staged));
      const started = startProgram(on(dataDir));
      assert.notEqual((await started.ended).code, 0, name);
      assert.match(started.errors, /restore into .* has not finished/, name);
      jsonOf(await run(dataDir, "restore", first));
      assert.deepEqual(readdirSync(dataDir).sort(), ["postgres", "secret-key"], name);
      if (orphan !== null) await until(() => !isAlive(orphan), "the orphan has ended");
      const { program, address } = await serve(dataDir);
      assert.equal(await statusOf(address, decided), "PENDING", name);
      await stop(program);
    }
  });
});

/** A restore may get past the point before anybody looks; then another one is tried. */
async function killedRestore(name: string, isThere: (staged: string) => boolean) {
  for (;;) {
    const dataDir = newDataDir(source);
    const { child, ended } = startProgram(on(dataDir), ["restore", first]);
    const staged = join(dataDir, `restore-${child.pid}`, "postgres");
    await until(() => isThere(staged) || child.exitCode !== null, name);
    child.kill("SIGKILL");
    await ended;
    if (existsSync(staged)) return { dataDir, staged };
  }
}
