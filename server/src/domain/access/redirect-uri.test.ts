import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isHere,
  isOwnAddress,
  isRegisteredRedirect,
  mayRedirectTo,
  redirectWith,
} from "./redirect-uri.ts";

test("a client may have its answer sent over https, or to a program on the same machine, and nowhere else", () => {
  for (const uri of [
    "https://claude.ai/api/mcp/auth_callback",
    "https://example.com",
    "https://example.com/cb?app=1",
    "http://localhost:6274/oauth/callback",
    "http://127.0.0.1:33418/",
    "http://[::1]:8080/cb",
  ]) {
    assert.ok(mayRedirectTo(uri), uri);
  }
  for (const uri of [
    "http://example.com/cb",
    "http://localhost.evil.example/cb",
    "http://127.0.0.1@evil.example/cb",
    "http://evil.example#@127.0.0.1/",
    "https://user@example.com/cb",
    "https://example.com/cb#x",
    "https://example.com/cb#",
    "https://example.com/cb?code=mine",
    "https://example.com/cb?x=1&%73tate=mine",
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
    assert.equal(mayRedirectTo(uri), false, String(uri));
  }
});

test("a redirect is one that was registered, to the letter, and a program's own port may change", () => {
  const registered = ["https://example.com/cb", "http://127.0.0.1:1000/cb", "http://localhost/x"];
  for (const uri of [
    "https://example.com/cb",
    "http://127.0.0.1:1000/cb",
    "http://127.0.0.1:65535/cb",
    "http://127.0.0.1/cb",
    "http://localhost:3000/x",
  ]) {
    assert.ok(isRegisteredRedirect(registered, uri), uri);
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
    assert.equal(isRegisteredRedirect(registered, uri), false, uri);
  }
});

test("no answer goes to this service itself, however its address is spelled", () => {
  const own: Record<string, string[]> = {
    "https://approvals.example.com": [
      "https://approvals.example.com/app/sign-in",
      "https://approvals.example.com:8443/cb",
      "https://approvals.example.com./cb",
    ],
    "https://example.com/countersign": ["https://example.com/other"],
    "https://xn--bcher-kva.example": ["https://xn--bcher-kva.example/"],
    "http://192.168.1.5:3000": ["https://192.168.1.5/", "https://[::ffff:c0a8:105]/"],
    "http://localhost:3000": [
      "http://localhost:3000/dev/mail",
      "http://127.0.0.1:3000/",
      "http://[::1]:3000/",
      "https://localhost:3000/",
      "https://app.localhost:3000/",
      "https://localhost.:3000/",
      "https://127.0.0.2:3000/",
      "https://[::ffff:7f00:1]:3000/",
      "https://0.0.0.0:3000/",
    ],
    "http://127.0.0.1": ["http://localhost/"],
  };
  for (const [publicUrl, uris] of Object.entries(own)) {
    for (const uri of uris) {
      assert.ok(mayRedirectTo(uri), `${uri} would be taken otherwise`);
      assert.ok(isOwnAddress(uri, publicUrl), `${uri} at ${publicUrl}`);
    }
  }
  for (const [publicUrl, uri] of [
    ["https://approvals.example.com", "https://example.com/cb"],
    ["https://approvals.example.com", "https://approvals.example.com.evil.example/"],
    ["https://approvals.example.com", "http://localhost:3000/cb"],
    ["http://localhost:3000", "http://localhost:5555/cb"],
    ["http://localhost:3000", "https://claude.ai/cb"],
  ] as const) {
    assert.equal(isOwnAddress(uri, publicUrl), false, `${uri} at ${publicUrl}`);
  }
});

test("a person is told that an answer stays on their own computer, and only then", () => {
  for (const uri of ["http://127.0.0.1:5/", "https://localhost/", "https://x.localhost/"]) {
    assert.ok(isHere(uri), uri);
  }
  for (const uri of ["https://localhost.evil.example/", "https://127.0.0.1.evil.example/"]) {
    assert.equal(isHere(uri), false, uri);
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
