// The documentation as the service answers it: every page and its Markdown, links that all lead somewhere, nothing that
// comes from elsewhere, and nothing sent twice.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { pages, reference } from "../../web/src/docs/contents.ts";
import { openApi } from "../src/http/docs/openapi.ts";
import { loadAssets } from "../src/http/frame/assets.ts";
import { startService, testPublicUrl } from "./test-service.ts";

const root = join(import.meta.dirname, "..", "..");
const service = await startService({ assets: loadAssets() });
after(() => service.stop());

const basePath = new URL(testPublicUrl).pathname;
const addresses = ["/docs", `/docs/${reference.slug}`, ...pages.map(({ slug }) => `/docs/${slug}`)];

/** Calls the app itself: the tests' other way of calling is for routes that OpenAPI describes. */
async function ask(method: "GET" | "HEAD", url: string, headers: Record<string, string> = {}) {
  const reply = await service.app.inject({ method, url, headers });
  const named = reply.headers as Record<string, string | undefined>;
  return { status: reply.statusCode, headers: named, text: reply.payload, bytes: reply.rawPayload };
}

function get(path: string, headers: Record<string, string> = {}) {
  return ask("GET", path, headers);
}

test("every Markdown file of docs/ is in the contents, and every page of them is built without a flaw", () => {
  const listed = new Set(pages.map(({ file }) => file));
  const missing = globSync("docs/*.md", { cwd: root }).filter((file) => !listed.has(file));
  assert.deepEqual(missing, [], "add them to web/src/docs/contents.ts");
  const problems = readFileSync(join(root, "web/dist/docs/problems.json"), "utf8");
  assert.deepEqual(JSON.parse(problems), [], "npm run build says where");
});

test("every page is answered as HTML, as guarded as the dashboard", async () => {
  for (const address of addresses) {
    const { status, headers, text } = await get(address);
    assert.equal(status, 200, address);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.equal(headers["cache-control"], "public, no-cache");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["x-frame-options"], "DENY");
    const policy = headers["content-security-policy"] ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.match(policy, /connect-src 'self'.*require-trusted-types-for 'script'/);
    assert.ok(!/unsafe/.test(policy), policy);
    assert.match(text, /^<!doctype html>\n<html lang="en"/);
    assert.ok(!/{{\w+}}/.test(text), `${address} has an unfilled place`);
    assert.ok(
      !/<script(?![^>]* src=)|<style| style="| on[a-z]+="/.test(text),
      `${address}: inline`,
    );
  }
});

test("the webhook vectors are served as they are, and the page leads to them", async () => {
  const { status, headers, text } = await get("/docs/webhook-vectors.json");
  assert.equal(status, 200);
  assert.equal(headers["content-type"], "application/json; charset=utf-8");
  assert.equal(text, readFileSync(join(root, "docs/webhook-vectors.json"), "utf8"));
  assert.match((await get("/docs/webhooks")).text, /href="webhook-vectors\.json"/);
  assert.equal((await get("/docs/problems.json")).status, 404);
});

test("the reference names this service's own address in its samples", async () => {
  const { text } = await get("/docs/api");
  const words = text.replaceAll(/<[^>]+>/g, "");
  assert.ok(words.includes(`curl -s ${testPublicUrl}/v1/requests \\\n`), "no sample of a create");
});

test("every call of the reference has a sample for curl, and every call about requests one for the SDK", async () => {
  const { text } = await get("/docs/api");
  const calls = [
    ...text.matchAll(/<section class="call" aria-labelledby="[^"]+">[\s\S]*?<\/section>/g),
  ];
  assert.equal(calls.length, Object.values(openApi.paths).flatMap(Object.keys).length);
  for (const [call] of calls) {
    assert.ok(call.includes("<figcaption>curl</figcaption>"), call.slice(0, 90));
    const isAboutRequests = /<code>\/v1\/requests/.test(call);
    assert.equal(call.includes("<figcaption>TypeScript SDK</figcaption>"), isAboutRequests);
  }
});

test("a page weighs less than 200 KB with everything that it loads, and 40 KB on its way", async () => {
  for (const address of addresses) {
    const page = await get(address, { "accept-encoding": "br" });
    const { text } = await get(address);
    const loaded = [
      ...text.matchAll(/<(?:script|link rel="(?:stylesheet|icon)")[^>]* (?:src|href)="([^"]+)"/g),
    ];
    let [decoded, sent] = [Buffer.byteLength(text), page.bytes.length];
    for (const [, reference = ""] of loaded) {
      const { pathname } = new URL(reference, `http://here${address}`);
      decoded += (await get(pathname)).bytes.length;
      sent += (await get(pathname, { "accept-encoding": "br" })).bytes.length;
    }
    assert.ok(loaded.length >= 3 && decoded < 200_000, `${address}: ${decoded} bytes`);
    assert.ok(sent < 40_000, `${address}: ${sent} bytes`);
  }
});

