// Several people decide about one request: what each of them sees, and that nobody approves what they weren't shown.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { CreateRequest } from "../sdk/src/contract.ts";
import { Sweeper } from "../server/src/worker/sweeper.ts";
import { until } from "../server/test/patience.ts";
import { listReviewers } from "../server/test/test-review.ts";
import { testKeyring } from "../server/test/test-service.ts";
import { type Journey, type JourneyOptions, journeys } from "./journey.ts";
import {
  button,
  choose,
  confirm,
  deafen,
  eventually,
  firstStep,
  inspect,
  outcomeOf,
  waits,
} from "./review-page.ts";

const journey = journeys();
const refused: JourneyOptions = { mayFail: ["409 /review/"] };
const [ann, bob, cy] = ["ann@example.com", "bob@example.com", "cy@example.com"];

const payment: CreateRequest = {
  summary: "Pay 40,000 EUR to Bright Supplies",
  agentName: "payables-agent",
  notify: "group:finance",
  payload: { invoice: "2026-118", amount: 40000, currency: "EUR" },
};

async function open({ mailedLink, visit }: Journey, to: string): Promise<Page> {
  const page = await visit((await mailedLink(to)).url);
  await page.getByText(payment.summary, { exact: true }).first().waitFor();
  return page;
}

/** The link of somebody who was asked later than the others. */
async function openLater({ site, visit }: Journey, id: string, email: string): Promise<Page> {
  const token = await until(async () => {
    const reviewers = await listReviewers(site.db, id);
    return reviewers.find((reviewer) => reviewer.email === email)?.token ?? null;
  }, `a link for ${email}`);
  return visit(`${site.url}/review/${token}`);
}

/** What the service does when time has passed: at once, instead of when its own sweeper wakes. */
async function sweep({ site: { db } }: Journey): Promise<void> {
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => faults.push(fault);
  const sweeper = new Sweeper({ db, keyring: testKeyring, onDue: () => {}, onFault });
  sweeper.sweep();
  await sweeper.stop();
  assert.deepEqual(faults, []);
}

/** The page asks at once when its reader comes back to it. */
function comeBack(page: Page): Promise<unknown> {
  return page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
}

async function setAmount(page: Page, amount: string): Promise<void> {
  await button(page, "Edit amount").click();
  const field = page.getByRole("textbox", { name: "New value of amount" });
  await field.fill(amount);
  await field.press("Enter");
}

async function approve(page: Page): Promise<void> {
  await choose(page, "Approve");
  await confirm(page, "Yes, approve");
}

async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
}

/** How far they are, at the top of the page, as one line of text. */
async function standing(page: Page, said: RegExp): Promise<void> {
  const region = page.getByRole("region", { name: "Approvals so far" });
  let text = "";
  await eventually(async () => {
    text = (await region.innerText()).replaceAll(/\s+/g, " ");
    return said.test(text);
  }, `the page says ${said}, not: ${text}`);
}

journey(
  "two of three, with an edit in between: nobody's approval is carried over to another text, and nothing typed is lost",
  refused,
  async (there) => {
    await there.makeGroup([ann, bob, cy]);
    const { id } = await there.createRequest({ ...payment, quorum: 2 });
    const [first, second, third] = [
      await open(there, ann),
      await open(there, bob),
      await open(there, cy),
    ];
    await deafen(third);
    await standing(first, /^0 of 2 approved this exact payload 2 more people of Finance must/);
    await approve(first);
    await heading(first, "You approved this");
    await standing(first, /recorded\. 1 more person of Finance must approve\. 1 of 2 .* You /);
    assert.equal(await first.getByRole("button", { name: /^(Approve|Reject|Edit)/ }).count(), 0);

    // The second had the page open all the time, and hears of it by itself.
    await standing(second, /^1 of 2 approved this exact payload ann@example\.com/);
    await setAmount(second, "39500.00");
    const step = await choose(second, "Approve with changes");
    await step.getByText("1 earlier approval no longer counts.").waitFor();
    await confirm(second, "Yes, approve with changes");
    await heading(second, "You approved this");
    assert.deepEqual(await earlierChanges(second), ["amount before 40000 → after 39500.00"]);

    await first.getByText("Your approval no longer counts.").waitFor();
    await button(first, "Show the new text").first().click();
    await standing(first, /Your approval of .* no longer counts: bob@example\.com changed/);
    await inspect(first, "votes-outdated", refused);

    // The third one has read and typed meanwhile, and the page could not ask.
    await setAmount(third, "1.00");
    const dialog = await choose(third, "Approve with changes");
    await dialog.getByRole("textbox", { name: "Note" }).fill("Much less");
    await confirm(third, "Yes, approve with changes");
    await dialog.getByText("nothing can be decided about this text").waitFor();
    assert.equal((await there.readRequest(id)).approvals?.stages[0]?.votes.length, 2);
    await dialog.getByRole("button", { name: "Go back" }).click();
    await third.getByText(/bob@example\.com\s+changed the payload while/).waitFor();
    assert.equal(await waits(firstStep(third, "Reject")), true);
    await inspect(third, "votes-new-text", refused);
    await button(third, "Show the new text").first().click();
    const typed = third.getByRole("region", { name: "What you had typed" });
    await typed.getByText('"amount":1.00').waitFor();
    await third.reload();
    await typed.getByText('"amount":1.00').waitFor();
    await inspect(third, "votes-typed-earlier", refused);
    const last = await choose(third, "Approve");
    await last.getByText("You are the last one who must approve").waitFor();
    const note = last.getByRole("textbox", { name: "Note" });
    assert.equal(await note.inputValue(), "Much less");
    await confirm(third, "Yes, approve");
    await outcomeOf(third).getByText("Approved by you").waitFor();
    const { status, modifiedPayload, resolvedByEmail } = await there.readRequest(id);
    assert.deepEqual([status, resolvedByEmail], ["APPROVED", cy]);
    assert.match(await there.readRequestText(id), /"modifiedPayload":\{[^}]*"amount":39500\.00/);
    assert.ok(modifiedPayload !== null);
  },
);

