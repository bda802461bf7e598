// Lists of requests as files: what is in them, who may take them, and that a long one neither fills the memory nor
// delays others.

import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inTransaction, type Queryable } from "../src/database/database.ts";
import { exportPageItems, unindexedJsonBytesMax } from "../src/domain/limits.ts";
import { readPages } from "../src/storage/approvals/approval-export.ts";
import { everything } from "../src/storage/approvals/approval-lists.ts";
import { dueChannel } from "../src/storage/deliveries/new-deliveries.ts";
import * as activity from "../src/storage/workspaces/activity.ts";
import { until } from "./patience.ts";
import { callDashboard, fromOurPage, makeMember, signIn } from "./test-dashboard.ts";
import {
  assertRefused,
  environmentOn,
  jsonOf,
  runCommand,
  runCut,
  startProgram,
  textOf,
} from "./test-program.ts";
import { decide, findReviewer } from "./test-review.ts";
import { indexEverything } from "./test-search.ts";
import { makeWorkspace, minimalBody, startService, testPublicUrl } from "./test-service.ts";

const service = await startService();
const { db, app } = service;
after(() => service.stop());

const run = (...words: string[]) => runCommand(environmentOn(service.database.url), words);

async function makeTeam() {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const email = `viewer@${workspaceId.replaceAll("_", "-")}.example`;
  await makeMember(db, { workspaceId, email, role: "viewer" });
  return { workspaceId, key, email, cookie: await signIn(service, email) };
}

async function ask(key: string, body: object | string): Promise<string> {
  const sent = typeof body === "string" ? body : { ...minimalBody, ...body };
  const reply = await service.call("POST", "/v1/requests", { key, body: sent });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.id;
}

async function approve(id: string, more: object): Promise<void> {
  const { token } = await findReviewer(db, id);
  const reply = await decide(app, token, { verdict: "approve", ...more });
  assert.equal(reply.status, 200, reply.text);
}

async function download(
  { workspaceId, cookie }: { workspaceId: string; cookie: string },
  query: Record<string, string>,
  headers: Record<string, string> = fromOurPage,
) {
  const search = new URLSearchParams(query);
  const url = `/app/api/workspaces/${workspaceId}/requests/export?${search}`;
  return app.inject({ method: "GET", url, headers: { ...headers, cookie } });
}

async function exportsOf(workspaceId: string) {
  const entries = await activity.list(db, { workspaceId, beforeId: null, limit: 20 });
  return entries
    .filter(({ action }) => action === "requests.exported")
    .map(({ actor, subject, detail }) => ({ actor, subject, detail }));
}

const exact = `{"summary":"Pay","notify":"ann@example.com","payload":{"n":9007199254740993,\n"b":1.0},"metadata":[1E400]}`;

test("a viewer exports the filtered list, exact as the API answers it, and the activity says so", async () => {
  const team = await makeTeam();
  const { workspaceId, key, email } = team;
  const decided = await ask(key, exact);
  await ask(key, { summary: "=1+1" });
  await approve(decided, { note: "Fine", edit: '{"n":1.50}' });
  const lines = (await download(team, { format: "jsonl" })).body.trimEnd().split("\n");
  assert.equal(lines.length, 2);
  const read = await service.call("GET", `/v1/requests/${decided}`, { key });
  assert.equal(lines[1], read.text.replaceAll("\n", " "));
  const reply = await download(team, { format: "csv", status: "APPROVED", search: "pay" });
  assert.equal(reply.statusCode, 200);
  assert.match(
    String(reply.headers["content-disposition"]),
    /^attachment; filename="requests-.*\.csv"$/,
  );
  assert.match(String(reply.headers["content-type"]), /^text\/csv; charset=utf-8/);
  assert.equal(reply.headers["cache-control"], "no-store");
  const [heading, row, ...rest] = reply.body.split("\r\n");
  assert.ok(heading?.startsWith('\ufeff"id","status","summary"'));
  assert.ok(row?.includes('"ann@example.com","Fine","{""n"":9007199254740993,'));
  assert.ok(row?.includes('"{""n"":1.50}"'));
  assert.deepEqual(rest, [""]);
  assert.ok((await download(team, { format: "csv" })).body.includes(`"'=1+1"`));
  assert.deepEqual(await exportsOf(workspaceId), [
    { actor: email, subject: "CSV", detail: {} },
    { actor: email, subject: "CSV", detail: { status: "APPROVED", search: "pay" } },
    { actor: email, subject: "JSON Lines", detail: {} },
  ]);
});

