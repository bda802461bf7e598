// The service as it runs in production: processes with a role each, on one external database, with real receivers of
// webhooks and mails. Nothing they write may hold a secret.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { type Database, openDatabase } from "../src/database/database.ts";
import { deriveReviewToken } from "../src/domain/access/review-link.ts";
import { until } from "./patience.ts";
import { makeTestDatabase, type TestDatabase } from "./test-database.ts";
import { type Mailserver, startMailserver } from "./test-mailbox.ts";
import {
  type Environment,
  environmentOn,
  type Program,
  runCommand,
  startProgram,
  textOf,
  untilWritten,
} from "./test-program.ts";
import { makeWorkspace, minimalBody, testKeyring } from "./test-service.ts";
import { makeEndpoint, type Receiver, startReceiver } from "./test-worker.ts";

type Site = { database: TestDatabase; db: Database; workspaceId: string; key: string };

describe("an API process and two workers on one database", () => {
  let site: Site;
  let receiver: Receiver;
  let secret: string;
  let address: string;
  let api: Program;
  let workers: Program[];
  let asked = 0;

  before(async () => {
    site = await openSite();
    receiver = await startReceiver();
    ({ secret } = await makeEndpoint(site.db, site.workspaceId, receiver.url, ["request.created"]));
    const environment = { ...environmentOn(site.database.url), WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" };
    api = startProgram({ ...environment, ROLE: "api" });
    workers = [1, 2].map(() => startProgram({ ...environment, ROLE: "worker" }));
    address = await addressOf(api);
    await Promise.all(workers.map((each) => untilWritten(each, /"msg":"working"/)));
  });

  after(async () => {
    await receiver.close();
    await closeSite(site);
  });

  test("each of many requests is told to the receiver once, by workers that another process wakes", async () => {
    const undecided = await ask();
    let isOver = false;
    const headers = { authorization: `Bearer ${site.key}` };
    const wait = fetch(`${address}/v1/requests/${undecided}?wait=45`, { headers }).then(() => {
      isOver = true;
    });
    // Each look by itself would find one, and two workers look twenty times in a minute.
    for (let n = 0; n < 20; n += 1) await heardOf(await ask());
    assert.ok(!isOver, "they were not woken, but looked by themselves");
    await fetch(`${address}/v1/requests/${undecided}/cancel`, { method: "POST", headers });
    await wait;
    await untilNothingIsDue(site);
    const ids = receiver.heard.map(({ headers }) => headers["webhook-id"]);
    assert.deepEqual([ids.length, new Set(ids).size], [21, 21]);
  });

  test("a worker listens on no port, and the API on one", async (t) => {
    if (process.platform !== "linux") return t.skip("it is looked up in /proc");
    assert.deepEqual(workers.map(listeningPorts), [[], []]);
    assert.deepEqual(listeningPorts(api), [Number(new URL(address).port)]);
  });

  test("when one worker is killed the other goes on", async () => {
    const [victim] = workers;
    victim?.child.kill("SIGKILL");
    await victim?.ended;
    for (let n = 0; n < 3; n += 1) {
      await heardOf(await ask());
    }
    await untilNothingIsDue(site);
  });

  test("SIGTERM ends each of them with exit code 0, with nothing left undone", async () => {
    const [, survivor] = workers;
    await Promise.all([api, survivor].map((each) => stop(each as Program)));
    const { rows } = await site.db.query("select 1 from deliveries where lease_token is not null");
    assert.equal(rows.length, 0);
  });

  test("nothing that they wrote holds a key, a secret or a link", async () => {
    const tokens = await reviewTokens(site);
    assert.equal(tokens.length, 24);
    const output = [api, ...workers].map(({ output, errors }) => output + errors).join("");
    assert.match(output, /"outcome":"delivered"/);
    assert.match(output, /"outcome":"kept"/);
    assertHoldsNone(output, [site.key, secret, ...tokens]);
    for (const line of output.trim().split("\n")) JSON.parse(line);
  });

  /** Somebody else each time: to one person, so many mails would be held for a digest. */
  function ask(): Promise<string> {
    asked += 1;
    return create(address, site.key, { ...minimalBody, notify: `ann.${asked}@example.com` });
  }

  /** The receiver has heard of it. */
  async function heardOf(requestId: string): Promise<void> {
    await until(
      () => receiver.heard.some(({ json }) => json.data.id === requestId),
      `the receiver hears of ${requestId}`,
    );
  }
});

describe("a process with a mail server", () => {
  const publicUrl = "https://approvals.example/countersign";
  const password = "hush-mail-password";
  let site: Site;
  let mailserver: Mailserver;
  let program: Program;

  before(async () => {
    site = await openSite();
    mailserver = await startMailserver(undefined, {
      disabledCommands: ["STARTTLS"],
      onAuth: (given, _session, done) =>
        given.password === password ? done(null, { user: "ann" }) : done(new Error("no")),
    });
  });

  after(async () => {
    await mailserver.close();
    await closeSite(site);
  });

  test("sends each reviewer a mail of their own, whose link starts with PUBLIC_URL", async () => {
    const environment: Environment = {
      ...environmentOn(site.database.url),
      PUBLIC_URL: `${publicUrl}/`,
      SMTP_URL: mailserver.url.replace("//", `//ann:${password}@`),
      MAIL_FROM: "Approvals <approvals@example.com>",
      LOG_LEVEL: "trace",
    };
    program = startProgram(environment);
    const address = await addressOf(program);
    const { secret } = await makeEndpoint(site.db, site.workspaceId, "http://127.0.0.1:1/hook");
    const requestId = await create(address, site.key);
    await create(address, site.key, { ...minimalBody, notify: "bob@example.com" });
    await until(() => mailserver.received.length === 2, "two mails");
    const recipients = mailserver.received.map((mail) => mail.recipients);
    assert.deepEqual(recipients.toSorted(), [["ann@example.com"], ["bob@example.com"]]);
    const tokens = await reviewTokens(site);
    for (const { text, html, headers } of mailserver.received) {
      const [url = "", token = ""] = /https:\S+\/review\/([A-Za-z0-9_-]+)/.exec(text) ?? [];
      assert.equal(url, `${publicUrl}/review/${token}`);
      assert.ok(tokens.includes(token));
      assert.ok(html.includes(url));
      assert.match(headers.get("from") ?? "", /approvals@example\.com/);
    }
    assert.equal((await fetch(`${address}/dev/mail`)).status, 404, "they are not shown as well");

    const commands = await Promise.all([
      runCommand(environment, ["delivery", "list", "--workspace", site.workspaceId]),
      runCommand(environment, ["delivery", "list", "--workspace", site.workspaceId, "--json"]),
      runCommand(environment, ["delivery", "show", await mailOf(requestId), "--json"]),
      runCommand(environment, ["webhook", "list"]),
      runCommand(environment, ["key", "list"]),
    ]);
    await stop(program);
    const written = [program.output, program.errors, ...commands.map(textOf)].join("");
    assert.match(written, /"msg":"mail"/);
    const { SECRET_KEY = "" } = environment;
    assertHoldsNone(written, [site.key, secret, password, SECRET_KEY, ...tokens]);
  });

  async function mailOf(requestId: string): Promise<string> {
    const { rows } = await site.db.query<{ id: string }>(
      `select d.id from deliveries d join events e on e.id = d.event_id
       where e.approval_id = $1 and d.endpoint_id is null`,
      [requestId],
    );
    return rows[0]?.id ?? "";
  }
});

async function openSite(): Promise<Site> {
  const database = await makeTestDatabase();
  const { connection } = database;
  const db = openDatabase({ connection, connectionsMax: 2, onIdleFault: () => {} });
  const { id: workspaceId, key } = await makeWorkspace(db);
  return { database, db, workspaceId, key };
}

async function closeSite({ db, database }: Site): Promise<void> {
  await db.end();
  await database.drop();
}

/** Where it says that it listens, once it is ready there. */
async function addressOf(program: Program): Promise<string> {
  const [, address = ""] = await untilWritten(program, /"address":"(http:[^"]+)"/);
  await until(async () => (await fetch(`${address}/readyz`)).status === 200, "it is ready");
  return address;
}

