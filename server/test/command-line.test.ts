// The operator's commands as an operator runs them: on an external database and on an embedded one, with and without a server beside it.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Command } from "commander";
import { buildProgram } from "../src/cli/program.ts";
import { type Database, openDatabase } from "../src/database/database.ts";
import { findSecretKey, parseKeyring } from "../src/domain/access/keyring.ts";
import { unseal } from "../src/domain/access/sealed-secret.ts";
import { secretRecordOf } from "../src/operations/deliveries/manage-endpoint.ts";
import * as endpoints from "../src/storage/deliveries/endpoints.ts";
import { hangMs, until } from "./patience.ts";
import { postmasterPid } from "./postmaster.ts";
import {
  asServiceUrl,
  makeTestDatabase,
  type TestDatabase,
  withDatabase,
} from "./test-database.ts";
import { type Environment, type Outcome, runCommand, runProcess } from "./test-program.ts";
import { makeWorkspace, minimalBody } from "./test-service.ts";

const program = join(import.meta.dirname, "..", "bin", "countersign.mjs");
const unreachableUrl = "postgres://nobody@127.0.0.1:1/nothing";

const folder = mkdtempSync(join(tmpdir(), "cs-cli-"));
const dataDir = join(folder, "data");
const secretKey = randomBytes(32).toString("base64");
const servers: ChildProcess[] = [];

let database: TestDatabase;
let db: Database;
let external: Environment;

before(async () => {
  chmodSync(folder, 0o755); // PostgreSQL is another user's when this is root's
  database = await makeTestDatabase();
  external = externalOn(asServiceUrl(database.url));
  db = openDatabase({
    connection: database.connection,
    connectionsMax: 4,
    onIdleFault: () => {},
  });
});

after(async () => {
  for (const server of servers) server.kill("SIGKILL");
  await db.end();
  await database.drop();
  const left = postmasterPid(dataDir);
  if (left !== null) process.kill(left, "SIGQUIT");
  await until(() => postmasterPid(dataDir) === null);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  assert.equal(left, null, "a PostgreSQL was left running");
});

