// Connections at work: when one ends, how often its tokens may be used, and how many there may be.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, type TestContext, test } from "node:test";
import { type Keyring, parseKeyring } from "../../server/src/domain/access/keyring.ts";
import { isOAuthRefusal } from "../../server/src/domain/access/oauth.ts";
import {
  connectionsPerPersonMax,
  oauthRefreshesPerMinuteMax,
} from "../../server/src/domain/limits.ts";
import { isRefusal } from "../../server/src/domain/refusal.ts";
import { addMember, removeMemberByEmail } from "../../server/src/operations/people/add-member.ts";
import {
  changeMemberRole,
  leaveWorkspace,
  removeMember,
} from "../../server/src/operations/people/manage-members.ts";
import { refreshTokens } from "../../server/src/operations/workspaces/connect-client.ts";
import { endTrial, firstOwnerEmail } from "../../server/src/operations/workspaces/first-run.ts";
import { revokeKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { findByKey } from "../../server/src/storage/workspaces/connections.ts";
import { makeMember } from "../../server/test/test-dashboard.ts";
import { startService, testKeyring } from "../../server/test/test-service.ts";
import { openBrowser, openHand, redirectUri } from "./connecting.ts";

const service = await startService();
after(() => service.stop());
const { db } = service;

/** An app that its person has just connected, and a code that waits for it. */
async function connect(context: TestContext, email?: string) {
  const hand = await openHand(context, service);
  const browser = await openBrowser(hand.place, "admin", email);
  const { json } = await hand.exchange(await hand.codeOf(browser));
  const code = await hand.codeOf(browser);
  const { workspaceId } = browser;
  const { rows } = await db.query<{ id: string }>(
    "select id from members where workspace_id = $1",
    [workspaceId],
  );
  const boss = `boss@${workspaceId.replace("_", "-")}.example`;
  await makeMember(db, { workspaceId, email: boss, role: "owner" });
  return { hand, browser, json, code, workspaceId, id: rows[0]?.id ?? "", boss };
}

type Connected = Awaited<ReturnType<typeof connect>>;

const waysToLoseTheRole: [name: string, lose: (who: Connected) => Promise<object>][] = [
  [
    "an owner makes them a viewer",
    ({ workspaceId, id, boss: actor }) =>
      changeMemberRole(db, { id, role: "viewer" }, { actor, workspaceId }),
  ],
  [
    "an owner removes them",
    ({ workspaceId, id, boss: actor }) =>
      removeMember(db, { id, groups: false }, { actor, workspaceId }),
  ],
  [
    "they leave",
    ({ workspaceId, browser: { email } }) => leaveWorkspace(db, { workspaceId, email }),
  ],
  [
    "the operator makes them a viewer",
    ({ workspaceId, browser: { email } }) => addMember(db, { workspaceId, email, role: "viewer" }),
  ],
  [
    "the operator removes them",
    ({ workspaceId, browser: { email } }) => removeMemberByEmail(db, { workspaceId, email }),
  ],
  ["a trial ends", () => endTrial(db)],
];

for (const [name, lose] of waysToLoseTheRole) {
  test(`an app is revoked with its person's right to connect it, and doesn't come back with them: ${name}`, async (context) => {
    const isTrial = name === "a trial ends";
    const connected = await connect(context, isTrial ? firstOwnerEmail : undefined);
    const { hand, browser, json, code, workspaceId } = connected;
    const { email } = browser;
    assert.equal(await hand.statusOf(json.access_token), 200);
    const lost = await lose(connected);
    assert.ok(!isRefusal(lost), JSON.stringify(lost));
    assert.equal(await hand.statusOf(json.access_token), 401);
    await addMember(db, { workspaceId, email, role: "owner" });
    assert.equal(await hand.statusOf(json.access_token), 401);
    assert.equal((await hand.refresh(json.refresh_token)).json.error, "invalid_grant");
    assert.equal((await hand.exchange(code)).json.error, "invalid_grant");
    const { rows } = await db.query<{ subject: string; detail: { reason: string } }>(
      "select subject, detail from activity where workspace_id = $1 and action = 'key.revoked'",
      [workspaceId],
    );
    assert.deepEqual(rows, [
      { subject: "A client", detail: { reason: `${email} is no admin or owner any more` } },
    ]);
  });
}

test("an app stays connected while its person goes from admin to owner, and others lose their roles", async (context) => {
  const { hand, json, workspaceId, id, boss: actor } = await connect(context);
  await changeMemberRole(db, { id, role: "owner" }, { actor, workspaceId });
  await removeMemberByEmail(db, { workspaceId, email: actor });
  assert.equal(await hand.statusOf(json.access_token), 200);
});

test("rights are looked up at each call: a role that went without a word opens nothing", async (context) => {
  const { hand, json, id } = await connect(context);
  await db.query("update members set role = 'viewer' where id = $1", [id]);
  assert.equal(await hand.statusOf(json.access_token), 401);
  assert.equal((await hand.refresh(json.refresh_token)).json.error, "invalid_grant");
});

test("a refresh token has one answer, however often it comes at once, and it can be had again while it may be lost", async (context) => {
  const { hand, json: first } = await connect(context);
  assert.equal((await hand.refresh(first.access_token)).json.error, "invalid_grant");
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => hand.refresh(first.refresh_token)),
  );
  const pairs = new Set(
    replies.map(({ json }) => `${json.access_token} ${json.refresh_token} ${json.token_type}`),
  );
  assert.equal(pairs.size, 1);
  const answer = replies[0]?.json;
  assert.notEqual(answer.refresh_token, first.refresh_token);
  assert.equal(await hand.statusOf(answer.access_token), 200);

  await db.query("update connection_tokens set used_at = used_at - interval '20 seconds'");
  const again = (await hand.refresh(first.refresh_token)).json;
  assert.equal(again.access_token, answer.access_token);
  assert.ok(again.expires_in <= 3_580, "it says how long the token still works");
  const other = (
    await hand.post("/oauth/register", JSON.stringify({ redirect_uris: [redirectUri] }))
  ).json;
  const foreign = await hand.refresh(first.refresh_token, { client_id: other.client_id });
  assert.equal(foreign.json.error, "invalid_grant");
  assert.equal(await hand.statusOf(answer.access_token), 200, "another client changes nothing");
});

