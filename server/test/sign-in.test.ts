import assert from "node:assert/strict";
import { request } from "node:http";
import { after, test } from "node:test";
import { type Cidr, nearbyCidrs, parseCidrs } from "../src/domain/access/network-address.ts";
import { deriveSignInCode } from "../src/domain/access/sign-in.ts";
import {
  sessionDaysMax,
  signInCallsPerMinuteMax,
  signInCodesPerHourMax,
  signInCodeTriesMax,
} from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { makeSignInLink } from "../src/operations/people/sign-in.ts";
import { until } from "./patience.ts";
import { callDashboard, cookieOf, fromOurPage, makeMember, signIn } from "./test-dashboard.ts";
import { makeWorkspace, startNode, startService, testKeyring } from "./test-service.ts";

const service = await startService();
const { db, keyring } = service;
after(() => service.stop());

let people = 0;

async function makePerson() {
  const workspace = await makeWorkspace(db);
  people += 1;
  const email = `person-${people}@example.com`;
  await makeMember(db, { workspaceId: workspace.id, email, role: "owner" });
  return { email, workspaceId: workspace.id };
}

/** One node per test, so that no test uses up the tries of another's address. Time stands still for limits. */
async function withNode<Result>(work: (node: typeof service) => Promise<Result>): Promise<Result> {
  const node = await startNode(service.database, { keyring: testKeyring, clock: () => 0 });
  try {
    return await work({ ...node, database: service.database });
  } finally {
    await node.stop();
  }
}

/** The code in the newest mail to this address, once there are `count` codes. */
async function codeFor(email: string, count = 1): Promise<string> {
  const nonces = await until(async () => {
    const { rows } = await db.query(
      "select nonce from sign_in_secrets where lower(email) = lower($1) and kind = 'code' order by created_at desc, id desc",
      [email],
    );
    return rows.length >= count ? rows : null;
  }, `a code for ${email}`);
  return deriveSignInCode(keyring.current, nonces[0].nonce);
}

function another(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, "0");
}

test("a member signs in with the code of a mail, and the answer says where they are a member", () =>
  withNode(async (node) => {
    const { email, workspaceId } = await makePerson();
    const asked = await callDashboard(node, "POST /sign-in/code", { body: { email } });
    assert.deepEqual([asked.status, asked.json], [200, { done: true }]);
    const code = await codeFor(email);
    const spaced = ` ${code.slice(0, 3)} ${code.slice(3)}`;
    const reply = await callDashboard(node, "POST /sign-in/code/verify", {
      body: { email: email.toUpperCase(), code: spaced },
    });
    assert.equal(reply.status, 200, JSON.stringify(reply.json));
    assert.equal(reply.json.workspaces[0].id, workspaceId);
    assert.equal(reply.json.workspaces[0].role, "owner");
    const cookie = String(reply.headers["set-cookie"]);
    assert.match(
      cookie,
      /^__Host-countersign=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.match(cookie, new RegExp(`Max-Age=${sessionDaysMax * 86_400};`));
    const me = await callDashboard(node, "GET /me", { cookie: cookieOf(reply) });
    assert.equal(me.status, 200);
    const again = await callDashboard(node, "POST /sign-in/code/verify", { body: { email, code } });
    assert.equal(again.json.error.code, "sign_in_failed", "a code works once");
  }));

test("neither token nor code is stored", async () => {
  const { email } = await makePerson();
  const cookie = await signIn(service, email);
  const token = cookie.split("=")[1] ?? "";
  const { rows } = await db.query("select to_jsonb(s)::text as row from sessions s");
  const { rows: secrets } = await db.query(
    "select to_jsonb(s)::text as row from sign_in_secrets s",
  );
  for (const { row } of [...rows, ...secrets]) {
    assert.ok(!row.includes(token) && !row.includes(Buffer.from(token).toString("hex")));
  }
});

test("the code is mailed by the worker's queue, to members only, and both answers are alike", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    const known = await callDashboard(node, "POST /sign-in/code", { body: { email } });
    const unknown = await callDashboard(node, "POST /sign-in/code", {
      body: { email: "nobody@example.com" },
    });
    assert.deepEqual([unknown.status, unknown.json], [known.status, known.json]);
    await codeFor(email);
    const { rows } = await db.query(
      `select d.recipient from deliveries d join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
       where e.kind = 'person.signing_in' and d.recipient in ($1, 'nobody@example.com')`,
      [email],
    );
    assert.deepEqual(rows, [{ recipient: email }]);
  }));