describe("on an external database", { concurrency: 3 }, () => {
  test("workspaces are created, changed and listed", async () => {
    const flags = ["--plan", "pro", "--included", "5", "--cap", "9", "--expiry", "60"];
    const created = jsonOf(await run("workspace", "create", "--name", "Acme", ...flags, "--json"));
    assert.match(created.id, /^ws_[0-9a-f]{32}$/);
    const settings = { name: "Acme", plan: "pro", included: 5, cap: 9, expiryMinutes: 60 };
    assert.deepEqual(pick(created, Object.keys(settings)), settings);

    const update = ["workspace", "update", created.id];
    const changed = jsonOf(await run(...update, "--name", "Acme 2", "--json"));
    assert.deepEqual(changed, { ...created, name: "Acme 2" });
    const text = textOf(await run(...update, "--plan", "hobby", "--expiry", "5"));
    assert.match(text, new RegExp(`Changed workspace ${created.id}`));

    const plain = textOf(await run("workspace", "create", "--name", "Plain"));
    const plainId = /ws_[0-9a-f]{32}/.exec(plain)?.[0] ?? "";
    assert.match(plain, /Plain, plan unlimited/);
    assert.match(plain, new RegExp(`key create --workspace ${plainId}`), "it says what is next");

    const listed: { id: string }[] = jsonOf(await run("workspace", "list", "--json"));
    const final = { ...changed, plan: "hobby", expiryMinutes: 5, requestsThisMonth: 0 };
    assert.deepEqual(
      listed.find(({ id }) => id === created.id),
      final,
    );
    assert.ok(listed.some(({ id }) => id === plainId));
    const table = textOf(await run("workspace", "list"));
    assert.match(
      table,
      /^ID +NAME +PLAN +INCLUDED +CAP +EXPIRY +REMINDER +REVIEW CODE +DEFAULT APPROVER +WHO CAN BE ASKED +HAND-OVER +SIGNATURES +RECEIPTS +KEPT +THIS MONTH$/m,
    );
    assert.match(
      table,
      new RegExp(
        `^${created.id} +Acme 2 +hobby +5 +9 +5 min +10 % +off +none +anybody +workspace +as asked +24 h +for ever +0$`,
        "m",
      ),
    );
  });

  test("a workspace's reviewers are asked for a code when it is turned on, and no longer when it is off", async () => {
    const create = ["workspace", "create", "--name", "Careful", "--json"];
    assert.equal(jsonOf(await run(...create)).reviewCode, false);
    const { id, reviewCode } = jsonOf(await run(...create, "--review-code", "on"));
    assert.equal(reviewCode, true);
    const update = ["workspace", "update", id, "--json"];
    assert.equal(jsonOf(await run(...update, "--name", "Careful 2")).reviewCode, true);
    const table = textOf(await run("workspace", "list"));
    assert.match(
      table,
      new RegExp(
        `^${id} +Careful 2 .* 10 % +on +none +anybody +workspace +as asked +24 h +for ever +0$`,
        "m",
      ),
    );
    const listed: { id: string }[] = jsonOf(await run("workspace", "list", "--json"));
    assert.deepEqual(
      listed.filter((each) => each.id === id).map((each) => pick(each, ["reviewCode"])),
      [{ reviewCode: true }],
    );
    assert.equal(jsonOf(await run(...update, "--review-code", "off")).reviewCode, false);
  });

  test("a workspace's own numbers are given up again by the word plan", async () => {
    const { id } = await makeWorkspace(db, { included: 5, cap: 9 });
    const update = ["workspace", "update", id, "--included", "plan", "--cap", "plan", "--json"];
    const { included, cap } = jsonOf(await run(...update));
    assert.deepEqual({ included, cap }, { included: null, cap: null });
  });

  test("keys are shown once, listed by their last four characters, and revoked for good", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const create = ["key", "create", "--workspace", workspace, "--name"];
    const issued = jsonOf(await run(...create, "Refund agent", "--json"));
    assert.match(issued.id, /^key_[0-9a-f]{32}$/);
    assert.match(issued.key, /^cs_[0-9A-Za-z]{49}$/);
    const lines = textOf(await run(...create, "Second agent")).split("\n");
    assert.match(lines[0] ?? "", /^cs_[0-9A-Za-z]{49}$/, "the key is a line of its own");
    const secondId = /key_[0-9a-f]{32}/.exec(lines[1] ?? "")?.[0] ?? "";

    const revoked = jsonOf(await run("key", "revoke", issued.id, "--json"));
    assert.deepEqual(pick(revoked, ["id", "name"]), { id: issued.id, name: "Refund agent" });
    assert.notEqual(revoked.revokedAt, null);
    const again = jsonOf(await run("key", "revoke", issued.id, "--json"));
    assert.deepEqual(again, revoked, "revoking twice is revoking once");
    assert.match(textOf(await run("key", "revoke", secondId)), /Revoked .*\(Second agent\)/);

    const list = await run("key", "list", "--workspace", workspace, "--json");
    const listed: { id: string; lastFour: string }[] = jsonOf(list);
    assert.deepEqual(
      listed.find(({ id }) => id === issued.id),
      revoked,
    );
    assert.equal(revoked.lastFour, issued.key.slice(-4));
    const table = textOf(await run("key", "list", "--workspace", workspace));
    assert.match(
      table,
      /^ID +WORKSPACE +NAME +KEY +DEFAULT APPROVER +OWNER +CREATED +LAST USED +REVOKED$/m,
    );
    assert.match(
      table,
      new RegExp(
        `^${issued.id} +${workspace} +Refund agent +cs_…${revoked.lastFour} +as workspace +nobody +\\S+Z +never +\\S+Z$`,
        "m",
      ),
    );
    await db.query("update api_keys set last_used_at = '2026-11-15T09:00Z' where id = $1", [
      secondId,
    ]);
    assert.match(
      textOf(await run("key", "list", "--workspace", workspace)),
      new RegExp(`^${secondId} .* 2026-11-15T09:00:00\\.000Z +\\S+Z$`, "m"),
    );
    for (const output of [list.stdout, table]) assert.equal(output.includes(issued.key), false);

    await db.query(
      `insert into connections
         (workspace_id, api_key_id, email, client_digest, client_name, redirect_host, redirect_uri)
       values ($1, $2, 'ann@example.com', sha256('x'), 'Claude', 'claude.ai', 'https://claude.ai/cb')`,
      [workspace, secondId],
    );
    const withApp: { id: string; connection?: object }[] = jsonOf(
      await run("key", "list", "--json"),
    );
    const connectionOf = (keyId: string) => withApp.find(({ id }) => id === keyId)?.connection;
    assert.deepEqual(connectionOf(secondId), {
      email: "ann@example.com",
      redirectHost: "claude.ai",
      redirectUri: "https://claude.ai/cb",
    });
    assert.equal(connectionOf(issued.id), undefined);
    assert.match(
      textOf(await run("key", "list", "--workspace", workspace)),
      new RegExp(
        `^${secondId} +${workspace} +Second agent +connected app, by ann@example.com `,
        "m",
      ),
    );
    assert.equal((await run("key", "list", "--json")).stdout.includes(issued.id), true);
  });

  test("webhook endpoints are registered, listed, disabled and enabled", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const create = ["webhook", "create", "--workspace", workspace, "--url"];
    const kinds = ["request.approved", "request.rejected"];
    const events = kinds.flatMap((kind) => ["--event", kind]);
    const created = jsonOf(await run(...create, "https://a.example/hook", ...events, "--json"));
    assert.match(created.id, /^we_[0-9a-f]{32}$/);
    assert.match(created.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const { secret, ...endpoint } = created;
    assert.equal(endpoint.url, "https://a.example/hook");
    assert.deepEqual(endpoint.events, kinds);
    const lines = textOf(await run(...create, "https://b.example/hook")).split("\n");
    assert.match(lines[0] ?? "", /^whsec_\S+$/, "the secret is a line of its own");
    const secondId = /we_[0-9a-f]{32}/.exec(lines[1] ?? "")?.[0] ?? "";

    const disable = ["webhook", "disable", created.id, "--reason", "moving house", "--json"];
    const disabled = jsonOf(await run(...disable));
    assert.equal(disabled.disabledReason, "moving house");
    assert.notEqual(disabled.disabledAt, null);
    assert.match(textOf(await run("webhook", "disable", secondId)), /Disabled we_/);

    const list = ["webhook", "list", "--workspace", workspace];
    const listed: { id: string }[] = jsonOf(await run(...list, "--json"));
    assert.deepEqual(listed.map(({ id }) => id).sort(), [created.id, secondId].sort());
    const table = textOf(await run(...list));
    assert.match(table, /^ID +WORKSPACE +NAME +URL +EVENTS +STATE$/m);
    assert.match(
      table,
      /a\.example\/hook +request\.approved,request\.rejected +disabled: moving house$/m,
    );
    assert.match(table, /b\.example\/hook +all +disabled: disabled by an operator$/m);
    assert.doesNotMatch(table, /whsec_/);

    assert.deepEqual(jsonOf(await run("webhook", "enable", created.id, "--json")), endpoint);
    assert.match(textOf(await run("webhook", "enable", secondId)), /Enabled we_/);
  });

  test("an endpoint is named, and deleted for good", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const create = ["webhook", "create", "--workspace", workspace, "--url", "https://a.example"];
    const { id, name } = jsonOf(await run(...create, "--name", "Ledger", "--json"));
    assert.equal(name, "Ledger");
    assert.match(textOf(await run("webhook", "rename", id, "Books")), /is called Books now/);
    assert.equal("name" in jsonOf(await run("webhook", "rename", id, "", "--json")), false);
    assert.match(textOf(await run("webhook", "delete", id)), /Deleted we_/);
    assert.deepEqual(jsonOf(await run("webhook", "list", "--workspace", workspace, "--json")), []);
    assert.equal((await run("webhook", "enable", id)).code, 1);
  });

  test("a rotated endpoint has two live secrets, which are the printed ones", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const create = ["webhook", "create", "--workspace", workspace, "--url", "https://a.example"];
    const created = jsonOf(await run(...create, "--json"));
    const rotated = jsonOf(await run("webhook", "rotate", created.id, "--json"));
    assert.deepEqual(pick(rotated, ["id", "url"]), pick(created, ["id", "url"]));
    assert.deepEqual(await unsealLive(workspace, created.id), [rotated.secret, created.secret]);
    const overlapMs = Date.parse(rotated.oldSecretEndsAt) - Date.now();
    assert.ok(overlapMs > 23 * 3_600_000 && overlapMs <= 24 * 3_600_000, rotated.oldSecretEndsAt);

    const [third, note = ""] = textOf(await run("webhook", "rotate", created.id)).split("\n");
    assert.match(note, new RegExp(`old secret of ${created.id} signs beside it until \\d{4}-`));
    const live = await unsealLive(workspace, created.id);
    assert.deepEqual(live, [third, rotated.secret, created.secret]);
  });

  test("groups are created with members, changed and listed", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const create = ["group", "create", "--workspace", workspace, "--key"];
    const members = ["--member", "ann@example.com", "--member", "bob@example.com"];
    const created = jsonOf(
      await run(...create, "finance", "--name", "Finance", ...members, "--json"),
    );
    assert.match(created.id, /^grp_[0-9a-f]{32}$/);
    assert.deepEqual(pick(created, ["key", "name", "members"]), {
      key: "finance",
      name: "Finance",
      members: ["ann@example.com", "bob@example.com"],
    });
    const text = textOf(await run(...create, "empty", "--name", "Nobody yet"));
    assert.match(text, /Created group grp_[0-9a-f]{32}\..*group:empty/);

    const added = jsonOf(await run("group", "add", created.id, "cid@example.com", "--json"));
    const three = ["ann@example.com", "bob@example.com", "cid@example.com"];
    assert.deepEqual(added, { ...created, members: three });
    const twice = jsonOf(await run("group", "add", created.id, "Cid@Example.com", "--json"));
    assert.deepEqual(twice, added, "who is in it already is in it once");
    const removed = await run("group", "remove", created.id, "BOB@example.com");
    assert.match(textOf(removed), /Finance now has 2 member/);
    assert.match(textOf(await run("group", "add", created.id, "dan@example.com")), /3 member/);
    const left = jsonOf(await run("group", "remove", created.id, "ann@example.com", "--json"));
    assert.deepEqual(left.members, ["cid@example.com", "dan@example.com"]);

    const list = ["group", "list", "--workspace", workspace];
    const listed: { key: string }[] = jsonOf(await run(...list, "--json"));
    assert.deepEqual(listed.map(({ key }) => key).sort(), ["empty", "finance"]);
    const table = textOf(await run(...list));
    assert.match(table, /^ID +WORKSPACE +KEY +NAME +SIGNATURES +MEMBERS$/m);
    assert.match(table, / finance +Finance +as asked +cid@example\.com, dan@example\.com$/m);
    const deleted = textOf(await run("group", "delete", created.id));
    assert.match(deleted, /^Deleted Finance\. 0 pending request\(s\) were cancelled\.$/m);
    assert.equal(jsonOf(await run(...list, "--json")).length, 1);
  });

  test("members are added with a role, given another, and listed", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const add = ["member", "add", "--workspace", workspace, "--email"];
    const added = jsonOf(await run(...add, "ann@example.com", "--role", "viewer", "--json"));
    const member = { workspaceId: workspace, email: "ann@example.com", role: "viewer" };
    assert.deepEqual(pick(added, Object.keys(member)), member);
    const text = textOf(await run(...add, "Ann@example.com", "--role", "owner"));
    assert.match(text, /is now owner of ws_/);
    const list = ["member", "list", "--workspace", workspace];
    assert.deepEqual(jsonOf(await run(...list, "--json")), [{ ...added, role: "owner" }]);
    assert.match(
      textOf(await run(...list)),
      /^ID +EMAIL +ROLE +SINCE\nmem_\S+ +ann@example\.com +owner /,
    );
  });

  test("members are removed, whether they have joined or not, except the last owner", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const within = ["--workspace", workspace];
    const add = ["member", "add", ...within, "--email"];
    const ann = jsonOf(await run(...add, "ann@example.com", "--role", "owner", "--json"));
    const bob = jsonOf(await run(...add, "bob@example.com", "--role", "viewer", "--json"));
    await db.query(
      `insert into members (workspace_id, email, role, joined_at) values ($1, 'cy@example.com', 'owner', null)`,
      [workspace],
    );
    const remove = ["member", "remove", ...within, "--email"];
    const last = await run(...remove, "ann@example.com");
    assertMistake(last, "the last owner", /last owner cannot be removed; make somebody else/);
    assert.deepEqual(jsonOf(await run(...remove, "BOB@example.com", "--json")), bob);
    assert.equal(
      textOf(await run(...remove, "cy@example.com")),
      `cy@example.com is no longer owner of ${workspace}.`,
    );
    const again = await run(...remove, "bob@example.com");
    assertMistake(again, "nobody", /bob@example\.com is no member .*countersign member list/);
    assert.deepEqual(jsonOf(await run("member", "list", ...within, "--json")), [ann]);
  });

  test("lists with nothing in them are an empty JSON list, or say how to begin", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const within = ["--workspace", workspace];
    assert.deepEqual(jsonOf(await run("group", "list", ...within, "--json")), []);
    for (const noun of ["webhook", "group", "member"]) {
      assert.match(textOf(await run(noun, "list", ...within)), /yet\./);
    }
  });

  test("neither a key nor a secret is in the database in clear", async () => {
    const { id: workspace } = await makeWorkspace(db);
    const name = `Agent ${randomBytes(6).toString("hex")}`;
    const [issue, create] = await Promise.all([
      run("key", "create", "--workspace", workspace, "--name", name, "--json"),
      run("webhook", "create", "--workspace", workspace, "--url", "https://a.example", "--json"),
    ]);
    const { key } = jsonOf(issue);
    const { id, secret } = jsonOf(create);
    const { secret: rotated } = jsonOf(await run("webhook", "rotate", id, "--json"));
    const named = ["activity", "api_keys"];
    assert.deepEqual(await findTablesWith(name), named, "the search finds what is there");
    const digest = createHash("sha256").update(key).digest();
    assert.deepEqual(await findTablesWith(digest), ["api_keys"]);
    for (const text of [key, secret, rotated]) {
      const withoutPrefix = text.slice(text.indexOf("_") + 1);
      assert.deepEqual(await findTablesWith(withoutPrefix), []);
      assert.deepEqual(await findTablesWith(Buffer.from(withoutPrefix)), []);
      assert.deepEqual(await findTablesWith(Buffer.from(withoutPrefix, "base64")), []);
    }
  });

  test("migrate brings an empty database up to date, and then has nothing to do", async () => {
    const empty = await makeTestDatabase({ isEmpty: true });
    try {
      const on = externalOn(empty.url);
      const first = jsonOf(await runOn(on, "migrate", "--json"));
      assert.ok(first.applied.includes("0001_first_schema.sql"), JSON.stringify(first));
      assert.deepEqual(jsonOf(await runOn(on, "migrate", "--json")), { applied: [] });
      assert.equal(textOf(await runOn(on, "migrate")), "Nothing to do.");
      assert.deepEqual(jsonOf(await runOn(on, "workspace", "list", "--json")), []);
    } finally {
      await empty.drop();
    }
  });

  test("doctor passes, even without a server, and says what it looked at", async () => {
    const text = textOf(await run("doctor"));
    for (const check of ["database", "schema", "clock", "role"]) {
      assert.match(text, new RegExp(`^ok +${check}: `, "m"));
    }
    assert.match(text, /^warning +public URL: /m);
    const findings: Finding[] = jsonOf(await run("doctor", "--json"));
    assert.deepEqual(
      findings.map(({ check, state }) => `${check} ${state}`),
      ["database ok", "schema ok", "clock ok", "role ok", "public URL warning", "mail warning"],
    );
    assert.match(
      textOf(await runOn(externalOn(database.url), "doctor")),
      /^warning +role: the service runs as \w+, which owns its tables: .* DATABASE_OWNER_URL /m,
    );
    const open = { ...external, CALLBACK_ALLOW_CIDRS: "10.0.0.0/8,fd00::/8" };
    assert.match(
      textOf(await runOn(open, "doctor")),
      /^ok +callbacks: every API key can have outcomes POSTed into 10\.0\.0\.0\/8, fd00::\/8;/m,
    );
  });

  test("doctor fails in one line when the database is out of reach, and tells machines as well", async () => {
    const doctor = await runOn(externalOn(unreachableUrl), "doctor", "--json");
    assert.notEqual(doctor.code, 0);
    assertOneLine(doctor.stderr, /database/);
    const findings: Finding[] = JSON.parse(doctor.stdout);
    assert.equal(findings.find(({ check }) => check === "database")?.state, "failed");
    const text = await runOn(externalOn(unreachableUrl), "doctor");
    assert.match(text.stdout, /^FAILED +database: .*DATABASE_URL/m);
    assertOneLine(text.stderr, /database/);
  });
});

