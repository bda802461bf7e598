// The steps of journeys at the dashboard, as a person does them.

import assert from "node:assert/strict";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { makeSignInLink } from "../server/src/operations/people/sign-in.ts";
import { until } from "../server/test/patience.ts";
import { makeMember } from "../server/test/test-dashboard.ts";
import { testKeyring } from "../server/test/test-service.ts";
import { type Allowances, isAskedAgain, open } from "./browser.ts";
import type { Journey } from "./journey.ts";
import { inspect } from "./review-page.ts";

type Role = "owner" | "admin" | "viewer";

/** A visitor who isn't signed in yet is told so, once. */
export const atTheDoor = { mayFail: ["401 /app/api/me"] } as const;

let people = 0;

/** Makes somebody a member who is signed in already, and shows them a page of the workspace. */
export async function enterAs(
  there: Journey,
  role: Role,
  { at = "", ...options }: BrowserContextOptions & { at?: string } = {},
): Promise<{ page: Page; email: string }> {
  const { site, visit } = there;
  const email = await makePerson(there, role);
  const page = await visit("about:blank", options);
  await signIn(page, site.url, await makeSignInLink(site.db, testKeyring, email));
  await open(page, urlOf(there, at));
  await arrival(page);
  return { page, email };
}

/** Makes the call of the sign-in page: it has journeys of its own, and takes longer to load than many a page. */
export async function signIn(page: Page, siteUrl: string, token: string): Promise<void> {
  const { origin } = new URL(siteUrl);
  await until(async () => {
    const answer = await page.context().request.post(`${siteUrl}/app/api/sign-in/link`, {
      headers: { origin, "sec-fetch-site": "same-origin" },
      data: { token },
    });
    if (isAskedAgain(answer.status())) return false;
    assert.equal(answer.status(), 200, await answer.text());
    return true;
  }, "they are signed in");
}

/** A member of the journey's workspace with an address of their own. */
export async function makePerson({ site, workspace }: Journey, role: Role): Promise<string> {
  people += 1;
  const email = `${role}-${people}@example.com`;
  await makeMember(site.db, { workspaceId: workspace.id, email, role });
  return email;
}

/** In a browser of its own. */
export async function enterByLink(
  { site, visit }: Journey,
  email: string,
  options?: BrowserContextOptions,
): Promise<Page> {
  const token = await makeSignInLink(site.db, testKeyring, email);
  const page = await visit(`${site.url}/app/sign-in#token=${token}`, options);
  await arrival(page);
  return page;
}

/** Signed in, and in a workspace. */
export async function arrival(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Workspace" }).waitFor();
}

export async function signInByCode(there: Journey, page: Page, email: string): Promise<void> {
  const code = await codeAfter(there, email, async () => {
    await page.getByLabel("Your e-mail address").fill(email);
    await page.getByRole("button", { name: "Mail me a code" }).click();
  });
  await page.getByLabel("Six-digit code").fill(code);
}

/** The code of the mail that something brings about. */
export async function codeAfter(
  { site }: Journey,
  email: string,
  ask: () => Promise<void>,
): Promise<string> {
  const mailsBefore = codesTo(site.mails, email).length;
  await ask();
  return until(() => codesTo(site.mails, email)[mailsBefore] ?? null, `the code for ${email}`);
}

function codesTo(mails: Journey["site"]["mails"], email: string): string[] {
  return mails
    .filter(({ recipients }) => recipients.includes(email))
    .map(({ headers }) => /code is ([0-9]{3}) ([0-9]{3})/.exec(headers.get("subject") ?? ""))
    .filter((found) => found !== null)
    .map(([, first, second]) => `${first}${second}`);
}

/** The address of a page of the journey's workspace. */
export function urlOf({ site, workspace }: Journey, path: string): string {
  return `${site.url}/app/w/${workspace.id}${path}`;
}

/** Goes to a place by the rail. */
export async function goTo(page: Page, place: string): Promise<void> {
  const rail = page.getByRole("navigation", { name: "Workspace" });
  const link = rail.getByRole("link", { name: place, exact: true });
  await link.click();
  // Until then the page before may still be there, with a heading of its own.
  await link.and(page.locator("[aria-current=page]")).waitFor();
  await page.locator("main h1").first().waitFor();
}

/** The text of a box that can be copied. */
export async function copyBox(page: Page, label: string): Promise<string> {
  const head = page.locator(".copy-label", { hasText: label });
  const box = page.locator(".copy-box", { has: head });
  const text = await box.locator("code").textContent();
  assert.ok(text, `nothing to copy in ${label}`);
  return text;
}

/** The window that is open over the page. */
export function windowOf(page: Page): Locator {
  return page.locator("[role=dialog], [role=alertdialog]");
}

/** The last step of a window: presses the button that goes ahead, and waits until the window is gone. */
export async function goAhead(page: Page, name: string): Promise<void> {
  await windowOf(page).getByRole("button", { name, exact: true }).click();
  await windowOf(page).waitFor({ state: "detached" });
}

/** With a window open only what is in it counts: the rest is inert. */
export async function inspectDialog(
  page: Page,
  name: string,
  allowances: Allowances = atTheDoor,
): Promise<void> {
  await windowOf(page).waitFor();
  await inspect(page, name, allowances);
}

/** A column of numbers of the table behind a picture, added up. */
export async function columnSum(page: Page, table: string, column: string): Promise<number> {
  const place = page.getByRole("table", { name: table, exact: true });
  const heads = await place.getByRole("columnheader").allTextContents();
  const at = heads.indexOf(column);
  assert.ok(at > 0, `${column} is none of ${heads}`);
  // The first of a line is its head.
  const cells = await place.locator(`tbody tr > :nth-child(${at + 1})`).allTextContents();
  return cells.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0);
}
