// An export that is refused: the page says why, keeps its filter, and can try again.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { enterAs, urlOf } from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, inspect } from "./review-page.ts";

const journey = journeys();

/** As many as one person may begin at once, and more. */
const exportsTried = 40;

/** The service says no, and once it isn't there. */
const refused = { mayFail: ["401 /app/api/"], mayBreak: "/app/api/" } as const;

journey(
  "a refused export says why on the page, loses no filter, and can be tried again",
  refused,
  async (there) => {
    const { site, workspace } = there;
    await there.createRequest({ summary: "Refund order 1042", notify: "ann@example.com" });
    const { page, email } = await enterAs(there, "viewer");
    const list = urlOf(there, "/requests?search=order&sort=oldest");
    await page.goto(list);
    const row = page.getByRole("link", { name: "Refund order 1042" });
    await row.waitFor();
    const refusal = page.locator(".requests-filters").getByRole("alert");
    // No connection.
    await page.context().setOffline(true);
    await exportCsv(page);
    await refusal.getByText("The service cannot be reached.").waitFor();
    assert.ok(await row.isVisible());
    await page.context().setOffline(false);
    const saving = page.waitForEvent("download");
    await refusal.getByRole("button", { name: "Try again" }).click();
    assert.match((await saving).suggestedFilename(), /^requests-.*\.csv$/);
    await refusal.waitFor({ state: "detached" });
    // Too often.
    const file = `${site.url}/app/api/workspaces/${workspace.id}/requests/export?format=csv`;
    for (let tries = 0; tries < exportsTried; tries += 1) {
      if ((await page.request.get(file)).status() === 429) break;
    }
    await exportCsv(page);
    await refusal.getByText(/too often.*Wait [0-9]+ seconds/).waitFor();
    await inspect(page, "dashboard-export-refused", refused);
    assert.equal(page.url(), list);
    // It is refused only once the browser asks for the file itself.
    await page.reload();
    await row.waitFor();
    await page.route("**/exportable?*", (route) => route.fulfill({ json: { done: true } }), {
      times: 1,
    });
    await exportCsv(page);
    await refusal.getByText(/too often.*Wait [0-9]+ seconds/).waitFor();
    await row.waitFor();
    assert.equal(page.url(), list);
    // The session has ended.
    await site.db.query(
      "delete from sessions where person_id in (select id from people where email = $1)",
      [email],
    );
    await exportCsv(page);
    await page.waitForURL(/sign-in/);
    const next = new URL(page.url()).searchParams.get("next") ?? "";
    assert.equal(new URL(next, site.url).href, list);
  },
);

async function exportCsv(page: Page): Promise<void> {
  await button(page, "Export").click();
  await page.getByRole("menuitem", { name: /^CSV/ }).click();
}