describe("a mistake", { concurrency: 2 }, () => {
  test("in a command is told in one line on standard error, and changes nothing", async () => {
    const other = await makeTestDatabase();
    const { connection } = other;
    const otherDb = openDatabase({ connection, connectionsMax: 2, onIdleFault: () => {} });
    try {
      const { id: workspace } = await makeWorkspace(otherDb);
      const rowsBefore = await countRows(otherDb);
      const on = externalOn(other.url);
      await Promise.all(
        mistakesIn(workspace).map(async ([words, pattern]) =>
          assertMistake(await runOn(on, ...words), words.join(" "), pattern),
        ),
      );
      assert.deepEqual(await countRows(otherDb), rowsBefore);
    } finally {
      await otherDb.end();
      await other.drop();
    }
  });

  test("in the environment is told in one line that says what to look at", async () => {
    const strangerUrl = new URL(database.url);
    strangerUrl.username = "no_such_role";
    const wrong: [what: string, environment: Environment, pattern: RegExp][] = [
      ["unreachable", externalOn(unreachableUrl), /database cannot be reached.*DATABASE_URL/],
      ["no such database", externalOn(withDatabase(database.url, "nowhere")), /DATABASE_URL/],
      ["no such role", externalOn(strangerUrl.href), /DATABASE_URL/],
      ["not a URL", externalOn("postgres://nobody@ho:st:x/y"), /DATABASE_URL/],
      ["no key", { DATABASE_URL: database.url }, /SECRET_KEY/],
      ["bad key", { ...external, SECRET_KEY: "short" }, /SECRET_KEY/],
    ];
    const outcomes = await Promise.allSettled(
      wrong.map(async ([what, environment, pattern]) =>
        // A process each: some of these faults nobody can catch but the process.
        assertMistake(await runProcess(environment, ["workspace", "list"]), what, pattern),
      ),
    );
    // All of them are tried, so that one failure does not hide another.
    const faults = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    assert.deepEqual(faults.map(String), []);
  });

  test("of not having migrated an external database is told in one line, by every kind of command", async () => {
    const empty = await makeTestDatabase({ isEmpty: true });
    try {
      const on = externalOn(empty.url);
      const pattern = /not migrated.*countersign migrate/;
      assertMistake(await runOn(on, "workspace", "list", "--json"), "a list", pattern);
      const create = await runOn(on, "workspace", "create", "--name", "Acme");
      assertMistake(create, "a change", pattern);
      const doctor = await runOn(on, "doctor");
      assert.notEqual(doctor.code, 0);
      assertOneLine(doctor.stderr, /schema/);
    } finally {
      await empty.drop();
    }
  });

  test("of naming no command is answered with help, or in one line", async () => {
    for (const words of [[], ["key"]]) {
      const { code, stdout, stderr } = await run(...words);
      const isHelp = code === 0 && stdout.startsWith("Usage: countersign") && stderr === "";
      const isOneLine = code !== 0 && stdout === "" && /^[^\n]+\n$/.test(stderr);
      assert.ok(isHelp || isOneLine, `countersign ${words.join(" ")}: ${code}\n${stderr}`);
    }
  });
});

