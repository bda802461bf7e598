// The steps of journeys at the inbox, as a person does them.

import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { makeSignInLink } from "../server/src/operations/people/sign-in.ts";
import { testKeyring } from "../server/test/test-service.ts";
import { open } from "./browser.ts";
import { signIn } from "./dashboard-page.ts";
import type { Journey } from "./journey.ts";

export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
};
export const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };

/** Somebody who has been asked, signed in already. */
export async function enterInbox(
  { site, visit }: Journey,
  email: string,
  { at = "", ...options }: BrowserContextOptions & { at?: string } = {},
): Promise<Page> {
  const page = await visit("about:blank", options);
  await signIn(page, site.url, await makeSignInLink(site.db, testKeyring, email));
  await open(page, `${site.url}/inbox${at}`);
  await page.locator(".list-column, main.page").first().waitFor({ state: "attached" });
  return page;
}

/** The row of a request in the list, by what it asks. */
export function rowOf(page: Page, summary: string): Locator {
  return page.locator(".inbox-row", { has: page.getByText(summary, { exact: true }) });
}

/** Opens a request from the list. */
export async function openRow(page: Page, summary: string): Promise<void> {
  await rowOf(page, summary).getByRole("link").click();
  await page.locator("main.page .summary", { hasText: summary }).waitFor();
}

/** What the rows say they ask, from top to bottom. */
export function summaries(page: Page): Promise<string[]> {
  return page.locator(".inbox-row .row-summary").allInnerTexts();
}