test("an overdue request is exported as expired, and an empty list is a file without lines", async () => {
  const team = await makeTeam();
  const id = await ask(team.key, {});
  await db.query("update approvals set expires_at = now_ms() - interval '1 minute' where id = $1", [
    id,
  ]);
  const [line = ""] = (await download(team, { format: "jsonl" })).body.split("\n");
  const { status, resolvedAt, expiresAt } = JSON.parse(line);
  assert.deepEqual([status, resolvedAt], ["EXPIRED", expiresAt]);
  const none = await download(team, { format: "jsonl", search: "nowhere" });
  assert.deepEqual([none.statusCode, none.body], [200, ""]);
});

test("a file that might lack requests is refused, on the dashboard and at the command line, which says so in a list", async () => {
  const team = await makeTeam();
  const { workspaceId, key } = team;
  await ask(key, { payload: "zebra" });
  const statusOf = async (query: object) =>
    (await download(team, { format: "jsonl", ...query })).statusCode;
  assert.equal(await statusOf({ search: "zebra" }), 200, "a small new one is read by itself");
  const isPartial = async () => {
    for (const query of [{ search: "zebra" }, { decidedBy: "ann@example.com" }]) {
      const refused = await download(team, { format: "jsonl", ...query });
      assert.equal(refused.statusCode, 409);
      assert.match(refused.body, /still being indexed.*Try again in a moment/);
    }
    assert.equal(await statusOf({ agent: "payer" }), 200, "no index of words is asked");
    assert.equal(await statusOf({ search: "req_01" }), 200);
    const exported = ["request", "export", "--workspace", workspaceId];
    assertRefused(await run(...exported, "--search", "zebra"), /still being indexed/);
    const listed = await run("request", "list", "--workspace", workspaceId, "--search", "zebra");
    assert.match(listed.stderr, /still being indexed/);
    assert.match(listed.stdout, /^ID/);
  };
  const large = await ask(key, { payload: ["x".repeat(unindexedJsonBytesMax), "zebra"] });
  await isPartial();
  const { createdAt: to } = (await service.call("GET", `/v1/requests/${large}`, { key })).json;
  assert.equal(await statusOf({ search: "zebra", to }), 200, "nothing older is missing");
  assert.equal(await statusOf({ decidedBy: "ann@example.com", to }), 200);
  await indexEverything(db);
  const { body } = await download(team, { format: "jsonl", search: "zebra" });
  assert.equal(body.trimEnd().split("\n").length, 2);
  await db.query("insert into search_backlog values ($1, 'req_g')", [workspaceId]);
  await isPartial();
});

test("nobody exports what they may not see, nor by a link on another site, nor without end", async () => {
  const team = await makeTeam();
  const other = await makeTeam();
  await ask(other.key, { summary: "Theirs" });
  const foreign = await download({ ...other, cookie: team.cookie }, { format: "csv" });
  assert.equal(foreign.statusCode, 404);
  const elsewhere = await download(team, { format: "csv" }, { "sec-fetch-site": "cross-site" });
  assert.equal(elsewhere.statusCode, 403);
  const wrong = await download(team, { format: "xls" });
  assert.equal(wrong.statusCode, 400);
  const head = await callDashboard(service, "GET /workspaces/:workspaceId/requests/export", {
    cookie: team.cookie,
    params: { workspaceId: team.workspaceId },
    query: { format: "csv", sort: "expiry", status: "APPROVED" },
  });
  assert.equal(head.status, 400);
  assert.deepEqual(await exportsOf(team.workspaceId), []);
  await untilTooMany(team);
});

/** As the browser opens an address. */
const asBrowser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-site": "none" };

