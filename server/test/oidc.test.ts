// Signing in with a company's identity provider: a real one on a socket, and a browser that keeps its cookies.

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, test } from "node:test";
import { examineSignIn } from "../src/cli/doctor-sign-in.ts";
import type { OidcClient, OidcSettings } from "../src/domain/access/openid.ts";
import { signInCallsPerMinuteMax } from "../src/domain/limits.ts";
import { openOidcClient } from "../src/outbound/openid.ts";
import { callDashboard, makeMember } from "./test-dashboard.ts";
import { type Claims, type Says, startIdentityProvider } from "./test-identity-provider.ts";
import { environmentOn, runCommand } from "./test-program.ts";
import {
  makeWorkspace,
  startNode,
  startService,
  type TestNode,
  testPublicUrl,
} from "./test-service.ts";

const beginPath = "/app/sign-in/oidc";
const problemUrl = `${testPublicUrl}/app/sign-in?problem=oidc`;
const browserCookie = "__Host-countersign-oidc";
const sessionCookie = "__Host-countersign";

const provider = await startIdentityProvider();
const logged: string[] = [];
const service = await startService({
  oidc: openOidc(),
  logDestination: { write: (line) => logged.push(line) },
});
const { db } = service;
after(async () => {
  await service.stop();
  await provider.stop();
});
afterEach(() => {
  provider.says = {};
});

/** As at the start of a process: it knows nothing of the provider yet. */
function openOidc(more: Partial<OidcSettings> = {}): OidcClient {
  return openOidcClient({ ...settings(), ...more });
}

function settings(): OidcSettings {
  const { issuer, clientId, clientSecret } = provider;
  return { issuer, clientId, clientSecret, name: "Acme", isEmailTrusted: false };
}

let people = 0;

async function makePerson(): Promise<{ email: string; claims: Claims }> {
  const { id: workspaceId } = await makeWorkspace(db);
  people += 1;
  const email = `employee-${people}@example.com`;
  await makeMember(db, { workspaceId, email, role: "admin" });
  return { email, claims: { email, email_verified: true } };
}

type Visited = { status: number; location: string; setCookie: string };

let browsers = 0;

/** Follows no redirect by itself. Each has an address of its own, so that none uses up the tries of another. */
class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #node: TestNode;
  readonly #address: string;

  constructor(node: TestNode = service) {
    this.#node = node;
    browsers += 1;
    this.#address = `198.51.100.${browsers % 250}`;
  }

  async visit(address: string): Promise<Visited> {
    const { pathname, search } = new URL(address, testPublicUrl);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await this.#node.app.inject({
      method: "GET",
      url: pathname + search,
      headers: { "x-forwarded-for": this.#address, ...(cookie === "" ? {} : { cookie }) },
    });
    const setCookie = String(reply.headers["set-cookie"] ?? "");
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(setCookie) ?? [];
    if (name !== undefined && value !== undefined) this.cookies.set(name, value);
    return { status: reply.statusCode, location: String(reply.headers.location), setCookie };
  }

  /** Goes to the provider, where the person consents. Returns the address that the browser is sent back to. */
  async comeBack(): Promise<string> {
    const { status, location } = await this.visit(beginPath);
    assert.equal(status, 302);
    return provider.consent(location);
  }

  async signIn(): Promise<Visited> {
    return this.visit(await this.comeBack());
  }

  isSignedIn(): boolean {
    return this.cookies.has(sessionCookie);
  }
}

function assertRefused(browser: TestBrowser, { status, location }: Visited, why: string): void {
  assert.deepEqual([status, location], [302, problemUrl], why);
  assert.equal(browser.isSignedIn(), false, why);
}

/** The reason as the log has it, and nothing beside it that anybody said. */
function lastFailure(): string {
  const lines = logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "call");
  return lines.at(-1)?.signInFailure ?? "none";
}

