// Journeys at the dashboard in which something comes in between: an answer that takes its time, one that never comes,
// and words that want to look like others.

import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import { until } from "../server/test/patience.ts";
import { makeEndpoint } from "../server/test/test-worker.ts";
import {
  atTheDoor,
  copyBox,
  enterAs,
  goAhead,
  goTo,
  makePerson,
  urlOf,
  windowOf,
} from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, eventually, waits } from "./review-page.ts";

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

journey(
  "nobody is removed before the dialog knows of their groups, however fast one presses",
  atTheDoor,
  async (there) => {
    const { site, workspace } = there;
    const email = await makePerson(there, "viewer");
    await there.makeGroup([email, "ann@example.com"]);
    const { page } = await enterAs(there, "owner");
    await goTo(page, "People");
    const release = await holdBack(page, "**/removal", "GET");
    const open = button(page, `Remove ${email}`);
    await open.waitFor();
    await page.clock.install();
    await open.click();
    const remove = button(page, "Remove them");
    await remove.waitFor();
    await page.clock.fastForward(10_000);
    // It is there and does nothing yet.
    assert.ok(await waits(remove));
    await remove.click({ force: true });
    release();
    await windowOf(page).getByText("Also remove them from their approver group").waitFor();
    await eventually(async () => !(await waits(remove)), "it can be pressed");
    await goAhead(page, "Remove them");
    const { rows } = await site.db.query(
      `select email from members where workspace_id = $1 and email = $2
       union all select email from group_members where workspace_id = $1 and email = $2`,
      [workspace.id, email],
    );
    assert.deepEqual(rows, []);
  },
);

journey("the second tap of a double tap confirms nothing", atTheDoor, async (there) => {
  const email = await makePerson(there, "viewer");
  const { page } = await enterAs(there, "owner");
  await goTo(page, "People");
  const open = button(page, `Remove ${email}`);
  await open.waitFor();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  const known = page.waitForResponse("**/removal");
  await open.click();
  await (await known).finished();
  const remove = button(page, "Remove them");
  await eventually(async () => {
    await page.clock.runFor(1);
    return (await windowOf(page).locator(".loading-lines").count()) === 0;
  }, "all is known");
  assert.ok(await waits(remove));
  await remove.click({ force: true });
  assert.equal(await remove.getAttribute("aria-busy"), null);
  await page.clock.runFor(1_000);
  await eventually(async () => !(await waits(remove)), "it can be pressed");
});

journey(
  "a deletion under way doesn't lead away from where one went back to",
  atTheDoor,
  async (there) => {
    const { id } = await makeEndpoint(there.site.db, there.workspace.id, "https://hook.example/");
    const { page } = await enterAs(there, "owner");
    await goTo(page, "API keys");
    await goTo(page, "Webhooks");
    await page.getByRole("link", { name: "https://hook.example/" }).click();
    await button(page, "Delete").click();
    const release = await holdBack(page, "**/delete");
    const sent = page.waitForRequest("**/delete");
    await windowOf(page).getByRole("button", { name: "Delete endpoint" }).click();
    await sent;
    await page.goBack();
    await page.goBack();
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    // The page reads this again when all is done.
    const done = page.waitForResponse("**/attention");
    release();
    await page.getByText("The endpoint is deleted").waitFor();
    await done;
    assert.equal(page.url(), urlOf(there, "/keys"));
    await until(async () => {
      const { rows } = await there.site.db.query(
        "select from endpoints where id = $1 and deleted_at is not null",
        [id],
      );
      return rows.length === 1;
    }, "it is deleted");
    // Nothing of the dialog stays in the way.
    await goTo(page, "Webhooks");
    await page.getByText("No endpoint yet").waitFor();
    await goTo(page, "API keys");
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

/** Holds back what is sent there until it is let go. */
async function holdBack(page: Page, pattern: string, method = "POST"): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(pattern, async (route: Route) => {
    if (route.request().method() === method) await promise;
    await route.continue();
  });
  return resolve;
}
