import assert from "node:assert/strict";
import { test } from "node:test";
import { flawOfWebhookUrl } from "./webhook-url.ts";

test("whole http and https addresses are taken", () => {
  for (const url of ["https://example.com/hook", "http://localhost:4000", "https://a.b/c?d=e"]) {
    assert.equal(flawOfWebhookUrl(url), null, url);
  }
});

test("everything else is refused with the reason", () => {
  for (const [url, reason] of [
    ["example.com/hook", /begins with https/],
    ["ftp://example.com", /begins with https/],
    ["javascript:alert(1)", /begins with https/],
    ["file:///etc/passwd", /begins with https/],
    ["https://user:pass@example.com", /user name or password/],
    ["https://example.com/#part", /fragment/],
    [`https://example.com/${"x".repeat(2000)}`, /at most 2000/],
    ["https://", /begins with https/],
  ] as const) {
    assert.match(flawOfWebhookUrl(url) ?? "accepted", reason, url);
  }
});