/** A thief may have copied the token before it was used, or a moment after. */
const thefts: [name: string, steal: (hand: Connected["hand"], first: string) => Promise<void>][] = [
  [
    "after its time",
    async () => {
      await db.query("update connection_tokens set used_at = used_at - interval '1 hour'");
    },
  ],
  [
    "after its answer was used",
    async (hand, first) => {
      const { json } = await hand.refresh(first);
      assert.equal((await hand.refresh(json.refresh_token)).status, 200);
    },
  ],
];

for (const [name, steal] of thefts) {
  test(`a used refresh token that comes again ${name} ends the connection`, async (context) => {
    const { hand, browser, json: first } = await connect(context);
    const { json } = await hand.refresh(first.refresh_token);
    await steal(hand, first.refresh_token);
    assert.equal((await hand.refresh(first.refresh_token)).json.error, "invalid_grant");
    assert.equal(await hand.statusOf(json.access_token), 401);
    assert.equal((await hand.refresh(json.refresh_token)).json.error, "invalid_grant");
    const [entry] = await browser.activity();
    assert.equal(entry.detail.reason, "a refresh token was used twice");
  });
}

test("an answer can be had again after SECRET_KEY got a new first key, and not once its key is gone", async (context) => {
  const { hand, browser, json: first, workspaceId } = await connect(context);
  const clientId = hand.clientId;
  const refresh = (keyring: Keyring) =>
    refreshTokens(db, keyring, { refreshToken: first.refresh_token, clientId });
  const { json: answer } = await hand.refresh(first.refresh_token);
  const added = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  const { current } = added;
  const again = await refresh({ current, all: [current, ...testKeyring.all] });
  assert.ok("access" in again && again.access === answer.access_token, JSON.stringify(again));
  assert.ok(isOAuthRefusal(await refresh(added)));
  assert.equal(await hand.statusOf(answer.access_token), 200, `${workspaceId} is still connected`);
  assert.equal((await browser.activity())[0].action, "key.issued");
});

