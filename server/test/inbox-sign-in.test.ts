// People who were asked to decide sign in, though no workspace has them as a member, and get nothing but their inbox.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deriveSignInCode } from "../src/domain/access/sign-in.ts";
import { dashboardTable } from "../src/http/dashboard/calls/table.ts";
import { startSession } from "../src/operations/people/sign-in.ts";
import type { DashboardApi } from "../src/wire/dashboard-contract.ts";
import { until } from "./patience.ts";
import { callDashboard, cookieOf, makeMember, signIn } from "./test-dashboard.ts";
import { bodies, contentsOf, makeFurnished } from "./test-furnished.ts";
import { makeWorkspace, minimalBody, startNode, startService } from "./test-service.ts";

const service = await startService();
const { db, keyring } = service;
after(() => service.stop());

let people = 0;

/** Somebody whom an agent asked, and no workspace knows. */
async function askSomebody(spelling = (email: string) => email) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  people += 1;
  const email = spelling(`asked-${people}@example.com`);
  await ask(key, email);
  return { email, workspaceId, key };
}

async function ask(key: string, notify: string): Promise<void> {
  const reply = await service.call("POST", "/v1/requests", {
    key,
    body: { ...minimalBody, notify },
  });
  assert.equal(reply.status, 201, reply.text);
}

/** A node of its own, so that no test uses up the tries of another's address. */
async function withNode(work: (node: typeof service) => Promise<void>): Promise<void> {
  const node = await startNode(service.database, { clock: () => 0 });
  try {
    await work({ ...node, database: service.database });
  } finally {
    await node.stop();
  }
}

async function codesTo(email: string): Promise<{ recipient: string; workspace_id: string }[]> {
  const { rows } = await db.query(
    `select d.recipient, d.workspace_id from deliveries d
     join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     where e.kind = 'person.signing_in' and lower(d.recipient) = lower($1) order by e.created_at, e.id`,
    [email],
  );
  return rows;
}

async function codeFor(email: string): Promise<string> {
  const nonce = await until(async () => {
    const { rows } = await db.query(
      "select nonce from sign_in_secrets where lower(email) = lower($1) order by created_at desc, id desc limit 1",
      [email],
    );
    return rows[0]?.nonce ?? null;
  }, `a code for ${email}`);
  return deriveSignInCode(keyring.current, nonce);
}

test("somebody who was asked signs in with a code by mail, and is in no workspace", () =>
  withNode(async (node) => {
    const { email, workspaceId } = await askSomebody();
    const known = await callDashboard(node, "POST /sign-in/code", {
      body: { email: email.toUpperCase() },
    });
    const unknown = await callDashboard(node, "POST /sign-in/code", {
      body: { email: "nobody@example.com" },
    });
    assert.deepEqual([unknown.status, unknown.json], [known.status, known.json]);
    const code = await codeFor(email);
    assert.deepEqual(await codesTo(email), [{ recipient: email, workspace_id: workspaceId }]);
    assert.deepEqual(await codesTo("nobody@example.com"), []);
    const reply = await callDashboard(node, "POST /sign-in/code/verify", { body: { email, code } });
    assert.equal(reply.status, 200, JSON.stringify(reply.json));
    assert.deepEqual([reply.json.workspaces, reply.json.invitations], [[], []]);
    const me = await callDashboard(node, "GET /me", { cookie: cookieOf(reply) });
    assert.deepEqual([me.status, me.json.email], [200, email]);
  }));

test("being asked gives no right to any call of a workspace, and shows nothing of it", async () => {
  const { workspaceId, ids } = await makeFurnished(service);
  const { key, email } = await askSomebody();
  // Also where the workspace itself asked them.
  await db.query(
    `insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
     select $1, $2, $3::text, 'a key', ''::bytea, sha256($3::text::bytea)`,
    [workspaceId, ids.requestId, email],
  );
  await ask(key, email);
  const cookie = await signIn(service, email);
  const before = await contentsOf(db, workspaceId);
  const names = (Object.keys(dashboardTable) as (keyof DashboardApi)[]).filter((name) =>
    name.includes(" /workspaces/:workspaceId"),
  );
  for (const name of names) {
    const params = { workspaceId, ...ids };
    const reply = await callDashboard(service, name, { cookie, params, body: bodies[name] });
    assert.deepEqual([name, reply.status, reply.json.error.code], [name, 404, "not_found"]);
  }
  assert.equal(await contentsOf(db, workspaceId), before);
});

test("codes go to the spelling that was asked first, to a member's before it, and to the proved one for good", () =>
  withNode(async (node) => {
    const { email, key, workspaceId } = await askSomebody((plain) => plain.replace("a", "A"));
    await ask(key, email.toUpperCase());
    const next = async (count: number) => {
      await callDashboard(node, "POST /sign-in/code", { body: { email: email.toLowerCase() } });
      await until(async () => (await codesTo(email)).length === count, "a code");
      return (await codesTo(email)).at(-1)?.recipient;
    };
    assert.equal(await next(1), email);
    const asMember = email.toLowerCase();
    const memberId = await makeMember(db, { workspaceId, email: asMember, role: "viewer" });
    assert.equal(await next(2), asMember);
    await signIn(node, asMember);
    await db.query("delete from members where id = $1", [memberId]);
    assert.equal(await next(3), asMember);
  }));

test("a company's sign-in lets in who was asked, and nobody else", async () => {
  const { email } = await askSomebody();
  const browser = { userAgent: null, address: null, tokenDigest: null };
  assert.notEqual(await startSession(db, { email, method: "oidc", ...browser }), null);
  const stranger = { email: `not-${email}`, method: "oidc", ...browser } as const;
  assert.equal(await startSession(db, stranger), null);
});

test("another spelling of a mailbox, which votes count as the same person, is another address here", async () => {
  const { email } = await askSomebody((plain) => plain.replace("@", "+ann@"));
  const start = { method: "oidc", userAgent: null, address: null, tokenDigest: null } as const;
  const session = await startSession(db, { email: email.replace("+ann", ""), ...start });
  assert.equal(session, null);
});

test("a removed member who was asked keeps their inbox and loses the workspace at the next call", async () => {
  const { email, workspaceId } = await askSomebody();
  const memberId = await makeMember(db, { workspaceId, email, role: "admin" });
  const cookie = await signIn(service, email);
  const show = () =>
    callDashboard(service, "GET /workspaces/:workspaceId", { cookie, params: { workspaceId } });
  assert.equal((await show()).status, 200);
  await db.query("delete from members where id = $1", [memberId]);
  assert.equal((await show()).status, 404);
  const me = await callDashboard(service, "GET /me", { cookie });
  assert.deepEqual([me.status, me.json.workspaces], [200, []]);
});
