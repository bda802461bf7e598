// That the harness of the journeys itself can be relied on: what it finds, and what it must not let pass.

import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { type JourneyOptions, journeys } from "./journey.ts";

const journey = journeys();
const body = { summary: "Refund order 1042", notify: "ann@example.com" };

/** Chromium looks for an icon beside what names none, as JSON cannot. */
const noIcon: JourneyOptions = { mayFail: ["404 /favicon.ico"] };

journey("the running service answers a real browser", noIcon, async ({ site, visit }) => {
  const page = await visit(`${site.url}/healthz`);
  assert.match(await page.content(), /\{"status":"ok"\}/);
});

journey(
  "a mailed link is the one of its request and its reader",
  async ({ site, createRequest, makeGroup, mailedLink }) => {
    const { key } = await makeGroup(["ann@example.com", "bob@example.com"]);
    const alone = await createRequest(body);
    await createRequest({ ...body, notify: `group:${key}` });
    const links = await Promise.all([
      mailedLink("ann@example.com", alone.id),
      mailedLink("ann@example.com"),
      mailedLink("bob@example.com"),
    ]);
    assert.equal(new Set(links.map(({ url }) => url)).size, 3);
    for (const { url, code } of links) {
      assert.match(url, new RegExp(`^${site.url}/review/[\\w-]{43}$`));
      assert.equal(code, null);
    }
  },
);

journey(
  "a code is read from the mail where the workspace asks for one",
  { workspace: { reviewCode: true } },
  async ({ createRequest, mailedLink }) => {
    await createRequest(body);
    assert.match((await mailedLink("ann@example.com")).code ?? "", /^[A-Z0-9]{3}-[A-Z0-9]{3}$/);
  },
);

journey(
  "an agent creates, reads and cancels over the API, to the byte",
  async ({ createRequest, readRequest, readRequestText, cancelRequest }) => {
    const text = `{"summary":"Pay","notify":"ann@example.com","payload":{"id":9007199254740993}}`;
    const { id } = await createRequest(text);
    assert.match(await readRequestText(id), /"payload":\{"id":9007199254740993\}/);
    assert.equal((await cancelRequest(id)).status, "CANCELLED");
    assert.equal((await readRequest(id)).status, "CANCELLED");
  },
);

journey(
  "moved to its end a request expires, as long after its creation as before",
  async ({ createRequest, moveExpiry, readRequest }) => {
    const spanOf = (request: { createdAt: string; expiresAt: string }) =>
      Date.parse(request.expiresAt) - Date.parse(request.createdAt);
    const created = await createRequest(body);
    await moveExpiry(created.id, -1_000);
    const expired = await readRequest(created.id);
    assert.equal(expired.status, "EXPIRED");
    assert.equal(spanOf(expired), spanOf(created));
  },
);

journey(
  "each visit is a browser of its own, and a second tab shares the first one's",
  noIcon,
  async ({ site, visit }) => {
    const first = await visit(`${site.url}/healthz`);
    await first.context().addCookies([{ name: "a", value: "b", url: site.url }]);
    const tab = await first.context().newPage();
    await tab.goto(`${site.url}/readyz`);
    const other = await visit(`${site.url}/healthz`, { viewport: { width: 390, height: 844 } });
    assert.equal(await tab.evaluate("document.cookie"), "a=b");
    assert.equal(await other.evaluate("document.cookie"), "");
    assert.equal(await other.evaluate("innerWidth"), 390);
  },
);

const unusual = { viewport: { width: 777, height: 555 } };
let browserBefore: BrowserContext;

/** All that a page can leave in a browser, and what the browser allows it. */
function leftIn(page: Page): Promise<unknown> {
  return page.evaluate(`(async () => ({
    cookie: document.cookie,
    stored: { ...localStorage, ...sessionStorage },
    databases: (await indexedDB.databases()).map(({ name }) => name),
    caches: await caches.keys(),
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    clipboard: (await navigator.permissions.query({ name: "clipboard-read" })).state,
    isOnline: navigator.onLine,
    name: window.name,
    script: typeof leftBehind,
  }))()`);
}

const nothing = {
  ...{ cookie: "", stored: {}, databases: [], caches: [], workers: 0 },
  ...{ clipboard: "prompt", isOnline: true, name: "", script: "undefined" },
};

journey(
  "somebody leaves all that a browser can keep",
  { mayFail: ["404 /"], mayBreak: "/" },
  async ({ site, visit }) => {
    const page = await visit(`${site.url}/healthz`, unusual);
    const context = page.context();
    browserBefore = context;
    await context.grantPermissions(["clipboard-read"]);
    await page.addInitScript({ content: "globalThis.leftBehind = true" });
    await page.goto(`${site.url}/missing-for-somebody`);
    await page.evaluate(`(async () => {
      document.cookie = "a=b; max-age=1000";
      localStorage.setItem("c", "d");
      sessionStorage.setItem("e", "f");
      window.name = "g";
      await caches.open("h");
      await new Promise((resolve, reject) => Object.assign(indexedDB.open("i"), { onsuccess: resolve, onerror: reject }));
    })()`);
    await context.route("**/readyz", (route) => route.abort());
    await context.setOffline(true);
    assert.deepEqual(await leftIn(page), {
      ...{ cookie: "a=b", stored: { c: "d", e: "f" }, databases: ["i"], caches: ["h"], workers: 0 },
      ...{ clipboard: "granted", isOnline: false, name: "g", script: "boolean" },
    });
  },
);

journey("the next one gets that browser, and nothing in it", noIcon, async ({ site, visit }) => {
  const page = await visit(`${site.url}/healthz`, unusual);
  assert.equal(page.context(), browserBefore);
  assert.deepEqual(await leftIn(page), nothing);
  assert.equal((await page.goto(`${site.url}/readyz`))?.status(), 200);
  assert.deepEqual(await page.evaluate("[innerWidth, history.length]"), [777, 3]);
  await page.clock.install();
});

journey("nobody gets a browser whose clock was set", noIcon, async ({ site, visit }) => {
  const page = await visit(`${site.url}/healthz`, unusual);
  assert.notEqual(page.context(), browserBefore);
  assert.match(String(await page.evaluate("String(Date)")), /native code/);
});
