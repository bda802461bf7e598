// Journeys at the dashboard in which something comes in between: an answer that takes its time, one that never comes,
// and words that want to look like others.

import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import { atTheDoor, copyBox, enterAs, goTo } from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button } from "./review-page.ts";

const journey = journeys();

journey(
  "a key that is being created is shown, whatever is pressed meanwhile",
  atTheDoor,
  async (there) => {
    const { page } = await enterAs(there, "owner");
    await goTo(page, "API keys");
    const release = await holdBack(page, "**/keys");
    await button(page, "Create key").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Slow");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.locator("[aria-busy=true]").waitFor();
    await page.keyboard.press("Escape");
    // It is there and does nothing: a press that reaches it must not close the dialog.
    await dialog.getByRole("button", { name: "Cancel" }).click({ force: true });
    await dialog.getByRole("button", { name: "Close" }).click();
    release();
    assert.match(await copyBox(page, "API key"), /^\S{20,}$/);
  },
);

journey(
  "a list that cannot be read again stays, and the page says why",
  { mayFail: [...atTheDoor.mayFail, "503 /app/api/"] },
  async (there) => {
    const { page } = await enterAs(there, "owner");
    await goTo(page, "API keys");
    const table = page.getByRole("table", { name: "Active keys" });
    await table.waitFor();
    await page.route("**/keys", async (route) => {
      if (route.request().method() === "POST") return route.continue();
      const error = { code: "unavailable", message: "The database is having a rest." };
      return route.fulfill({ status: 503, json: { error } });
    });
    await button(page, "Create key").click();
    await page.getByRole("dialog").getByLabel("Name").fill("Another");
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    await button(page, "I have stored the key").click();
    await page.getByRole("alert").getByText("The database is having a rest.").waitFor();
    assert.ok(await table.isVisible());
  },
);

journey("hidden characters in a name are seen wherever it is said", atTheDoor, async (there) => {
  const { site, workspace } = there;
  const name = "Refunds\u202edaer ylno";
  await site.db.query("update api_keys set name = $2 where workspace_id = $1", [
    workspace.id,
    name,
  ]);
  const { page } = await enterAs(there, "owner");
  await goTo(page, "API keys");
  await button(page, "Revoke Refunds[U+202E RLO]daer ylno").click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("img", { name: "Hidden character U+202E, RLO" }).waitFor();
  await dialog.getByRole("button", { name: "Revoke this key" }).click();
  await page
    .getByRole("status")
    .getByRole("img", { name: "Hidden character U+202E, RLO" })
    .waitFor();
});

/** Holds back what is posted there until it is let go. */
async function holdBack(page: Page, pattern: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(pattern, async (route: Route) => {
    if (route.request().method() === "POST") await promise;
    await route.continue();
  });
  return resolve;
}