test("a code has few tries, however many are made at once, and then even the right one is refused", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    await callDashboard(node, "POST /sign-in/code", { body: { email } });
    const code = await codeFor(email);
    const tries = await Promise.all(
      Array.from({ length: signInCodeTriesMax + 3 }, () =>
        callDashboard(node, "POST /sign-in/code/verify", { body: { email, code: another(code) } }),
      ),
    );
    assert.ok(tries.every(({ status }) => status === 401));
    const right = await callDashboard(node, "POST /sign-in/code/verify", { body: { email, code } });
    assert.equal(right.json.error.code, "sign_in_failed");
    const { rows } = await db.query("select tries from sign_in_secrets where email = $1", [email]);
    assert.deepEqual(rows, [{ tries: signInCodeTriesMax }]);
  }));

test("an older code is no good once a newer one was sent, nor is one whose time is over", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    await callDashboard(node, "POST /sign-in/code", { body: { email } });
    const older = await codeFor(email);
    await callDashboard(node, "POST /sign-in/code", { body: { email } });
    const newer = await codeFor(email, 2);
    const byOlder = await callDashboard(node, "POST /sign-in/code/verify", {
      body: { email, code: older },
    });
    assert.equal(byOlder.status, older === newer ? 200 : 401);
    await db.query("update sign_in_secrets set expires_at = now_ms() where email = $1", [email]);
    const late = await callDashboard(node, "POST /sign-in/code/verify", {
      body: { email, code: newer },
    });
    assert.equal(late.status, 401);
  }));

test("nobody's mailbox is filled with codes", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    const asks = Array.from({ length: signInCodesPerHourMax + 4 }, () =>
      callDashboard(node, "POST /sign-in/code", { body: { email } }),
    );
    assert.ok((await Promise.all(asks)).every(({ status }) => status === 200));
    await codeFor(email, signInCodesPerHourMax);
    const { rows } = await db.query(
      "select count(*)::int as count from deliveries where recipient = $1",
      [email],
    );
    assert.deepEqual(rows, [{ count: signInCodesPerHourMax }]);
  }));

test("one address cannot try without end", () =>
  withNode(async (node) => {
    const body = { token: "guessed" };
    const replies = [];
    for (let n = 0; n <= signInCallsPerMinuteMax; n += 1) {
      replies.push(await callDashboard(node, "POST /sign-in/link", { body }));
    }
    assert.equal(replies[0]?.status, 401);
    const last = replies.at(-1);
    assert.equal(last?.status, 429);
    assert.equal(last?.headers["retry-after"], String(60 / signInCallsPerMinuteMax));
    assert.match(last?.json.error.message, /Wait 2 seconds, then try again\.$/);
  }));

test("a link signs in once, however many use it at once", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    const token = await makeSignInLink(db, keyring, email);
    const replies = await Promise.all(
      Array.from({ length: 5 }, () =>
        callDashboard(node, "POST /sign-in/link", { body: { token } }),
      ),
    );
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
  }));

test("signing out ends the session, and a session can be ended from another one", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    const [here, there, third] = [
      await signIn(node, email),
      await signIn(node, email),
      await signIn(node, email),
    ];
    const { json } = await callDashboard(node, "GET /me/sessions", { cookie: here });
    assert.equal(json.sessions.length, 3);
    assert.equal(json.sessions.filter(({ isThis }: { isThis: boolean }) => isThis).length, 1);
    const { json: other } = await callDashboard(node, "GET /me", { cookie: there });
    const params = { sessionId: other.sessionId };
    const stranger = await signIn(node, (await makePerson()).email);
    const foreign = await callDashboard(node, "POST /me/sessions/:sessionId/revoke", {
      cookie: stranger,
      params,
    });
    assert.equal(foreign.status, 404);
    await callDashboard(node, "POST /me/sessions/:sessionId/revoke", { cookie: here, params });
    assert.equal((await callDashboard(node, "GET /me", { cookie: there })).status, 401);
    const others = await callDashboard(node, "POST /me/sessions/revoke-others", { cookie: here });
    assert.deepEqual(others.json, { revoked: 1 });
    assert.equal((await callDashboard(node, "GET /me", { cookie: third })).status, 401);
    const out = await callDashboard(node, "POST /sign-out", { cookie: here });
    assert.match(String(out.headers["set-cookie"]), /^__Host-countersign=; .*Max-Age=0;/);
    const gone = await callDashboard(node, "GET /me", { cookie: here });
    assert.deepEqual([gone.status, gone.json.error.code], [401, "signed_out"]);
  }));

