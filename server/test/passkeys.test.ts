// Passkeys: a signed-in person adds one, and then signs in with nothing else. The authenticator is software; keys,
// signatures and everything that is checked are real.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { passkeyNameCharactersMax, passkeysPerPersonMax } from "../src/domain/limits.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { until } from "./patience.ts";
import {
  callDashboard,
  cookieOf,
  type DashboardCallOptions,
  type DashboardReply,
  fromOurPage,
  makeMember,
  signIn,
} from "./test-dashboard.ts";
import { startMailserver } from "./test-mailbox.ts";
import { type Authenticator, type Bent, makeAuthenticator } from "./test-passkey.ts";
import { makeWorkspace, startService, testPublicUrl } from "./test-service.ts";
import { startWorker } from "./test-worker.ts";

const { origin, hostname } = new URL(testPublicUrl);

let wake = () => {};
const service = await startService({ onDue: () => wake() });
const { db } = service;
const mailserver = await startMailserver();
const sender = new MailSender({
  smtpUrl: mailserver.url,
  from: { name: "Countersign", address: "approvals@example.com" },
});
const { worker, stop } = startWorker(service.database, {
  mail: {
    send: (mail) => sender.send(mail),
    origin: { keyring: service.keyring, publicUrl: testPublicUrl },
    onKept: () => {},
  },
});
wake = () => worker.wake();
after(async () => {
  await stop();
  sender.close();
  await mailserver.close();
  await service.stop();
});

let calls = 0;

/** Each call comes from another address, so that no test uses up the tries of another. */
function call(
  name: keyof DashboardApi,
  options: DashboardCallOptions = {},
): Promise<DashboardReply> {
  calls += 1;
  const headers = { ...fromOurPage, "x-forwarded-for": `198.51.100.${calls % 250}` };
  return callDashboard(service, name, { headers, ...options });
}

function mailsTo(email: string) {
  return mailserver.received.filter(({ recipients }) => recipients.includes(email));
}

type TestPerson = { email: string; workspaceId: string; cookie: string };

let people = 0;

async function makePerson(): Promise<TestPerson> {
  const { id: workspaceId } = await makeWorkspace(db);
  people += 1;
  const email = `holder-${people}@example.com`;
  await makeMember(db, { workspaceId, email, role: "viewer" });
  return { email, workspaceId, cookie: await signIn(service, email) };
}

