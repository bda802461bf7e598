// The operator's jobs that concern many things at once: a runaway agent's requests, a colleague who leaves, what is no
// longer wanted. And a request on paper.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { makeEndpoint, startReceiver } from "../server/test/test-worker.ts";
import {
  atTheDoor,
  enterAs,
  goAhead,
  goTo,
  inspectDialog,
  makePerson,
  urlOf,
  windowOf,
} from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, choose, confirm, eventually, inspect, outcomeOf } from "./review-page.ts";

const journey = journeys();

journey("a runaway agent's hundred requests are cancelled in one go", atTheDoor, async (there) => {
  const notify = "ann@example.com";
  const kept = await there.createRequest({ summary: "Pay the rent", notify, agentName: "payer" });
  const ids = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const summary = `Refund order ${1_000 + at}`;
      return (await there.createRequest({ summary, notify, agentName: "runaway" })).id;
    }),
  );
  const { page } = await enterAs(there, "admin");
  // A few by hand.
  await page.goto(urlOf(there, "/requests?search=order+100"));
  const [several, exporting] = [button(page, "Cancel several"), button(page, "Export")];
  await several.waitFor();
  assert.equal((await several.boundingBox())?.y, (await exporting.boundingBox())?.y, "in one line");
  await several.click();
  const boxes = page.getByRole("checkbox", { name: /^Select Refund order/ });
  await boxes.first().check();
  await boxes.nth(1).check();
  await inspect(page, "dashboard-selected", atTheDoor);
  await button(page, "Cancel 2 requests").click();
  await inspectDialog(page, "dashboard-cancel-chosen");
  await goAhead(page, "Cancel 2 requests");
  await page.getByText("2 requests cancelled.").first().waitFor();
  // All the others of this agent, of which the page shows half.
  await page.goto(urlOf(there, "/requests?agent=runaway"));
  await button(page, "Cancel several").click();
  await button(page, "All that match …").click();
  await windowOf(page)
    .getByText(/^98 pending requests match\./)
    .waitFor();
  await inspectDialog(page, "dashboard-cancel-matching");
  await goAhead(page, "Cancel 98 requests");
  await page.getByText("98 requests cancelled.").first().waitFor();
  const after = await Promise.all(ids.map(async (id) => (await there.readRequest(id)).status));
  assert.deepEqual(new Set(after), new Set(["CANCELLED"]));
  assert.equal((await there.readRequest(kept.id)).status, "PENDING");
  await page.goto(urlOf(there, "/settings?tab=activity"));
  await page.getByText(/cancelled 98 requests, by the filter/).waitFor();
});

journey("a colleague is removed everywhere in one step", atTheDoor, async (there) => {
  const { site, workspace } = there;
  const email = await makePerson(there, "viewer");
  await there.makeGroup([email, "ann@example.com"]);
  await there.makeGroup([email], { key: "ops", name: "Operations" });
  await there.createRequest({ summary: "Refund order 1042", notify: email });
  const { page } = await enterAs(there, "owner");
  await goTo(page, "People");
  await button(page, `Remove ${email}`).click();
  await windowOf(page).getByText("Also remove them from their 2 approver groups").waitFor();
  await windowOf(page)
    .getByText(/^Nobody else is in Operations/)
    .waitFor();
  await windowOf(page)
    .getByText(/1 pending request was asked of their address alone/)
    .waitFor();
  await inspectDialog(page, "dashboard-remove-everywhere");
  await goAhead(page, "Remove them");
  await page.getByText(`Removed ${email}`).waitFor();
  const { rows } = await site.db.query(
    `select email from members where workspace_id = $1 and email = $2
     union all select email from group_members where workspace_id = $1 and email = $2`,
    [workspace.id, email],
  );
  assert.deepEqual(rows, []);
});