test("a session that was not used for long has ended, and so has one of somebody who is a member nowhere", () =>
  withNode(async (node) => {
    const { email, workspaceId } = await makePerson();
    const cookie = await signIn(node, email);
    await db.query(
      "update sessions set last_seen_at = now() - interval '15 days' where person_id = (select id from people where email = $1)",
      [email],
    );
    assert.equal((await callDashboard(node, "GET /me", { cookie })).status, 401);
    const fresh = await signIn(node, email);
    await db.query("delete from members where workspace_id = $1", [workspaceId]);
    assert.equal((await callDashboard(node, "GET /me", { cookie: fresh })).status, 401);
  }));

test("only our own page may make calls that change anything, whichever person is signed in", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    const cookie = await signIn(node, email);
    for (const headers of [
      {},
      { ...fromOurPage, origin: "https://evil.example" },
      { ...fromOurPage, "sec-fetch-site": "same-site" },
      { origin: fromOurPage.origin },
      { "sec-fetch-site": "same-origin" },
    ]) {
      const reply = await callDashboard(node, "POST /sign-out", { cookie, headers });
      assert.deepEqual([reply.status, reply.json.error.code], [403, "cross_origin"]);
    }
    assert.equal((await callDashboard(node, "GET /me", { cookie })).status, 200);
  }));

test("bad forms are told which field is wrong", () =>
  withNode(async (node) => {
    const cases: [object, string][] = [
      [{ email: "no address" }, "email"],
      [{}, "email"],
      [{ email: "ann@example.com\r\nbcc: x@example.com" }, "email"],
    ];
    for (const [body, field] of cases) {
      const { status, json } = await callDashboard(node, "POST /sign-in/code", { body });
      assert.deepEqual([status, json.error.field], [400, field]);
    }
    const { json } = await callDashboard(node, "POST /sign-in/code/verify", {
      body: { email: "ann@example.com", code: "12345" },
    });
    assert.equal(json.error.field, "code");
  }));

test("a person who was removed everywhere and is invited anew has to sign in anew", () =>
  withNode(async (node) => {
    const { email, workspaceId } = await makePerson();
    const cookie = await signIn(node, email);
    const owner = { workspaceId, email: `owner-of-${email}`, role: "owner" } as const;
    await makeMember(db, owner);
    const { rows } = await db.query("select id from members where lower(email) = lower($1)", [
      email,
    ]);
    const removed = await callDashboard(
      node,
      "POST /workspaces/:workspaceId/members/:memberId/remove",
      {
        cookie: await signIn(node, owner.email),
        params: { workspaceId, memberId: rows[0].id },
      },
    );
    assert.equal(removed.status, 200, JSON.stringify(removed.json));
    await makeMember(db, { workspaceId, email, role: "viewer" });
    assert.equal((await callDashboard(node, "GET /me", { cookie })).status, 401);
  }));

async function recipientsOfCodes(email: string): Promise<string[]> {
  const { rows } = await db.query(
    `select d.recipient from deliveries d join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     where e.kind = 'person.signing_in' and lower(d.recipient) = lower($1) order by e.created_at, e.id`,
    [email],
  );
  return rows.map(({ recipient }) => recipient);
}

test("codes go to the spelling that a person proved first, however others spell them", () =>
  withNode(async (node) => {
    // The older workspace, whose id sorts first, is the one that spells them in its own way.
    const hostile = await makeWorkspace(db);
    const { workspaceId } = await makePerson();
    const email = `Proved-${people}@Example.com`;
    await makeMember(db, { workspaceId, email, role: "owner" });
    await signIn(node, email);
    const other = email.toLowerCase();
    await makeMember(db, {
      workspaceId: hostile.id,
      email: other,
      role: "viewer",
      hasJoined: false,
    });
    for (const [at, typed] of [other, email.toUpperCase()].entries()) {
      await callDashboard(node, "POST /sign-in/code", { body: { email: typed } });
      await until(async () => (await recipientsOfCodes(email)).length > at, "another code");
    }
    assert.deepEqual([...new Set(await recipientsOfCodes(email))], [email]);
  }));

