// How somebody wants to be asked, and who is asked while they are away.

import assert from "node:assert/strict";
import { linkSlackAccount } from "../server/src/operations/channels/link-slack-account.ts";
import * as slackAccounts from "../server/src/storage/channels/slack-accounts.ts";
import { connectSlack } from "../server/test/test-channels.ts";
import { open } from "./browser.ts";
import { makePerson } from "./dashboard-page.ts";
import { enterInbox, phone } from "./inbox-page.ts";
import { journeys } from "./journey.ts";
import { inspect } from "./review-page.ts";

const journey = journeys();

journey("somebody sets when mail comes, quiet hours and a delegate", async (there) => {
  const email = await makePerson(there, "viewer");
  const colleague = await makePerson(there, "viewer");
  const page = await enterInbox(there, email, phone);
  await page.getByText("Nothing waits for you").waitFor();
  await inspect(page, "inbox-empty");
  await open(page, `${there.site.url}/inbox/settings`);
  await page.getByRole("radio", { name: /Only if I haven’t voted/ }).check();
  const minutes = page.getByRole("textbox", { name: "minutes" });
  await minutes.fill("0");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Type a number of minutes from 1 to 1440.").waitFor();
  await minutes.fill("15");
  await page.getByRole("checkbox", { name: "Send only mail during these hours" }).check();
  await page.getByLabel("From").fill("21:30");
  await page
    .getByText("Time zone: Asia/Kolkata")
    .or(page.getByText("Time zone: Asia/Calcutta"))
    .waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const saved = await there.site.db.query(
    "select mail_after_minutes, quiet_from::text from person_settings where email = $1",
    [email],
  );
  assert.deepEqual(saved.rows, [{ mail_after_minutes: 15, quiet_from: "21:30:00" }]);

  await page.getByRole("button", { name: "Add absence" }).click();
  await page.getByLabel("Last day").fill("2099-01-31");
  const delegate = page.getByRole("combobox", { name: "Asked instead" });
  await delegate.selectOption(colleague);
  assert.deepEqual(await delegate.getByRole("option").allTextContents(), [
    "Choose a colleague",
    colleague,
  ]);
  await inspect(page, "inbox-settings");
  await page
    .getByLabel("Last day")
    .fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 10));
  await page.getByRole("button", { name: "Save" }).last().click();
  await page.getByText(`${colleague} is asked instead`).waitFor();
  await inspect(page, "inbox-settings-away");
  await page.getByRole("button", { name: "End" }).click();
  await page.getByText("No absences. You are asked yourself.").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Your e-mail address").waitFor();
});

journey("somebody links their Slack account by a code, and unlinks it", async (there) => {
  const { db } = there.site;
  const email = "ann-slack@example.com";
  await connectSlack(db, there.workspace.id);
  await there.createRequest({ summary: "Pay the rent", notify: email });
  const page = await enterInbox(there, email, { ...phone, at: "/settings" });
  await page.getByText("No Slack account is linked to you.").waitFor();
  await page.getByRole("button", { name: "Link Slack" }).click();
  const shown = page.locator(".settings-code code");
  const code = await shown.innerText();
  assert.match(code, /^[2-9A-HJ-NP-Z]{8}$/);
  await inspect(page, "inbox-settings-slack-code");
  // As a window in Slack does, once the code was typed there.
  const account = { teamId: "T1", appId: "A1", slackUserId: "U0123ANN" };
  assert.equal((await linkSlackAccount(db, { code, ...account }))?.email, email);
  await page.reload();
  await page.getByText("U0123ANN").waitFor();
  await inspect(page, "inbox-settings-slack-linked");
  await page.getByRole("button", { name: "Unlink" }).click();
  await page.getByText("No Slack account is linked to you.").waitFor();
  assert.equal(await slackAccounts.find(db, account), null);
});