journey(
  "a default approver stays until another one is chosen, and the dialog says where",
  { mayFail: [...atTheDoor.mayFail, "409 /app/api/"] },
  async (there) => {
    const { site, workspace } = there;
    const email = await makePerson(there, "admin");
    await site.db.query("update workspaces set default_approver = $2 where id = $1", [
      workspace.id,
      email,
    ]);
    await site.db.query(
      "update api_keys set default_approver = $2, name = 'Refunds' where workspace_id = $1",
      [workspace.id, email],
    );
    const { page } = await enterAs(there, "owner");
    await goTo(page, "People");
    await button(page, `Remove ${email}`).click();
    const note = windowOf(page).locator(".attention-note");
    await note.waitFor();
    assert.equal(
      await note.innerText(),
      "They are the default approver of this workspace and of the key Refunds. Choose another one there first.",
    );
    await inspectDialog(page, "dashboard-remove-default-approver");
    await button(page, "Remove them").click();
    await windowOf(page)
      .getByRole("alert")
      .getByText(/choose another one there first/)
      .waitFor();
    await note.getByRole("link", { name: "this workspace" }).click();
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    const { rowCount } = await site.db.query(
      "select from members where workspace_id = $1 and email = $2",
      [workspace.id, email],
    );
    assert.equal(rowCount, 1);
  },
);

journey(
  "a group and an endpoint are deleted after a second step that says what is lost, and an endpoint is renamed",
  atTheDoor,
  async (there, t) => {
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { id } = await makeEndpoint(there.site.db, there.workspace.id, receiver.url);
    await there.makeGroup(["ann@example.com"]);
    const request = await there.createRequest({
      summary: "Refund order 1042",
      notify: "group:finance",
    });
    await eventually(() => receiver.heard.length === 1, "a webhook");
    const { page } = await enterAs(there, "owner", { at: "/people?tab=groups" });
    await button(page, "Delete Finance").click();
    await windowOf(page)
      .getByText(/^1 pending request waits for this group/)
      .waitFor();
    await inspectDialog(page, "dashboard-delete-group");
    await goAhead(page, "Delete group");
    await page.getByText("No group yet").waitFor();
    assert.equal((await there.readRequest(request.id)).status, "CANCELLED");
    await page.goto(urlOf(there, `/endpoints/${id}`));
    await button(page, "Change").click();
    await page.getByLabel("Name (optional)").fill("Ledger");
    await goAhead(page, "Save");
    await page.getByRole("heading", { name: /^Ledger/, level: 1 }).waitFor();
    await inspect(page, "dashboard-endpoint-named", atTheDoor);
    // Its deliveries call it so, too.
    await page.goto(urlOf(there, `/requests/${request.id}`));
    const called = `Ledger ${receiver.url}`;
    await page.locator(".delivery-toggle", { hasText: called }).first().waitFor();
    await page.locator(".history", { hasText: `delivered to ${called}` }).waitFor();
    await inspect(page, "dashboard-request-named-endpoint", atTheDoor);
    await page.locator(".history").getByRole("link", { name: "delivered" }).first().click();
    await page.getByRole("link", { name: called }).click();
    await page.getByRole("heading", { name: /^Ledger/, level: 1 }).waitFor();
    await button(page, "Delete").click();
    await inspectDialog(page, "dashboard-delete-endpoint");
    await goAhead(page, "Delete endpoint");
    await page.getByRole("heading", { name: "Webhook endpoints", level: 1 }).waitFor();
    // Its history can still be read, and nothing can be done there.
    await page.goto(urlOf(there, `/endpoints/${id}?state=delivered`));
    await page
      .getByText(/^Deleted/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: /^request.created/ }).waitFor();
    assert.equal(await button(page, "Change").count(), 0);
    await inspect(page, "dashboard-endpoint-deleted", atTheDoor);
    await page.getByRole("link", { name: /^request.created/ }).click();
    await page.getByRole("heading", { name: "Attempts" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Resend/ }).count(), 0);
  },
);

