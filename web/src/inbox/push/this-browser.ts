// Push messages in this browser: turned on, off, and kept on. The browser remembers for whom they were turned on, so that
// the next person who signs in here doesn't get them unasked.

import type {
  InboxSettings,
  NewPushSubscription,
} from "../../../../server/src/wire/inbox-contract.ts";
import { basePath } from "../service/base-path.ts";
import {
  ask,
  type InboxFailure,
  inboxApi,
  isFailure,
  readSettings,
} from "../service/inbox-calls.ts";
import { isSameKey, keyBytes, type PushSupport, pushSupport } from "./push-support.ts";

export function supportHere(): PushSupport {
  const hasNotifications = "Notification" in globalThis;
  return pushSupport({
    hasPush: "serviceWorker" in navigator && "PushManager" in globalThis && hasNotifications,
    permission: hasNotifications ? Notification.permission : null,
    isInstalled: "standalone" in navigator ? navigator.standalone === true : null,
  });
}

/** Begins to keep what draws the page. Without service workers the inbox works, too. */
export async function startApp(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const address = trusted(`${basePath}/inbox/service-worker.js`);
  const options = { scope: `${basePath}/inbox`, updateViaCache: "none" } as const;
  // A browser that keeps nothing, as in a private window, refuses.
  await navigator.serviceWorker.register(address, options).catch(() => {});
}

export type Turned =
  | { kind: "on" | "not_allowed" | "failed" }
  | { kind: "not_saved"; failure: InboxFailure };

/** Only from a press of a button: browsers don't ask for permission otherwise. */
export async function turnOn({ email, push }: InboxSettings): Promise<Turned> {
  if ((await Notification.requestPermission()) !== "granted") return { kind: "not_allowed" };
  // The browser's own push service may be out of reach, or turned off.
  const subscription = await subscribe(push.publicKey).catch(() => null);
  if (subscription === null) return { kind: "failed" };
  const failure = await tellService(subscription);
  if (failure !== null) return { kind: "not_saved", failure };
  await remember(email);
  return { kind: "on" };
}

/** The service's own record goes by `removeBrowser`, or with the session. */
export async function turnOff(): Promise<void> {
  // Otherwise what this visit began would turn it on again. A browser whose service worker never starts ends nothing.
  await Promise.race([keeping, new Promise((resolve) => setTimeout(resolve, keepingMs))]);
  forget();
  const subscription = await findSubscription().catch(() => null);
  await subscription?.unsubscribe().catch(() => false);
}

/** Called when somebody signs out: nothing of them is left here. */
export async function leavePush(): Promise<void> {
  await turnOff();
  const registration = await navigator.serviceWorker?.getRegistration(`${basePath}/inbox`);
  for (const shown of (await registration?.getNotifications?.()) ?? []) shown.close();
}

/** Null when the service sends nothing there any more. */
export async function removeBrowser(id: string): Promise<InboxFailure | null> {
  const address = `${inboxApi}/push-subscriptions/${encodeURIComponent(id)}/remove`;
  const answer = await ask(address, {});
  return isFailure(answer) && answer.code !== "not_found" ? answer : null;
}

const keepingMs = 5_000;
let keeping: Promise<void> = Promise.resolve();

/** Called at each visit: a session may be new, the browser's address for messages another, or the service's key. */
export function keepPushOn(email: string): void {
  keeping = keep(email).catch(() => {});
}

async function keep(email: string): Promise<void> {
  if (supportHere() !== "ready") return;
  const subscription = await findSubscription();
  if (!(await isRemembered(email)) || Notification.permission !== "granted") {
    await subscription?.unsubscribe();
    return;
  }
  const settings = await readSettings();
  if (isFailure(settings)) return;
  const renewed = await subscribe(settings.push.publicKey).catch(() => null);
  if (renewed !== null) await tellService(renewed);
}

export async function isOn(email: string): Promise<boolean> {
  return (await isRemembered(email)) && (await findSubscription()) !== null;
}

async function subscribe(publicKey: string): Promise<PushSubscription> {
  const { pushManager } = await navigator.serviceWorker.ready;
  const former = await pushManager.getSubscription();
  if (former !== null && isSameKey(former.options.applicationServerKey, publicKey)) return former;
  await former?.unsubscribe();
  const applicationServerKey = keyBytes(publicKey);
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

/** Null when the service knows it now. */
async function tellService(subscription: PushSubscription): Promise<InboxFailure | null> {
  const { endpoint = "", keys: { p256dh = "", auth = "" } = {} } = subscription.toJSON();
  const told: NewPushSubscription = { endpoint, keys: { p256dh, auth } };
  const answer = await ask(`${inboxApi}/push-subscriptions`, told);
  return isFailure(answer) ? answer : null;
}

async function findSubscription(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker?.getRegistration(`${basePath}/inbox`);
  return (await registration?.pushManager?.getSubscription()) ?? null;
}

const memory = `countersign-push ${basePath}/inbox`;

async function remember(email: string): Promise<void> {
  localStorage.setItem(memory, await digestOf(email));
}

async function isRemembered(email: string): Promise<boolean> {
  return localStorage.getItem(memory) === (await digestOf(email));
}

function forget(): void {
  localStorage.removeItem(memory);
}

/** The browser need not know the address itself. */
async function digestOf(email: string): Promise<string> {
  const bytes = new TextEncoder().encode(email.toLowerCase());
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

type TrustedTypes = {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string };
};

/** The page's policy lets no plain text name a script. */
function trusted(url: string): string {
  const types: TrustedTypes | undefined = Reflect.get(globalThis, "trustedTypes");
  const rules = { createScriptURL: (each: string) => each };
  return types?.createPolicy("countersign-app", rules).createScriptURL(url) ?? url;
}
