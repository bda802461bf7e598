// The documentation as somebody reads it: by hand, by keyboard, on a phone, in the dark, and by search.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { checkAccessibility, screenshot } from "./browser.ts";
import { journeys } from "./journey.ts";

const journey = journeys();
const phone = { viewport: { width: 390, height: 844 } };

/** Looks at the page as it is, in both colours. */
async function inspectPage(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await checkAccessibility(page);
    await screenshot(page, `docs-${name}-${colorScheme}`);
  }
  await assertNoSidewaysScroll(page);
}

/** Goes through the page, so that pictures that come late have come, and asserts that nothing moved for them. */
async function seeAllPictures(page: Page): Promise<void> {
  const height = () => page.evaluate("document.documentElement.scrollHeight");
  const before = await height();
  for (const picture of await page.locator("main img").all()) {
    await picture.scrollIntoViewIfNeeded();
    await picture.evaluate("(image) => image.decode()");
  }
  assert.equal(await height(), before, "a picture moved the text below it");
}

async function assertNoSidewaysScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  assert.equal(overflow, 0, "the page is wider than the screen");
}

journey(
  "a developer goes from the beginning to a page, searches, copies and reaches the API reference",
  async ({ site, visit }) => {
    const page = await visit(`${site.url}/docs`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await inspectPage(page, "index");
    await page.getByRole("link", { name: "Start in five minutes" }).click();
    await page.getByRole("heading", { level: 1, name: "Quickstart" }).waitFor();
    await inspectPage(page, "quickstart");

    const block = page.locator("figure.code").first();
    await block.getByRole("button", { name: /^Copy/ }).click();
    await block.getByRole("button", { name: /^Copied/ }).waitFor();
    const copied = String(await page.evaluate("navigator.clipboard.readText()"));
    assert.ok(copied.includes("npm start"), copied);
    assert.ok(!copied.includes("$ "), "prompts are not copied");

    await page.keyboard.press("/");
    const field = page.getByRole("combobox", { name: "Search the documentation" });
    await field.fill("constant time");
    await page.getByRole("option").first().waitFor();
    await inspectPage(page, "search");
    await field.press("ArrowDown");
    await field.press("ArrowUp");
    await field.press("Enter");
    await page.waitForURL(/\/docs\/webhooks#/);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await inspectPage(page, "webhooks");

    const bar = page.getByRole("navigation", { name: "Elsewhere" });
    await bar.getByRole("link", { name: "API reference" }).click();
    await page.waitForURL(/\/docs\/api$/);
    await page.getByRole("link", { name: "GET /v1/requests/{id}", exact: true }).click();
    await page.waitForURL(/\/docs\/api#get-request$/);
    await page.getByRole("heading", { name: "Read a request" }).waitFor();
    await page.getByRole("group", { name: "Read a request: curl" }).waitFor();
    await inspectPage(page, "api");
  },
);

journey("on a phone the pages open over the page, and everything fits", async ({ site, visit }) => {
  const page = await visit(`${site.url}/docs`, phone);
  await inspectPage(page, "index-390");
  await page.getByRole("button", { name: "All pages" }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  await inspectPage(page, "menu-390");
  await page.getByRole("link", { name: "Operating", exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: /Operating/ }).waitFor();
  await inspectPage(page, "operating-390");
  for (const slug of ["api", "approvers", "concepts", "dashboard"]) {
    await page.goto(`${site.url}/docs/${slug}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await seeAllPictures(page);
    await inspectPage(page, `${slug}-390`);
  }
});

journey(
  "an address that leads nowhere says so, and shows where to go",
  { mayFail: ["404 /docs/"] },
  async ({ site, visit }) => {
    const page = await visit(`${site.url}/docs/no/such-page`);
    await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
    await inspectPage(page, "not-found");
    await page.getByRole("link", { name: "Quickstart", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Quickstart" }).waitFor();
  },
);

const journeyBehindPath = journeys({ path: "/approvals" });

journeyBehindPath(
  "behind a path every link, file and the reference lead through it",
  { mayFail: ["404 /docs/"] },
  async ({ site, visit }) => {
    const page = await visit(`${site.url}/docs/no/such-page`);
    await page.getByRole("link", { name: "Concepts", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Concepts" }).waitFor();
    assert.ok(page.url().startsWith(`${site.url}/docs/`), page.url());
    await page.getByRole("link", { name: "countersign docs" }).click();
    await page.waitForURL(`${site.url}/docs`);
    await page.getByRole("link", { name: "API reference" }).first().click();
    await page.getByText(new URL(site.url).pathname).first().waitFor();
  },
);