test("every picture has a size and words, is light, and is kept by browsers", async () => {
  let pictures = 0;
  for (const address of addresses) {
    const { text } = await get(address);
    let bytes = 0;
    for (const [image, src = ""] of text.matchAll(/<img src="([^"]+)"[^>]*>/g)) {
      assert.match(image, / alt="[^"]{20,}" width="\d+" height="\d+" loading="lazy"/, address);
      const answer = await get(new URL(src, `http://here${address}`).pathname);
      assert.equal(answer.status, 200, src);
      assert.match(answer.headers["content-type"] ?? "", /^image\/(svg\+xml|webp|png)$/);
      assert.match(answer.headers["cache-control"] ?? "", /immutable/);
      bytes += answer.bytes.length;
      pictures += 1;
    }
    assert.ok(bytes < 250_000, `${address}: pictures of ${bytes} bytes`);
  }
  assert.ok(pictures >= 8, `${pictures} pictures`);
});

test("every link of every page leads to a page, a heading, a file or an answer of the service", async () => {
  const texts = new Map<string, string>();
  for (const address of addresses) texts.set(address, (await get(address)).text);
  const answers = new Map<string, number>();
  for (const [address, text] of texts) {
    for (const [, reference = ""] of text.matchAll(/ (?:href|src|data-[a-z]+)="([^"]*)"/g)) {
      // Beside addresses only the name of a language begins so.
      if (!/^[.#/]|^[a-z0-9-]+(\.md)?(#|$)/.test(reference) || reference === "..") continue;
      if (/^(console|go|http|ini|js|json|nginx|python|sh|sql|text|ts|yaml|\.)$/.test(reference))
        continue;
      const url = new URL(reference, `http://here${address}`);
      const target = url.pathname;
      if (!answers.has(target)) answers.set(target, (await get(target)).status);
      assert.ok([200, 302].includes(answers.get(target) ?? 0), `${address} → ${reference}`);
      const anchor = decodeURIComponent(url.hash.slice(1));
      if (anchor === "" || !texts.has(target)) continue;
      assert.ok(texts.get(target)?.includes(` id="${anchor}"`), `${address} → ${reference}`);
    }
  }
  assert.ok(answers.size > pages.length);
});

test("nothing that a page loads comes from elsewhere", async () => {
  for (const address of addresses) {
    const { text } = await get(address);
    const loaded = text.matchAll(/<(?:script|img|link|iframe)[^>]* (?:src|href)="([^"]+)"/g);
    for (const [, url = ""] of loaded) assert.match(url, /^(\.|[a-z0-9-]+\.md$)/, address);
  }
  for (const [name, bytes] of loadAssets().files) {
    if (!/^docs-.*\.(js|css)$/.test(name)) continue;
    assert.ok(!/@import|url\(|https?:\/\//.test(bytes.toString()), name);
  }
});

test("the Markdown of every page is answered as such, by its ending and by what is accepted", async () => {
  for (const { slug, file } of pages) {
    const byEnding = await get(`/docs/${slug}.md`);
    assert.equal(byEnding.status, 200, slug);
    assert.equal(byEnding.headers["content-type"], "text/markdown; charset=utf-8");
    const [title = ""] = readFileSync(join(root, file), "utf8").split("\n");
    assert.ok(byEnding.text.startsWith(title), slug);
    const accepted = await get(`/docs/${slug}`, { accept: "text/markdown, */*" });
    assert.equal(accepted.text, byEnding.text);
    assert.match(accepted.headers.vary ?? "", /Accept\b/);
  }
  const browser = "text/html,application/xhtml+xml,text/markdown;q=0.1,*/*;q=0.8";
  const page = await get("/docs/quickstart", { accept: browser });
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.equal((await get("/docs/api.md")).text, (await get("/docs/http-api.md")).text);
});

test("remarks to the writers of the Markdown reach no reader", async () => {
  for (const { slug } of pages) {
    assert.ok(!(await get(`/docs/${slug}.md`)).text.includes("<!--"), slug);
    assert.ok(!(await get(`/docs/${slug}`)).text.includes("&#60;!--"), slug);
  }
});

test("llms.txt has a title, a summary and every page's Markdown at its full address", async () => {
  const { status, headers, text } = await get("/llms.txt");
  assert.equal(status, 200);
  assert.equal(headers["content-type"], "text/plain; charset=utf-8");
  assert.match(text, /^# Countersign\n\n> .+\n\n/);
  for (const { slug } of pages) assert.ok(text.includes(`](${testPublicUrl}/docs/${slug}.md): `));
  for (const [, url = ""] of text.matchAll(/\]\(([^)]+)\)/g)) {
    assert.ok(url.startsWith(testPublicUrl), url);
    assert.equal((await get(url.slice(testPublicUrl.length))).status, 200, url);
  }
  const full = await get("/llms-full.txt");
  assert.equal(full.status, 200);
  for (const { slug } of pages) assert.ok(full.text.includes(`${testPublicUrl}/docs/${slug}.md`));
  const index = await get("/docs", { accept: "text/markdown" });
  assert.equal(index.text, text);
  assert.equal(index.headers["content-type"], "text/markdown; charset=utf-8");
});

test("a page that depends on Accept says so to caches, in every form and when it is known already", async () => {
  for (const path of ["/docs", "/docs/quickstart", `/docs/${reference.slug}`]) {
    for (const accept of ["text/html", "text/markdown"]) {
      const { headers } = await get(path, { accept });
      assert.equal(headers.vary, "Accept, Accept-Encoding", `${path} as ${accept}`);
      if (headers.etag === undefined) continue;
      const known = await get(path, { accept, "if-none-match": headers.etag });
      assert.deepEqual([known.status, known.headers.vary], [304, "Accept, Accept-Encoding"]);
    }
  }
  const { headers } = await get("/llms.txt");
  assert.equal(headers.vary, "Accept-Encoding");
  const again = await get("/llms.txt", { "if-none-match": headers.etag ?? "" });
  assert.equal(again.headers.vary, "Accept-Encoding");
});

test("a caller who has a page is told so instead of being sent it again", async () => {
  for (const path of ["/docs", "/docs/quickstart", "/docs/quickstart.md", "/llms.txt"]) {
    const { headers } = await get(path);
    const etag = headers.etag ?? "";
    assert.match(etag, /^"[0-9a-f]+"$/);
    const again = await get(path, { "if-none-match": `"other", W/${etag}` });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, "", etag]);
    assert.equal((await get(path, { "if-none-match": `"other"` })).status, 200);
  }
});

