// A decision is sent and its answer gets lost, or never comes. The page says that it cannot tell, finds out by itself, and
// says nothing that may be wrong.

import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import { type Journey, type JourneyOptions, journeys } from "./journey.ts";
import { choose, confirm, eventually, outcomeOf, tick, waits } from "./review-page.ts";

const journey = journeys();
const lost: JourneyOptions = { mayBreak: "/review/", mayFail: ["502 /review/", "409 /review/"] };

const screens = {
  "a phone": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  "a desktop": { viewport: { width: 1280, height: 800 } },
};

async function open({ createRequest, mailedLink, visit }: Journey, screen: object) {
  const { id } = await createRequest({
    summary: "Refund order 1042",
    notify: "ann@example.com",
    payload: { amount: 120.5 },
  });
  const page = await visit((await mailedLink("ann@example.com")).url, screen);
  await keepFromHearing(page);
  return { id, page };
}

/** A page that waits would be told of its own decision, sooner than it can miss the answer. */
async function keepFromHearing(page: Page): Promise<void> {
  await page.route("**/status", (route) =>
    route.request().postData()?.includes('"since"') === true
      ? route.fulfill({ status: 503, body: "" })
      : route.fallback(),
  );
  await page.reload();
}

async function onDecision(page: Page, how: (route: Route) => Promise<void>): Promise<void> {
  await page.route("**/decision", how);
}

/** Brings a call to the service as the browser would have. */
async function bring(route: Route): Promise<void> {
  const { origin } = new URL(route.request().url());
  const headers = { ...route.request().headers(), origin, "sec-fetch-site": "same-origin" };
  const answer = await route.fetch({ headers });
  assert.equal(answer.status(), 200, await answer.text());
}

async function assertSaysNothingFalse(page: Page): Promise<void> {
  const said = await page.locator("body").innerText();
  assert.doesNotMatch(said, /Nothing was lost|It was not sent|Nothing was decided|too late/);
}

for (const [name, screen] of Object.entries(screens)) {
  journey(
    `9. a decision that counted while its answer was lost is found by the page itself, on ${name}`,
    lost,
    async (there) => {
      const { id, page } = await open(there, screen);
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await onDecision(page, async (route) => {
        await bring(route);
        await route.abort();
      });
      // Out of reach for a moment, so that the page cannot know at once.
      await page.route("**/status", async (route) => {
        await held;
        await route.continue();
      });
      const dialog = await choose(page, "Approve");
      await dialog.getByRole("textbox", { name: "Note" }).fill("Fine");
      await confirm(page, "Yes, approve");
      await dialog.getByText("We can’t tell whether your decision arrived").waitFor();
      await assertSaysNothingFalse(page);
      assert.equal((await there.readRequest(id)).status, "APPROVED");
      release();
      await outcomeOf(page).getByText("Approved by you").waitFor();
      await assertSaysNothingFalse(page);
      assert.equal(await page.getByText("What you had typed").count(), 0);
    },
  );

  journey(
    `9. a decision that never arrived is told as such, and sent again it counts once, on ${name}`,
    lost,
    async (there) => {
      const { id, page } = await open(there, screen);
      await onDecision(page, (route) => route.abort());
      const dialog = await choose(page, "Reject");
      await confirm(page, "Yes, reject");
      await dialog.getByText("Your decision hasn’t been counted so far. Send it again.").waitFor();
      assert.equal((await there.readRequest(id)).status, "PENDING");
      await page.unroute("**/decision");
      await confirm(page, "Yes, reject");
      await outcomeOf(page).getByText("Rejected by you").waitFor();
    },
  );
}

journey("9. an answer that comes from something between is no answer", lost, async (there) => {
  const { id, page } = await open(there, screens["a phone"]);
  await onDecision(page, async (route) => {
    await bring(route);
    await route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" });
  });
  await choose(page, "Approve");
  await confirm(page, "Yes, approve");
  await outcomeOf(page).getByText("Approved by you").waitFor();
  await assertSaysNothingFalse(page);
  assert.equal((await there.readRequest(id)).status, "APPROVED");
});

journey(
  "9. while nobody answers the page says so, keeps asking, and never hangs",
  lost,
  async (there) => {
    const { id, page } = await open(there, screens["a phone"]);
    // Neither ever answers: the page's own limits end the calls.
    const waiting: Route[] = [];
    await onDecision(page, async (route) => {
      waiting.push(route);
    });
    await page.route("**/status", (route) => route.abort());
    const dialog = await choose(page, "Approve");
    await confirm(page, "Yes, approve");
    const sent = dialog.getByRole("button", { name: "Sending …" });
    await sent.waitFor();
    await dialog.getByText("We can’t tell whether").waitFor();
    await dialog.getByText("We still can’t tell whether").waitFor();
    await tick(page);
    const yes = dialog.getByRole("button", { name: "Yes, approve" });
    await eventually(async () => !(await waits(yes)), "it can be sent again");
    await assertSaysNothingFalse(page);
    // The first sending arrives late, and the connection is back.
    await waiting[0]?.continue().catch(() => {});
    await page.unroute("**/decision");
    await page.unroute("**/status");
    await confirm(page, "Yes, approve");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    await assertSaysNothingFalse(page);
    assert.equal((await there.readRequest(id)).status, "APPROVED");
  },
);

