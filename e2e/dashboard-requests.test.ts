// Journeys with requests at the dashboard: what a member sees of them, does to them, and what the figures make of them.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import {
  atTheDoor,
  columnSum,
  enterAs,
  goAhead,
  goTo,
  inspectDialog,
  urlOf,
} from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import {
  agentsWords,
  button,
  changesIn,
  choose,
  confirm,
  decide,
  eventually,
  inspect,
  outcomeOf,
} from "./review-page.ts";

const journey = journeys();

const tooSoon = { mayFail: ["401 /app/api/me", "409 /app/api/"] } as const;

journey(
  "a member has the mail sent again, sees what an approver changed and who runs it, and cancels what nobody should decide",
  tooSoon,
  async (there) => {
    const { page } = await enterAs(there, "admin");
    const { id: editedId } = await there.createRequest({
      summary: "Refund order 1042",
      notify: "ann@example.com",
      payload: { orderId: 1042, amount: 49 },
    });
    const { id } = await there.createRequest({
      summary: "Delete stale rows",
      notify: "rows@example.com",
    });
    const { url } = await there.mailedLink("rows@example.com", id);
    await page.goto(urlOf(there, `/requests/${id}`));
    await button(page, "Send the mail again").click();
    await page.getByText(/This mail was sent less than a minute ago/).waitFor();
    assert.equal(mailsTo(there, "rows@example.com"), 1);
    await letPass(there, id);
    await button(page, "Send the mail again").click();
    await page.getByText("The mail is on its way again.").waitFor();
    await eventually(() => mailsTo(there, "rows@example.com") === 2, "a second mail");
    const review = await there.visit(url);
    await review.getByText("Waiting for you").waitFor();
    await button(page, "Cancel request").click();
    await inspectDialog(page, "dashboard-cancel", tooSoon);
    await goAhead(page, "Cancel request");
    await page.getByRole("heading", { name: /^Cancelled before anyone decided/ }).waitFor();
    assert.equal(
      await page.getByRole("button", { name: /^(Cancel request|Send the mail)/ }).count(),
      0,
    );
    assert.equal((await there.readRequest(id)).status, "CANCELLED");
    await review.reload();
    await outcomeOf(review).waitFor();
    await inspect(page, "dashboard-cancelled", tooSoon);
    // An approver's change is shown beside the original.
    await review.goto((await there.mailedLink("ann@example.com", editedId)).url);
    await button(review, "Edit amount").click();
    await review.getByRole("textbox", { name: "New value of amount" }).fill("40");
    await review.keyboard.press("Enter");
    await choose(review, "Approve with changes");
    await confirm(review, "Yes, approve with changes");
    await outcomeOf(review).waitFor();
    await there.redeemRequest(editedId);
    await page.goto(urlOf(there, `/requests/${editedId}`));
    await page.getByRole("heading", { name: "Approved by ann@example.com" }).waitFor();
    assert.deepEqual(await changesIn(page.locator("main")), ["amount before 49 → after 40"]);
    assert.deepEqual((await there.readRequest(editedId)).effectivePayload, {
      orderId: 1042,
      amount: 40,
    });
    await page.getByText(/^Redeemed to run with the API key .+ key_[0-9a-f]{32}$/).waitFor();
    await inspect(page, "dashboard-edited", tooSoon);
  },
);

journey(
  "a filtered list is an address that can be loaded again, and a list that is read does not move while requests arrive",
  atTheDoor,
  async (there) => {
    const notify = "ann@example.com";
    const summaries = Array.from({ length: 56 }, (_, at) => `Refund order ${1_000 + at}`);
    for (const [at, summary] of summaries.entries()) {
      const agentName = at % 2 === 0 ? "payer" : "cleaner";
      await there.createRequest({ summary, notify, agentName });
    }
    const { id } = await there.createRequest({ summary: "Delete stale rows", notify });
    await there.cancelRequest(id);
    const newestFirst = ["Delete stale rows", ...summaries.toReversed()];
    const { page } = await enterAs(there, "viewer");
    await goTo(page, "Requests");
    const rows = page.getByRole("list", { name: "Requests, newest first" });
    const shown = () => rows.getByRole("link").allTextContents();
    await eventually(async () => (await shown()).length === 50, "the first page");
    await button(page, "Load more").click();
    await page.getByText("No more requests.").waitFor();
    assert.deepEqual(await shown(), newestFirst);
    // Somebody who reads at the end is told of what is new, and loses nothing.
    await rows.getByRole("link").last().hover();
    await there.createRequest({ summary: "Pay the rent", notify });
    const arrived = page.getByRole("button", { name: /1 new request$/ });
    await arrived.waitFor();
    assert.deepEqual(await shown(), newestFirst);
    await rows.getByRole("link", { name: "Refund order 1003" }).click();
    await page.getByRole("heading", { name: "Request", level: 1 }).waitFor();
    await page.goBack();
    await eventually(async () => (await shown()).length >= newestFirst.length, "all pages");
    const back = (await shown()).filter((summary) => summary !== "Pay the rent");
    assert.deepEqual(back, newestFirst);
    await chooseFilters(page);
    const matching = summaries.filter((_, at) => at % 2 === 0).toReversed();
    const isNarrowed = async () => (await shown()).join() === matching.join();
    await eventually(isNarrowed, "what fits the filters");
    const address = new URL(page.url());
    assert.deepEqual([...address.searchParams.keys()].toSorted(), [
      "agent",
      "approver",
      "from",
      "status",
    ]);
    await page.reload();
    await eventually(isNarrowed, "the same after loading again");
    assert.equal(page.url(), address.href);
    assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "payer");
    assert.equal(await page.getByLabel("Approver", { exact: true }).inputValue(), notify);
    await inspect(page, "dashboard-filtered", atTheDoor);
    await button(page, "Reset").click();
    await rows.getByRole("link", { name: "Pay the rent" }).waitFor();
    assert.equal(new URL(page.url()).search, "");
  },
);

