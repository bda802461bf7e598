import assert from "node:assert/strict";
import { test } from "node:test";
import { addressParts } from "./address-parts.ts";

test("the host of an address is what a browser takes for it, and nothing is left out", () => {
  for (const address of [
    "https://claude.ai/api/mcp/auth_callback",
    "https://evil.example/https://claude.ai/cb",
    "https://evil.example?https://claude.ai/",
    "https://evil.example:8443",
    "http://127.0.0.1:5555/callback?x=1",
    "http://[::1]:8080/@claude.ai",
    "https://claude.ai.evil.example/",
  ]) {
    const { scheme, host, rest } = addressParts(address);
    assert.equal(host, new URL(address).host);
    assert.equal(`${scheme}${host}${rest}`, address);
  }
  assert.deepEqual(addressParts("localhost"), { scheme: "", host: "localhost", rest: "" });
});
