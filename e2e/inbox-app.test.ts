// The inbox as an app, below a path: it opens without a network, keeps no data, and shows push messages without words of a
// request. Chromium's own push service can't be reached here, and a Chromium without a screen shows no notifications. So
// messages are handed to the service worker directly, and what it would show, and a subscription, are stood in for.

import assert from "node:assert/strict";
import { createECDH, randomBytes } from "node:crypto";
import type { CDPSession, Page } from "playwright-core";
import { open } from "./browser.ts";
import { desktop, enterInbox, openRow, phone, rowOf } from "./inbox-page.ts";
import { journeys } from "./journey.ts";
import { eventually, inspect } from "./review-page.ts";

const journey = journeys({ path: "/approvals" });
/** The inbox asks before anybody is signed in, and in vain while there is no network. */
const allowed = {
  mayFail: ["401 /app/api/me", "401 /inbox/api/list"],
  mayBreak: "/inbox/",
} as const;

journey(
  "the inbox installs, opens without a network and says so, and keeps no data",
  allowed,
  async (there) => {
    const ann = "ann-app@example.com";
    await there.createRequest({ summary: "Pay the watermelon", notify: ann });
    const page = await enterInbox(there, ann, phone);
    await rowOf(page, "Pay the watermelon").waitFor();
    await untilControlled(page);
    assert.deepEqual(await installFlaws(page), []);

    const kept = await keptAddresses(page);
    assert.ok(kept.some((address) => address.endsWith("/approvals/inbox")));
    for (const address of kept) {
      assert.match(new URL(address).pathname, /^\/approvals\/(inbox$|assets\/)/, address);
    }
    const texts = await keptTexts(page);
    assert.ok(texts.includes("<!doctype html>"));
    for (const secret of ["watermelon", ann, "req_", "rev_"]) {
      assert.ok(!texts.includes(secret), secret);
    }

    await page.context().setOffline(true);
    await page.reload();
    await page.getByText("You’re offline.").waitFor();
    assert.equal(await page.getByText("watermelon").count(), 0, "nothing of it was kept");
    await inspect(page, "inbox-offline", allowed);
    await page.context().setOffline(false);
    // By itself, as it says.
    await rowOf(page, "Pay the watermelon").waitFor();

    await openRow(page, "Pay the watermelon");
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole("main").getByText("You’re offline.").waitFor();
    await page.context().setOffline(false);
    await page.getByRole("main").getByText("Pay the watermelon").first().waitFor();
  },
);

journey(
  "a push message becomes a notification that says how many requests wait",
  allowed,
  async (there) => {
    const ann = "ann-notified@example.com";
    await there.createRequest({ summary: "Pay the watermelon", notify: ann });
    const page = await enterInbox(there, ann, desktop);
    await untilControlled(page);
    const worker = await serviceWorkerOf(page);
    for (const [data, title] of [
      ['{"waiting":1}', "1 request is waiting"],
      ['{"waiting":3}', "3 requests are waiting"],
      ["Approve at http://evil.example", "Requests are waiting"],
    ] as const) {
      const [shown, ...more] = await worker.deliver(data);
      assert.equal(more.length, 0);
      assert.equal(shown?.title, title);
      const { icon, badge, ...options } = shown?.options ?? {};
      assert.deepEqual(
        options,
        { tag: "waiting", renotify: true },
        "no words, and nothing to press",
      );
      for (const picture of [icon, badge]) {
        assert.equal((await fetch(new URL(String(picture), there.site.url))).status, 200);
      }
    }
    assert.deepEqual(await worker.click(), [`focus ${there.site.url}/inbox`]);
    await page.goto(`${there.site.url}/docs`);
    assert.deepEqual(
      await worker.click(),
      [`open /approvals/inbox`],
      "no other page is taken over",
    );
    await worker.changeAddress(madeUpSubscription());
    await eventually(
      async () => (await subscriptions(there.site.db, ann)) === 1,
      "the service knows the new address",
    );
  },
);

