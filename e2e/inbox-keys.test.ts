// The inbox by keyboard alone, on a desktop. No key decides by itself, however often or long it is pressed.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { desktop, enterInbox, rowOf, summaries } from "./inbox-page.ts";
import { journeys } from "./journey.ts";
import { editorOf, eventually, inspect, outcomeOf, waits } from "./review-page.ts";

const journey = journeys();

function focused(page: Page): Promise<string> {
  return page.evaluate("document.activeElement?.innerText ?? ''") as Promise<string>;
}

/** Presses j and k until the row has the focus: a page that has just changed may not hear the first of them. */
async function goTo(page: Page, summary: string): Promise<void> {
  const isAt = (): Promise<number> =>
    page.evaluate(`[...document.querySelectorAll(".row-words")].findIndex((row) =>
      row.closest("li")?.contains(document.activeElement))`);
  const aim = (await summaries(page)).indexOf(summary);
  assert.notEqual(aim, -1);
  await eventually(async () => {
    const at = await isAt();
    if (at !== aim) await page.keyboard.press(at < aim ? "j" : "k");
    return (await isAt()) === aim;
  }, `the row of ${summary} has the focus`);
}

/** As somebody does who holds a key down. */
async function hold(page: Page, key: string): Promise<void> {
  for (let times = 0; times < 20; times += 1) await page.keyboard.down(key);
  await page.keyboard.up(key);
}

journey("requests are found, read, approved and rejected by keyboard alone", async (there) => {
  const ann = "ann-keys@example.com";
  const bob = "bob-keys@example.com";
  await there.makeGroup([ann, bob]);
  const ask = (summary: string, ttlMinutes: number) =>
    there.createRequest({ summary, notify: ann, payload: { amount: 100 }, ttlMinutes });
  const first = await ask("Pay the rent", 30);
  const second = await ask("Pay the phone bill", 60);
  const page = await enterInbox(there, ann, desktop);
  await rowOf(page, "Pay the phone bill").waitFor();
  assert.deepEqual(await summaries(page), ["Pay the rent", "Pay the phone bill"]);

  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("j");
  await inspect(page, "inbox-keys");
  await page.keyboard.press("Escape");
  // It is closed at once, and taken away a moment later.
  await page.locator("dialog").waitFor({ state: "detached" });

  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.match(await focused(page), /Pay the phone bill/, "it stops at the end");
  await page.keyboard.press("k");
  assert.match(await focused(page), /Pay the rent/);
  await page.keyboard.press("Control+a");
  assert.equal(await page.locator("dialog").count(), 0);
  await page.keyboard.press("Enter");
  await page.locator("main.page .summary", { hasText: "Pay the rent" }).waitFor();

  const dialog = page.getByRole("dialog", { name: "Approve this request?" });
  await eventually(async () => {
    await page.keyboard.press("a");
    return dialog.isVisible();
  }, "A opens the second step");
  for (const key of ["a", "r", "Enter", "j", " "]) await hold(page, key);
  assert.ok(await dialog.isVisible(), "nothing was decided, and nothing else opened");
  assert.equal((await there.readRequest(first.id)).status, "PENDING");
  const yes = dialog.getByRole("button", { name: "Yes, approve" });
  await eventually(async () => {
    await page.keyboard.press("Tab");
    return (await page.evaluate("document.activeElement.type")) === "checkbox";
  }, "the box is reached");
  await page.keyboard.press(" ");
  await eventually(async () => !(await waits(yes)), "it is no longer inert");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await outcomeOf(page).getByText("Approved by you").waitFor();
  assert.equal((await there.readRequest(first.id)).status, "APPROVED");
  await rowOf(page, "Pay the rent").getByText("Approved").waitFor();

  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("main.page .summary", { hasText: "Pay the phone bill" }).waitFor();
  await page.keyboard.press("e");
  await editorOf(page);
  await page.keyboard.type("raj?");
  assert.equal(await page.locator("dialog").count(), 0, "keys are letters in a field");
  await page.keyboard.press("Control+z");
  await page.getByRole("button", { name: "Readable" }).focus();
  await page.keyboard.press("Enter");
  await eventually(async () => {
    await page.keyboard.press("r");
    return page.getByRole("dialog", { name: "Reject this request?" }).isVisible();
  }, "R opens the second step");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.getByText("Choose a request to read it").waitFor();
  assert.match(await focused(page), /Pay the phone bill/, "the focus is where it came from");
  assert.equal((await there.readRequest(second.id)).status, "PENDING");

  // Handed over by keyboard, too.
  await page.keyboard.press("Enter");
  const handOver = page.getByRole("button", { name: "Hand over", exact: true });
  await handOver.focus();
  await page.keyboard.press("Enter");
  const asking = page.getByRole("dialog");
  await asking.getByRole("radio", { name: bob }).focus();
  await page.keyboard.press(" ");
  await asking.getByRole("checkbox").focus();
  await page.keyboard.press(" ");
  const over = asking.getByRole("button", { name: "Yes, hand over" });
  await eventually(async () => !(await waits(over)), "it is no longer inert");
  await over.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "You handed this over" }).waitFor();
  assert.equal((await there.readRequest(second.id)).status, "PENDING");
});

journey("several requests are selected and rejected by keyboard alone", async (there) => {
  const ann = "ann-keys-several@example.com";
  const names = ["Close ticket 1.", "Close ticket 2."];
  const created = [];
  for (const summary of names) created.push(await there.createRequest({ summary, notify: ann }));
  const page = await enterInbox(there, ann, desktop);
  await rowOf(page, "Close ticket 2.").waitFor();
  for (const summary of names) {
    await goTo(page, summary);
    await page.keyboard.press("Enter");
    await page.locator("main.page .summary", { hasText: summary }).waitFor();
    const approve = page.locator("#decision .button-primary");
    await eventually(async () => !(await waits(approve)), "it was read to its end");
    await page.keyboard.press("Escape");
    await page.getByText("Choose a request to read it").waitFor();
  }
  await page.getByRole("button", { name: "Select" }).focus();
  await page.keyboard.press("Enter");
  for (const summary of names) {
    const box = rowOf(page, summary).getByRole("checkbox");
    await box.focus();
    await page.keyboard.press(" ");
    await eventually(() => box.isChecked(), `${summary} is selected`);
  }
  const dialog = page.getByRole("dialog", { name: "Reject 2 requests?" });
  await page.getByRole("button", { name: "Reject 2", exact: true }).focus();
  await eventually(async () => {
    if (!(await dialog.isVisible())) await page.keyboard.press("Enter");
    return dialog.isVisible();
  }, "the second step opens");
  await dialog.getByRole("checkbox").focus();
  await page.keyboard.press(" ");
  const yes = dialog.getByRole("button", { name: "Yes, reject 2" });
  await eventually(async () => !(await waits(yes)), "it is no longer inert");
  await yes.focus();
  await page.keyboard.press("Enter");
  await page.getByText("2 of 2 requests recorded.").waitFor();
  for (const { id } of created) assert.equal((await there.readRequest(id)).status, "REJECTED");
});