/** What an earlier approver changed, above the payload. */
async function earlierChanges(page: Page): Promise<string[]> {
  const list = page.getByRole("list", { name: "Changed by an earlier approver" });
  await list.first().waitFor();
  const items = await list.first().getByRole("listitem").allInnerTexts();
  return items.map((item) => item.replaceAll(/\s+/g, " "));
}

journey(
  "who is needed in the second stage can only reject in the first, and is asked once it is complete",
  async (there) => {
    const cfo = "cfo@example.com";
    await there.makeGroup([ann, bob, cfo]);
    const { id } = await there.createRequest({ ...payment, quorum: 2, then: [{ notify: cfo }] });
    const chief = await open(there, cfo);
    await heading(chief, "You are needed in stage 2");
    await standing(
      chief,
      /^You are needed in stage 2, cfo@example\.com ?; somebody else of Finance/,
    );
    assert.equal(await waits(firstStep(chief, "Approve")), true);
    assert.equal(await waits(firstStep(chief, "Reject")), false);
    await inspect(chief, "votes-needed-later");
    for (const email of [ann, bob]) await approve(await open(there, email));
    await eventually(async () => (await there.readRequest(id)).approvals?.stage === 2, "stage 2");
    await comeBack(chief);
    await heading(chief, "Your approval is needed");
    await standing(chief, /^Stage 2: 0 of 1 approved this exact payload 1 more person in stage 2/);
    await approve(chief);
    await outcomeOf(chief).getByText("Approved by you").waitFor();
    await inspect(chief, "votes-decided");
    assert.equal((await there.readRequest(id)).resolvedByEmail, cfo);
  },
);

journey("a quorum that can't be reached any more says that nothing is approved", async (there) => {
  const group = await there.makeGroup([ann, bob]);
  const { id } = await there.createRequest({ ...payment, quorum: 2 });
  const page = await open(there, ann);
  await group.removeMember(bob);
  await sweep(there);
  await comeBack(page);
  await heading(page, "This can’t be approved any more");
  await standing(page, /Too few different people are left .* nothing is approved/);
  await inspect(page, "votes-stuck");
  assert.equal((await there.readRequest(id)).status, "PENDING");
});

journey(
  "a request for one person is handed over by a choice, a tick and a press, and the colleague decides it",
  async (there) => {
    await there.makeGroup([ann, bob, cy]);
    const { id } = await there.createRequest({ ...payment, notify: ann });
    const page = await open(there, ann);
    assert.equal(await page.getByRole("region", { name: "Approvals so far" }).count(), 0);
    await button(page, "Hand over").click();
    const dialog = page.getByRole("dialog");
    const yes = dialog.getByRole("button", { name: "Yes, hand over" });
    await dialog.getByRole("searchbox", { name: "Colleague" }).fill("BO");
    await dialog.getByRole("radio", { name: bob }).check();
    assert.equal(await dialog.getByRole("radio").count(), 1);
    await yes.click({ force: true });
    assert.equal(await waits(yes), true, "it waits for the tick");
    await dialog
      .getByText(/I hand this over to bob@example\.com\. It can’t be taken back/)
      .waitFor();
    await inspect(page, "votes-hand-over");
    await dialog.getByRole("checkbox").check();
    await eventually(async () => !(await waits(yes)), "it is no longer inert");
    await yes.click();
    await heading(page, "You handed this over");
    await standing(page, /^You gave this to bob@example\.com ?\. You can’t decide it any more\./);
    assert.equal(await page.getByRole("button", { name: /^(Approve|Reject|Hand)/ }).count(), 0);
    await inspect(page, "votes-handed-over");
    const colleague = await openLater(there, id, bob);
    await standing(colleague, /^You decide in place of ann@example\.com/);
    await approve(colleague);
    await outcomeOf(colleague).getByText("Approved by you").waitFor();
    await comeBack(page);
    await outcomeOf(page).getByText("Approved by bob@example.com").waitFor();
    assert.equal((await there.readRequest(id)).resolvedByEmail, bob);
  },
);