test("a person whom the provider vouches for is signed in, and their session says how", async () => {
  const { email, claims } = await makePerson();
  provider.says = { claims: { ...claims, email: email.toUpperCase() } };
  const browser = new TestBrowser();
  const there = await browser.visit(beginPath);
  const asked = new URL(there.location);
  assert.equal(asked.origin, provider.issuer);
  assert.equal(
    asked.searchParams.get("redirect_uri"),
    `${testPublicUrl}/app/sign-in/oidc/callback`,
  );
  assert.match(
    there.setCookie,
    /^__Host-countersign-oidc=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const back = await browser.visit(await provider.consent(there.location));
  assert.deepEqual([back.status, back.location], [302, `${testPublicUrl}/app`]);
  const cookie = `${sessionCookie}=${browser.cookies.get(sessionCookie)}`;
  const me = await callDashboard(service, "GET /me", { cookie });
  assert.deepEqual([me.status, me.json.email.toLowerCase()], [200, email]);
  const { json } = await callDashboard(service, "GET /me/sessions", { cookie });
  assert.equal(json.sessions[0].method, "oidc");
});

test("the sign-in page is told the provider's name", async () => {
  const { json } = await callDashboard(service, "GET /sign-in");
  assert.equal(json.oidcName, "Acme");
});

test("a token that is not the provider's word for this sign-in signs nobody in", async () => {
  const { claims } = await makePerson();
  const past = Math.floor(Date.now() / 1000) - 3_600;
  const wrong: [string, Says, RegExp][] = [
    ["another nonce", { claims: { ...claims, nonce: "of another sign-in" } }, /^oidc not_valid /],
    ["no nonce", { claims: { ...claims, nonce: undefined } }, /^oidc not_valid /],
    ["another audience", { claims: { ...claims, aud: "another client" } }, /^oidc not_valid /],
    ["another issuer", { claims: { ...claims, iss: "https://evil.example" } }, /^oidc not_valid /],
    ["another key", { claims, isForged: true }, /^oidc not_valid /],
    ["too old", { claims: { ...claims, iat: past, exp: past + 60 } }, /^oidc not_valid /],
    ["not verified", { claims: { ...claims, email_verified: false } }, /^oidc email_not_verified$/],
    ["a word", { claims: { ...claims, email_verified: "true" } }, /^oidc email_not_verified$/],
    ["unknown whether", { claims: { email: claims.email } }, /^oidc email_not_verified$/],
    ["no address", { claims: { email_verified: true } }, /^oidc no_email$/],
    ["no text", { claims: { ...claims, email: ["a@b.example"] } }, /^oidc no_email$/],
    ["no mailbox", { claims: { ...claims, email: "a\u0000@b.example" } }, /^oidc no_email$/],
    ["a no", { error: "access_denied" }, /^oidc denied access_denied$/],
  ];
  for (const [why, says, reason] of wrong) {
    provider.says = says;
    const browser = new TestBrowser();
    assertRefused(browser, await browser.signIn(), why);
    assert.match(lastFailure(), reason, why);
  }
  provider.says = { claims };
  const browser = new TestBrowser();
  await browser.signIn();
  assert.ok(browser.isSignedIn(), "and with everything right it does");
});

test("where the operator trusts the directory, silence about an address is enough, and a no is not", async () => {
  const { email, claims } = await makePerson();
  const trusting = await startNode(service.database, { oidc: openOidc({ isEmailTrusted: true }) });
  const said: [string, Says, { usually: boolean; trusted: boolean }][] = [
    ["true", { claims }, { usually: true, trusted: true }],
    ["nothing", { claims: { email } }, { usually: false, trusted: true }],
    ["nothing, when asked", { userInfo: { email } }, { usually: false, trusted: true }],
    ["false", { claims: { email, email_verified: false } }, { usually: false, trusted: false }],
    [
      "false, when asked",
      { claims: { email }, userInfo: { email_verified: false } },
      { usually: false, trusted: false },
    ],
    [
      "false, and the address when asked",
      { claims: { email_verified: false }, userInfo: { email } },
      { usually: false, trusted: false },
    ],
    ["true, when asked", { claims: { email }, userInfo: claims }, { usually: true, trusted: true }],
    ["null", { claims: { email, email_verified: null } }, { usually: false, trusted: false }],
    ["a word", { claims: { email, email_verified: "true" } }, { usually: false, trusted: false }],
  ];
  try {
    for (const [what, says, expected] of said) {
      provider.says = says;
      const [usual, trusted] = [new TestBrowser(), new TestBrowser(trusting)];
      await usual.signIn();
      await trusted.signIn();
      const actual = { usually: usual.isSignedIn(), trusted: trusted.isSignedIn() };
      assert.deepEqual(actual, expected, what);
    }
  } finally {
    await trusting.stop();
  }
});

test("an address that belongs to no member is refused like everything else", async () => {
  provider.says = { claims: { email: "stranger@example.com", email_verified: true } };
  const browser = new TestBrowser();
  assertRefused(browser, await browser.signIn(), "stranger");
  assert.equal(lastFailure(), "oidc no_member");
  const { rows } = await db.query("select id from people where email = 'stranger@example.com'");
  assert.deepEqual(rows, []);
});

test("a way back is good once", async () => {
  const { claims } = await makePerson();
  provider.says = { claims };
  const browser = new TestBrowser();
  const back = await browser.comeBack();
  await browser.visit(back);
  assert.ok(browser.isSignedIn());
  browser.cookies.delete(sessionCookie);
  assertRefused(browser, await browser.visit(back), "again");
  assert.equal(lastFailure(), "oidc unknown_flow");
});

test("only the browser that left comes back, and no other can spoil its way", async () => {
  const { claims } = await makePerson();
  provider.says = { claims };
  const browser = new TestBrowser();
  const back = await browser.comeBack();
  const fresh = new TestBrowser();
  assertRefused(fresh, await fresh.visit(back), "without a cookie");
  const other = new TestBrowser();
  await other.comeBack();
  assertRefused(other, await other.visit(back), "with a cookie of its own");
  await browser.visit(back);
  assert.ok(browser.isSignedIn());
});

test("two tabs of one browser can sign in at once", async () => {
  const { claims } = await makePerson();
  provider.says = { claims };
  const browser = new TestBrowser();
  const backs = [await browser.comeBack(), await browser.comeBack()];
  for (const back of backs) {
    browser.cookies.delete(sessionCookie);
    await browser.visit(back);
    assert.ok(browser.isSignedIn());
  }
});

test("a way back that was made up, cut off, or comes too late is refused", async () => {
  const { claims } = await makePerson();
  provider.says = { claims };
  const browser = new TestBrowser();
  const back = new URL(await browser.comeBack());
  const state = back.searchParams.get("state") ?? "";
  const code = back.searchParams.get("code") ?? "";
  const { origin, pathname } = back;
  for (const query of [
    "",
    `code=${code}`,
    `state=${state}x&code=${code}`,
    `state=%00&code=${code}`,
    `state=${"s".repeat(5_000)}`,
  ]) {
    assertRefused(browser, await browser.visit(`${origin}${pathname}?${query}`), query);
  }
  await db.query("update sign_in_challenges set expires_at = now_ms() where id = $1", [state]);
  assertRefused(browser, await browser.visit(back.href), "late");
});

test("a code is of no use without the secret that only this service has", async () => {
  const { claims } = await makePerson();
  provider.says = { claims };
  const browser = new TestBrowser();
  const back = await browser.comeBack();
  await db.query(
    `update sign_in_challenges set detail = detail || '{"codeVerifier": "${"v".repeat(43)}"}'
     where id = $1`,
    [new URL(back).searchParams.get("state")],
  );
  assertRefused(browser, await browser.visit(back), "another verifier");
  assert.equal(lastFailure(), "oidc refused invalid_grant");
});

test("an address that the provider tells only when asked counts as well", async () => {
  const { claims } = await makePerson();
  provider.says = { userInfo: claims };
  const browser = new TestBrowser();
  await browser.signIn();
  assert.ok(browser.isSignedIn());
  provider.says = { userInfo: { ...claims, sub: "somebody else" } };
  const other = new TestBrowser();
  assertRefused(other, await other.signIn(), "of another subject");
});

test("a provider that wants the client's secret in a header gets it there", async () => {
  const { claims } = await makePerson();
  provider.says = { claims, authenticatesBy: "client_secret_basic" };
  const node = await startNode(service.database, { oidc: openOidc() });
  try {
    const browser = new TestBrowser(node);
    await browser.signIn();
    assert.ok(browser.isSignedIn());
  } finally {
    await node.stop();
  }
});

test("who sets out too often is told so in our page, and not in JSON", async () => {
  const node = await startNode(service.database, { oidc: openOidc() });
  try {
    const setOut = async () => (await node.app.inject({ url: beginPath })).headers.location;
    const tooMany = `${testPublicUrl}/app/sign-in?problem=too_many`;
    for (let n = 0; n < signInCallsPerMinuteMax; n += 1) assert.notEqual(await setOut(), tooMany);
    // On a slow machine some of the time that lets further calls in has passed.
    let further = 1;
    while ((await setOut()) !== tooMany) further += 1;
    assert.ok(further <= signInCallsPerMinuteMax, `${further} more were let in`);
  } finally {
    await node.stop();
  }
});

test("while the provider is away people are told so, and once it is back they sign in", async () => {
  const { claims } = await makePerson();
  provider.says = { claims };
  const node = await startNode(service.database, { oidc: openOidc() });
  try {
    const browser = new TestBrowser(node);
    await provider.stop();
    assertRefused(browser, await browser.visit(beginPath), "away before");
    await provider.startAgain();
    const back = await browser.comeBack();
    await provider.stop();
    assertRefused(browser, await browser.visit(back), "away in between");
    await provider.startAgain();
    await browser.signIn();
    assert.ok(browser.isSignedIn());
  } finally {
    await node.stop();
  }
});

test("a provider that never answers, or answers without end, is given up on", async () => {
  const flow = { redirectUri: "https://x.example/", state: "s", nonce: "n", codeVerifier: "v" };
  const silent = createServer(() => {});
  const endless = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(65_536, " ");
    const go = () => {
      while (response.write(chunk));
    };
    response.on("drain", go);
    go();
  });
  for (const [server, timeoutMs] of [
    [silent, 50],
    [endless, 60_000],
  ] as const) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const issuer = issuerOf(server);
    const way = await openOidcClient({ ...settings(), issuer }, { timeoutMs }).begin(flow);
    assert.equal("failure" in way && way.failure, "unreachable");
    server.closeAllConnections();
    server.close();
  }
});

