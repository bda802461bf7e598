// What happens elsewhere while the inbox is open: votes, new requests, and the end of the session.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { makeSignInLink } from "../server/src/operations/people/sign-in.ts";
import { testKeyring } from "../server/test/test-service.ts";
import { signIn, signInByCode } from "./dashboard-page.ts";
import { desktop, enterInbox, openRow, phone, rowOf, summaries } from "./inbox-page.ts";
import { journeys } from "./journey.ts";
import {
  button,
  choose,
  confirm,
  eventually,
  inspect,
  outcomeOf,
  tick,
  untilApprovable,
} from "./review-page.ts";

const journey = journeys();
const bob = "bob-live@example.com";
const payment = { agentName: "payer", notify: "group:finance", payload: { amount: 40000 } };

async function approve(page: Page): Promise<void> {
  await untilApprovable(page);
  await choose(page, "Approve");
  await confirm(page, "Yes, approve");
}

function count(page: Page, said: string) {
  return page.getByRole("region", { name: "Approvals so far" }).getByText(said).first();
}

journey(
  "a request that is open behind a link and in the inbox tells of each vote on either, and who won",
  { mayFail: ["409 /review/", "401 /inbox/api/list", "401 /app/api/me"] },
  async (there, t) => {
    const [ann, cy] = ["ann-live@example.com", "cy-live@example.com"];
    await there.makeGroup([ann, bob, cy]);
    const { id } = await there.createRequest({
      ...payment,
      summary: "Pay Bright Supplies",
      quorum: 2,
    });
    const link = await there.visit((await there.mailedLink(bob)).url);
    // A link from a message leads through the sign-in to its request.
    const inbox = await there.visit(`${there.site.url}/inbox/requests/${id}`, desktop);
    await signInByCode(there, inbox, ann);
    await count(inbox, "0 of 2").waitFor();
    await approve(link);
    await count(link, "1 of 2").waitFor();
    const votedAt = performance.now();
    await count(inbox, "1 of 2").waitFor();
    t.diagnostic(`the inbox told of a vote after ${Math.round(performance.now() - votedAt)} ms`);
    await rowOf(inbox, "Pay Bright Supplies").getByText("1 of 2 approved").waitFor();
    await inspect(inbox, "inbox-vote", { mayFail: ["401 /inbox/api/list", "401 /app/api/me"] });
    const other = await there.visit((await there.mailedLink(cy)).url);
    await untilApprovable(other);
    await choose(other, "Reject");
    await tick(other);
    await approve(inbox);
    await outcomeOf(inbox).getByText("Approved by you").waitFor();
    const decidedAt = performance.now();
    for (const page of [link, other]) {
      await outcomeOf(page).getByText(`Approved by ${ann}`).waitFor();
    }
    t.diagnostic(`the links told who won after ${Math.round(performance.now() - decidedAt)} ms`);
    assert.equal((await there.readRequest(id)).status, "APPROVED");
  },
);

journey(
  "where the stream is refused, the inbox asks, and shows what others did all the same",
  { mayFail: ["404 /inbox/api/events"] },
  async (there) => {
    const ann = "ann-asks@example.com";
    await there.makeGroup([ann, bob]);
    const { id } = await there.createRequest({ ...payment, summary: "Pay Bright Supplies" });
    const page = await enterInbox(there, ann, desktop);
    await page.route("**/inbox/api/events", (route) => route.fulfill({ status: 404 }));
    await page.reload();
    await rowOf(page, "Pay Bright Supplies").waitFor();
    const colleague = await there.visit((await there.mailedLink(bob, id)).url);
    await approve(colleague);
    await outcomeOf(colleague).getByText("Approved by you").waitFor();
    await rowOf(page, "Pay Bright Supplies").getByText("Approved").waitFor();
  },
);

/** As a browser tells a tab that it is behind another one, or in front again. */
function setVisibility(page: Page, state: "hidden" | "visible"): Promise<unknown> {
  return page.evaluate(`
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
    document.dispatchEvent(new Event("visibilitychange"));`);
}

journey(
  "a tab that nobody sees asks for the count in its title alone, and is right at once when it is seen again",
  async (there) => {
    const ann = "ann-behind@example.com";
    const ask = (summary: string) => there.createRequest({ ...payment, notify: ann, summary });
    const open = await ask("First");
    const page = await enterInbox(there, ann, desktop);
    await page.clock.install();
    await page.reload();
    await openRow(page, "First");
    await untilApprovable(page);
    await setVisibility(page, "hidden");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await ask("Second");
    await page.clock.runFor(4 * 60_000);
    await page.clock.runFor(70_000);
    await eventually(async () => (await page.title()).startsWith("(2)"), "the title counts two");
    assert.deepEqual(asked, ["/inbox/api/list"], "in more than five minutes");
    await ask("Third");
    await there.cancelRequest(open.id);
    await setVisibility(page, "visible");
    await outcomeOf(page).getByText("Cancelled").first().waitFor();
    await page.getByRole("button", { name: "1 new request" }).waitFor();
    assert.ok(asked.includes("/inbox/api/events"), "it listens again");
  },
);