journey(
  "9. a reader who changes their mind after a lost answer learns which decision counted",
  lost,
  async (there) => {
    const { id, page } = await open(there, screens["a desktop"]);
    await onDecision(page, async (route) => {
      await bring(route);
      await route.abort();
    });
    await page.route("**/status", (route) => route.abort());
    const dialog = await choose(page, "Approve");
    await confirm(page, "Yes, approve");
    await dialog.getByText("We can’t tell whether").waitFor();
    await dialog.getByRole("button", { name: "Go back" }).click();
    await page.unroute("**/decision");
    await choose(page, "Reject");
    await eventually(async () => {
      await tick(page);
      const yes = page.locator("dialog").getByRole("button", { name: "Yes, reject" });
      return (await yes.count()) > 0 && !(await waits(yes));
    }, "it can be sent");
    await confirm(page, "Yes, reject");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    await page.getByText("Your earlier decision counted. The last one came too late.").waitFor();
    assert.equal((await there.readRequest(id)).status, "APPROVED");
  },
);

journey(
  "9. a reload after a lost answer calls nothing unsent that counted",
  lost,
  async (there) => {
    const { page } = await open(there, screens["a phone"]);
    await onDecision(page, async (route) => {
      await bring(route);
      await route.abort();
    });
    await page.route("**/status", (route) => route.abort());
    await page.locator('[aria-label="Edit amount"]').click();
    await page.getByRole("textbox", { name: "New value of amount" }).fill("99.00");
    await page.keyboard.press("Enter");
    const dialog = await choose(page, "Approve with changes");
    await dialog.getByRole("textbox", { name: "Note" }).fill("Use the March budget");
    await confirm(page, "Yes, approve with changes");
    await dialog.getByText("We can’t tell whether").waitFor();
    await page.unroute("**/decision");
    await page.unroute("**/status");
    await page.reload();
    await outcomeOf(page).getByText("Use the March budget").waitFor();
    assert.equal(await page.getByText("What you had typed").count(), 0);
    await assertSaysNothingFalse(page);
  },
);

const removed: JourneyOptions = {
  mayBreak: "/review/",
  mayFail: ["404 /review/", "503 /review/"],
};

journey("9. who was removed after a lost answer is told nothing false", removed, async (there) => {
  const group = await there.makeGroup(["ann@example.com", "bob@example.com"]);
  const { id } = await there.createRequest({
    summary: "Refund order 1042",
    notify: `group:${group.key}`,
    payload: { amount: 120.5 },
  });
  const page = await there.visit((await there.mailedLink("ann@example.com", id)).url);
  await keepFromHearing(page);
  await onDecision(page, async (route) => {
    await bring(route);
    await route.abort();
  });
  await page.route("**/status", (route) => route.abort());
  const dialog = await choose(page, "Approve");
  await dialog.getByRole("textbox", { name: "Note" }).fill("Fine");
  await confirm(page, "Yes, approve");
  await dialog.getByText("We can’t tell whether").waitFor();
  await group.removeMember("ann@example.com");
  await page.unroute("**/status");
  await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
  await page.getByText("It can’t tell you whether your decision counted.").waitFor();
  await assertSaysNothingFalse(page);
  assert.equal((await there.readRequest(id)).status, "APPROVED");
});

journey(
  "a vote with an edit that was recorded while its answer was lost is found by the page, and isn't called late",
  lost,
  async (there) => {
    const { key } = await there.makeGroup(["ann@example.com", "bob@example.com"]);
    const { id } = await there.createRequest({
      ...{ summary: "Refund order 1042", notify: `group:${key}`, payload: { amount: 120.5 } },
      quorum: 2,
    });
    const page = await there.visit((await there.mailedLink("ann@example.com")).url);
    await keepFromHearing(page);
    await page.getByRole("button", { name: "Edit amount" }).click();
    const field = page.getByRole("textbox", { name: "New value of amount" });
    await field.fill("99.00");
    await field.press("Enter");
    await onDecision(page, async (route) => {
      await bring(route);
      await route.abort();
    });
    const dialog = await choose(page, "Approve with changes");
    await dialog.getByRole("textbox", { name: "Note" }).fill("Less");
    await confirm(page, "Yes, approve with changes");
    await page.getByRole("heading", { level: 1, name: "You approved this" }).waitFor();
    await page.getByText("1 difference from what the agent sent:").waitFor();
    assert.equal((await there.readRequest(id)).approvals?.revision, 2);
    const other = await there.visit((await there.mailedLink("bob@example.com")).url);
    await choose(other, "Approve");
    await confirm(other, "Yes, approve");
    await outcomeOf(other).getByText("Approved by you").waitFor();
    await page.reload();
    await outcomeOf(page).getByText("Approved by bob@example.com").waitFor();
    await assertSaysNothingFalse(page);
    assert.equal(await page.getByText("What you had typed").count(), 0);
    assert.match(await there.readRequestText(id), /"modifiedPayload":\{"amount":99\.00\}/);
  },
);

journey(
  "a hand-over whose answer was lost is found by the page, and one that never arrived is told as such",
  lost,
  async (there) => {
    const { page } = await open(there, screens["a phone"]);
    await there.makeGroup(["ann@example.com", "bob@example.com"]);
    await page.route("**/hand-over", (route) => route.abort());
    await page.getByRole("button", { name: "Hand over" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "bob@example.com" }).check();
    await tick(page);
    const yes = dialog.getByRole("button", { name: "Yes, hand over" });
    await eventually(async () => !(await waits(yes)), "it is no longer inert");
    await yes.click();
    await dialog.getByText("It hasn’t been handed over so far. Try again.").waitFor();
    await page.unroute("**/hand-over");
    await page.route("**/hand-over", async (route) => {
      await bring(route);
      await route.abort();
    });
    await yes.click();
    await page.getByRole("heading", { level: 1, name: "You handed this over" }).waitFor();
  },
);
