// Connecting without a key: the official client finds the way by itself, a person allows it on the dashboard, and what it
// gets opens the tools and nothing else.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { revokeKey } from "../../server/src/operations/workspaces/issue-key.ts";
import { startService } from "../../server/test/test-service.ts";
import { openBrowser, openHand, openNode, redirectUri } from "./connecting.ts";
import { callTool } from "./conversing.ts";

const service = await startService();
after(() => service.stop());
const { db } = service;

/** What a desktop client keeps. */
class Kept implements OAuthClientProvider {
  redirectUrl = redirectUri;
  clientMetadata = { client_name: "Claude\u200b Desktop", redirect_uris: [redirectUri] };
  information: StoredOAuthClientInformation | undefined;
  kept: StoredOAuthTokens | undefined;
  verifier = "";
  discovered: OAuthDiscoveryState | undefined;
  asked: URL | null = null;
  state() {
    return "the state";
  }
  clientInformation() {
    return this.information;
  }
  saveClientInformation(information: StoredOAuthClientInformation) {
    this.information = information;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
  invalidateCredentials() {
    this.kept = undefined;
  }
  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered;
  }
}

for (const path of ["", "/countersign"]) {
  test(`the official client connects without a key, and stays connected${path && ", behind a path"}`, async (context) => {
    const place = await openNode(context, service, { path });
    const browser = await openBrowser(place);
    const provider = new Kept();
    const url = new URL(`${place.publicUrl}/mcp`);
    const first = new StreamableHTTPClientTransport(url, { authProvider: provider });
    const info = { name: "test", version: "1.0.0" };
    await assert.rejects(new Client(info).connect(first), /Unauthorized/);
    assert.equal(provider.asked?.origin, url.origin);
    assert.equal(provider.asked?.pathname, `${path}/app/connect`);
    const search = provider.asked?.search ?? "";
    const question = (await browser.ask(search)).json;
    assert.equal(question.clientName, "Claude\u200b Desktop");
    assert.deepEqual([question.redirectUri, question.isHere], [redirectUri, true]);
    const { json } = await browser.allow(search);
    const answer = new URL(json.redirectTo);
    assert.equal(`${answer.origin}${answer.pathname}`, redirectUri);
    assert.equal(answer.searchParams.get("state"), "the state");
    await first.finishAuth(answer.searchParams);
    await first.close();

    const client = new Client(info);
    context.after(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
    const asked = { summary: "Refund order 1042", notify: "ann@example.com" };
    const { value } = await callTool(client, "request_approval", asked);
    assert.equal(value.status, "PENDING");
    const read = await callTool(client, "get_request", { requestId: value.id });
    assert.equal(read.value.summary, asked.summary);

    const before = provider.kept?.access_token;
    await db.query("update connection_tokens set expires_at = now() where kind = 'access'");
    assert.equal((await callTool(client, "list_pending", {})).value.requests.length, 1);
    assert.notEqual(provider.kept?.access_token, before, "it has refreshed its tokens");

    const [key] = (await browser.listKeys()).filter(
      (each: { connection?: object }) => each.connection,
    );
    assert.deepEqual(key.connection, {
      email: browser.email,
      redirectHost: "127.0.0.1",
      redirectUri,
    });
    assert.equal(key.name, "Claude\u200b Desktop");
    const [entry] = await browser.activity();
    assert.deepEqual([entry.action, entry.actorEmail], ["key.issued", browser.email]);
    assert.deepEqual(entry.detail, { redirectUri });
    await revokeKey(db, key.id);
    await assert.rejects(callTool(client, "list_pending", {}));
  });
}
test("a code works once, for the client, the address and the program that asked, and a second use ends the connection", async (context) => {
  const hand = await openHand(context, service);
  const browser = await openBrowser(hand.place);
  const other = (
    await hand.post("/oauth/register", JSON.stringify({ redirect_uris: [redirectUri] }))
  ).json;
  const code = await hand.codeOf(browser);
  for (const [changes, error] of [
    [{ code_verifier: randomBytes(32).toString("base64url") }, "invalid_grant"],
    [{ code_verifier: "" }, "invalid_grant"],
    [{ redirect_uri: "http://127.0.0.1:5556/callback" }, "invalid_grant"],
    [{ client_id: other.client_id }, "invalid_grant"],
    [{ client_id: "csc_made-up" }, "invalid_client"],
    [{ resource: "https://elsewhere.example/mcp" }, "invalid_target"],
    [{ grant_type: "password" }, "unsupported_grant_type"],
    [{ code: "unknown" }, "invalid_grant"],
  ] as const) {
    const reply = await hand.exchange(code, changes);
    assert.equal(reply.json.error, error, JSON.stringify(changes));
  }
  const { json } = await hand.exchange(code);
  assert.deepEqual([json.token_type, json.expires_in], ["Bearer", 3_600]);
  assert.equal(await hand.statusOf(json.access_token), 200);
  assert.equal((await hand.exchange(code)).json.error, "invalid_grant");
  assert.equal(await hand.statusOf(json.access_token), 401);
  assert.equal((await hand.refresh(json.refresh_token)).json.error, "invalid_grant");
  const [entry] = await browser.activity();
  assert.deepEqual([entry.action, entry.detail.reason], ["key.revoked", "its code was used twice"]);

  const late = await hand.codeOf(browser);
  await db.query("update connection_codes set expires_at = now()");
  assert.equal((await hand.exchange(late)).json.error, "invalid_grant");
});

test("two racing uses of one code never leave a working connection with both", async (context) => {
  const hand = await openHand(context, service);
  const browser = await openBrowser(hand.place);
  const code = await hand.codeOf(browser);
  const replies = await Promise.all(Array.from({ length: 5 }, () => hand.exchange(code)));
  const won = replies.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  assert.equal(
    await hand.statusOf(won[0]?.json.access_token),
    401,
    "a code that came twice was stolen",
  );
});

test("a token opens the tools alone, and the database has neither it nor the refresh token", async (context) => {
  const hand = await openHand(context, service);
  const browser = await openBrowser(hand.place);
  const { json } = await hand.exchange(await hand.codeOf(browser));
  const token = json.access_token;
  assert.equal(await hand.statusOf(token), 200);
  for (const at of [
    "/v1/requests",
    "/v1/default-approver",
    "/app/api/me",
    `/app/api/workspaces/${browser.workspaceId}`,
  ]) {
    assert.ok([401, 403].includes(await hand.statusOf(token, at)), at);
  }
  assert.equal(await hand.statusOf(json.refresh_token), 401);
  const { rows } = await db.query<{ text: string }>(
    "select t::text as text from connection_tokens t union all select c::text from connection_codes c",
  );
  assert.ok(rows.every(({ text }) => !text.includes(token) && !text.includes(json.refresh_token)));
});

test("nobody is sent to an address that the client did not register, and other mistakes are told there", async (context) => {
  const hand = await openHand(context, service);
  const browser = await openBrowser(hand.place);
  for (const changes of [
    { client_id: undefined },
    { client_id: "csc_made-up" },
    { redirect_uri: undefined },
    { redirect_uri: "https://evil.example/" },
    { redirect_uri: "http://127.0.0.1:5555/other" },
  ]) {
    for (const reply of [
      await browser.ask(hand.searchWith(changes)),
      await browser.allow(hand.searchWith(changes)),
    ]) {
      assert.equal(reply.status, 400, JSON.stringify(changes));
      assert.doesNotMatch(JSON.stringify(reply.json), /redirectTo|evil/);
    }
  }
  for (const [changes, error] of [
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ resource: "https://elsewhere.example/mcp" }, "invalid_target"],
    [{ state: "x".repeat(2_001) }, "invalid_request"],
  ] as const) {
    for (const reply of [
      await browser.ask(hand.searchWith(changes)),
      await browser.allow(hand.searchWith(changes)),
    ]) {
      const told = new URL(reply.json.redirectTo);
      assert.equal(`${told.origin}${told.pathname}`, redirectUri);
      assert.equal(told.searchParams.get("error"), error);
      assert.equal(told.searchParams.get("iss"), hand.place.publicUrl);
      assert.equal(told.searchParams.has("code"), false);
    }
  }
  const own = `${hand.place.publicUrl}/callback`;
  const ofOurs = await hand.post("/oauth/register", JSON.stringify({ redirect_uris: [own] }));
  assert.equal(ofOurs.json.error, "invalid_redirect_uri");
  const sameProgram = await browser.ask(hand.searchWith({ redirect_uri: own }));
  assert.match(sameProgram.json.error.message, /our own address/, "a port that is ours");
  const twice = `${hand.searchWith()}&redirect_uri=${encodeURIComponent("https://evil.example/")}`;
  assert.equal((await browser.allow(twice)).status, 400);
  const { json } = await browser.ask(hand.searchWith());
  assert.match(
    json.refuseTo,
    /^http:\/\/127\.0\.0\.1:5555\/callback\?error=access_denied&state=s&iss=/,
  );
});