test("strangers of the same network use up neither codes nor refreshes of others, and their own failures are limited", async (context) => {
  const { hand, code, json } = await connect(context);
  const failures = await Promise.all(
    Array.from({ length: 70 }, () => hand.refresh("csr_made-up", { client_id: "csc_made-up" })),
  );
  assert.ok(failures.some(({ status }) => status === 429));
  await Promise.all(Array.from({ length: 70 }, () => hand.register()));
  assert.equal((await hand.register()).status, 429);
  assert.equal((await hand.exchange(code)).status, 200);
  assert.equal((await hand.refresh(json.refresh_token)).status, 200);
});

test("one connection can't refresh without end, and keeps its token when it is told to wait", async (context) => {
  const { hand, json } = await connect(context);
  let refreshToken = json.refresh_token;
  const statuses: number[] = [];
  for (let n = 0; n < oauthRefreshesPerMinuteMax; n += 1) {
    const reply = await hand.refresh(refreshToken);
    statuses.push(reply.status);
    refreshToken = reply.json.refresh_token ?? refreshToken;
  }
  assert.deepEqual(statuses, [...Array(oauthRefreshesPerMinuteMax - 1).fill(200), 429]);
  await db.query("update connection_tokens set expires_at = expires_at - interval '1 minute'");
  assert.equal((await hand.refresh(refreshToken)).status, 200);
});

test("a client's calls count for its connection, not for a token: refreshing gives no new budget", async (context) => {
  const hand = await openHand(context, service, { rateLimit: { perSecond: 0.001, burst: 6 } });
  const { json } = await hand.exchange(await hand.codeOf(await openBrowser(hand.place)));
  for (let n = 0; n < 3; n += 1) assert.equal(await hand.statusOf(json.access_token), 200);
  const { json: next } = await hand.refresh(json.refresh_token);
  for (let n = 0; n < 3; n += 1) assert.equal(await hand.statusOf(next.access_token), 200);
  assert.equal(await hand.statusOf(next.access_token), 429);
  assert.equal(await hand.statusOf(json.access_token), 429);
  const other = await hand.exchange(await hand.codeOf(await openBrowser(hand.place)));
  assert.equal(await hand.statusOf(other.json.access_token), 200, "another connection goes on");
});

/** More apps of the same person, as if they had connected them. */
async function addApps(workspaceId: string, email: string, count: number): Promise<void> {
  await db.query(
    `with k as (
       insert into api_keys (workspace_id, name, digest, last_four)
       select $1, 'App ' || n, sha256(($1 || n)::bytea), 'abcd' from generate_series(1, $3) as n
       returning workspace_id, id, digest
     ), c as (
       insert into connections (workspace_id, api_key_id, email, client_digest, client_name, redirect_host)
       select workspace_id, id, $2, digest, 'App', 'app.example' from k
       returning workspace_id, api_key_id, client_digest
     )
     insert into connection_tokens (workspace_id, api_key_id, digest, kind, expires_at)
     select workspace_id, api_key_id, client_digest, 'refresh', now() + interval '1 day' from c`,
    [workspaceId, email, count],
  );
}