async function create(address: string, key: string, body: object = minimalBody): Promise<string> {
  const response = await fetch(`${address}/v1/requests`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 201);
  const { id } = (await response.json()) as { id: string };
  return id;
}

async function untilNothingIsDue({ db }: Site): Promise<void> {
  await until(async () => {
    const { rows } = await db.query("select 1 from deliveries where state = 'due' limit 1");
    return rows.length === 0;
  }, "nothing is due any more");
}

async function stop(program: Program): Promise<void> {
  program.child.kill("SIGTERM");
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
  assert.equal(program.errors, "");
}

async function reviewTokens({ db }: Site): Promise<string[]> {
  const { rows } = await db.query<{ token_nonce: Buffer }>("select token_nonce from reviewers");
  return rows.map((row) => deriveReviewToken(testKeyring.current, row.token_nonce));
}

/** Not even a part of one that is long enough to be of use. */
function assertHoldsNone(text: string, secrets: string[]): void {
  for (const secret of secrets) {
    assert.ok(secret.length >= 16);
    assert.equal(text.includes(secret.slice(6, 22)), false, "a secret was written");
  }
}

/** The TCP ports on which a process listens, as the kernel tells. */
function listeningPorts({ child }: Program): number[] {
  const folder = `/proc/${child.pid}`;
  const own = new Set(
    readdirSync(`${folder}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/fd/${fd}`))?.[1];
      } catch {
        return undefined; // it has been closed since
      }
    }),
  );
  const rows = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`${folder}/net/${table}`, "utf8").trim().split("\n").slice(1),
  );
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === "0A" && own.has(inode))
    .map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16));
}