describe("--help", () => {
  const commands = everyCommand(
    buildProgram({
      readConfig: () => assert.fail("help needs no configuration"),
      serve: async () => {},
      variables: [["A", "b"]],
    }),
  );

  test("of the program and of every command exits 0 and teaches by options or an example", async () => {
    await Promise.all(
      commands.map(async (words) => {
        const { code, stdout, stderr } = await runOn({}, ...words, "--help");
        assert.deepEqual({ words, code, stderr }, { words, code: 0, stderr: "" });
        assert.ok(stdout.startsWith(["Usage: countersign", ...words].join(" ")), stdout);
        assert.match(stdout, /^Options:$|^ +\$ countersign /m);
      }),
    );
  });

  test("knows every command that the documentation names", () => {
    const documented = {
      workspace: ["create", "update", "list"],
      key: ["create", "revoke", "list"],
      webhook: ["create", "list", "enable", "disable", "rotate", "test"],
      delivery: ["list", "show", "resend", "resend-failed"],
      group: ["create", "add", "remove", "list"],
      member: ["add", "list"],
      migrate: [],
      doctor: [],
      serve: [],
    };
    const known = new Set(commands.map((words) => words.join(" ")));
    for (const [noun, verbs] of Object.entries(documented)) {
      const wanted = [noun, ...verbs.map((verb) => `${noun} ${verb}`)];
      assert.deepEqual(
        wanted.filter((words) => !known.has(words)),
        [],
      );
    }
  });
});