test("a person can't connect apps without end, and one that nobody used for a month makes room", async (context) => {
  const { hand, browser, code, workspaceId } = await connect(context);
  await addApps(workspaceId, browser.email, connectionsPerPersonMax - 1);
  const refused = await browser.allow(hand.searchWith());
  assert.equal(refused.status, 409);
  assert.match(refused.json.error.message, /at most 20 apps/);
  assert.equal((await hand.exchange(code)).json.error, "invalid_grant", "nor with an earlier code");
  await addApps((await openBrowser(hand.place)).workspaceId, browser.email, 1);

  const { rows } = await db.query<{ api_key_id: string }>(
    `update connection_tokens set expires_at = now() where workspace_id = $1 and api_key_id = (
       select min(api_key_id) from connection_tokens where workspace_id = $1
     ) returning api_key_id`,
    [workspaceId],
  );
  assert.equal((await browser.allow(hand.searchWith())).status, 200);
  const revoked = (await browser.listKeys()).filter(
    (key: { revokedAt: string | null }) => key.revokedAt !== null,
  );
  assert.deepEqual(
    revoked.map(({ id }: { id: string }) => id),
    [rows[0]?.api_key_id],
  );
  const [entry] = await browser.activity();
  assert.deepEqual(entry.detail, { by: "countersign", reason: "not used for 30 days" });
});

test("a list of keys reads the connections of the keys in it, and no others", async (context) => {
  const { browser, workspaceId } = await connect(context);
  await addApps(workspaceId, browser.email, 500);
  await db.query(
    "update api_keys set revoked_at = now() where workspace_id = $1 and name like 'App %'",
    [workspaceId],
  );
  const keys = await browser.listKeys();
  assert.equal(keys.length, 102, "a key, an app, and the last hundred that were revoked");
  const connected = keys.filter((key: { connection?: object }) => key.connection !== undefined);
  assert.equal(connected.length, 101);
  const found = await findByKey(db, workspaceId, keys.slice(0, 5));
  assert.ok(found.size <= 5);
});

test("a stale page connects nothing: after signing out, as somebody else, or for another's workspace", async (context) => {
  const hand = await openHand(context, service);
  const [ann, ben] = [await openBrowser(hand.place), await openBrowser(hand.place)];
  const asked = hand.searchWith();
  await makeMember(db, { workspaceId: ann.workspaceId, email: ben.email, role: "admin" });
  const otherTab = await ann.allow(asked, { cookie: ben.cookie });
  assert.equal(otherTab.status, 409);
  assert.match(otherTab.json.error.message, new RegExp(`signed in as ${ben.email} now`));
  const params = { workspaceId: ben.workspaceId };
  assert.equal((await ann.allow(asked, { params })).status, 404);
  await db.query(
    "delete from sessions where person_id = (select id from people where email = $1)",
    [ann.email],
  );
  assert.equal((await ann.allow(asked)).status, 401);
  const { rows } = await db.query("select from connection_codes where workspace_id = any ($1)", [
    [ann.workspaceId, ben.workspaceId],
  ]);
  assert.equal(rows.length, 0);
});

test("a code that was used before its app was revoked brings nothing back, and no call names two resources", async (context) => {
  const { hand, browser, code } = await connect(context);
  const mixed = `${new URLSearchParams({
    grant_type: "authorization_code",
    code,
    client_id: hand.clientId,
    redirect_uri: redirectUri,
    resource: `${hand.place.publicUrl}/mcp`,
  })}&resource=${encodeURIComponent("https://elsewhere.example/mcp")}`;
  assert.equal((await hand.post("/oauth/token", mixed)).json.error, "invalid_request");
  const { json } = await hand.exchange(code);
  const inUse = async () =>
    (await browser.listKeys()).filter(
      (key: { connection?: object; revokedAt: string | null }) =>
        key.connection !== undefined && key.revokedAt === null,
    );
  for (const { id } of await inUse()) await revokeKey(db, id);
  assert.equal((await hand.exchange(code)).json.error, "invalid_grant");
  assert.equal(await hand.statusOf(json.access_token), 401);
  assert.equal((await hand.refresh(json.refresh_token)).json.error, "invalid_grant");
  assert.deepEqual(await inUse(), []);
});
