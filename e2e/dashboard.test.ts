// Journeys at the dashboard, with real mail, real webhooks and a real Chromium.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { until } from "../server/test/patience.ts";
import { makeMember } from "../server/test/test-dashboard.ts";
import { makeWorkspace } from "../server/test/test-service.ts";
import {
  atTheDoor,
  copyBox,
  enterAs,
  goAhead,
  goTo,
  inspectDialog,
  signInByCode,
  urlOf,
} from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, decide, inspect } from "./review-page.ts";

const journey = journeys({ environment: { WEBHOOK_RETRY_DELAYS: "50ms,50ms" } });
const run = promisify(execFile);

journey(
  "from an empty workspace to the first approved request, with nothing but the page",
  atTheDoor,
  async (there) => {
    const { page, email } = await enterAs(there, "owner");
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    await inspect(page, "dashboard-first-steps", atTheDoor);
    await page.getByRole("button", { name: /^Create (a|another) key$/ }).click();
    const line = await copyBox(page, "Ask for an approval");
    assert.match(line, /^curl /);
    // As it would be pasted into a terminal.
    const { stdout } = await run("bash", ["-c", line]);
    const { id } = JSON.parse(stdout.slice(stdout.indexOf("{")));
    await page.getByText("It has arrived:").waitFor();
    await inspect(page, "dashboard-first-steps-asked", atTheDoor);
    const review = await there.visit((await there.mailedLink(email, id)).url);
    await decide(review, "Approve", "Yes, approve");
    await page.getByText("The request was approved. All steps are done.").waitFor();
    await inspect(page, "dashboard-first-steps-done", atTheDoor);
  },
);

