// The inbox as an app: keeps what draws the page, never data, so that it opens without a network and says so. Shows push
// messages, which say how many requests wait. Nothing can be decided from a notification.

import { notificationTitle } from "./notification.ts";
import { cacheName, isOldCache, partOfShell, type Shell } from "./shell.ts";
import type { WorkerScope } from "./worker-scope.ts";

declare const self: WorkerScope;
declare const shell: Shell;

const { origin } = self.location;
const signedOut = 401;

// A new version takes over at once: visits ask the network first, so it never shows a page that isn't its own.
self.addEventListener("install", (event) => {
  event.waitUntil(keepShell().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(dropOldShells().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const part = partOfShell(shell, event.request, origin);
  if (part === "page") event.respondWith(visit(event.request));
  else if (part === "file") event.respondWith(readFile(event.request));
});

self.addEventListener("push", (event) => {
  event.waitUntil(notify(event.data));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(showInbox());
});

self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(subscribeAgain(event.newSubscription ?? null, event.oldSubscription ?? null));
});

/** Without cookies: the page of somebody who is signed in is the same. */
async function keepShell(): Promise<void> {
  const cache = await caches.open(cacheName(shell));
  const page = new Request(shell.page, { credentials: "omit", cache: "no-store" });
  const files = shell.files.map((file) => new Request(file, { credentials: "omit" }));
  await cache.addAll([page, ...files]);
}

async function dropOldShells(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => isOldCache(name, shell)).map((name) => caches.delete(name)),
  );
}

async function visit(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await fromShell(shell.page);
    if (kept === undefined) throw error;
    return kept;
  }
}

async function readFile(request: Request): Promise<Response> {
  return (await fromShell(new URL(request.url).pathname)) ?? fetch(request);
}

async function fromShell(path: string): Promise<Response | undefined> {
  const cache = await caches.open(cacheName(shell));
  return cache.match(path);
}

/** One notification at a time: a newer count replaces the older one. */
async function notify(data: { json(): unknown } | null): Promise<void> {
  const { icon, badge } = shell;
  const options = { tag: "waiting", renotify: true, icon, badge };
  await self.registration.showNotification(notificationTitle(read(data)), options);
}

function read(data: { json(): unknown } | null): unknown {
  try {
    return data?.json() ?? null;
  } catch {
    return null;
  }
}

/** An open inbox comes to the front as it is: something may be typed there. */
async function showInbox(): Promise<void> {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const inbox = windows.find(
    ({ url }) => partOfShell(shell, { method: "GET", mode: "navigate", url }, origin) === "page",
  );
  await (inbox === undefined ? self.clients.openWindow(shell.page) : inbox.focus());
}

/**
 * The browser has changed its address for messages. If nobody is signed in any more, it gets none. Without an answer, the
 * next visit tells the service.
 */
async function subscribeAgain(
  renewed: PushSubscription | null,
  former: PushSubscription | null,
): Promise<void> {
  const key = former?.options.applicationServerKey ?? null;
  if (renewed === null && key === null) return;
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const subscription = renewed ?? (await self.registration.pushManager.subscribe(options));
  const response = await fetch(`${shell.page}/api/push-subscriptions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(subscription),
  });
  if (response.status === signedOut) await subscription.unsubscribe();
}