test("the page learns beforehand that a file would be refused, which takes no turn and notes no export", async () => {
  const team = await makeTeam();
  const { workspaceId, cookie } = team;
  const check = (query: Record<string, string>) =>
    callDashboard(service, "GET /workspaces/:workspaceId/exportable", {
      ...{ cookie, params: { workspaceId }, query },
    });
  for (let times = 0; times < 30; times += 1) {
    assert.deepEqual((await check({ format: "csv" })).json, { done: true });
  }
  assert.equal((await check({ format: "xls" })).status, 400);
  await db.query("insert into search_backlog values ($1, 'req_g')", [workspaceId]);
  const behind = await check({ format: "csv", search: "zebra" });
  assert.equal(behind.status, 409);
  assert.match(behind.json.error.message, /still being indexed.*Try again in a moment/);
  assert.deepEqual(await exportsOf(workspaceId), []);
  await untilTooMany(team);
  const tooMany = await check({ format: "csv" });
  assert.equal(tooMany.status, 429);
  assert.match(tooMany.json.error.message, /Wait [0-9]+ seconds, then try again/);
  assert.ok(Number(tooMany.headers["retry-after"]) > 0);
});

test("a browser whose export is refused comes back to the list with its filter, and programs get the refusal", async () => {
  const team = await makeTeam();
  const { workspaceId } = team;
  const filter = { search: "zebra & co", agent: "", sort: "oldest" };
  const back = async (asked: typeof team, query: Record<string, string> = {}) => {
    const reply = await download(asked, { format: "jsonl", ...filter, ...query }, asBrowser);
    assert.equal(reply.statusCode, 303, reply.body);
    assert.equal(reply.body, "");
    const { pathname, searchParams } = new URL(String(reply.headers.location));
    const list = new URL(`${testPublicUrl}/app/w/${asked.workspaceId}/requests`);
    assert.equal(pathname, list.pathname);
    return Object.fromEntries(searchParams);
  };
  const signedOut = { ...team, cookie: "" };
  assert.deepEqual(await back(signedOut), { ...filter, export: "jsonl" });
  assert.equal((await download(signedOut, { format: "csv" })).statusCode, 401);
  await db.query("insert into search_backlog values ($1, 'req_g')", [workspaceId]);
  assert.deepEqual(await back(team), { ...filter, export: "jsonl" });
  assert.equal((await download(team, { format: "csv", ...filter })).statusCode, 409);
  // Only the filter comes along.
  assert.deepEqual(await back(team, { next: "https://evil.example" }), {
    ...filter,
    export: "jsonl",
  });
  await untilTooMany(team);
  assert.deepEqual(await back(team), { ...filter, export: "jsonl" });
  const other = await makeTeam();
  await db.query("alter table approvals rename to away");
  const lost = await back(other).finally(() => db.query("alter table away rename to approvals"));
  assert.deepEqual(lost, { ...filter, export: "jsonl" }, "after a fault, too");
});

async function untilTooMany(team: { workspaceId: string; cookie: string }): Promise<void> {
  let status = 200;
  for (let tries = 0; tries < 40 && status === 200; tries += 1) {
    status = (await download(team, { format: "jsonl" })).statusCode;
  }
  assert.equal(status, 429);
}

test("a long list is read a page at a time, as fast as it is taken, and everything in it comes once", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  const count = 3 * exportPageItems + 7;
  await db.query(
    `insert into approvals (workspace_id, id, summary, approver_email, expires_at, payload)
     select $1, 'req_' || lpad(to_hex(1600000000000 + i), 12, '0') || repeat('0', 20), 'Filler', 'ann@example.com',
       now() + interval '1 day', case when i < 4 then '"' || repeat('x', 3000000) || '"' end
     from generate_series(1, $2::int) as i`,
    [workspaceId, count],
  );
  let statements = 0;
  const through = {
    query: (text: string, values: unknown[]) => {
      statements += 1;
      return db.query(text, values);
    },
  } as unknown as Queryable;
  const pages = readPages(through, workspaceId, everything);
  await pages.next();
  const atFirst = statements;
  assert.ok(atFirst <= 3, `${atFirst} statements`);
  const sizes: number[] = [];
  const ids = new Set<string>();
  for await (const page of readPages(db, workspaceId, everything)) {
    for (const { id } of page) ids.add(id);
    sizes.push(page.length);
  }
  assert.equal(ids.size, count);
  assert.ok(sizes.every((size) => size <= exportPageItems));
  assert.deepEqual(sizes.slice(-3), [1, 1, 1], "large ones are read alone");
});