describe("on an embedded database", () => {
  const embedded = { DATA_DIR: dataDir };
  let workspace: string;
  let key: string;

  test("a command makes it if need be, with only the result on standard output", async () => {
    const create = await runOn(embedded, "workspace", "create", "--name", "Acme", "--json");
    assert.equal(create.code, 0, create.stderr);
    workspace = JSON.parse(create.stdout).id;
    assert.equal(create.stderr, "");
    assert.equal(postmasterPid(dataDir), null, "PostgreSQL stops with the command");
  });

  test("commands work on it while no server runs, and leave no PostgreSQL behind", async () => {
    const create = ["key", "create", "--workspace", workspace, "--name", "Agent", "--json"];
    const [issued, listed] = await Promise.all([
      runOn(embedded, ...create),
      runOn(embedded, "workspace", "list", "--json"),
    ]);
    ({ key } = jsonOf(issued));
    assert.deepEqual(jsonOf(listed)[0].id, workspace);
    assert.equal(postmasterPid(dataDir), null);
  });

  test("a failing command leaves no PostgreSQL behind either", async () => {
    const revoke = await runOn(embedded, "key", "revoke", "key_nope");
    assertMistake(revoke, "unknown key", /no key key_nope/);
    assert.equal(postmasterPid(dataDir), null);
  });

  test("commands work on it while a server runs, and a revoked key's very next call is refused", async () => {
    const server = await startServer();
    assert.equal(await statusOf(server.address, key), 201, "a key from before is known");
    const create = ["key", "create", "--workspace", workspace, "--name", "Second", "--json"];
    const [issued, doctor] = await Promise.all([
      runOn(embedded, ...create),
      runOn({ ...embedded, PUBLIC_URL: server.address }, "doctor", "--json"),
    ]);
    const findings: Finding[] = jsonOf(doctor);
    assert.deepEqual(
      findings.filter(({ state }) => state !== "ok").map(({ check }) => check),
      ["mail"],
      "with a server behind its public URL all is well but that no mail leaves",
    );
    const second = jsonOf(issued);
    assert.equal(await statusOf(server.address, second.key), 201);
    jsonOf(await runOn(embedded, "key", "revoke", second.id, "--json"));
    assert.equal(await statusOf(server.address, second.key), 401);
    assert.equal(await statusOf(server.address, key), 201, "the other key still works");
    assert.notEqual(
      postmasterPid(dataDir),
      null,
      "a command does not take the server's PostgreSQL away",
    );
    await server.stop();
    assert.equal(postmasterPid(dataDir), null);
    const list = jsonOf(await runOn(embedded, "workspace", "list", "--json"));
    assert.equal(list[0].requestsThisMonth, 3);
  });
});