journey(
  "a tab that is opened behind another one doesn't listen before it is seen",
  async (there) => {
    const ann = "ann-unseen@example.com";
    await there.createRequest({ ...payment, notify: ann, summary: "First" });
    const page = await (await enterInbox(there, ann, desktop)).context().newPage();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.addInitScript(
      `Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });`,
    );
    await page.goto(`${there.site.url}/inbox`);
    await eventually(async () => (await page.title()).startsWith("(1)"), "the title counts");
    assert.ok(!asked.includes("/inbox/api/events"));
    await setVisibility(page, "visible");
    await eventually(async () => asked.includes("/inbox/api/events"), "it listens");
  },
);

journey("nothing in the list moves under the finger", async (there) => {
  const ann = "ann-still@example.com";
  await there.makeGroup([ann, bob]);
  const ask = (summary: string, ttlMinutes: number) =>
    there.createRequest({ ...payment, summary, ttlMinutes });
  const first = await ask("First", 60);
  await ask("Second", 120);
  const page = await enterInbox(there, ann, desktop);
  await rowOf(page, "Second").hover();
  const before = await rowOf(page, "Second").boundingBox();
  const urgent = await ask("Urgent", 10);
  await page.getByRole("button", { name: "1 new request" }).waitFor();
  await there.cancelRequest(first.id);
  await rowOf(page, "First").getByText("Cancelled").waitFor();
  assert.deepEqual(await rowOf(page, "Second").boundingBox(), before);
  await inspect(page, "inbox-arrived");
  await rowOf(page, "Second").hover();
  assert.equal(await page.title(), "(2) Inbox · Countersign");
  await page.getByRole("button", { name: "1 new request" }).click();
  assert.deepEqual(await summaries(page), ["Urgent", "First", "Second"]);
  // With the pointer elsewhere, a row finds its place by itself.
  await page.mouse.move(1_000, 400);
  await page.evaluate("document.activeElement.blur()");
  await ask("Third", 90);
  await eventually(
    async () => (await summaries(page)).join() === "Urgent,First,Third,Second",
    "it is between the others",
  );
  assert.equal((await there.readRequest(urgent.id)).status, "PENDING");
  // Neither while requests are selected: the boxes stay where they are.
  await page.getByRole("button", { name: "Select" }).click();
  const selecting = await rowOf(page, "Second").boundingBox();
  await there.cancelRequest(urgent.id);
  await rowOf(page, "Urgent").getByText("Cancelled").waitFor();
  assert.deepEqual(await rowOf(page, "Second").boundingBox(), selecting);
});

journey(
  "who signs in on the same browser finds their own inbox in an open tab, and nothing that another typed",
  { mayFail: ["401 /inbox/api", "401 /app/api/me", "404 /inbox/api/reviews"] },
  async (there) => {
    const ann = "ann-before@example.com";
    await there.makeGroup([ann, bob]);
    await there.createRequest({ ...payment, summary: "Pay for both" });
    await there.createRequest({ ...payment, summary: "Ask Ann", notify: ann });
    const page = await enterInbox(there, ann, desktop);
    await openRow(page, "Pay for both");
    await untilApprovable(page);
    await choose(page, "Approve");
    await page.getByRole("textbox", { name: "Note" }).fill("Between Ann and the agent");
    const tab = await page.context().newPage();
    await signIn(tab, there.site.url, await makeSignInLink(there.site.db, testKeyring, bob));
    await rowOf(page, "Ask Ann").waitFor({ state: "detached" });
    // The tab's history still names Ann's place in it.
    await untilApprovable(page);
    await choose(page, "Approve");
    assert.equal(await page.getByRole("textbox", { name: "Note" }).inputValue(), "");
    await confirm(page, "Yes, approve");
    await outcomeOf(page).getByText("Approved by you").waitFor();
  },
);

journey(
  "a session that ends while somebody types costs them nothing they typed",
  { mayFail: ["401 /inbox/api", "401 /app/api/me"] },
  async (there) => {
    const ann = "ann-lost@example.com";
    const { id } = await there.createRequest({ ...payment, notify: ann, summary: "Pay the tax" });
    const page = await enterInbox(there, ann, phone);
    await openRow(page, "Pay the tax");
    await button(page, "Edit amount").click();
    const field = page.getByRole("textbox", { name: "New value of amount" });
    await field.fill("39000");
    await field.press("Enter");
    await untilApprovable(page);
    await choose(page, "Approve with changes");
    await page.getByRole("textbox", { name: "Note" }).fill("Less the discount");
    await there.site.db.query(
      "delete from sessions s using people p where p.id = s.person_id and p.email = $1",
      [ann],
    );
    await confirm(page, "Yes, approve with changes");
    await page.getByText(/Your session has ended, so nothing was sent/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("alert").getByText("Your session has ended.").waitFor();
    await inspect(page, "inbox-signed-out", { mayFail: ["401 /inbox/api"] });
    await page.getByRole("link", { name: "Sign in again" }).click();
    await signInByCode(there, page, ann);
    await page.getByText("39000").first().waitFor();
    await untilApprovable(page);
    await choose(page, "Approve with changes");
    assert.equal(
      await page.getByRole("textbox", { name: "Note" }).inputValue(),
      "Less the discount",
    );
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    assert.deepEqual((await there.readRequest(id)).effectivePayload, { amount: 39000 });
  },
);
