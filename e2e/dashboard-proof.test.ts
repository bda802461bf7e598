// A member checks a decision by themselves, and an owner says what others can rely on.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { atTheDoor, enterAs, goTo } from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, decide, inspect } from "./review-page.ts";

const journey = journeys();

async function verify(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Proof", exact: true }).waitFor();
  // The decision is in the workspace's log, and that log's checkpoint in the installation's.
  await page.locator(".proof-part", { hasText: "Place in the log" }).getByText("since").waitFor();
  await button(page, "Verify").click();
  await page.getByRole("list", { name: "What was checked" }).waitFor();
}

const lines = (page: Page, state: "right" | "wrong" | "open") =>
  page.locator(`.check-${state} strong`).allTextContents();

journey(
  "a member verifies a decision line by line, and one changed byte is named",
  atTheDoor,
  async (there) => {
    const { id } = await there.createRequest({
      summary: "Pay 40,000 to Acme Steel",
      notify: "ann@example.com",
      payload: { to: "Acme Steel", amount: 40_000 },
    });
    const review = await there.visit((await there.mailedLink("ann@example.com")).url);
    await decide(review, "Approve", "Yes, approve");
    const { page } = await enterAs(there, "viewer", { at: `/requests/${id}` });
    await verify(page);
    await page.getByText("and nothing differs.").waitFor();
    assert.deepEqual(await lines(page, "wrong"), []);
    assert.deepEqual(await lines(page, "open"), ["Signature of ann@example.com", "Witnesses"]);
    assert.equal((await lines(page, "right")).length, 14);
    await inspect(page, "dash-proof", atTheDoor);
    await page.route(`**/requests/${id}`, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ body: (await answer.text()).replaceAll("40000", "40001") });
    });
    await page.reload();
    await verify(page);
    await page.getByRole("alert").getByText("don’t rely on this proof").waitFor();
    assert.deepEqual(await lines(page, "wrong"), [
      "Payload that was asked for",
      "Payload that was approved",
      "Payload in the log",
    ]);
    await inspect(page, "dash-proof-changed", atTheDoor);
  },
);

journey(
  "while a checkpoint has only a request's beginning, the page waits for its decision",
  atTheDoor,
  async (there) => {
    const { id } = await there.createRequest({ summary: "Pay", notify: "ann@example.com" });
    const review = await there.visit((await there.mailedLink("ann@example.com")).url);
    await decide(review, "Approve", "Yes, approve");
    const { page } = await enterAs(there, "viewer", { at: `/requests/${id}` });
    await page.getByText("since").waitFor();
    let isSigned = false;
    await page.route(`**/requests/${id}/proof`, async (route) => {
      const answer = await route.fetch();
      const proof = await answer.json();
      await route.fulfill({
        json: isSigned ? proof : { ...proof, log: { ...proof.log, proof: null } },
      });
    });
    await page.reload();
    await page.getByText("No signed checkpoint has this decision yet.").waitFor();
    isSigned = true;
    await page.getByText("since").waitFor();
  },
);

journey("an owner says what others can rely on", atTheDoor, async (there) => {
  await there.makeGroup(["ann@example.com"]);
  const { page } = await enterAs(there, "owner", { at: "/settings" });
  const proof = page.getByRole("region", { name: "Proof" });
  await proof.getByLabel("Approving needs a passkey").check();
  await proof.getByLabel("Receipts are valid for").fill("48");
  await proof.getByLabel("Delete", { exact: true }).check();
  await proof.getByText("nobody can bring them back").waitFor();
  await inspect(page, "dash-proof-settings", atTheDoor);
  await proof.getByRole("button", { name: "Save proof settings" }).click();
  await proof.getByText("Proof settings saved.").waitFor();
  await page.reload();
  assert.equal(await proof.getByLabel("Receipts are valid for").inputValue(), "48");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export for verifying" }).click(),
  ]);
  assert.match(file.suggestedFilename(), /^log-[0-9-]{10}\.jsonl$/);
  await goTo(page, "People");
  await page.getByRole("tab", { name: "Groups" }).click();
  const group = page.getByRole("region", { name: "Finance" });
  await group.getByLabel("Approving needs a passkey").check();
  await page.getByText("New requests to this group need a passkey").waitFor();
  await inspect(page, "dash-proof-group", atTheDoor);
});
