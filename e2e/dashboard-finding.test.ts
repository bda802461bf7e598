// The operator's daily questions: where is this customer's request, and who decided what yesterday?

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Locator } from "playwright-core";
import { atTheDoor, enterAs, goTo } from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, decide, eventually, inspect } from "./review-page.ts";

const journey = journeys();

const dayMs = 24 * 60 * 60_000;

/** A day around today, as a date input takes it. */
function dayFromToday(days: number): string {
  return new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
}

/** Styles that load in another order must not push a small thing out of its place. */
async function assertWithin(inner: Locator, outer: Locator): Promise<void> {
  const [within, around] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  assert.ok(within !== null && around !== null, "both are drawn");
  assert.ok(
    within.x >= around.x &&
      within.y >= around.y &&
      within.x + within.width <= around.x + around.width &&
      within.y + within.height <= around.y + around.height,
    `${JSON.stringify(within)} lies outside of ${JSON.stringify(around)}`,
  );
}

journey(
  "an operator finds a request by a customer's name in its payload, and exports who decided what since yesterday",
  atTheDoor,
  async (there) => {
    const asked = await there.createRequest({
      summary: "Refund order 1042",
      notify: "ann@example.com",
      payload: { customer: { name: "Zoë Lüdenscheid" }, amount: 49 },
    });
    const decided = await there.createRequest({
      summary: "Delete stale rows",
      notify: "bob@example.com",
    });
    await there.createRequest({ summary: "Send the newsletter", notify: "ann@example.com" });
    const review = await there.visit((await there.mailedLink("bob@example.com", decided.id)).url);
    await decide(review, "Reject", "Yes, reject");
    const { page } = await enterAs(there, "viewer");
    await goTo(page, "Requests");
    const rows = page.locator(".requests-rows").getByRole("link");
    await page.getByRole("textbox", { name: "Search requests" }).fill("zoe luden");
    await page.waitForURL(/search=/);
    await eventually(async () => (await rows.count()) === 1, "the one request");
    assert.equal(await rows.textContent(), "Refund order 1042");
    await page.locator(".requests-match", { hasText: "customer.name" }).getByText("Zoë").waitFor();
    await assertWithin(button(page, "Clear the search"), page.locator(".requests-search input"));
    await inspect(page, "dashboard-found", atTheDoor);
    await rows.click();
    await page.getByRole("heading", { name: "Request", level: 1 }).waitFor();
    assert.ok(page.url().includes(asked.id));
    await page.goBack();
    await button(page, "Reset").click();
    await page.getByRole("combobox", { name: "Sort" }).selectOption("expiry");
    await page.getByRole("list", { name: /expire next first/ }).waitFor();
    await eventually(async () => (await rows.count()) === 2, "the pending ones");
    await button(page, "Reset").click();
    // From yesterday until tomorrow, so that midnight doesn't matter.
    await page.getByRole("button", { name: /^Filters/ }).click();
    await page.getByLabel("Decided from", { exact: true }).fill(dayFromToday(-1));
    await page.getByLabel("Decided to", { exact: true }).fill(dayFromToday(1));
    await page.waitForURL(/decidedTo=/);
    await eventually(async () => (await rows.count()) === 1, "the one decision");
    await page.getByText("Decided by bob@example.com").waitFor();
    await inspect(page, "dashboard-decided", atTheDoor);
    await button(page, "Export").click();
    const saving = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: /^CSV/ }).click();
    const saved = await saving;
    const [heading, row, ...rest] = (await readFile(await saved.path(), "utf8")).split("\r\n");
    assert.match(heading ?? "", /^\ufeff"id","status","summary"/);
    assert.ok(row?.startsWith(`"${decided.id}","REJECTED","Delete stale rows"`));
    assert.ok(row?.includes('"bob@example.com"'));
    assert.deepEqual(rest, [""]);
  },
);