function mistakesIn(workspace: string): [words: string[], pattern: RegExp][] {
  const named = ["--name", "Acme"];
  const within = ["--workspace", workspace];
  const group = ["group", "create", ...within, ...named, "--key"];
  const webhook = ["webhook", "create", ...within, "--url"];
  const member = ["member", "add", ...within, "--email"];
  return [
    [["workspace", "create"], /--name/],
    [["key", "create", ...named], /--workspace/],
    [["group", "create", ...within, ...named], /--key/],
    [["member", "add", ...within, "--email", "a@b.co"], /--role/],
    [["member", "remove", ...within], /--email/],
    [["member", "remove", "--workspace", "ws_nope", "--email", "a@b.co"], /no workspace ws_nope/],
    [["key", "revoke"], /argument/],
    [["workspace", "list", "surplus"], /argument/],
    [["workspace", "list", "--colour"], /unknown option '--colour'/],
    [["workspace", "create", ...named, "--plan", "gold"], /plan: must be one of hobby, pro/],
    [["workspace", "create", ...named, "--expiry", "4"], /expiry: .*from 5 to 10080/],
    [["workspace", "create", ...named, "--expiry", "soon"], /soon is not a whole number/],
    [["workspace", "create", ...named, "--included", "-1"], /-1 is not a whole number/],
    [["workspace", "create", ...named, "--review-code", "yes"], /yes is neither on nor off/],
    [["workspace", "create", ...named, "--review-code"], /--review-code <on\|off>.* missing/],
    [["workspace", "create", "--name", " "], /name: must not be blank/],
    [["workspace", "update", "ws_nope", ...named], /no workspace ws_nope/],
    [["key", "create", "--workspace", "ws_nope", ...named], /no workspace ws_nope/],
    [["key", "revoke", "key_nope"], /no key key_nope/],
    [["webhook", "rotate", "we_nope"], /no webhook endpoint we_nope/],
    [["group", "add", "grp_nope", "a@b.co"], /no group grp_nope/],
    [[...webhook, "nonsense"], /url: must be a whole address/],
    [[...webhook, "https://user:secret@a.example"], /url: must not hold a user name/],
    [[...webhook, "https://a.example", "--event", "request.lost"], /request\.lost is not an event/],
    [[...group, "Not A Key"], /key: must have 1 to 64 characters/],
    [
      [...group, "finance", "--member", "a@b.co", "--member", "nobody"],
      /member nobody: must be one/,
    ],
    [[...member, "ann@", "--role", "owner"], /email: must be one plain e-mail address/],
    [[...member, "ann@example.com", "--role", "king"], /role: must be one of owner, admin, viewer/],
    [["kye"], /unknown command 'kye'/],
    [["key", "crate"], /unknown command 'crate'/],
  ];
}