async function askForNew({ cookie }: TestPerson) {
  const { status, json } = await call("POST /me/passkeys/begin", { cookie });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

type Addition = { bent?: Bent; name?: string; authenticator?: Authenticator };

async function add(
  person: TestPerson,
  { bent = {}, name = "Laptop", authenticator = makeAuthenticator(origin) }: Addition = {},
): Promise<{ authenticator: Authenticator; reply: DashboardReply }> {
  const { challengeId, options } = await askForNew(person);
  const response = authenticator.create(options, bent);
  const reply = await call("POST /me/passkeys/finish", {
    cookie: person.cookie,
    body: { challengeId, name, response },
  });
  return { authenticator, reply };
}

async function makeHolder() {
  const person = await makePerson();
  const { authenticator, reply } = await add(person);
  assert.equal(reply.status, 200, JSON.stringify(reply.json));
  return { person, authenticator, passkeyId: reply.json.id as string };
}

async function ask() {
  const { status, json } = await call("POST /sign-in/passkey/begin");
  assert.equal(status, 200);
  return json;
}

function finish(challengeId: string, response: unknown): Promise<DashboardReply> {
  return call("POST /sign-in/passkey/finish", { body: { challengeId, response } });
}

async function signInWith(authenticator: Authenticator, bent: Bent = {}): Promise<DashboardReply> {
  const { challengeId, options } = await ask();
  return finish(challengeId, authenticator.get(options, bent));
}

/** The same words whatever was wrong, and no cookie. */
function assertRefused({ status, json, headers }: DashboardReply, why: string): void {
  assert.equal(status, 401, `${why}: ${JSON.stringify(json)}`);
  assert.equal(json.error.code, "sign_in_failed", why);
  assert.match(json.error.message, /^This passkey does not sign you in\. Try it once more/, why);
  assert.equal(headers["set-cookie"], undefined, why);
}

test("a passkey that was added signs its owner in without their address", async () => {
  const { person, authenticator } = await makeHolder();
  const reply = await signInWith(authenticator);
  assert.equal(reply.status, 200, JSON.stringify(reply.json));
  assert.deepEqual(
    [reply.json.email, reply.json.workspaces.length, reply.json.hasPasskey],
    [person.email, 1, true],
  );
  const cookie = cookieOf(reply);
  const { json } = await call("GET /me/sessions", { cookie });
  const session = json.sessions.find((each: { isThis: boolean }) => each.isThis);
  assert.equal(session.method, "passkey");
  const { passkeys } = (await call("GET /me/passkeys", { cookie })).json;
  assert.deepEqual(
    passkeys.map((each: { name: string; lastUsedAt: unknown }) => [
      each.name,
      typeof each.lastUsedAt,
    ]),
    [["Laptop", "string"]],
  );
});

test("a new passkey must be kept by the authenticator, verify its user, and not be there yet", async () => {
  const { person, authenticator } = await makeHolder();
  const { options } = await askForNew(person);
  const { rp, user, attestation, authenticatorSelection, excludeCredentials } = options;
  assert.deepEqual([rp.id, user.name, attestation], [hostname, person.email, "none"]);
  assert.equal(authenticatorSelection.residentKey, "required");
  assert.equal(authenticatorSelection.userVerification, "required");
  assert.deepEqual(
    excludeCredentials.map((each: { id: string }) => each.id),
    [authenticator.credentialId],
  );
  const { reply } = await add(person, { authenticator });
  assert.deepEqual([reply.status, reply.json.error.code], [409, "conflict"]);
});

test("the question to sign in names nobody and asks for a verified user", async () => {
  const { options } = await ask();
  assert.deepEqual(
    [options.rpId, options.userVerification, options.allowCredentials],
    [hostname, "required", undefined],
  );
});

test("an answer to another question, for another site, or by an unverified user signs nobody in", async () => {
  const { authenticator } = await makeHolder();
  const bends: [string, Bent][] = [
    ["another challenge", { challenge: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
    ["another origin", { origin: "https://approvals.example.evil.example" }],
    ["another scheme", { origin: origin.replace("https", "http") }],
    ["another host", { rpId: "evil.example" }],
    ["nobody verified", { isUserVerified: false }],
    ["another person", { userHandle: Buffer.from("per_somebody-else").toString("base64url") }],
    ["nobody named", { userHandle: null }],
  ];
  for (const [why, bent] of bends) assertRefused(await signInWith(authenticator, bent), why);
  assert.equal((await signInWith(authenticator)).status, 200);
});

test("a key that claims the id of another, and one that was never added, are refused in the same words", async () => {
  const { authenticator } = await makeHolder();
  const forged = await signInWith(authenticator.forged());
  assertRefused(forged, "forged");
  const stranger = await signInWith(makeAuthenticator(origin));
  assertRefused(stranger, "unknown");
  assert.deepEqual(forged.json, stranger.json);
});

test("a question is answered once, rightly or wrongly", async () => {
  const { authenticator } = await makeHolder();
  const { challengeId, options } = await ask();
  const response = authenticator.get(options);
  assert.equal((await finish(challengeId, response)).status, 200);
  assertRefused(await finish(challengeId, response), "the same answer again");
  assertRefused(await finish(challengeId, authenticator.get(options)), "a new answer to it");
  const second = await ask();
  const wrong = authenticator.get(second.options, { origin: "https://evil.example" });
  assertRefused(await finish(second.challengeId, wrong), "wrong");
  const right = authenticator.get(second.options);
  assertRefused(await finish(second.challengeId, right), "right, after wrong");
});

test("of the same answer sent many times at once one signs in", async () => {
  const { authenticator } = await makeHolder();
  const { challengeId, options } = await ask();
  const response = authenticator.get(options);
  const replies = await Promise.all([1, 2, 3, 4, 5].map(() => finish(challengeId, response)));
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
});

test("an answer that comes too late by the database's clock is refused", async () => {
  const { authenticator } = await makeHolder();
  const { challengeId, options } = await ask();
  await db.query("update sign_in_challenges set expires_at = now_ms() where id = $1", [
    challengeId,
  ]);
  assertRefused(await finish(challengeId, authenticator.get(options)), "late");
});

test("a counter that stands still or goes back is refused, even in two answers at once", async () => {
  const { authenticator } = await makeHolder();
  assert.equal((await signInWith(authenticator, { counter: 7 })).status, 200);
  assertRefused(await signInWith(authenticator, { counter: 7 }), "the same counter");
  assertRefused(await signInWith(authenticator, { counter: 6 }), "a smaller counter");
  const both = await Promise.all([8, 8].map((counter) => signInWith(authenticator, { counter })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
});

test("an authenticator that does not count signs in again and again", async () => {
  const { authenticator } = await makeHolder();
  for (const counter of [0, 0, 0]) {
    assert.equal((await signInWith(authenticator, { counter })).status, 200);
  }
});

test("the passkeys of a person who is a member nowhere any more sign nobody in", async () => {
  const { person, authenticator } = await makeHolder();
  await db.query("delete from members where workspace_id = $1", [person.workspaceId]);
  assertRefused(await signInWith(authenticator), "no member");
});

test("a passkey is added only as an answer to its own question, by the person who was asked", async () => {
  const person = await makePerson();
  const bends: [string, Bent][] = [
    ["another challenge", { challenge: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
    ["another origin", { origin: "https://evil.example" }],
    ["another host", { rpId: "evil.example" }],
    ["nobody verified", { isUserVerified: false }],
    ["a certificate that names addresses to ask at", { format: "apple" }],
    ["another id inside than outside", { credentialId: randomBytes(3_000) }],
  ];
  for (const [why, bent] of bends) {
    const { reply } = await add(person, { bent });
    assert.deepEqual([reply.status, reply.json.error?.code], [409, "conflict"], why);
  }
  const other = await makePerson();
  const { challengeId, options } = await askForNew(person);
  const response = makeAuthenticator(origin).create(options);
  const body = { challengeId, name: "Phone", response };
  const finishAs = (cookie: string) => call("POST /me/passkeys/finish", { cookie, body });
  assert.equal((await finishAs(other.cookie)).status, 409);
  assert.equal((await finishAs(person.cookie)).status, 200);
  assert.equal((await finishAs(person.cookie)).status, 409, "the same answer again");
  const { json } = await call("GET /me/passkeys", { cookie: person.cookie });
  assert.equal(json.passkeys.length, 1);
});

test("a question to sign in adds no passkey, and one to add a passkey signs nobody in", async () => {
  const { person, authenticator } = await makeHolder();
  const added = await askForNew(person);
  const proof = authenticator.get({ ...added.options, rpId: hostname });
  assertRefused(await finish(added.challengeId, proof), "asked for a new one");
  const { challengeId, options } = await ask();
  const { options: whole } = await askForNew(person);
  const response = makeAuthenticator(origin).create({ ...whole, challenge: options.challenge });
  const body = { challengeId, name: "Phone", response };
  const reply = await call("POST /me/passkeys/finish", { cookie: person.cookie, body });
  assert.equal(reply.status, 409);
});

test("a passkey is removed by its owner alone, and signs nobody in from then on", async () => {
  const { person, authenticator, passkeyId } = await makeHolder();
  const other = await makePerson();
  const params = { passkeyId };
  const removeAs = ({ cookie }: TestPerson) =>
    call("POST /me/passkeys/:passkeyId/remove", { cookie, params });
  const refused = await removeAs(other);
  assert.deepEqual([refused.status, refused.json.error.code], [404, "not_found"]);
  assert.equal((await signInWith(authenticator)).status, 200);
  assert.deepEqual((await removeAs(person)).json, { done: true });
  assert.equal((await removeAs(person)).status, 404);
  params.passkeyId = "a\u0000b";
  assert.equal((await removeAs(person)).status, 404);
  assertRefused(await signInWith(authenticator), "removed");
});

test("a person has so many passkeys and no more, whenever they began to add one", async () => {
  const { person } = await makeHolder();
  const begun = await askForNew(person);
  await db.query(
    `insert into passkeys (person_id, name, credential_id, public_key, counter)
     select id, 'Key', id || '-' || n, 'x', 0 from people, generate_series(2, $2) as n
     where email = $1`,
    [person.email, passkeysPerPersonMax],
  );
  const { cookie } = person;
  const again = await call("POST /me/passkeys/begin", { cookie });
  const response = makeAuthenticator(origin).create(begun.options);
  const body = { challengeId: begun.challengeId, name: "One more", response };
  const late = await call("POST /me/passkeys/finish", { cookie, body });
  for (const { status, json } of [again, late]) {
    assert.deepEqual([status, json.error.code], [409, "conflict"]);
    assert.match(json.error.message, /Remove one/);
  }
});

test("a passkey has a name of one line", async () => {
  const person = await makePerson();
  for (const name of ["", "  ", "a\nb", "x".repeat(passkeyNameCharactersMax + 1)]) {
    const { reply } = await add(person, { name });
    assert.deepEqual([reply.status, reply.json.error.field], [400, "name"], JSON.stringify(name));
  }
  const { reply } = await add(person, { name: ` ${"é".repeat(passkeyNameCharactersMax)} ` });
  assert.equal(reply.json.name, "é".repeat(passkeyNameCharactersMax));
});

test("an answer that no browser sends is refused and breaks nothing", async () => {
  const { person, authenticator } = await makeHolder();
  const { challengeId, options } = await ask();
  const { response: inner, ...outer } = authenticator.get(options);
  const flawed: unknown[] = [
    null,
    {},
    { ...outer, response: {} },
    { ...outer, id: "a\u0000b", response: inner },
    { ...outer, id: "x".repeat(5_000), response: inner },
    { ...outer, response: { ...inner, clientDataJSON: "{}" } },
  ];
  for (const response of flawed) {
    const body = { challengeId, response };
    const reply = await call("POST /sign-in/passkey/finish", { body });
    assert.deepEqual([reply.status, reply.json.error.code], [400, "validation_error"]);
    const added = await call("POST /me/passkeys/finish", {
      cookie: person.cookie,
      body: { ...body, name: "Phone" },
    });
    assert.equal(added.status, 400);
  }
  const broken = [
    { ...outer, rawId: "other", response: inner },
    { ...outer, response: { ...inner, clientDataJSON: "AAAA" } },
    { ...outer, response: { ...inner, authenticatorData: "AAAA" } },
    { ...outer, response: { ...inner, signature: "AAAA" } },
  ];
  for (const response of broken) {
    const asked = await ask();
    assertRefused(await finish(asked.challengeId, response), JSON.stringify(response));
  }
});

test("the owner of a passkey hears by mail that it was added and removed", async () => {
  const person = await makePerson();
  const mailOf = (nth: number) =>
    until(() => mailsTo(person.email)[nth - 1] ?? null, `mail ${nth} to ${person.email}`);
  const { reply } = await add(person, { name: "Phone of evil.example <b>" });
  assert.equal(reply.status, 200);
  const added = await mailOf(1);
  assert.deepEqual(added.recipients, [person.email]);
  assert.equal(added.headers.get("subject"), "Passkey added: Phone of evil[.]example <b>");
  assert.match(added.text, /A passkey was added to your account\./);
  assert.match(added.text, /> Phone of evil\[\.\]example <b>/);
  assert.match(
    added.text.replaceAll(/\s+/g, " "),
    /If it wasn’t you, sign in, remove the passkey under your account, and end all other sessions there\./,
  );
  assert.ok(added.text.includes(`${testPublicUrl}/app/account`));
  assert.ok(!added.html.includes("<b>"));
  const params = { passkeyId: reply.json.id };
  const { cookie } = person;
  await call("POST /me/passkeys/:passkeyId/remove", { cookie, params });
  const removed = await mailOf(2);
  assert.equal(removed.headers.get("subject"), "Passkey removed: Phone of evil[.]example <b>");
  assert.match(removed.text, /A passkey was removed from your account\./);
  const again = await call("POST /me/passkeys/:passkeyId/remove", { cookie, params });
  assert.equal(again.status, 404);
  const { rows } = await db.query("select recipient from deliveries where workspace_id = $1", [
    person.workspaceId,
  ]);
  assert.deepEqual(
    rows.map(({ recipient }) => recipient),
    [person.email, person.email],
    "what was not removed is no news",
  );
});

test("the owners of every workspace that knows somebody hear of their new passkey, and each log keeps it", async () => {
  const person = await makePerson();
  const [grouped, asking, owned, stranger] = await Promise.all([
    ...[makeWorkspace(db), makeWorkspace(db)],
    ...[makeWorkspace(db), makeWorkspace(db)],
  ]);
  assert.ok(grouped && asking && owned && stranger);
  const ownerOf = (workspaceId: string) => `owner-of-${workspaceId}@example.com`.toLowerCase();
  const ids = [person.workspaceId, grouped.id, asking.id, owned.id, stranger.id];
  for (const workspaceId of ids) {
    await makeMember(db, { workspaceId, email: ownerOf(workspaceId), role: "owner" });
  }
  // Somebody who owns a workspace is told once, as themselves.
  await makeMember(db, { workspaceId: owned.id, email: person.email, role: "owner" });
  await db.query(
    `with made as (
       insert into groups (workspace_id, key, name) values ($1, 'payers', 'Payers') returning id
     )
     insert into group_members (workspace_id, group_id, email) select $1, id, $2 from made`,
    [grouped.id, person.email.toUpperCase()],
  );
  const body = { summary: "Refund", notify: person.email };
  const asked = await service.call("POST", "/v1/requests", { key: asking.key, body });
  assert.equal(asked.status, 201, asked.text);
  const { reply, authenticator } = await add(person, { name: "Phone of evil.example <b>" });
  const knowing = [person.workspaceId, grouped.id, asking.id, owned.id].sort();
  for (const workspaceId of knowing) {
    const to = ownerOf(workspaceId);
    const mail = await until(() => mailsTo(to)[0] ?? null, `the mail to ${to}`);
    assert.deepEqual(mail.recipients, [to]);
    assert.match(mail.text, /Somebody who decides in your workspace added a passkey\./);
    assert.match(mail.text, /> Phone of evil\[\.\]example <b>/);
    assert.ok(mail.text.includes(person.email));
  }
  const mailed = await db.query<{ recipient: string }>(
    `select d.recipient from deliveries d
     join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
     where d.workspace_id = any ($1::text[]) and ev.kind like '%.passkey_added'
     order by d.recipient`,
    [ids],
  );
  assert.deepEqual(
    mailed.rows.map(({ recipient }) => recipient),
    [person.email, ...knowing.map(ownerOf)].sort(),
  );
  const params = { passkeyId: reply.json.id };
  await call("POST /me/passkeys/:passkeyId/remove", { cookie: person.cookie, params });
  // The log may have taken some of them already.
  const facts = await db.query(
    `select workspace_id, subject, detail - array['v', 'at'] as detail from (
       select workspace_id, subject, detail, id as place, false as is_pending from log_openings o
       cross join lateral (
         select t.workspace_id, o.fact::jsonb as detail, o.index as id
         from log_trees t where t.id = o.tree_id
       ) as t
       union all
       select workspace_id, subject, detail, id, true from log_pending where source = 'd'
     ) as fact
     where workspace_id = any ($1::text[]) and subject = $2
     order by workspace_id, is_pending, place`,
    [ids, reply.json.id],
  );
  const publicKey = facts.rows[0]?.detail.publicKey;
  const factOf = (kind: string) => ({
    ...{ kind, email: person.email, name: "Phone of evil.example <b>" },
    ...{ credentialId: authenticator.credentialId, publicKey },
  });
  assert.match(publicKey, /^[\w-]{40,}$/);
  assert.deepEqual(
    facts.rows,
    knowing.flatMap((workspace_id) =>
      ["passkey.added", "passkey.removed"].map((kind) => ({
        workspace_id,
        subject: reply.json.id,
        detail: factOf(kind),
      })),
    ),
  );
  assert.equal(mailsTo(ownerOf(knowing[0] as string)).length, 1, "removing is no news to owners");
});

test("a passkey that was not added is no news", async () => {
  const person = await makePerson();
  const { reply } = await add(person, { bent: { origin: "https://evil.example" } });
  assert.equal(reply.status, 409);
  const { rows } = await db.query("select id from deliveries where recipient = $1", [person.email]);
  assert.deepEqual(rows, []);
});
