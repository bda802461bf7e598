import assert from "node:assert/strict";
import { test } from "node:test";
import { flawOfPublicUrl, localUrl } from "./public-url.ts";

test("an address that is encrypted, or stays on this machine, has no flaw", () => {
  for (const url of [
    "https://approvals.example",
    "HTTPS://approvals.example/sub",
    "http://localhost:3000",
    "http://127.0.0.1:3000/sub",
    "http://127.8.8.8",
    "http://[::1]:3000",
    "http://countersign.localhost:3000",
  ]) {
    assert.equal(flawOfPublicUrl(url), null, url);
  }
});

test("plain http to any other host is told, with what follows from it and what to do", () => {
  for (const url of [
    "http://approvals.example",
    "http://10.0.0.7:3000",
    "http://localhost.example",
    "http://notlocalhost",
    "http://128.0.0.1",
    "http://127.0.0.1.example",
    "http://[::2]",
    "http://localhost@approvals.example",
  ]) {
    const flaw = flawOfPublicUrl(url) ?? "";
    assert.ok(flaw.includes(url), url);
    assert.match(flaw, /unencrypted.*nothing can be decided.*TLS.*PUBLIC_URL.*https:\/\//);
  }
});

test("whatever the service listens on, its address is one that a browser takes", () => {
  for (const [host, url] of [
    ["127.0.0.1", "http://localhost:3000"],
    ["0.0.0.0", "http://localhost:3000"],
    ["::", "http://localhost:3000"],
    ["::1", "http://[::1]:3000"],
    ["fd00::5", "http://[fd00::5]:3000"],
    ["10.0.0.5", "http://10.0.0.5:3000"],
    ["approvals.internal", "http://approvals.internal:3000"],
  ] as const) {
    assert.equal(localUrl(host, 3000), url);
    assert.ok(URL.canParse(url));
  }
});