async function chooseFilters(page: Page): Promise<void> {
  await page
    .getByRole("group", { name: "Status" })
    .getByRole("button", { name: "Pending" })
    .click();
  await page.getByRole("button", { name: /^Filters/ }).click();
  await page.getByLabel("Agent", { exact: true }).fill("payer");
  await page.waitForURL(/agent=payer/);
  await page.getByLabel("Approver", { exact: true }).fill("ann@example.com");
  await page.waitForURL(/approver=/);
  const yesterday = new Date(Date.now() - 36 * 60 * 60_000).toISOString().slice(0, 10);
  await page.getByLabel("From", { exact: true }).fill(yesterday);
  await page.waitForURL(/from=/);
}

const withCode = { mayFail: ["401 /app/api/me", "403 /review/"] } as const;

journey(
  "links ask for a code exactly while the settings say so, and the figures count all that was asked and decided",
  withCode,
  async (there) => {
    const notify = "ann@example.com";
    const ask = (summary: string, agentName: string) =>
      there.createRequest({ summary, notify, agentName });
    const { page } = await enterAs(there, "admin");
    await setReviewCode(page, true);
    const guarded = await ask("Refund order 1042", "payer");
    const { url, code } = await there.mailedLink(notify, guarded.id);
    const review = await there.visit(url);
    const field = review.getByRole("textbox", { name: "Code" });
    await field.waitFor();
    assert.equal(await review.getByText("Refund order 1042").count(), 0);
    await field.fill(code ?? "");
    await button(review, "Open the request").click();
    await agentsWords(review).getByText("Refund order 1042").waitFor();
    await decide(review, "Reject", "Yes, reject");
    await setReviewCode(page, false);
    const open = await ask("Refund order 1043", "payer");
    const link = await there.mailedLink(notify, open.id);
    assert.equal(link.code, null);
    await review.goto(link.url);
    await decide(review, "Approve", "Yes, approve");
    // And one of every other end.
    const expired = await ask("Refund order 1044", "payer");
    await there.moveExpiry(expired.id, -1_000);
    const cancelled = await ask("Delete stale rows", "cleaner");
    await there.cancelRequest(cancelled.id);
    await ask("Send the newsletter", "writer");
    await ask("Send the newsletter again", "writer");
    await eventually(
      async () => (await there.readRequest(expired.id)).status === "EXPIRED",
      "it expires",
    );
    // Loaded again: figures that were read a moment ago are shown again.
    await page.goto(urlOf(there, ""));
    await assertOverview(page);
    await inspect(page, "dashboard-figures", withCode);
    await page.goto(urlOf(there, "/settings?tab=usage"));
    const perDay = "Requests per day, this month and the last";
    await page.getByText(/^of [0-9,]+ included requests$/).waitFor();
    assert.equal(await page.locator(".usage-number .figure-number").textContent(), "6");
    assert.equal(await columnSum(page, perDay, "Requests"), 6);
  },
);

async function setReviewCode(page: Page, isOn: boolean): Promise<void> {
  await goTo(page, "Settings");
  await page.getByLabel("Review code").setChecked(isOn);
  await page.getByText("1 unsaved change.").waitFor();
  await button(page, "Save changes").click();
  await page.getByText("All changes saved.").waitFor();
}

async function assertOverview(page: Page): Promise<void> {
  await page
    .getByText("6 requests in 30 days, 2 still waiting. Shares are of the 4 that ended")
    .waitFor();
  await page.getByRole("link", { name: /^Waiting now\s*2/ }).waitFor();
  const ends = await page.locator(".outcomes > li").allInnerTexts();
  assert.deepEqual(
    ends.map((end) => end.replaceAll(/\s+/g, " ").trim()),
    [
      "Approved 25% 1 request",
      "Rejected 25% 1 request",
      "Expired 25% 1 request",
      "Cancelled 25% 1 request",
    ],
  );
  const perDay = "Requests per day, by outcome";
  for (const [end, count] of [
    ["Approved as asked", 1],
    ["Rejected", 1],
    ["Expired", 1],
    ["Cancelled", 1],
    ["Still waiting", 2],
    ["Total", 6],
  ] as const) {
    assert.equal(await columnSum(page, perDay, end), count, end);
  }
  const agents = page.getByRole("region", { name: "By agent" }).getByRole("row");
  const said = (await agents.allInnerTexts()).map((line) => line.replaceAll(/\s+/g, " ").trim());
  assert.match(said[1] ?? "", /^payer 3 33% /);
  assert.deepEqual(said.slice(2).toSorted(), ["cleaner 1 0% –", "writer 2 – –"]);
}

function mailsTo({ site }: Journey, email: string): number {
  return site.mails.filter(({ recipients }) => recipients.includes(email)).length;
}

/** As if its mail had been sent a while ago. */
async function letPass({ site, workspace }: Journey, id: string): Promise<void> {
  const { rowCount } = await site.db.query(
    `update deliveries d set finished_at = d.finished_at - interval '2 minutes'
     from events ev where ev.workspace_id = d.workspace_id and ev.id = d.event_id
       and d.workspace_id = $1 and ev.approval_id = $2 and d.reviewer_id is not null`,
    [workspace.id, id],
  );
  assert.equal(rowCount, 1);
}
