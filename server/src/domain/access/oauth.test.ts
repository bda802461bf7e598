import assert from "node:assert/strict";
import { test } from "node:test";
import { type Keyring, parseKeyring } from "./keyring.ts";
import {
  isChallengeMet,
  isOAuthRefusal,
  issueClientId,
  parseClient,
  readClientId,
} from "./oauth.ts";

const keyring = parseKeyring(Buffer.alloc(32, 1).toString("base64")) as Keyring;
const publicUrl = "https://approvals.example.com";
const other = parseKeyring(Buffer.alloc(32, 2).toString("base64")) as Keyring;

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
    { redirect_uris: [...redirect_uris, `${publicUrl}/app`] },
  ]) {
    assert.ok(isOAuthRefusal(parseClient(metadata, publicUrl)), JSON.stringify(metadata));
  }
  assert.deepEqual(parseClient({ redirect_uris }, publicUrl), {
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