journey("a decided request is printed on one or two light pages", atTheDoor, async (there) => {
  await there.makeGroup(["ann@example.com", "ben@example.com"]);
  const note = "The customer sent one of the two items back, so half of it.";
  const { id } = await there.createRequest({
    summary: "Refund order 1042 (49.00 EUR)",
    notify: "group:finance",
    agentName: "payer",
    reasoning: `${"The parcel came back unopened. ".repeat(20)}That is all.`,
    recentActions: ["Read the customer's note", "Looked up the order", "Checked the stock"],
    payload: { orderId: 1042, amount: 49, items: [{ sku: "A-1", count: 2 }], iban: "DE02 1203" },
    metadata: { ticket: "T-1" },
  });
  const review = await there.visit((await there.mailedLink("ann@example.com", id)).url, {
    colorScheme: "dark",
  });
  await button(review, "Edit amount").click();
  await review.getByRole("textbox", { name: "New value of amount" }).fill("24.5");
  await review.keyboard.press("Enter");
  await assertOnPaper(review, ["Refund order 1042", "That is all.", "DE02 1203"]);
  const dialog = await choose(review, "Approve with changes");
  await dialog.getByRole("textbox", { name: "Note" }).fill(note);
  await confirm(review, "Yes, approve with changes");
  await outcomeOf(review).waitFor();
  await assertOnPaper(review, ["Approved by you", note, "24.5", "Looked up the order"]);
  const { page } = await enterAs(there, "viewer", { at: `/requests/${id}`, colorScheme: "dark" });
  await page.getByRole("heading", { name: "Approved by ann@example.com" }).waitFor();
  await assertOnPaper(page, ["Approved by ann@example.com", note, "24.5", "DE02 1203"]);
});

journey(
  "a large payload is printed to its last value, and counts as seen by nobody",
  atTheDoor,
  async (there) => {
    const rows = Array.from({ length: 400 }, (_, at) => ({
      order: 1_000 + at,
      amount: `${at}.50`,
    }));
    const { id } = await there.createRequest({
      summary: "Pay 400 refunds",
      notify: "ann@example.com",
      payload: { rows, last: { note: "the very last value" } },
    });
    const review = await there.visit((await there.mailedLink("ann@example.com", id)).url);
    await button(review, "Open everything").waitFor();
    const { page } = await enterAs(there, "viewer", { at: `/requests/${id}` });
    await button(page, "Open everything").waitFor();
    for (const each of [review, page]) {
      assert.ok(!(await textOnPaper(each)).includes("399.50"), "folded on a screen");
      await each.evaluate("dispatchEvent(new Event('beforeprint'))");
      const printed = await textOnPaper(each);
      for (const said of ["1399", "399.50", "the very last value"]) {
        assert.ok(printed.includes(said), `${said} is not on paper`);
      }
      await each.evaluate("dispatchEvent(new Event('afterprint'))");
      await button(each, "Open everything").waitFor();
    }
  },
);

async function textOnPaper(page: Page): Promise<string> {
  await page.emulateMedia({ media: "print" });
  const text = await page.locator("main").innerText();
  await page.emulateMedia({ media: null });
  return text;
}

const pagesMax = 2;

/** Everything of these is on paper, in a column of the paper's width, on white, and nothing is there to be pressed. */
async function assertOnPaper(page: Page, said: readonly string[]): Promise<void> {
  await eventually(async () => (await page.locator("main .loading-lines").count()) === 0, "loaded");
  const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
  const pages = pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(pages >= 1 && pages <= pagesMax, `${page.url()} takes ${pages} pages`);
  const before = page.viewportSize();
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 718, height: 1_000 });
  const text = (await page.locator("main").innerText()).replaceAll(/\s+/g, " ");
  for (const each of said) assert.ok(text.includes(each), `${each} is not in: ${text}`);
  const [width, ground, clipped] = (await page.evaluate(
    `[document.querySelector("main").getBoundingClientRect().width,
      getComputedStyle(document.documentElement).backgroundColor,
      [...document.querySelectorAll(".prose, .summary")].filter((one) => one.scrollHeight > one.clientHeight + 2).length]`,
  )) as [number, string, number];
  assert.equal(clipped, 0, "prose is cut off");
  assert.ok(width > 600, `the column is ${width} px wide`);
  assert.match(ground, /^(lab\(100 0 0\)|oklch\(1 0 0\)|rgb\(255, 255, 255\))$/);
  for (const name of [
    "Copy",
    "JSON",
    "Readable",
    "Approve",
    "Reject",
    "Cancel request",
    "Resend",
  ]) {
    const control = page.getByRole("button", { name });
    assert.equal(await control.filter({ visible: true }).count(), 0, `${name} is on paper`);
  }
  await page.emulateMedia({ media: null });
  if (before !== null) await page.setViewportSize(before);
}
