// Signing in and out: the way to the sign-in page when a session ends, and back to the former page afterwards.

import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { call } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";
import { queryClient, queryFor } from "../service/queries.ts";
import { recall, remember } from "./browser-memory.ts";
import { forgetAddress } from "./kept-address.ts";
import { isInbox, nextPage } from "./next-page.ts";

const nextKey = "countersign.next";
const place = { origin: location.origin, basePath };
const signInPath = `${basePath}/app/sign-in`;

let isWelcome = false;

/** Whether this page has signed somebody in and has heard of no end since. */
export function isIn(): boolean {
  return isWelcome;
}

/** The way to the sign-in page. Null when already there: several calls may find out at once. */
export function leaveFor(): string | null {
  isWelcome = false;
  const { pathname, search, hash } = location;
  if (pathname === signInPath) return null;
  if (pathname === `${basePath}/app`) return signInPath;
  return `${signInPath}?${new URLSearchParams({ next: pathname + search + hash })}`;
}

/** Keeps the new person, drops everything of the one before, and names the next page. */
export function welcome(me: Me, next: string | undefined): string {
  isWelcome = true;
  forgetAddress();
  queryClient.clear();
  queryClient.setQueryData(queryFor("GET /me").queryKey, me);
  const kept = takeNext();
  return nextPage(next ?? kept, place);
}

/** Leads to a page that a sign-in named. The inbox isn't a page of the dashboard. */
export function leadTo(page: string, history: { replace(page: string): void }): void {
  if (isInbox(new URL(page, place.origin).pathname, basePath)) location.replace(page);
  else history.replace(page);
}

/** The company's sign-in leads away and back to the start: this tab remembers the former page. */
export function keepNext(next: string | undefined): void {
  if (next !== undefined) remember("tab", nextKey, next);
}

/** Once. Null when nothing was kept. */
export function keptPage(): string | null {
  const next = takeNext();
  return next === undefined ? null : nextPage(next, place);
}

function takeNext(): string | undefined {
  const next = recall("tab", nextKey) ?? undefined;
  remember("tab", nextKey, null);
  return next;
}

/** Reloads the page, so that nothing that was read stays in memory. */
export async function signOut(): Promise<void> {
  await call("POST /sign-out");
  location.assign(signInPath);
}
