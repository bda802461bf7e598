// The inbox as an app: what a browser needs to install it, below any path, and a service worker that holds no data.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loadAssets } from "../src/http/frame/assets.ts";
import { startNode, startService, testAssets } from "./test-service.ts";

const assets = { ...testAssets, ...pickApp() };
const service = await startService({ assets });
const atRoot = await startNode(service.database, {
  assets,
  publicUrl: "https://approvals.example",
});
after(async () => {
  await atRoot.stop();
  await service.stop();
});

/** The built icons, with the pages of other tests. */
function pickApp() {
  const built = loadAssets();
  return { app: built.app, files: new Map([...testAssets.files, ...built.files]) };
}

async function get({ app }: Pick<typeof service, "app">, url: string) {
  const {
    statusCode: status,
    headers,
    body,
    rawPayload,
  } = await app.inject({ method: "GET", url });
  return { status, headers, body, rawPayload };
}

test("the manifest leads to the inbox and its icons, below any path", async () => {
  for (const [node, base] of [
    [service, "/countersign"],
    [atRoot, ""],
  ] as const) {
    const { status, headers, body } = await get(node, "/inbox/manifest.webmanifest");
    assert.equal(status, 200);
    assert.match(String(headers["content-type"]), /^application\/manifest\+json/);
    const manifest = JSON.parse(body);
    assert.equal(manifest.start_url, `${base}/inbox`);
    assert.equal(manifest.id, `${base}/inbox`);
    assert.equal(manifest.scope, `${base}/`);
    assert.equal(manifest.display, "standalone");
    assert.deepEqual(
      manifest.icons.map(({ sizes, purpose }: Record<string, string>) => `${sizes} ${purpose}`),
      ["192x192 any", "512x512 any", "512x512 maskable"],
    );
    for (const { src, sizes, type } of manifest.icons) {
      const icon = await get(node, src);
      assert.equal(icon.status, 200, src);
      assert.equal(icon.headers["content-type"], type);
      assert.equal(sizeOf(icon.rawPayload), sizes);
    }
  }
});

test("the page names the manifest, and its policy allows the app and nothing more", async () => {
  const { body, headers } = await get(service, "/inbox");
  assert.match(body, /<link rel="manifest" href="\/countersign\/inbox\/manifest\.webmanifest">/);
  const touchIcon = /<link rel="apple-touch-icon" href="([^"]+)">/.exec(body)?.[1] ?? "";
  assert.equal(sizeOf((await get(service, touchIcon)).rawPayload), "180x180");
  const policy = String(headers["content-security-policy"]).split("; ");
  assert.ok(policy.includes("manifest-src 'self'"));
  assert.ok(policy.includes("worker-src 'self'"));
  assert.ok(policy.includes("connect-src 'self'"));
});

test("the service worker may serve the inbox's pages, and knows the files that draw them", async () => {
  const { status, headers, body } = await get(service, "/inbox/service-worker.js");
  assert.equal(status, 200);
  assert.equal(headers["service-worker-allowed"], "/countersign/inbox");
  assert.equal(headers["cache-control"], "no-cache");
  assert.equal(
    headers["content-security-policy"],
    "default-src 'none'; connect-src 'self'",
    "it loads no script",
  );
  const shell = shellOf(body);
  assert.equal(shell.page, "/countersign/inbox");
  for (const file of [...shell.files, shell.icon, shell.badge]) {
    assert.equal((await get(service, file)).status, 200, file);
  }
});

test("an update of the service is a new service worker, and no update isn't", async () => {
  const before = (await get(service, "/inbox/service-worker.js")).body;
  assert.equal((await get(service, "/inbox/service-worker.js")).body, before);
  const inbox = { ...assets.inbox, script: "assets/inbox-def.js" };
  const newer = await startNode(service.database, { assets: { ...assets, inbox } });
  const after = (await get(newer, "/inbox/service-worker.js")).body;
  await newer.stop();
  assert.notEqual(shellOf(after).version, shellOf(before).version);
});

function shellOf(script: string) {
  const [, text = ""] = /^const shell = (\{.*\});\n/.exec(script) ?? [];
  return JSON.parse(text);
}

/** As the header of a PNG tells it. */
function sizeOf(png: Buffer): string {
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
}