test("until somebody proves a spelling, codes go to the operator's, and then to the one invited first", () =>
  withNode(async (node) => {
    const [older, newer] = [await makeWorkspace(db), await makeWorkspace(db)];
    people += 1;
    const invited = {
      email: `Ann-${people}@example.com`,
      role: "viewer",
      hasJoined: false,
    } as const;
    const first = await makeMember(db, { ...invited, workspaceId: newer.id });
    // Otherwise both may have the same millisecond.
    await db.query(
      "update members set created_at = created_at - interval '1 second' where id = $1",
      [first],
    );
    await makeMember(db, { ...invited, email: invited.email.toUpperCase(), workspaceId: older.id });
    const ask = async (count: number) => {
      await callDashboard(node, "POST /sign-in/code", { body: { email: invited.email } });
      await until(async () => (await recipientsOfCodes(invited.email)).length === count, "a code");
      return (await recipientsOfCodes(invited.email)).at(-1);
    };
    assert.equal(await ask(1), invited.email);
    const byOperator = invited.email.toLowerCase();
    const third = await makeWorkspace(db);
    await makeMember(db, { workspaceId: third.id, email: byOperator, role: "viewer" });
    assert.equal(await ask(2), byOperator);
  }));

test("a code to one spelling signs nobody in once another spelling was proved", () =>
  withNode(async (node) => {
    const [first, second] = [await makeWorkspace(db), await makeWorkspace(db)];
    people += 1;
    const mailed = `ODD-${people}@example.com`;
    const proved = mailed.toLowerCase();
    await makeMember(db, {
      workspaceId: first.id,
      email: mailed,
      role: "viewer",
      hasJoined: false,
    });
    await callDashboard(node, "POST /sign-in/code", { body: { email: mailed } });
    const code = await codeFor(mailed);
    await makeMember(db, { workspaceId: second.id, email: proved, role: "viewer" });
    const token = await makeSignInLink(db, keyring, proved);
    const byLink = await callDashboard(node, "POST /sign-in/link", { body: { token } });
    assert.equal(byLink.json.email, proved);
    const late = await callDashboard(node, "POST /sign-in/code/verify", {
      body: { email: mailed, code },
    });
    assert.equal(late.status, 401);
  }));

test("a code to an invited spelling is void once the operator has added another spelling", () =>
  withNode(async (node) => {
    const [hostile, own] = [await makeWorkspace(db), await makeWorkspace(db)];
    people += 1;
    const mailed = `cAT-${people}@example.com`;
    const email = mailed.toLowerCase();
    const invited = { workspaceId: hostile.id, email: mailed, hasJoined: false } as const;
    await makeMember(db, { ...invited, role: "viewer" });
    await callDashboard(node, "POST /sign-in/code", { body: { email: mailed } });
    const code = await codeFor(mailed);
    await addMember(db, { workspaceId: own.id, email, role: "owner" });
    const late = await callDashboard(node, "POST /sign-in/code/verify", {
      body: { email: mailed, code },
    });
    assert.equal(late.status, 401);
  }));

test("a link of the operator's fixes the operator's spelling, not the one that was invited first", () =>
  withNode(async (node) => {
    const [hostile, own] = [await makeWorkspace(db), await makeWorkspace(db)];
    people += 1;
    const invited = `aNN-${people}@example.com`;
    const email = invited.toLowerCase();
    for (const [workspaceId, spelling] of [
      [hostile.id, invited],
      [own.id, email],
    ] as const) {
      await makeMember(db, { workspaceId, email: spelling, role: "viewer", hasJoined: false });
    }
    const token = await makeSignInLink(db, keyring, email);
    const byLink = await callDashboard(node, "POST /sign-in/link", { body: { token } });
    assert.equal(byLink.json.email, email);
  }));

