// The guards of the journeys notice what no page of ours may do: otherwise the journeys would prove nothing.

import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { until } from "../server/test/patience.ts";
import {
  assertClean,
  checkAccessibility,
  openBrowser,
  openContext,
  problemsOf,
  switches,
} from "./browser.ts";
import { isFault } from "./site.ts";

const executablePath = process.env.TEST_CHROMIUM ?? "";
const skip = executablePath === "" ? "no Chromium" : false;

/** As strict as the review page's. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

let browser: Browser;
let server: http.Server;
let address: string;

before(async () => {
  if (skip !== false) return;
  server = http.createServer((request, response) => answer(request.url ?? "", response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://localhost:${(server.address() as AddressInfo).port}`;
  browser = await openBrowser(executablePath);
});

after(async () => {
  if (skip !== false) return;
  await browser.close();
  server.closeAllConnections();
  server.close();
});

function answer(url: string, response: http.ServerResponse): void {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  if (pathname === "/script.js") {
    response.setHeader("content-type", "text/javascript").end(searchParams.get("text"));
  } else if (pathname.startsWith("/status/")) {
    response.writeHead(Number(pathname.slice("/status/".length))).end();
  } else if (pathname === "/") {
    response.setHeader("content-type", "text/html; charset=utf-8");
    if (searchParams.has("strict")) response.setHeader("content-security-policy", policy);
    response.end(searchParams.get("text"));
  } else {
    response.writeHead(404).end();
  }
}

const fine = `<!doctype html><html lang="en"><title>Fine</title><main><h1>Fine</h1><button>Do</button></main>`;

async function open(text: string, { isStrict = true, ...options } = {} as OpenOptions) {
  const context = await openContext(browser, address, options);
  const page = await context.newPage();
  const strict = isStrict ? "&strict" : "";
  await page.goto(`${address}/?text=${encodeURIComponent(text)}${strict}`);
  return page;
}
type OpenOptions = BrowserContextOptions & { isStrict?: boolean };

const withScript = (text: string) =>
  `${fine}<script src="/script.js?text=${encodeURIComponent(text)}"></script>`;

async function assertNoticed(page: Page, pattern: RegExp): Promise<void> {
  const isThere = () => problemsOf(page.context()).some((problem) => pattern.test(problem));
  await until(isThere, String(pattern));
  await assert.rejects(assertClean(page), pattern);
  await page.context().close();
}

describe("a page is not clean", () => {
  const noticed: [what: string, text: string, pattern: RegExp, options?: OpenOptions][] = [
    ["that writes an error", withScript("console.error('oh dear')"), /console: oh dear/],
    ["that throws", withScript("throw new Error('oh dear')"), /page error: Error: oh dear/],
    [
      "that leaves a rejection unhandled",
      withScript("Promise.reject(new Error('oh dear'))"),
      /page error: Error: oh dear/,
    ],
    [
      "with an inline script",
      `${fine}<script>1</script>`,
      /violation of script-src-elem by inline/,
    ],
    ["with an inline style", `${fine}<p style="color:red">`, /violation of style-src-attr by inl/],
    [
      "that makes HTML of text",
      withScript("document.body.innerHTML = '<b>x</b>'"),
      /violation of require-trusted-types-for/,
    ],
    [
      "that asks another origin for an image",
      `${fine}<img alt="" src="https://evil.example/p.png">`,
      /call to another origin: https:\/\/evil\.example\/p\.png/,
      { isStrict: false },
    ],
    [
      "that fetches from another port of this machine",
      withScript("fetch('http://localhost:9/x').catch(() => {})"),
      /call to another origin: http:\/\/localhost:9\/x/,
      { isStrict: false },
    ],
    [
      "that misses one of its files",
      `${fine}<img alt="" src="/missing.png">`,
      /status of 404 .*missing\.png/,
    ],
  ];
  for (const [what, text, pattern, options] of noticed) {
    test(what, { skip }, async () => assertNoticed(await open(text, options), pattern));
  }

  test("when another tab of its context is not", { skip }, async () => {
    const page = await open(fine);
    await assertClean(page);
    const tab = await page.context().newPage();
    await tab.goto(`${address}/?text=${encodeURIComponent("<script>1</script>")}&strict`);
    await assertNoticed(page, /violation of script-src-elem/);
  });
});

test("a failing answer that belongs to the journey is let pass, and only that", {
  skip,
}, async () => {
  const page = await open(`${fine}<img alt="" src="/missing.png">`);
  await until(() => problemsOf(page.context()).length > 0, "the missing image is noticed");
  await assertClean(page, { mayFail: ["404 /missing"] });
  await assert.rejects(assertClean(page, { mayFail: ["409 /missing"] }), /status of 404/);
  await assert.rejects(assertClean(page, { mayFail: ["404 /other"] }), /status of 404/);
  await page.context().close();
});

test("answers that a page would simply ask for again pass, and no other fault of the service does", {
  skip,
}, async () => {
  const calls = [429, 503, 500].map((status) => `fetch("/status/${status}")`).join();
  const page = await open(withScript(`Promise.all([${calls}]).then(() => console.error("all"))`));
  const found = () => problemsOf(page.context());
  await until(() => found().some((problem) => problem.includes("console: all")), "all answers");
  assert.equal(found().length, 2, found().join("\n"));
  await assert.rejects(assertClean(page), /status of 500/);
  assert.ok(isFault(callLine(500)) && isFault('{"level":"error","msg":"oh dear"}'));
  assert.ok(![200, 404, 429, 503].some((status) => isFault(callLine(status))));
  await page.context().close();
});

function callLine(status: number): string {
  return JSON.stringify({ level: "info", msg: "call", status });
}

/** Out of reach for somebody who cannot see it, for as long as it is there. */
const nameless = `<main><button></button></main>`;

