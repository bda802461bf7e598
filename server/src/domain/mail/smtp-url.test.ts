import assert from "node:assert/strict";
import { test } from "node:test";
import { flawOfSmtpUrl, parseSmtpUrl } from "./smtp-url.ts";

test("the address says host, port, TLS and who signs in", () => {
  const credentials = { user: "ann@b.example", password: "p@ss:w/rd%" };
  const encoded = "ann%40b.example:p%40ss%3Aw%2Frd%25";
  for (const [text, expected] of [
    [
      "smtp://localhost:25",
      { host: "localhost", port: 25, tls: "when_offered", credentials: null },
    ],
    [
      "smtp://mail.example",
      { host: "mail.example", port: 587, tls: "when_offered", credentials: null },
    ],
    [
      "smtps://mail.example/",
      { host: "mail.example", port: 465, tls: "from_the_start", credentials: null },
    ],
    ["smtp://[::1]:25?tls=never", { host: "::1", port: 25, tls: "never", credentials: null }],
    [
      "smtp://mail.example?tls=required",
      { host: "mail.example", port: 587, tls: "required", credentials: null },
    ],
    [
      `smtps://${encoded}@mail.example:4650`,
      { host: "mail.example", port: 4650, tls: "from_the_start", credentials },
    ],
  ] as const) {
    assert.deepEqual(parseSmtpUrl(text), expected, text);
    assert.equal(flawOfSmtpUrl(text), null);
  }
});

test("a password leaves this machine with TLS alone", () => {
  const tlsOf = (text: string) => {
    const parsed = parseSmtpUrl(text);
    return "flaw" in parsed ? parsed.flaw : parsed.tls;
  };
  assert.equal(tlsOf("smtp://a:b@mail.example"), "required");
  assert.equal(tlsOf("smtp://a:b@127.0.0.1.evil.example"), "required");
  assert.equal(tlsOf("smtp://a:b@localhost:1025"), "when_offered");
  assert.equal(tlsOf("smtp://a:b@127.0.0.1:1025"), "when_offered");
  assert.equal(tlsOf("smtp://a:b@[::1]:1025?tls=never"), "never");
  assert.match(tlsOf("smtp://a:b@mail.example?tls=never"), /in the clear/);
});

test("an address that cannot be meant is refused with the reason, and the reason holds no password", () => {
  for (const [text, reason] of [
    ["mail.example", /such as smtps/],
    ["http://mail.example", /such as smtps/],
    ["smtp://", /such as smtps/],
    ["smtp://a@mail.example", /without a password/],
    ["smtp://a:secret%zz@mail.example", /%25/],
    ["smtp://a:secret@mail.example:465", /smtps:\/\//],
    ["smtps://a:secret@mail.example?tls=never", /always uses TLS/],
    ["smtp://mail.example?tls=insecure", /\?tls=required/],
    ["smtp://mail.example?ignoreTLS=true", /nothing else/],
    ["smtp://mail.example?tls=never&tls=required", /nothing else/],
    ["smtp://mail.example/path", /nothing else/],
    ["smtp://mail.example#x", /nothing else/],
  ] as const) {
    const flaw = flawOfSmtpUrl(text) ?? "accepted";
    assert.match(flaw, reason, text);
    assert.doesNotMatch(flaw, /secret/);
  }
});