test("only our own page can connect an app, for an owner or admin", async (context) => {
  const hand = await openHand(context, service);
  const browser = await openBrowser(hand.place);
  const origin = new URL(hand.place.publicUrl).origin;
  for (const headers of [
    {},
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { origin, "sec-fetch-site": "cross-site" },
    { origin: "null", "sec-fetch-site": "same-origin" },
  ]) {
    assert.equal((await browser.allow(hand.searchWith(), { headers })).status, 403);
  }
  assert.equal((await browser.allow(hand.searchWith(), { cookie: null })).status, 401);
  const viewer = await openBrowser(hand.place, "viewer");
  assert.equal((await viewer.allow(hand.searchWith())).status, 403);
  const page = await fetch(`${hand.place.publicUrl}/app/connect?${hand.searchWith()}`);
  assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
  assert.equal(page.headers.get("x-frame-options"), "DENY");
  const { rows } = await db.query("select from connection_codes where email = $1", [browser.email]);
  assert.equal(rows.length, 0);
});

test("a call without a key or token is told where to get one, and strangers' calls are limited", async (context) => {
  const hand = await openHand(context, service);
  const { publicUrl } = hand.place;
  const response = await fetch(`${publicUrl}/mcp`, { method: "POST", body: "{}" });
  const address = `${publicUrl}/.well-known/oauth-protected-resource/mcp`;
  assert.equal(response.headers.get("www-authenticate"), `Bearer resource_metadata="${address}"`);
  const read = async (at: string) => JSON.parse(await (await fetch(at)).text());
  const resource = await read(address);
  assert.deepEqual(resource.authorization_servers, [publicUrl]);
  assert.equal(resource.resource, `${publicUrl}/mcp`);
  const server = await read(`${publicUrl}/.well-known/oauth-authorization-server`);
  assert.deepEqual(server.code_challenge_methods_supported, ["S256"]);
  assert.deepEqual(server.token_endpoint_auth_methods_supported, ["none"]);
  for (const body of [
    "",
    "{",
    "null",
    "[]",
    '{"redirect_uris":["http://evil.example"]}',
    "\u0000",
  ]) {
    assert.equal((await hand.post("/oauth/register", body)).status, 400, body);
  }
  for (const body of [
    "",
    "%",
    "grant_type=refresh_token&grant_type=x",
    "\u0000=\u0000",
    "client_id=csc_x",
  ]) {
    assert.ok([400, 401].includes((await hand.post("/oauth/token", body)).status), body);
  }
  const replies = await Promise.all(Array.from({ length: 60 }, () => hand.register()));
  assert.ok(replies.some(({ status }) => status === 429));
  assert.equal((await hand.refresh("csr_unknown")).status, 400, "tokens have a limit of their own");
  const { rows } = await db.query<{ total: number }>(
    "select count(*)::int as total from connections",
  );
  assert.ok((rows[0]?.total ?? 0) < 20, "registering stores nothing");
});