test("where no provider is set up both addresses lead to the sign-in page", async () => {
  const node = await startNode(service.database);
  try {
    const browser = new TestBrowser(node);
    assertRefused(browser, await browser.visit(beginPath), "there");
    assertRefused(browser, await browser.visit(`${beginPath}/callback?state=a&code=b`), "back");
  } finally {
    await node.stop();
  }
});

test("on this machine, without https, the cookie has a name that browsers take there", async () => {
  const publicUrl = "http://localhost:3000";
  const node = await startNode(service.database, { oidc: openOidc(), publicUrl });
  try {
    const { setCookie } = await new TestBrowser(node).visit(beginPath);
    assert.match(
      setCookie,
      /^countersign-oidc=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
  } finally {
    await node.stop();
  }
});

test("neither codes, tokens, secrets nor addresses reach the log", async () => {
  const { email, claims } = await makePerson();
  provider.says = { claims };
  const browser = new TestBrowser();
  const back = new URL(await browser.comeBack());
  await browser.visit(back.href);
  await browser.visit(back.href);
  const log = logged.join("");
  const secrets = [
    email,
    back.searchParams.get("code") ?? "",
    provider.clientSecret,
    browser.cookies.get(browserCookie) ?? "",
    browser.cookies.get(sessionCookie) ?? "",
  ];
  for (const secret of secrets) assert.ok(secret !== "" && !log.includes(secret), secret);
  assert.match(log, /"route":"\/app\/sign-in\/oidc\/callback"/);
});

test("signing in anew ends the session that the browser had, also by a company's sign-in", async () => {
  const { claims } = await makePerson();
  provider.says = { claims };
  const browser = new TestBrowser();
  await browser.signIn();
  const before = `${sessionCookie}=${browser.cookies.get(sessionCookie)}`;
  await browser.signIn();
  const after = `${sessionCookie}=${browser.cookies.get(sessionCookie)}`;
  assert.equal((await callDashboard(service, "GET /me", { cookie: before })).status, 401);
  assert.equal((await callDashboard(service, "GET /me", { cookie: after })).status, 200);
});

test("doctor says nothing of a provider where none is set up, and that one which is there is fine", async () => {
  assert.deepEqual(await examineSignIn(null), []);
  const [finding] = await examineSignIn(settings());
  assert.deepEqual(
    [finding?.check, finding?.state, finding?.detail],
    ["company sign-in", "ok", `${provider.issuer} answers, and is the issuer that it should be`],
  );
});

test("doctor says what is wrong with a provider, and what to do about it", async () => {
  const described = async (answer: (issuer: string) => { status: number; body: string }) => {
    const server = createServer((_request, response) => {
      const { status, body } = answer(issuerOf(server));
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const [finding] = await examineSignIn({ ...settings(), issuer: issuerOf(server) });
    server.closeAllConnections();
    server.close();
    return `${finding?.state}: ${finding?.detail}`;
  };
  const cases: [(issuer: string) => { status: number; body: string }, RegExp][] = [
    [
      () => ({ status: 404, body: "{}" }),
      /^failed: http:.*\/\.well-known\/openid-configuration answers with status 404 instead of .* OIDC_ISSUER/,
    ],
    [() => ({ status: 200, body: "no json" }), /answers with something else instead of/],
    [() => ({ status: 200, body: "{}" }), /answers with something else instead of/],
    [
      () => ({ status: 200, body: '{"issuer":"https://other.example/\\u202e"}' }),
      /is of another issuer, https:\/\/other\.example\/[\x20-\x7e]*\. Set OIDC_ISSUER to exactly/,
    ],
    [
      (issuer) => ({ status: 200, body: JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }) }),
      /lacks authorization_endpoint, token_endpoint\./,
    ],
  ];
  for (const [answer, expected] of cases) assert.match(await described(answer), expected);
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const issuer = issuerOf(closed);
  await new Promise((resolve) => closed.close(resolve));
  const [away] = await examineSignIn({ ...settings(), issuer });
  assert.match(
    `${away?.state}: ${away?.detail}`,
    /^failed: .* cannot be reached from here \(ECONNREFUSED\)\. Check OIDC_ISSUER/,
  );
});

test("the doctor command looks at the provider that the environment names", async () => {
  const { issuer: OIDC_ISSUER, clientId: OIDC_CLIENT_ID } = provider;
  const environment = {
    ...environmentOn(service.database.url),
    OIDC_ISSUER,
    OIDC_CLIENT_ID,
    OIDC_CLIENT_SECRET: provider.clientSecret,
  };
  const { stdout } = await runCommand(environment, ["doctor"]);
  assert.match(stdout, /^ok +company sign-in: http/m);
  assert.ok(!stdout.includes(provider.clientSecret));
});

function issuerOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
