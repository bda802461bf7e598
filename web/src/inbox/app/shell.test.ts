import assert from "node:assert/strict";
import { test } from "node:test";
import { cacheName, isOldCache, partOfShell, type Shell } from "./shell.ts";

const origin = "https://host.example";
const shell: Shell = {
  version: "b",
  page: "/sub/inbox",
  files: ["/sub/assets/inbox-1.js"],
  icon: "",
  badge: "",
};

function part(path: string, { method = "GET", mode = "cors" } = {}) {
  return partOfShell(shell, { method, mode, url: new URL(path, origin).href }, origin);
}

test("pages of the inbox and their files are the shell", () => {
  const mode = "navigate";
  for (const path of ["/sub/inbox", "/sub/inbox/", "/sub/inbox?x", "/sub/inbox/requests/req_1"]) {
    assert.equal(part(path, { mode }), "page", path);
  }
  assert.equal(part("/sub/assets/inbox-1.js"), "file");
});

test("data, changes and everything outside the inbox are left to the network", () => {
  const mode = "navigate";
  assert.equal(part("/sub/inbox/api/list"), null);
  assert.equal(part("/sub/inbox/api/list", { mode }), null);
  assert.equal(part("/sub/inbox", { mode, method: "POST" }), null);
  assert.equal(part("/sub/inbox"), null, "only a visit gets the page");
  for (const path of ["/sub/inboxes", "/inbox", "/sub/review/token", "/sub/app"]) {
    assert.equal(part(path, { mode }), null, path);
  }
  assert.equal(part("/sub/assets/inbox-1.js?x"), null);
  assert.equal(part("/sub/assets/other.js"), null);
  assert.equal(part("https://other.example/sub/inbox", { mode }), null);
});

test("an old shell goes, and the shells of other services stay", () => {
  const name = cacheName(shell);
  assert.equal(isOldCache(name, shell), false);
  assert.equal(isOldCache(cacheName({ ...shell, version: "a" }), shell), true);
  assert.equal(isOldCache(cacheName({ ...shell, page: "/inbox" }), shell), false);
  assert.equal(isOldCache("somebody else's", shell), false);
});