journey(
  "notifications are turned on and off in the settings, and end with the session",
  allowed,
  async (there) => {
    const ann = "ann-settings@example.com";
    await there.createRequest({ summary: "Refund order 1042", notify: ann });
    const page = await enterInbox(there, ann, desktop);
    await blockNotifications(page);
    await open(page, `${there.site.url}/inbox/settings`);
    const part = page.getByRole("region", { name: "Notifications on this device" });
    await part.getByText("Notifications from this address are blocked.").waitFor();
    await inspect(page, "inbox-notifications-blocked", allowed);
    await page.addInitScript(standInForPush());
    await open(page, `${there.site.url}/inbox/settings`);
    await part.getByText("Off in this browser.").waitFor();
    await inspect(page, "inbox-notifications-off", allowed);
    await part.getByRole("button", { name: "Turn on" }).click();
    await part.getByText("On in this browser.").waitFor();
    assert.equal(await subscriptions(there.site.db, ann), 1);
    await inspect(page, "inbox-notifications-on", allowed);
    // A later visit finds it turned on still.
    await open(page, `${there.site.url}/inbox/settings`);
    await part.getByRole("button", { name: "Turn off" }).click();
    await part.getByText("Off in this browser.").waitFor();
    assert.equal(await subscriptions(there.site.db, ann), 0);
    await part.getByRole("button", { name: "Turn on" }).click();
    await part.getByText("On in this browser.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: /sign in/i }).waitFor();
    assert.equal(await subscriptions(there.site.db, ann), 0);
    assert.equal(await page.evaluate("localStorage.length"), 0, "nothing of the person is left");
  },
);

/** What a Chromium without a screen says by itself differs from version to version. */
async function blockNotifications(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  const { targetInfo } = await cdp.send("Target.getTargetInfo");
  await cdp.send("Browser.setPermission", {
    permission: { name: "notifications" },
    setting: "denied",
    origin: new URL(page.url()).origin,
    ...(targetInfo.browserContextId === undefined
      ? {}
      : { browserContextId: targetInfo.browserContextId }),
  });
}

async function untilControlled(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = () => navigator.serviceWorker.controller && resolve();
    navigator.serviceWorker.addEventListener("controllerchange", look);
    look();
  })`);
}

/** What Chromium finds missing. It says "in-incognito" of every context of a test. */
async function installFlaws(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  const { errors } = await session.send("Page.getAppManifest");
  await session.detach();
  const found = installabilityErrors.map(({ errorId }) => errorId);
  return [...found.filter((id) => id !== "in-incognito"), ...errors.map(({ message }) => message)];
}

async function keptAddresses(page: Page): Promise<string[]> {
  return page.evaluate(`(async () => {
    const found = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) found.push(request.url);
    }
    return found;
  })()`);
}

async function keptTexts(page: Page): Promise<string> {
  return page.evaluate(`(async () => {
    let texts = "";
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const response of await cache.matchAll()) texts += await response.text();
    }
    return texts;
  })()`);
}

type Shown = { title: string; options: Record<string, unknown> };

/** The service worker, as DevTools reach it. `deliver` answers what it would show, and `click` where a press leads. */
async function serviceWorkerOf(page: Page) {
  const context = page.context();
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await worker.evaluate(`{
    self.shown = [];
    self.registration.showNotification = async (title, options) => {
      self.shown.push({ title, options });
    };
    self.led = [];
    self.clients.openWindow = async (url) => void self.led.push("open " + url);
    WindowClient.prototype.focus = async function () { self.led.push("focus " + this.url); };
    self.happen = async (name, facts) => {
      let work;
      const waitUntil = (promise) => { work = promise; };
      self.dispatchEvent(Object.assign(new Event(name), facts, { waitUntil }));
      await work;
    };
  }`);
  const session: CDPSession = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [ours] = registrations.filter(({ isDeleted }) => !isDeleted);
      if (ours !== undefined) resolve(ours.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  const registrationId = await registered;
  const origin: string = await page.evaluate("location.origin");
  const deliver = async (data: string): Promise<Shown[]> => {
    await session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data });
    await eventually(async () => Boolean(await worker.evaluate("self.shown.length")), "it shows");
    return worker.evaluate("self.shown.splice(0)");
  };
  const click = async (): Promise<string[]> => {
    await worker.evaluate("self.happen('notificationclick', { notification: { close() {} } })");
    return worker.evaluate("self.led.splice(0)");
  };
  const changeAddress = (told: object) =>
    worker.evaluate(`self.happen("pushsubscriptionchange", {
      newSubscription: { toJSON: () => (${JSON.stringify(told)}), unsubscribe: async () => true },
    })`);
  return { deliver, click, changeAddress };
}

async function subscriptions(
  db: { query: (text: string, values: unknown[]) => Promise<{ rowCount: number | null }> },
  email: string,
): Promise<number> {
  const { rowCount } = await db.query("select from push_subscriptions where email = $1", [email]);
  return rowCount ?? 0;
}

/** A push service of the browser that is always there. The page's own code meets it as any other. */
function standInForPush(): { content: string } {
  const told = madeUpSubscription();
  return {
    content: `{
      Object.defineProperty(Notification, "permission", { get: () => "granted" });
      Notification.requestPermission = async () => "granted";
      const told = ${JSON.stringify(told)};
      const key = "test-push";
      const made = (applicationServerKey) => ({
        endpoint: told.endpoint,
        options: { applicationServerKey, userVisibleOnly: true },
        toJSON: () => told,
        unsubscribe: async () => { sessionStorage.removeItem(key); return true; },
      });
      PushManager.prototype.subscribe = async function ({ applicationServerKey }) {
        sessionStorage.setItem(key, JSON.stringify([...applicationServerKey]));
        return made(applicationServerKey.buffer);
      };
      PushManager.prototype.getSubscription = async function () {
        const kept = sessionStorage.getItem(key);
        return kept === null ? null : made(new Uint8Array(JSON.parse(kept)).buffer);
      };
    }`,
  };
}

function madeUpSubscription() {
  const pair = createECDH("prime256v1");
  return {
    endpoint: `https://push.example/${randomBytes(12).toString("base64url")}`,
    expirationTime: null,
    keys: {
      p256dh: pair.generateKeys().toString("base64url"),
      auth: randomBytes(16).toString("base64url"),
    },
  };
}
