// Coming and going: where one is led when a session ends, and back to where one was after signing in.

import type { Me } from "../../../../server/src/wire/dashboard-contract.ts";
import { call } from "../service/api.ts";
import { basePath } from "../service/base-path.ts";
import { queryClient, queryFor } from "../service/queries.ts";
import { recall, remember } from "./browser-memory.ts";
import { forgetAddress } from "./kept-address.ts";
import { nextPage } from "./next-page.ts";

const nextKey = "countersign.next";
const place = { origin: location.origin, basePath };
const signInPath = `${basePath}/app/sign-in`;

let isWelcome = false;

/** Whether this page has let somebody in and not heard of an end since. */
export function isIn(): boolean {
  return isWelcome;
}

/** Where one goes whose session is over. Null when one is there already: several calls may find out at once. */
export function leaveFor(): string | null {
  isWelcome = false;
  const { pathname, search, hash } = location;
  if (pathname === signInPath) return null;
  if (pathname === `${basePath}/app`) return signInPath;
  return `${signInPath}?${new URLSearchParams({ next: pathname + search + hash })}`;
}

/** Keeps who it is, nothing of whoever was signed in before, and says which page comes next. */
export function welcome(me: Me, next: string | undefined): string {
  isWelcome = true;
  forgetAddress();
  queryClient.clear();
  queryClient.setQueryData(queryFor("GET /me").queryKey, me);
  const kept = takeNext();
  return nextPage(next ?? kept, place);
}

/** The company's sign-in leads away and back to the beginning: this tab remembers where one was. */
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

/** Loads the page anew, so that nothing that was read stays in its memory. */
export async function signOut(): Promise<void> {
  await call("POST /sign-out");
  location.assign(signInPath);
}