journey(
  "a viewer who was invited joins, sees everything and changes nothing",
  { mayFail: ["401 /app/api/me", "403 /app/api/"] },
  async (there) => {
    await there.createRequest({
      summary: "Refund order 1042",
      notify: "ann@example.com",
      agentState: { step: 3 },
    });
    const { page: owner } = await enterAs(there, "owner");
    await goTo(owner, "People");
    await button(owner, "Invite").click();
    await owner.getByLabel("Mail address").fill("new-viewer@example.com");
    await button(owner, "Send invitation").click();
    await owner.getByText("new-viewer@example.com").first().waitFor();
    const mail = await until(
      () =>
        there.site.mails.find(({ recipients }) => recipients.includes("new-viewer@example.com")) ??
        null,
      "the invitation",
    );
    assert.match(mail.text, /invited/i);
    const page = await there.visit(`${there.site.url}/app`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await inspect(page, "dashboard-sign-in", atTheDoor);
    await signInByCode(there, page, "new-viewer@example.com");
    await button(page, "Join").waitFor();
    await inspect(page, "dashboard-invited", atTheDoor);
    await button(page, "Join").click();
    await goTo(page, "Requests");
    await page.getByText("Refund order 1042").first().click();
    await page.getByText("Agent state").first().waitFor();
    assert.equal(
      await page.getByRole("button", { name: /Cancel request|Send the mail again/ }).count(),
      0,
    );
    for (const [place, forbidden] of [
      ["API keys", /Create/],
      ["Webhooks", /Add/],
      ["People", /Invite|Remove/],
      ["Settings", /Save/],
    ] as const) {
      await goTo(page, place);
      assert.equal(
        await page.locator("main").getByRole("button", { name: forbidden }).count(),
        0,
        place,
      );
    }
    // The service refuses a caller who gets around the page.
    const status = await page.evaluate(
      `fetch("/app/api/workspaces/${there.workspace.id}/keys", { method: "POST", body: '{"name":"x"}' }).then(({ status }) => status)`,
    );
    assert.equal(status, 403);
  },
);

journey("a key that was revoked is refused by the very next call", atTheDoor, async (there) => {
  const { page } = await enterAs(there, "admin");
  await goTo(page, "API keys");
  await page
    .getByRole("button", { name: /^Create/ })
    .first()
    .click();
  await page.getByLabel("Name").fill("Refund agent");
  await button(page, "Create key").click();
  const key = await copyBox(page, "API key");
  const list = () =>
    fetch(`${there.site.address}/v1/requests`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal((await list()).status, 200);
  await page.getByRole("dialog").getByRole("button").last().click();
  await button(page, "Change Refund agent").click();
  await page.getByLabel("Default approver").fill("ann@example.com");
  await inspectDialog(page, "dashboard-change-key");
  await button(page, "Save").click();
  await page.getByRole("cell", { name: "ann@example.com" }).waitFor();
  await page.getByRole("button", { name: "Revoke Refund agent" }).click();
  await inspectDialog(page, "dashboard-revoke-key");
  await button(page, "Revoke this key").click();
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  assert.equal((await list()).status, 401);
});

journey(
  "a workspace is run from its pages, and another one is a choice away",
  { mayFail: ["401 /app/api/me", "400 /app/api/"] },
  async (there) => {
    const { page, email } = await enterAs(there, "owner");
    const { id: otherId } = await makeWorkspace(there.site.db, { name: "Other Shop" });
    await makeMember(there.site.db, { workspaceId: otherId, email, role: "viewer" });
    // New requests appear by themselves, and are found by the beginning of a word.
    await there.createRequest({ summary: "Refund order 1042", notify: "ann@example.com" });
    await goTo(page, "Requests");
    await page.getByText("Refund order 1042").first().waitFor();
    await there.createRequest({ summary: "Delete stale rows", notify: "ann@example.com" });
    await page.getByText("Delete stale rows").first().waitFor();
    await page.getByRole("textbox", { name: "Search requests" }).fill("ref");
    await page.getByText("Delete stale rows").first().waitFor({ state: "detached" });
    assert.match(page.url(), /search=ref/);
    await page.reload();
    await page.getByText("Refund order 1042").first().waitFor();
    assert.equal(await page.getByText("Delete stale rows").count(), 0);
    // A group that agents can ask.
    await page.goto(urlOf(there, "/people?tab=groups"));
    await page.getByRole("button", { name: "Create group" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Finance");
    await dialog.getByLabel("Key").fill("finance");
    await dialog.getByLabel("Members").fill("ann@example.com");
    await dialog.getByRole("button", { name: "Create group" }).click();
    await button(page, "Rename Finance").waitFor();
    await there.createRequest({ summary: "Pay the rent", notify: "group:finance" });
    // Settings, and who changed them.
    await goTo(page, "Settings");
    await page.getByLabel("Default expiry").fill("3");
    await button(page, "Save changes").click();
    await page
      .getByText(/from 5 to 10080/)
      .first()
      .waitFor();
    await page.getByLabel("Default expiry").fill("60");
    await page.getByLabel("Default approver").fill("group:nobody");
    await button(page, "Save changes").click();
    await page
      .getByText(/no group with the key nobody/)
      .first()
      .waitFor();
    await page.getByLabel("Default approver").fill("group:finance");
    await button(page, "Save changes").click();
    await page.getByText("All changes saved.").waitFor();
    // The secret of callbacks, which the activity notes each look at.
    await button(page, "Show secret").click();
    await button(page, "Show it").click();
    await button(page, "Done").waitFor();
    await inspectDialog(page, "dashboard-callback-secret", {
      mayFail: [...atTheDoor.mayFail, "400 /app/api/"],
    });
    await button(page, "Done").click();
    await page.goto(urlOf(there, "/settings?tab=activity"));
    await page.getByText("looked at the callback secret").waitFor();
    await page.getByText(email).first().waitFor();
    // A member may have another role in another workspace.
    await page.getByRole("button", { name: /^Workspace: Acme Shop/ }).click();
    await page.getByRole("menuitem", { name: /Other Shop/ }).click();
    await page.waitForURL(new RegExp(otherId));
    await page.getByRole("button", { name: /^Workspace: Other Shop.*Viewer/ }).waitFor();
  },
);

const thrownOut = {
  mayFail: ["401 /app/api/", "403 /app/api/", "404 /app/api/", "409 /app/api/"],
} as const;

journey(
  "a role counts from the next click, a member who is removed or leaves is out at once, and the last owner stays",
  thrownOut,
  async (there) => {
    const { page: owner } = await enterAs(there, "owner");
    const { page, email } = await enterAs(there, "viewer");
    await goTo(owner, "People");
    await button(owner, "Leave this workspace").click();
    await button(owner, "Leave").click();
    await owner
      .getByText(/^The last owner cannot leave; make somebody else an owner first/)
      .waitFor();
    await inspect(owner, "dashboard-last-owner", thrownOut);
    await button(owner, "Cancel").click();
    await button(owner, `Change role of ${email}`).click();
    await owner.getByRole("radio", { name: "Admin" }).check();
    await goAhead(owner, "Save");
    await owner.getByText(`${email} is admin now`).waitFor();
    await page.reload();
    await goTo(page, "API keys");
    await page
      .getByRole("button", { name: /^Create/ })
      .first()
      .waitFor();
    await goTo(page, "Requests");
    await button(owner, `Remove ${email}`).click();
    await goAhead(owner, "Remove them");
    // The page's list reloads by itself, and the removed member has no other workspace.
    await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    const { page: leaver, email: leaving } = await enterAs(there, "admin");
    await goTo(leaver, "People");
    await button(leaver, "Leave this workspace").click();
    await goAhead(leaver, "Leave");
    await leaver.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
    await owner.reload();
    await owner.getByRole("table", { name: "Members" }).waitFor();
    for (const gone of [email, leaving]) assert.equal(await owner.getByText(gone).count(), 0);
    const { rows } = await there.site.db.query("select role from members where workspace_id = $1", [
      there.workspace.id,
    ]);
    assert.deepEqual(rows, [{ role: "owner" }]);
  },
);