test("pages and files are sent compressed as they are accepted, and as the same text", async () => {
  const plain = await get("/docs/operating");
  for (const [encoding, open] of [
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const) {
    const headers = { "accept-encoding": encoding };
    const reply = await get("/docs/operating", headers);
    assert.equal(reply.headers["content-encoding"], encoding);
    assert.equal(open(reply.bytes).toString(), plain.text);
    assert.notEqual(reply.headers.etag, plain.headers.etag);
  }
  const [, search = ""] = /data-search="\.\.([^"]+)"/.exec(plain.text) ?? [];
  const { headers, status } = await get(search);
  assert.equal(status, 200);
  assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(headers["content-type"], "application/json; charset=utf-8");
});

test("HEAD answers what GET does, without a body", async () => {
  for (const path of ["/docs", "/docs/quickstart", "/docs/api", "/llms.txt"]) {
    const { status, headers, text } = await ask("HEAD", path);
    assert.equal(status, 200, path);
    assert.equal(text, "");
    assert.equal(headers["content-type"], (await get(path)).headers["content-type"]);
  }
});

test("an address below /docs that leads nowhere answers 404 with a page that says where to go", async () => {
  const wrong = [
    "no-such-page",
    "a/b/c",
    "quickstart.html",
    "not-found",
    "index",
    "%2e%2e%2fllms.txt",
  ];
  for (const name of [...wrong, "no-such-page.md", "quickstart.html.br", "constructor"]) {
    const { status, headers, text } = await get(`/docs/${name}`);
    assert.equal(status, 404, name);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.match(text, /<h1>There is no such page<\/h1>/);
    // It stands at any depth, so its addresses begin at the root.
    assert.ok(text.includes(`href="${basePath}/docs/quickstart"`));
  }
  const beginning = await get("/docs/");
  assert.deepEqual([beginning.status, beginning.headers.location], [302, `${testPublicUrl}/docs`]);
});
