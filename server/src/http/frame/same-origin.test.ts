import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, repeated } from "./call.ts";
import { isFromAnotherPage, isFromOurPage, originOf } from "./same-origin.ts";

type Value = ReturnType<Call["header"]>;

const publicUrl = "https://x.example/approvals";
const good: Record<string, Value> = {
  origin: "https://x.example",
  "sec-fetch-site": "same-origin",
};
const otherOrigins: Value[] = [
  repeated,
  "",
  "null",
  "http://x.example",
  "https://x.example/",
  "https://x.example:8443",
  "https://y.example",
  "https://x.example.y.example",
  "https://x.example, https://x.example",
];

test("a page of our own passes, whatever the path of PUBLIC_URL", () => {
  assert.equal(isOurs(good), true);
  assert.equal(isOurs(good, "https://X.example:443"), true);
  const local = { ...good, origin: "http://localhost:3000" };
  assert.equal(isOurs(local, "http://localhost:3000"), true);
  assert.equal(originOf("http://localhost:80/a"), "http://localhost");
});

test("without either proof, or with another one, nothing passes", () => {
  for (const origin of [null, ...otherOrigins]) {
    assert.equal(isOurs({ ...good, origin }), false, String(origin));
  }
  const sites: Value[] = [null, repeated, "", "none", "same-site", "cross-site", "Same-Origin"];
  for (const site of sites) {
    assert.equal(isOurs({ ...good, "sec-fetch-site": site }), false, String(site));
  }
});

test("a program, which names no origin, passes where programs call, and a page elsewhere does not", () => {
  const isOther = (origin: Value) => isFromAnotherPage(() => origin, publicUrl);
  assert.equal(isOther(null), false);
  assert.equal(isOther("https://x.example"), false);
  for (const origin of otherOrigins) assert.equal(isOther(origin), true, String(origin));
});

function isOurs(headers: Record<string, Value>, url = publicUrl): boolean {
  return isFromOurPage((name) => headers[name] ?? null, url);
}