journey(
  "a hand-over whose place changed behind its dialog is refused with the place of now, and passes that one then",
  { mayFail: ["409 /review/"] },
  async (there) => {
    const dora = "dora@example.com";
    await there.makeGroup([ann, bob]);
    await there.makeGroup([dora, cy], { key: "helpers", name: "Helpers" });
    await there.site.db.query(
      `with absence as (
       insert into absences (workspace_id, person, email, delegate_email, starts_at, ends_at)
       select $1, person_of(email), email, $3, now_ms() - interval '1 minute', now_ms() + interval '1 day'
       from unnest($2::text[]) as email
     )
     update workspaces set absences_until = now_ms() + interval '1 day' where id = $1`,
      [there.workspace.id, [ann, bob], dora],
    );
    const { id } = await there.createRequest({ ...payment, quorum: 1 });
    const page = await openLater(there, id, dora);
    await standing(page, /^You decide in place of ann@example\.com/);
    await button(page, "Hand over").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^You hand over the decision in place of ann@example\.com/).waitFor();
    await dialog.getByRole("radio", { name: cy }).check();
    await dialog.getByRole("checkbox").check();
    const yes = dialog.getByRole("button", { name: "Yes, hand over" });
    await eventually(async () => !(await waits(yes)), "it is no longer inert");
    await there.site.db.query(
      "update absences set ends_at = now_ms() where workspace_id = $1 and email = $2",
      [there.workspace.id, ann],
    );
    await yes.click();
    await dialog
      .getByText(/^Your vote would now count in stage 1 for bob@example\.com, .* Nothing was/)
      .waitFor();
    await dialog.getByText(/^You hand over the decision in place of bob@example\.com/).waitFor();
    await yes.click();
    await heading(page, "You handed this over");
    const { rows } = await there.site.db.query(
      "select person from seats where approval_id = $1 and given_to is not null",
      [id],
    );
    assert.deepEqual(rows, [{ person: bob }]);
  },
);

journey(
  "who stands in for somebody away says so, and the two of them count once",
  async (there) => {
    const dora = "dora@example.com";
    await there.makeGroup([ann, bob]);
    await there.makeGroup([dora], { key: "helpers", name: "Helpers" });
    await there.site.db.query(
      `with absence as (
       insert into absences (workspace_id, person, email, delegate_email, starts_at, ends_at)
       values ($1, person_of($2), $2, $3, now_ms() - interval '1 minute', now_ms() + interval '1 day')
     )
     update workspaces set absences_until = now_ms() + interval '1 day' where id = $1`,
      [there.workspace.id, ann, dora],
    );
    const { id } = await there.createRequest({ ...payment, quorum: 2 });
    const [delegate, away] = [await openLater(there, id, dora), await openLater(there, id, ann)];
    await standing(
      delegate,
      /^You decide in place of ann@example\.com ?\. The two of you count as one/,
    );
    await inspect(delegate, "votes-in-place");
    await approve(delegate);
    await standing(delegate, /^Your approval in place of ann@example\.com is recorded\./);
    await comeBack(away);
    await heading(away, "Approved in your place");
    await standing(
      away,
      /^dora@example\.com approved already\. .* dora@example\.com in place of ann/,
    );
    assert.equal(await away.getByRole("button", { name: /^(Approve|Reject|Hand)/ }).count(), 0);
    assert.equal((await there.readRequest(id)).status, "PENDING");
  },
);

journey("who is asked when a stage stays open sees as much as those asked first", async (there) => {
  await there.makeGroup([ann, bob]);
  const escalate = [{ afterMinutes: 30, notify: cy }];
  const { id } = await there.createRequest({ ...payment, quorum: 2, escalate });
  const first = await open(there, ann);
  await approve(first);
  await heading(first, "You approved this");
  await there.site.db.query("update steps set due_at = now_ms() where approval_id = $1", [id]);
  await sweep(there);
  const page = await openLater(there, id, cy);
  await standing(page, /^1 of 2 approved this exact payload ann@example\.com/);
  await inspect(page, "votes-escalated");
  await approve(page);
  await outcomeOf(page).getByText("Approved by you").waitFor();
});
