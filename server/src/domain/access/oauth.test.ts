import assert from "node:assert/strict";
import { test } from "node:test";
import { type Keyring, parseKeyring } from "./keyring.ts";
import {
  isChallengeMet,
  isOAuthRefusal,
  isRegisteredRedirect,
  issueClientId,
  parseClient,
  readClientId,
  redirectWith,
} from "./oauth.ts";

const keyring = parseKeyring(Buffer.alloc(32, 1).toString("base64")) as Keyring;
const other = parseKeyring(Buffer.alloc(32, 2).toString("base64")) as Keyring;

test("a client may have its answer sent over https, or to a program on the same machine, and nowhere else", () => {
  const isTaken = (uri: unknown) => !isOAuthRefusal(parseClient({ redirect_uris: [uri] }));
  for (const uri of [
    "https://claude.ai/api/mcp/auth_callback",
    "https://example.com",
    "https://example.com/cb?app=1",
    "http://localhost:6274/oauth/callback",
    "http://127.0.0.1:33418/",
    "http://[::1]:8080/cb",
  ]) {
    assert.ok(isTaken(uri), uri);
  }
  for (const uri of [
    "http://example.com/cb",
    "http://localhost.evil.example/cb",
    "http://127.0.0.1@evil.example/cb",
    "http://evil.example#@127.0.0.1/",
    "https://user@example.com/cb",
    "https://example.com/cb#x",
    "https://example.com/cb#",
    "https://EXAMPLE.com/cb",
    "https://example.com/a/../cb",
    "https:example.com/cb",
    "https://example.com\\@evil.example/",
    "https://exam\tple.com/cb",
    " https://example.com/cb",
    "http://0x7f.1/cb",
    "javascript:alert(1)",
    "data:text/html,x",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "/cb",
    "",
    7,
    `https://example.com/${"x".repeat(500)}`,
  ]) {
    assert.equal(isTaken(uri), false, String(uri));
  }
});

test("a redirect is one that was registered, to the letter, and a program's own port may change", () => {
  const client = {
    name: "x",
    redirectUris: ["https://example.com/cb", "http://127.0.0.1:1000/cb", "http://localhost/x"],
  };
  for (const uri of [
    "https://example.com/cb",
    "http://127.0.0.1:1000/cb",
    "http://127.0.0.1:65535/cb",
    "http://127.0.0.1/cb",
    "http://localhost:3000/x",
  ]) {
    assert.ok(isRegisteredRedirect(client, uri), uri);
  }
  for (const uri of [
    "https://example.com/cb/",
    "https://example.com/cb?x=1",
    "https://example.com:8443/cb",
    "https://example.com.evil.example/cb",
    "http://example.com/cb",
    "http://localhost:1000/cb",
    "http://127.0.0.1:1000/other",
    "http://127.0.0.1:1000/cb?x=1",
    "http://127.0.0.1:1000@evil.example/cb",
    "http://127.0.0.1:99999/cb",
    "https://127.0.0.1:1000/cb",
  ]) {
    assert.equal(isRegisteredRedirect(client, uri), false, uri);
  }
});

test("a client's id is believed only if this service signed it", () => {
  const client = { name: "Claude \u202e", redirectUris: ["https://example.com/cb"] };
  const id = issueClientId(keyring, client);
  assert.deepEqual(readClientId(keyring, id), client);
  assert.equal(readClientId(other, id), null);
  const rotated = { current: other.current, all: [...other.all, ...keyring.all] };
  assert.deepEqual(readClientId(rotated, id), client, "a key that was rotated out of first place");
  const [body = "", signature = ""] = id.slice(4).split(".");
  const forged = Buffer.from(JSON.stringify(["x", ["https://evil.example/"]])).toString(
    "base64url",
  );
  for (const bad of [
    "",
    "csc_",
    `csc_${forged}.${signature}`,
    `csc_${body}.${"A".repeat(43)}`,
    `${id}x`,
  ]) {
    assert.equal(readClientId(keyring, bad), null, bad);
  }
});

test("what a client says about itself is bounded, and its name is one line", () => {
  const redirect_uris = ["https://example.com/cb"];
  for (const metadata of [
    null,
    [],
    {},
    { redirect_uris: [] },
    { redirect_uris: "https://example.com/cb" },
    { redirect_uris: Array.from({ length: 11 }, () => "https://example.com/cb") },
    { redirect_uris: [1, 2, 3].map((n) => `https://example.com/${n}${"x".repeat(400)}`) },
    { redirect_uris, client_name: "a\nb" },
    { redirect_uris, client_name: " " },
    { redirect_uris, client_name: 7 },
    { redirect_uris, client_name: "x".repeat(1_000) },
    { redirect_uris, client_name: "\ud800" },
  ]) {
    assert.ok(isOAuthRefusal(parseClient(metadata)), JSON.stringify(metadata));
  }
  assert.deepEqual(parseClient({ redirect_uris }), {
    name: "Unnamed client",
    redirectUris: redirect_uris,
  });
});

test("a code is only for the program that made the challenge", () => {
  // The example of RFC 7636, appendix B.
  const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
  assert.ok(isChallengeMet(challenge, verifier));
  for (const bad of ["", challenge, `${verifier}x`, verifier.slice(0, 42)]) {
    assert.equal(isChallengeMet(challenge, bad), false);
  }
});

test("an answer follows the registered address, which stays as it is", () => {
  assert.equal(
    redirectWith("https://a.example", { code: "x", state: null }),
    "https://a.example?code=x",
  );
  assert.equal(
    redirectWith("https://a.example/?q=%2F", { state: "a&b#c" }),
    "https://a.example/?q=%2F&state=a%26b%23c",
  );
});