type Finding = { check: string; state: string; detail: string };

function externalOn(url: string): Environment {
  // A command that went for the embedded database by mistake would leave a trace there.
  return { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: join(folder, "unused") };
}

function run(...words: string[]): Promise<Outcome> {
  return runOn(external, ...words);
}

/** In a process that the commands share; those on an embedded database run as an operator runs them. */
function runOn(environment: Environment, ...words: string[]): Promise<Outcome> {
  const isEmbedded = environment.DATA_DIR === dataDir;
  return isEmbedded ? runProcess(environment, words) : runCommand(environment, words);
}

function jsonOf(outcome: Outcome) {
  assert.match(textOf(outcome), /^[^\n]+$/, "JSON is one line");
  return JSON.parse(outcome.stdout);
}

function textOf({ code, stdout, stderr }: Outcome): string {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  assert.ok(stdout.endsWith("\n"));
  return stdout.slice(0, -1);
}

function assertMistake({ code, stdout, stderr }: Outcome, what: string, pattern: RegExp): void {
  assert.ok(code > 0, `${what}: must fail`);
  assert.equal(stdout, "", what);
  assert.match(stderr, /^[^\n]+\n$/, `${what}: exactly one line`);
  assert.match(stderr, pattern, what);
}

function assertOneLine(text: string, pattern: RegExp): void {
  assert.match(text, /^[^\n]+\n$/, "exactly one line");
  assert.match(text, pattern);
}

