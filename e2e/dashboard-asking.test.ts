// Owners choose who can be asked, name who is behind a key, and revoke a key with what it has pending; people say when
// they are away.

import assert from "node:assert/strict";
import { makeMember } from "../server/test/test-dashboard.ts";
import {
  atTheDoor,
  enterAs,
  goAhead,
  goTo,
  inspectDialog,
  urlOf,
  windowOf,
} from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { inspect } from "./review-page.ts";

const journey = journeys();

journey(
  "a limit is recommended until one is chosen, and a key has an owner and takes its requests with it",
  atTheDoor,
  async (there) => {
    const { id } = await there.createRequest({ summary: "Pay", notify: "ann@example.com" });
    const { page } = await enterAs(there, "owner", { at: "/settings" });
    const advice = page.getByText("Recommended: limit who can be asked.");
    await advice.waitFor();
    await page.getByLabel("Who can be asked").selectOption("domains");
    await page.getByLabel("Domains of approvers").fill("@example.com\nexample.org");
    await inspect(page, "dashboard-settings-asking", atTheDoor);
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("All changes saved.").waitFor();
    await advice.waitFor({ state: "detached" });
    await goTo(page, "API keys");
    await page.getByRole("button", { name: "Change Test key" }).click();
    await page.getByLabel("Owner").fill("rita@example.com");
    await goAhead(page, "Save");
    await page.getByRole("cell", { name: "rita@example.com" }).waitFor();
    await page.getByRole("button", { name: "Revoke Test key" }).click();
    await page.getByLabel("Also cancel its 1 pending request").check();
    await inspectDialog(page, "dashboard-revoke-with-pending");
    await goAhead(page, "Revoke this key");
    await page.goto(urlOf(there, `/requests/${id}`));
    await page.getByText("revoked, owned by rita@example.com").waitFor();
    await page.getByText("Cancelled").first().waitFor();
  },
);

journey(
  "somebody who is away has a colleague asked, and an owner ends it",
  atTheDoor,
  async (there) => {
    const { site, workspace } = there;
    await there.makeGroup(["gina@example.com"]);
    await makeMember(site.db, {
      workspaceId: workspace.id,
      email: "bob@example.com",
      role: "viewer",
    });
    const { page, email } = await enterAs(there, "owner");
    await page.goto(`${site.url}/app/account`);
    await page.getByText("No absences. You are asked yourself.").waitFor();
    await page.getByRole("button", { name: "Add absence" }).click();
    await windowOf(page).getByRole("button", { name: "Save" }).click();
    await page.getByText("Choose the last day.").waitFor();
    await page.getByLabel("Last day").fill("2999-01-01");
    await page.getByLabel("Asked instead").selectOption("gina@example.com");
    await inspectDialog(page, "dashboard-absence");
    const today = await page.getByLabel("First day").inputValue();
    await page.getByLabel("Last day").fill(today);
    await goAhead(page, "Save");
    await page.getByText("gina@example.com is asked instead").waitFor();
    await page.goto(urlOf(there, "/people?tab=absences"));
    await page.getByRole("button", { name: `End the absence of ${email}` }).waitFor();
    await inspect(page, "dashboard-absences", atTheDoor);
    await page.getByRole("button", { name: `End the absence of ${email}` }).click();
    await goAhead(page, "End absence");
    await page.getByText("Nobody is away").waitFor();
    const { rows } = await site.db.query("select absences_until from workspaces where id = $1", [
      workspace.id,
    ]);
    assert.deepEqual(rows, [{ absences_until: null }]);
  },
);
