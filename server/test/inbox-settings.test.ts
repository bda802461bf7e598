// The settings of the inbox: when mail comes, quiet hours, push messages in browsers, and Slack accounts.

import assert from "node:assert/strict";
import { createECDH, randomBytes, randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { pushBrowsersMax } from "../src/domain/channels/push-limits.ts";
import { linkSlackAccount } from "../src/operations/channels/link-slack-account.ts";
import { callDashboard, signIn } from "./test-dashboard.ts";
import { callInbox } from "./test-inbox.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());

async function makePerson() {
  const email = `Ann-${randomUUID().slice(0, 8)}@example.com`;
  const workspace = await makeWorkspace(db);
  const body = { ...minimalBody, notify: email };
  await service.call("POST", "/v1/requests", { key: workspace.key, body });
  return { email, cookie: await signIn(service, email), workspaceId: workspace.id };
}

function post(cookie: string, path: string, body: unknown = {}) {
  return callInbox(service, `POST ${path}`, { cookie, body });
}

async function settingsOf(cookie: string) {
  const { status, json, text } = await callInbox(service, "GET /settings", { cookie });
  assert.equal(status, 200, text);
  return json;
}

function subscription(endpoint = `https://push.example/${randomUUID()}`) {
  const p256dh = createECDH("prime256v1").generateKeys("base64url");
  return { endpoint, keys: { p256dh, auth: randomBytes(16).toString("base64url") } };
}

const quiet = { from: "22:00", until: "07:30", timeZone: "Europe/Berlin" };

test("who has chosen nothing gets mail at once, and what they choose is kept for their address alone", async () => {
  const [ann, bob] = [await makePerson(), await makePerson()];
  const before = await settingsOf(ann.cookie);
  assert.deepEqual(
    [before.email, before.mailAfterMinutes, before.usesSlack, before.quiet, before.slack],
    [ann.email, null, true, null, []],
  );
  assert.equal(Buffer.from(before.push.publicKey, "base64url").length, 65);
  const chosen = { mailAfterMinutes: 10, usesSlack: false, quiet };
  const changed = await post(ann.cookie, "/settings", chosen);
  assert.deepEqual([changed.status, changed.json], [200, { ...before, ...chosen }]);
  assert.deepEqual(await settingsOf(ann.cookie), { ...before, ...chosen });
  assert.equal((await settingsOf(bob.cookie)).mailAfterMinutes, null);
  const none = { mailAfterMinutes: null, usesSlack: true, quiet: null };
  assert.deepEqual((await post(ann.cookie, "/settings", none)).json, before);
});

test("settings that make no sense are refused, and the former ones stay", async () => {
  const { cookie } = await makePerson();
  const good = { mailAfterMinutes: 1_440, usesSlack: true, quiet };
  assert.equal((await post(cookie, "/settings", good)).status, 200);
  const bad: unknown[] = [
    ...[0, -1, 1.5, 1_441, "10", true].map((mailAfterMinutes) => ({ ...good, mailAfterMinutes })),
    ...["24:00", "7:30", "22:60", "", "22:00:00", " 22:00"].flatMap((time) => [
      { ...good, quiet: { ...quiet, from: time } },
      { ...good, quiet: { ...quiet, until: time } },
    ]),
    { ...good, quiet: { ...quiet, until: quiet.from } },
    ...["", "Nowhere/At_all", "+05:30", "GMT+3", "FOO-3", "europe/berlin'", "a".repeat(3_000)].map(
      (timeZone) => ({ ...good, quiet: { ...quiet, timeZone } }),
    ),
    { ...good, usesSlack: "yes" },
    { ...good, quiet: { from: "22:00" } },
    { usesSlack: true, quiet: null },
    [],
    "{",
  ];
  for (const body of bad) {
    const reply = await post(cookie, "/settings", body);
    assert.equal(reply.status, 400, `${JSON.stringify(body).slice(0, 200)}: ${reply.text}`);
  }
  const { mailAfterMinutes, usesSlack, quiet: kept } = await settingsOf(cookie);
  assert.deepEqual({ mailAfterMinutes, usesSlack, quiet: kept }, good);
});

test("every time zone that browsers name is one that the database can tell the time of", async () => {
  const { rows } = await db.query<{ name: string }>("select name from pg_timezone_names");
  const known = new Set(rows.map(({ name }) => name));
  const unknown = Intl.supportedValuesOf("timeZone").filter((name) => !known.has(name));
  assert.deepEqual(unknown, []);
  const { cookie } = await makePerson();
  for (const timeZone of ["UTC", "Asia/Calcutta", "America/Argentina/Buenos_Aires"]) {
    const body = { mailAfterMinutes: null, usesSlack: true, quiet: { ...quiet, timeZone } };
    assert.equal((await post(cookie, "/settings", body)).status, 200, timeZone);
  }
});

test("a browser gets push messages until it is removed or signed out, and those of one person", async () => {
  const [ann, bob] = [await makePerson(), await makePerson()];
  const browser = subscription();
  const { json } = await post(ann.cookie, "/push-subscriptions", browser);
  assert.deepEqual(
    json.push.browsers.map(({ isThis }: { isThis: boolean }) => isThis),
    [true],
  );
  const again = await post(ann.cookie, "/push-subscriptions", browser);
  assert.equal(again.json.push.browsers.length, 1);
  const [{ id }] = json.push.browsers;
  assert.equal((await post(bob.cookie, `/push-subscriptions/${id}/remove`)).status, 404);
  const moved = await post(bob.cookie, "/push-subscriptions", browser);
  assert.equal(moved.json.push.browsers.length, 1);
  assert.deepEqual((await settingsOf(ann.cookie)).push.browsers, []);
  assert.equal((await post(bob.cookie, `/push-subscriptions/${id}/remove`)).status, 200);
  assert.equal((await post(bob.cookie, `/push-subscriptions/${id}/remove`)).status, 404);
  await post(ann.cookie, "/push-subscriptions", subscription());
  await callDashboard(service, "POST /sign-out", { cookie: ann.cookie });
  const { rows } = await db.query("select from push_subscriptions where email = lower($1)", [
    ann.email,
  ]);
  assert.equal(rows.length, 0);
});

test("a person has so many browsers, and the one that was used last is among them", async () => {
  const { email } = await makePerson();
  let last = null;
  for (let at = 0; at < pushBrowsersMax + 3; at += 1) {
    const cookie = await signIn(service, email);
    last = await post(cookie, "/push-subscriptions", subscription());
    assert.equal(last.status, 200, last.text);
  }
  const { browsers } = last?.json.push ?? {};
  assert.deepEqual(
    [browsers.length, browsers.filter(({ isThis }: { isThis: boolean }) => isThis).length],
    [pushBrowsersMax, 1],
  );
});

test("an endpoint or a key that no browser gives is refused", async () => {
  const { cookie } = await makePerson();
  const good = subscription();
  const notOnCurve = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString("base64url");
  const bad: unknown[] = [
    { ...good, endpoint: "http://push.example/x" },
    { ...good, endpoint: "ftp://push.example/x" },
    { ...good, endpoint: "https://user:word@push.example/x" },
    { ...good, endpoint: "javascript:alert(1)" },
    { ...good, endpoint: "" },
    { ...good, endpoint: `https://push.example/${"x".repeat(2_000)}` },
    { ...good, endpoint: 1 },
    { ...good, keys: { ...good.keys, p256dh: notOnCurve } },
    { ...good, keys: { ...good.keys, p256dh: "" } },
    { ...good, keys: { ...good.keys, p256dh: "not base64!" } },
    { ...good, keys: { ...good.keys, auth: randomBytes(15).toString("base64url") } },
    { ...good, keys: { ...good.keys, auth: "x".repeat(5_000) } },
    { ...good, keys: null },
    {},
  ];
  for (const body of bad) {
    const reply = await post(cookie, "/push-subscriptions", body);
    assert.equal(reply.status, 400, `${JSON.stringify(body).slice(0, 200)}: ${reply.text}`);
  }
  assert.deepEqual((await settingsOf(cookie)).push.browsers, []);
});

test("the code that the inbox shows links a Slack account, and the person can end that", async () => {
  const { email, cookie, workspaceId } = await makePerson();
  assert.equal((await settingsOf(cookie)).canLinkSlack, false);
  await db.query(
    `insert into slack_connections (workspace_id, team_id, team_name, app_id, bot_user_id, mode, secret_key_id,
       sealed_bot_token, sealed_app_token)
     values ($1, 'T1', 'Acme', 'A1', 'B1', 'socket', 'k', '', '')`,
    [workspaceId],
  );
  assert.equal((await settingsOf(cookie)).canLinkSlack, true);
  const older = await post(cookie, "/slack-code");
  const made = await post(cookie, "/slack-code");
  assert.match(made.json.code, /^[2-9A-HJ-NP-Z]{8}$/);
  assert.ok(Date.parse(made.json.expiresAt) > Date.now());
  const { rows } = await db.query("select to_jsonb(c)::text as row from slack_link_codes c");
  assert.ok(rows.every(({ row }) => !row.includes(made.json.code)));
  const place = { teamId: "T1", appId: "A1", slackUserId: "U1" };
  assert.equal(await linkSlackAccount(db, { code: older.json.code, ...place }), null);
  const linked = await linkSlackAccount(db, { code: made.json.code, ...place });
  assert.equal(linked?.email, email.toLowerCase());
  const account = { teamId: "T1", teamName: "Acme", slackUserId: "U1", source: "linked" };
  assert.deepEqual((await settingsOf(cookie)).slack, [account]);
  const { cookie: another } = await makePerson();
  assert.equal((await post(another, "/slack-accounts/T1/remove")).status, 404);
  const removed = await post(cookie, "/slack-accounts/T1/remove");
  assert.deepEqual([removed.status, removed.json.slack], [200, []]);
  for (const hostile of ["T1", "%00", "x".repeat(3_000)]) {
    assert.equal((await post(cookie, `/slack-accounts/${hostile}/remove`)).status, 404);
  }
});

test("settings need a session, and a call from our own page", async () => {
  const { cookie } = await makePerson();
  const paths = ["/settings", "/push-subscriptions", "/push-subscriptions/x/remove", "/slack-code"];
  for (const path of [...paths, "/slack-accounts/T1/remove"]) {
    const stranger = await callInbox(service, `POST ${path}`);
    assert.deepEqual([path, stranger.status], [path, 401]);
    const elsewhere = await callInbox(service, `POST ${path}`, { cookie, headers: {} });
    assert.deepEqual([path, elsewhere.status], [path, 403]);
  }
  assert.equal((await callInbox(service, "GET /settings")).status, 401);
});