function pick(from: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}

function everyCommand(command: Command, words: string[] = []): string[][] {
  const below = command.commands.map((child) => everyCommand(child, [...words, child.name()]));
  return [words, ...below.flat()];
}

async function unsealLive(workspaceId: string, id: string): Promise<string[]> {
  const keyring = parseKeyring(secretKey);
  assert.ok(keyring !== null);
  const endpoint = { workspaceId, id };
  const live = await endpoints.listLiveSecrets(db, endpoint);
  return live.map(({ secretKeyId, sealed }) => {
    const key = findSecretKey(keyring, secretKeyId);
    assert.ok(key !== null, "sealed under the key of the environment");
    return unseal(key, secretRecordOf(endpoint), sealed);
  });
}

/** The tables with a row that holds this anywhere, be it text or bytes. */
async function findTablesWith(needle: string | Buffer): Promise<string[]> {
  // A row as text shows all its columns, and bytes as their hexadecimal digits.
  const text = typeof needle === "string" ? needle : needle.toString("hex");
  const found: string[] = [];
  for (const table of await listTables(db)) {
    const sql = `select 1 from ${table} as whole_row where position($1 in whole_row::text) > 0`;
    if ((await db.query(sql, [text])).rows.length > 0) found.push(table);
  }
  return found;
}

async function countRows(on: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await listTables(on)) {
    const { rows } = await on.query<{ n: number }>(`select count(*)::integer as n from ${table}`);
    counts[table] = rows[0]?.n ?? 0;
  }
  return counts;
}

async function listTables(on: Database): Promise<string[]> {
  const { rows } = await on.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by 1",
  );
  assert.ok(rows.length >= 10);
  return rows.map(({ name }) => name);
}

async function startServer(): Promise<{ address: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [program, "serve"], {
    cwd: folder,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  servers.push(child);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const find = () => /^ {2}Address {3}(http:\S+)$/m.exec(output)?.[1];
  await until(() => find() !== undefined);
  return {
    address: find() ?? "",
    stop: async () => {
      const ended = once(child, "close", { signal: AbortSignal.timeout(hangMs) });
      child.kill("SIGTERM");
      assert.deepEqual(await ended, [0, null]);
    },
  };
}

async function statusOf(address: string, key: string): Promise<number> {
  const response = await fetch(`${address}/v1/requests`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(minimalBody),
  });
  await response.text();
  return response.status;
}
