// Several requests at once: what was read in full, of one agent, in one second step with a result for each.

import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { desktop, enterInbox, openRow, phone, rowOf } from "./inbox-page.ts";
import { journeys } from "./journey.ts";
import { decide, eventually, inspect, untilApprovable, waits } from "./review-page.ts";

const journey = journeys();
const bob = "bob-several@example.com";

journey(
  "twenty read requests are approved at once, and what others decided, expired or came later is not among them",
  async (there) => {
    const ann = "ann-several@example.com";
    await there.makeGroup([ann, bob]);
    const ask = (summary: string, agentName = "payer") =>
      there.createRequest({
        summary,
        agentName,
        notify: "group:finance",
        payload: { invoice: summary },
      });
    const names = Array.from({ length: 20 }, (_, at) => `Pay invoice ${at + 1}.`);
    const created = [];
    for (const name of names) created.push(await ask(name));
    const stranger = await ask("Delete a customer", "cleaner");
    const page = await enterInbox(there, ann, desktop);
    for (const name of [...names, "Delete a customer"]) {
      await openRow(page, name);
      await untilApprovable(page);
    }
    await page.getByRole("button", { name: "Select" }).click();
    for (const name of names) await rowOf(page, name).getByRole("checkbox").check();
    const other = rowOf(page, "Delete a customer");
    assert.ok(await other.getByRole("checkbox").isDisabled());
    await other.getByText("From another agent than those you selected").waitFor();
    await page.getByText("20 selected").waitFor();
    await inspect(page, "inbox-select");
    const bar = page.getByRole("region", { name: "Decide the selected requests" });
    const approve = bar.getByRole("button", { name: "Approve 20" });
    const before = await approve.boundingBox();
    const dialog = page.getByRole("dialog", { name: "Approve 20 requests?" });
    await pressUntil(approve, dialog);
    const yes = dialog.getByRole("button", { name: "Yes, approve 20" });
    const after = await yes.boundingBox();
    assert.ok(
      before !== null && after !== null && isApart(before, after),
      "not where the first was",
    );
    await inspect(page, "inbox-several");

    const colleague = await there.visit((await there.mailedLink(bob, created[3]?.id)).url);
    await decide(colleague, "Reject", "Yes, reject");
    await there.moveExpiry(created[7]?.id ?? "", -1);
    const late = await ask("Pay invoice 21.");
    await dialog.getByRole("checkbox").check();
    await eventually(async () => !(await waits(yes)), "it is no longer inert");
    await yes.click();
    const results = page.getByRole("dialog", { name: "Your decisions" });
    await results.getByText("18 of 20 requests recorded.").waitFor();
    await results.getByText(`Rejected by ${bob}`).waitFor();
    await results.getByText(/Nobody decided in time/).waitFor();
    await inspect(page, "inbox-several-results");
    await results.getByRole("button", { name: "Close" }).click();

    const statuses = await Promise.all(created.map(({ id }) => there.readRequest(id)));
    const approved = statuses.filter(({ status }) => status === "APPROVED");
    assert.equal(approved.length, 18);
    assert.deepEqual([statuses[3]?.status, statuses[7]?.status], ["REJECTED", "EXPIRED"]);
    for (const { id } of [late, stranger]) {
      assert.equal((await there.readRequest(id)).status, "PENDING");
    }
    await rowOf(page, "Pay invoice 4.").getByText("Rejected").waitFor();
  },
);

journey(
  "an answer that got lost is found out for each request, and nothing is decided twice",
  { mayBreak: "/inbox/api/decisions" },
  async (there) => {
    const ann = "ann-lost-answer@example.com";
    const ask = (summary: string) => there.createRequest({ summary, notify: ann });
    const created = [await ask("Close ticket 1."), await ask("Close ticket 2.")];
    const page = await enterInbox(there, ann, phone);
    for (const name of ["Close ticket 1.", "Close ticket 2."]) {
      await openRow(page, name);
      const approve = page.locator("#decision .button-primary");
      await eventually(async () => !(await waits(approve)), "it was read to its end");
      await page.goBack();
    }
    await page.getByRole("button", { name: "Select" }).click();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    const dialog = page.getByRole("dialog", { name: "Reject 2 requests?" });
    const reject = page.getByRole("button", { name: "Reject 2", exact: true });
    await pressUntil(reject, dialog);
    await dialog.getByRole("textbox").fill("Reopen them first");
    await page.route("**/inbox/api/decisions", async (route) => {
      // As the browser would have sent it.
      const { origin } = new URL(route.request().url());
      const headers = { ...route.request().headers(), origin, "sec-fetch-site": "same-origin" };
      assert.equal((await route.fetch({ headers })).status(), 200);
      await route.abort();
    });
    await dialog.getByRole("checkbox").check();
    const yes = dialog.getByRole("button", { name: "Yes, reject 2" });
    await eventually(async () => !(await waits(yes)), "it is no longer inert");
    await yes.click();
    await page.getByText("2 of 2 requests recorded.").waitFor();
    await inspect(page, "inbox-several-lost-answer", { mayBreak: "/inbox/api/decisions" });
    for (const { id } of created) {
      const { status, resolutionNote } = await there.readRequest(id);
      assert.deepEqual([status, resolutionNote], ["REJECTED", "Reopen them first"]);
    }
  },
);

/** A press while the button is inert does nothing, and none is possible once the second step lies over it. */
async function pressUntil(pressed: Locator, opened: Locator): Promise<void> {
  await eventually(async () => {
    if (await opened.isVisible()) return true;
    await pressed.click({ timeout: 1_000 }).catch(() => {});
    return opened.isVisible();
  }, "the second step opens");
}

type Box = { x: number; y: number; width: number; height: number };

function isApart(one: Box, other: Box): boolean {
  return (
    one.x + one.width <= other.x ||
    other.x + other.width <= one.x ||
    one.y + one.height <= other.y ||
    other.y + other.height <= one.y
  );
}