test("over an invitation the operator's spelling counts", async () => {
  const { id: workspaceId } = await makeWorkspace(db);
  people += 1;
  const invited = `bOB-${people}@example.com`;
  const email = invited.toLowerCase();
  await makeMember(db, { workspaceId, email: invited, role: "viewer", hasJoined: false });
  const added = await addMember(db, { workspaceId, email, role: "owner" });
  assert.ok(!isRefusal(added));
  assert.deepEqual([added.email, added.role], [email, "owner"]);
});

test("the operator adds a person who has signed in under the spelling that they proved", () =>
  withNode(async (node) => {
    const { email, workspaceId } = await makePerson();
    await signIn(node, email);
    const elsewhere = await makeWorkspace(db);
    const other = { workspaceId: elsewhere.id, email: email.toUpperCase(), role: "admin" };
    const refused = await addMember(db, other);
    assert.ok(isRefusal(refused));
    assert.equal(
      refused.message,
      `email: is another spelling of ${email}, who has signed in; use that one, if it is the same mailbox`,
    );
    const added = await addMember(db, { ...other, email });
    assert.ok(!isRefusal(added) && added.email === email && workspaceId !== added.workspaceId);
  }));

test("of several links only the newest signs in", () =>
  withNode(async (node) => {
    const { email } = await makePerson();
    const older = await makeSignInLink(db, keyring, email);
    const newer = await makeSignInLink(db, keyring, email);
    const byOlder = await callDashboard(node, "POST /sign-in/link", { body: { token: older } });
    const byNewer = await callDashboard(node, "POST /sign-in/link", { body: { token: newer } });
    assert.deepEqual([byOlder.status, byNewer.status], [401, 200]);
  }));

test("signing in anew ends the browser's session, whichever person's it was, and a failure ends nothing", () =>
  withNode(async (node) => {
    const [one, two] = [await makePerson(), await makePerson()];
    const cookie = await signIn(node, one.email);
    const elsewhere = await signIn(node, one.email);
    const useLink = (token: string) =>
      callDashboard(node, "POST /sign-in/link", { cookie, body: { token } });
    assert.equal((await useLink("guessed")).status, 401);
    assert.equal((await callDashboard(node, "GET /me", { cookie })).status, 200);
    const reply = await useLink(await makeSignInLink(db, keyring, two.email));
    assert.equal(reply.json.email, two.email);
    const statusOf = async (each: string) =>
      (await callDashboard(node, "GET /me", { cookie: each })).status;
    assert.deepEqual(
      [await statusOf(cookie), await statusOf(elsewhere), await statusOf(cookieOf(reply))],
      [401, 200, 200],
    );
  }));

/** A call over a socket of its own, whose other end is this machine. */
async function addressOfSession(
  trustedProxies: readonly Cidr[],
  forwarded: string[],
): Promise<string> {
  const node = await startNode(service.database, { keyring: testKeyring, trustedProxies });
  try {
    const { email } = await makePerson();
    const token = await makeSignInLink(db, keyring, email);
    const address = await node.app.listen({ host: "127.0.0.1", port: 0 });
    const headers: [string, string][] = [
      ...Object.entries(fromOurPage),
      ...forwarded.map((value): [string, string] => ["x-forwarded-for", value]),
    ];
    const status = await post(`${address}/app/api/sign-in/link`, headers, { token });
    assert.equal(status, 200);
    const { rows } = await db.query(
      "select address from sessions where person_id = (select id from people where email = $1)",
      [email],
    );
    return rows[0].address;
  } finally {
    await node.stop();
  }
}

/** By Node's own client: fetch sends no Sec-Fetch-Site of ours, and no header twice. */
function post(url: string, headers: [string, string][], body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: headers.flat() }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

test("an address in X-Forwarded-For counts only as far as trusted proxies vouch for it", async () => {
  const here = parseCidrs("127.0.0.1") ?? [];
  const both = parseCidrs("127.0.0.1,192.0.2.8") ?? [];
  const made = ["1.1.1.1, 198.51.100.7", "192.0.2.8"];
  assert.equal(await addressOfSession([], made), "127.0.0.1");
  assert.equal(await addressOfSession(here, made), "192.0.2.8");
  assert.equal(await addressOfSession(both, made), "198.51.100.7");
  assert.equal(await addressOfSession(nearbyCidrs, made), "192.0.2.8");
});