test("the command line lists, shows and exports with the same filters", async () => {
  const { workspaceId, key } = await makeTeam();
  const id = await ask(key, exact);
  await ask(key, { summary: "Other \u202etxet" });
  await approve(id, { note: "Fine" });
  const folder = await mkdtemp(join(tmpdir(), "export-"));
  try {
    const file = join(folder, "out.jsonl");
    const list = ["request", "list", "--workspace", workspaceId];
    const written = ["request", "export", "--workspace", workspaceId];
    const listed = jsonOf(await run(...list, "--decided-by", "ann@example.com", "--json"));
    assert.deepEqual(
      listed.map((each: { id: string }) => each.id),
      [id],
    );
    const waiting = jsonOf(await run(...list, "--waiting-for", "ann@example.com", "--json"));
    assert.deepEqual(
      waiting.map((each: { summary: string }) => each.summary),
      ["Other \u202etxet"],
    );
    assert.deepEqual(jsonOf(await run(...list, "--escalated", "--unreachable", "--json")), []);
    const table = textOf(await run(...list));
    assert.match(table, /^ID +STATUS +CREATED +AGENT +APPROVER +DECIDED BY +DECIDED +SUMMARY$/m);
    assert.ok(!table.includes("\u202e"));
    const cut = await run(...list, "--limit", "1");
    assert.equal(cut.stdout.trim().split("\n").length, 2);
    assert.match(cut.stderr, /Only the first 1 are listed/);
    const shown = await run("request", "show", id, "--json");
    assert.ok(textOf(shown).includes('"n":9007199254740993'));
    const tabbed = await ask(
      key,
      '{"summary":"Tab","notify":"ann@example.com","payload":{"a":\t1,\r\n"b":"\u009b"}}',
    );
    const { payload } = jsonOf(await run("request", "show", tabbed, "--json"));
    assert.deepEqual(payload, { a: 1, b: "\u009b" });
    assert.match(textOf(await run("request", "show", tabbed)), /payload +\{"a": 1, "b":"\[U\+009B/);
    assert.match(textOf(await run("request", "show", id)), /decided by +ann@example.com/);
    const csv = textOf(await run(...written, "--status", "APPROVED", "--decided-from", "1h"));
    assert.equal(csv.trim().split("\r\n").length, 2);
    const quiet = await run(...written, "--format", "jsonl", "--search", "pay", "--output", file);
    assert.deepEqual(quiet, { code: 0, stdout: "", stderr: "" });
    const read = await service.call("GET", `/v1/requests/${id}`, { key });
    assert.equal(await readFile(file, "utf8"), `${read.text.replaceAll("\n", " ")}\n`);
    assertRefused(await run("request", "show", "req_none"), /there is no request req_none/);
    assertRefused(await run("request", "list", "--workspace", "ws_none"), /no workspace ws_none/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the command line shows how far several people are, and reminds them once in an hour", async () => {
  const { key } = await makeTeam();
  const id = await ask(key, {
    summary: "Pay",
    notify: "ann@example.com",
    then: [{ notify: "ben@example.com" }],
    requestedBy: "eve@example.com",
  });
  await approve(id, { note: "Fine" });
  const shown = textOf(await run("request", "show", id));
  assert.match(shown, /for +eve@example\.com/);
  assert.match(shown, /stage 1 +ann@example\.com: 1 of 1 approved\n.* ann@.*"Fine"/);
  assert.match(shown, /stage 2\* +ben@example\.com: 0 of 1 approved/);
  const { approvals } = jsonOf(await run("request", "show", id, "--json"));
  assert.equal(approvals.stage, 2);
  assert.deepEqual(jsonOf(await run("request", "remind", id, "--json")), { id, reminded: 1 });
  assertRefused(await run("request", "remind", id), /reminded within the last 60 minutes/);
  await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  assertRefused(await run("request", "remind", id), /is decided already/);
  assertRefused(await run("request", "remind", "req_none"), /there is no request req_none/);
});

test("the command line cancels what is pending, as everybody sees, and leaves what is decided as it is", async () => {
  const { key, workspaceId } = await makeTeam();
  const [pending, other, decided] = [await ask(key, {}), await ask(key, {}), await ask(key, {})];
  await approve(decided, {});
  assertRefused(
    await run("request", "cancel", pending, "req_none"),
    /there is no request req_none/,
  );
  const words = ["request", "cancel", pending, decided, other, pending];
  const listening = await db.connect();
  let wakes = 0;
  listening.on("notification", () => (wakes += 1));
  await listening.query(`listen ${dueChannel}`);
  assert.equal(
    textOf(await run(...words)),
    `Cancelled ${pending}.\n${decided} stays as it was: APPROVED.\nCancelled ${other}.`,
  );
  await until(() => wakes === 2, "a worker to hear of both");
  await listening.query("unlisten *");
  listening.release();
  assert.deepEqual(jsonOf(await run("request", "cancel", pending, "--json")), [
    { id: pending, isCancelled: false, status: "CANCELLED" },
  ]);
  const { status } = jsonOf(await run("request", "show", pending, "--json"));
  assert.equal(status, "CANCELLED");
  const entries = await activity.list(db, { workspaceId, beforeId: null, limit: 20 });
  const cancelled = entries.filter(({ action }) => action === "request.withdrawn");
  assert.deepEqual(
    cancelled.map(({ actor, detail }) => ({ actor, detail })),
    [other, pending].map((request) => ({ actor: null, detail: { request } })),
  );
});

test("an export that is ended leaves no part of a file behind, and the next one removes what a killed one left", async () => {
  const { workspaceId, key } = await makeTeam();
  await ask(key, {});
  const folder = await mkdtemp(join(tmpdir(), "export-"));
  const words = ["request", "export", "--workspace", workspaceId];
  const output = ["--output", join(folder, "out.csv")];
  const endBy = (signal: NodeJS.Signals) =>
    inTransaction(db, async (tx) => {
      await tx.query("lock table approvals in access exclusive mode");
      const program = startProgram(environmentOn(service.database.url), [...words, ...output]);
      await until(async () => {
        // PostgreSQL ends transactions in which nothing happens.
        await tx.query("select 1");
        return (await readdir(folder)).some((name) => name.endsWith(".part"));
      });
      program.child.kill(signal);
      assert.deepEqual(await program.ended, { code: null, signal });
    });
  try {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      await endBy(signal);
      assert.deepEqual(await readdir(folder), [], signal);
    }
    await endBy("SIGKILL");
    const others = [`out.csv.${process.pid}.part`, "mine.part", "out.csv.old.part"];
    for (const name of others) await writeFile(join(folder, name), "");
    assert.equal((await run(...words, ...output)).code, 0);
    assert.deepEqual((await readdir(folder)).toSorted(), [...others, "out.csv"].toSorted());
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("an export that fails leaves the earlier file as it was, and one whose reader left ends quietly", async () => {
  const { workspaceId, key } = await makeTeam();
  const folder = await mkdtemp(join(tmpdir(), "export-"));
  try {
    const file = join(folder, "out.csv");
    await writeFile(file, "earlier");
    const written = ["request", "export", "--workspace", workspaceId];
    const large = JSON.stringify("x".repeat(1_000_000));
    for (let n = 0; n < 8; n += 1) await ask(key, { payload: large });
    await db.query("alter table approvals rename column metadata to away");
    // The list is read before the rows are.
    const failed = await run(...written, "--output", file);
    await db.query("alter table approvals rename column away to metadata");
    assert.notEqual(failed.code, 0);
    assert.equal(await readFile(file, "utf8"), "earlier");
    assert.deepEqual(await readdir(folder), ["out.csv"]);
    assertRefused(
      await run(...written, "--output", join(folder, "none", "out.csv")),
      /out\.csv can't be written/,
    );
    assert.equal((await run(...written, "--output", file)).code, 0);
    assert.match(await readFile(file, "utf8"), /^\ufeff"id"/);
    assert.deepEqual(await readdir(folder), ["out.csv"]);
    const cut = await runCut(environmentOn(service.database.url), written);
    assert.deepEqual([cut.code, cut.stderr], [0, ""]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
