import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { loadAssets } from "../src/http/frame/assets.ts";
import { startService, testPublicUrl } from "./test-service.ts";

const service = await startService({ assets: loadAssets() });
after(() => service.stop());

type Listed = { name: string; version: string; bytes: number; integrity: string; url: string };

/** Calls the app itself: the tests' other way of calling is for routes that OpenAPI describes. */
function get(path: string, headers: Record<string, string> = {}) {
  return service.app.inject({ method: "GET", url: path, headers });
}

test("the service hands out every package that the documentation installs, exactly as its list says", async () => {
  const list = await get("/packages");
  assert.equal(list.statusCode, 200);
  const { data } = list.json<{ data: Listed[] }>();
  assert.deepEqual(data.map(({ name }) => name).sort(), [
    ...[
      "action",
      "ai-sdk",
      "hook",
      "langchain",
      "mastra",
      "mcp",
      "n8n-nodes-countersign",
      "openai-agents",
      "sdk",
    ].map((name) => `@countersign/${name}`),
    "countersign",
    "countersign-verify",
  ]);
  for (const { url, bytes, integrity } of data) {
    assert.ok(url.startsWith(`${testPublicUrl}/packages/countersign-`));
    const path = url.slice(testPublicUrl.length);
    const { statusCode, headers, rawPayload } = await get(path);
    assert.equal(statusCode, 200);
    const type = url.endsWith(".mjs") ? "text/javascript" : "application/gzip";
    assert.equal(String(headers["content-type"]).split(";")[0], type);
    assert.equal(headers["content-encoding"], undefined);
    assert.equal(rawPayload.length, bytes);
    assert.equal(`sha512-${createHash("sha512").update(rawPayload).digest("base64")}`, integrity);
    const again = await get(path, { "if-none-match": String(headers.etag) });
    assert.deepEqual([again.statusCode, again.payload], [304, ""]);
  }
});

test("a package that this version does not have is a 404 that says where the others are", async () => {
  for (const name of [
    "countersign-sdk-9.9.9.tgz",
    "index.json",
    "built-from",
    "..%2fmanifest.json",
  ]) {
    const { statusCode, payload } = await get(`/packages/${name}`);
    assert.equal(statusCode, 404, name);
    assert.ok(payload.includes(`${testPublicUrl}/packages`), payload);
  }
});