describe("axe-core looks when the page is still", () => {
  const start = `<!doctype html><html lang="en"><title>Fine</title><main><h1>Fine</h1>`;
  const endAll = "for (const one of document.getAnimations()) one.finish()";
  const moving: [what: string, text: string, end: string][] = [
    [
      "an animation that has not ended",
      `<style>@keyframes appear { from, 99% { color: #eee } } p { animation: appear 3600s }</style><p>Read me</p></main>`,
      endAll,
    ],
    [
      "an animation in a dialog",
      `<style>@keyframes appear { from, 99% { color: #eee } } dialog { background: #fff; animation: appear 3600s }</style>
        <dialog aria-label="Sure"><p>Read me</p></dialog></main><script>document.querySelector("dialog").showModal()</script>`,
      endAll,
    ],
    [
      "a placeholder",
      `<div class="loading-lines"><button></button></div></main>`,
      `document.querySelector(".loading-lines").remove()`,
    ],
  ];
  for (const [what, text, end] of moving) {
    test(`not during ${what}`, { skip }, async () => {
      const still = await open(fine);
      const startMs = performance.now();
      await checkAccessibility(still);
      const usualMs = performance.now() - startMs;
      const page = await open(`${start}${text}`, { isStrict: false });
      const looking = checkAccessibility(page);
      looking.catch(() => {});
      // Long enough to find something, if it looked at once. However slow the machine is, it must not.
      await Promise.race([looking, new Promise((resolve) => setTimeout(resolve, 2 * usualMs))]);
      await page.evaluate(end);
      await looking;
      for (const each of [still, page]) await each.context().close();
    });
  }

  test("and does not wait for what never ends", { skip }, async () => {
    const pulse = `<style>@keyframes pulse { to { opacity: 0 } } i { animation: pulse 1s infinite }</style><i></i>`;
    const page = await open(`${fine}${pulse}${nameless}`, { isStrict: false });
    await assert.rejects(checkAccessibility(page), /button-name/);
    await page.context().close();
  });
});

test("axe-core runs under the strictest policy, and leaves the page clean", { skip }, async () => {
  const page = await open(fine);
  assert.deepEqual(await checkAccessibility(page), []);
  await assertClean(page);
  await page.context().close();
});

test("axe-core's findings are a list that names rule, place and reason", { skip }, async () => {
  const page = await open(`${fine}<main><img src="/missing.png"><button></button></main>`);
  await assert.rejects(checkAccessibility(page), ({ message }: Error) => {
    assert.match(message, /^axe-core finds on http:/);
    assert.match(
      message,
      /\n {2}image-alt: Images must have alternative text\n {4}img {2}<img src/,
    );
    assert.match(message, /\n {2}button-name: /);
    assert.match(message, /\n {2}landmark-no-duplicate-main: /);
    return true;
  });
  await page.context().close();
});

test("targets that are too small for a thumb are found too", { skip }, async () => {
  const small = `<button aria-label="x" style="width:10px;height:10px;padding:0;border:0"></button>`;
  const page = await open(`${fine}<main>${small}${small}</main>`, { isStrict: false });
  await assert.rejects(checkAccessibility(page), /target-size/);
  await page.context().close();
});

test("the features that Playwright turns off in Chromium stay off beside those turned off here", {
  skip,
}, async () => {
  const launched = await chromium.launchServer({ executablePath, args: switches });
  const { spawnargs } = launched.process();
  await launched.close();
  const name = "--disable-features=";
  const [playwrights, ours, ...more] = spawnargs
    .filter((word) => word.startsWith(name))
    .map((word) => word.slice(name.length).split(","));
  assert.ok(playwrights !== undefined && ours !== undefined && more.length === 0);
  assert.deepEqual(
    playwrights.filter((feature) => !ours.includes(feature)),
    [],
  );
});
