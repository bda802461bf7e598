// A link after its request has ended, and a person who was about to decide at that moment.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { CreateRequest } from "../sdk/src/contract.ts";
import { type Journey, type JourneyOptions, journeys } from "./journey.ts";
import {
  agentsWords,
  button,
  changesIn,
  choose,
  confirm,
  deafen,
  decide,
  eventually,
  inspect,
  outcomeOf,
} from "./review-page.ts";

const journey = journeys();
const tooLate: JourneyOptions = { mayFail: ["409 /review/"] };
const minuteMs = 60_000;
const notFound: JourneyOptions = { mayFail: ["404 /review/"] };

const request: CreateRequest = {
  summary: "Refund order 1042",
  agentName: "Refund bot",
  notify: "ann@example.com",
  payload: { order: "1042", amount: 120.5 },
};

async function open({ mailedLink, visit }: Journey, to = "ann@example.com"): Promise<Page> {
  const page = await visit((await mailedLink(to)).url);
  await agentsWords(page).getByText(request.summary, { exact: true }).waitFor();
  return page;
}

/** An edit in place, and a note in the second step, which stays open. */
async function type(page: Page, { amount, note }: { amount: string; note: string }): Promise<void> {
  await button(page, "Edit amount").click();
  const field = page.getByRole("textbox", { name: "New value of amount" });
  await field.fill(amount);
  await field.press("Enter");
  const dialog = await choose(page, "Approve with changes");
  await dialog.getByRole("textbox", { name: "Note" }).fill(note);
}

/** The typing when something else was quicker. */
async function assertStillThere(page: Page, ...texts: string[]): Promise<void> {
  const typed = page.getByRole("region", { name: "What you had typed" });
  await typed.waitFor();
  const shown = await typed.innerText();
  for (const text of texts) assert.ok(shown.includes(text), `${text} is not in: ${shown}`);
}

async function assertNothingToDecide(page: Page): Promise<void> {
  assert.equal(await page.getByRole("button", { name: /^(Approve|Reject|Yes|Edit)/ }).count(), 0);
  assert.equal(await page.getByRole("dialog").count(), 0);
}

/** The page asks at once when its reader comes back to it. */
function comeBack(page: Page): Promise<unknown> {
  return page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
}

journey("an expired request says that nothing was approved, and offers nothing", async (there) => {
  const { id } = await there.createRequest(request);
  const { url } = await there.mailedLink("ann@example.com");
  await there.moveExpiry(id, -1_000);
  const page = await there.visit(url);
  await outcomeOf(page).getByText("Nobody decided in time, so nothing was approved").waitFor();
  await assertNothingToDecide(page);
  assert.equal((await there.readRequest(id)).status, "EXPIRED");
  await inspect(page, "expired");
});

journey(
  "a request that runs out while its page is open becomes its outcome there, and nothing typed is lost",
  async (there) => {
    const { id } = await there.createRequest(request);
    const page = await open(there);
    await page.clock.install();
    await page.reload();
    await page.evaluate("window.isTheSame = true");
    await type(page, { amount: "99.00", note: "A little less" });
    await there.moveExpiry(id, 4 * minuteMs);
    await comeBack(page);
    await page
      .getByRole("timer")
      .getByText(/^[0-3]:[0-9]{2} left$/)
      .waitFor();
    // The page's clock comes to the end that it counts down to, and nobody tells it so.
    await there.moveExpiry(id, -1_000);
    await page.clock.fastForward(4 * minuteMs);
    await outcomeOf(page).getByText("Nobody decided in time").waitFor();
    await assertNothingToDecide(page);
    await assertStillThere(page, "A little less", '"amount":99.00');
    assert.equal(await page.evaluate("isTheSame"), true);
    assert.equal((await there.readRequest(id)).status, "EXPIRED");
    await inspect(page, "expired-while-open");
  },
);

journey("a cancelled request says so on the same link", async (there) => {
  const { id } = await there.createRequest(request);
  const page = await open(there);
  await there.cancelRequest(id);
  await page.reload();
  await outcomeOf(page).getByText("The request was cancelled, so nothing was approved").waitFor();
  await assertNothingToDecide(page);
  await inspect(page, "cancelled");
});

journey(
  "an approver who decides a moment after the agent cancelled is told, and keeps what they typed",
  tooLate,
  async (there) => {
    const { id } = await there.createRequest(request);
    const page = await open(there);
    await deafen(page);
    await type(page, { amount: "99.00", note: "A little less" });
    await there.cancelRequest(id);
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).getByText("The request was cancelled").waitFor();
    await page.getByText("Your decision came too late and was not counted.").waitFor();
    await assertStillThere(page, "A little less", '"amount":99.00');
    assert.equal((await there.readRequest(id)).status, "CANCELLED");
  },
);

journey(
  "in a group the first decision counts; the other is told who decided what and when, and loses nothing",
  tooLate,
  async (there) => {
    const { key } = await there.makeGroup(["ann@example.com", "bob@example.com"]);
    const { id } = await there.createRequest({ ...request, notify: `group:${key}` });
    const [ann, bob] = [await open(there), await open(there, "bob@example.com")];
    await deafen(ann);
    await ann.getByText("member of Finance").waitFor();
    await type(ann, { amount: "99.00", note: "A little less" });
    const dialog = await choose(bob, "Reject");
    await dialog.getByRole("textbox", { name: "Note" }).fill("Not before Monday");
    await confirm(bob, "Yes, reject");
    await outcomeOf(bob).getByText("Rejected by you").waitFor();
    const first = await there.readRequestText(id);

    await confirm(ann, "Yes, approve with changes");
    const outcome = outcomeOf(ann);
    await outcome.getByText("Rejected by bob@example.com").waitFor();
    await outcome.getByText("Not before Monday").waitFor();
    await outcome.getByText("Your decision came too late and was not counted.").waitFor();
    const { resolvedAt, resolvedByEmail } = await there.readRequest(id);
    assert.equal(resolvedByEmail, "bob@example.com");
    await outcome.getByRole("button", { name: /exact time in UTC/ }).click();
    await outcome.getByText(`${resolvedAt?.replace("T", " ").replace("Z", "")} UTC`).waitFor();
    await assertStillThere(ann, "A little less", '"amount":99.00');
    await inspect(ann, "decided-by-another", tooLate);
    await ann.reload();
    await assertStillThere(ann, "A little less", '"amount":99.00');
    assert.equal(await there.readRequestText(id), first);
  },
);

journey("an open page learns by itself that somebody else has decided", async (there) => {
  const { key } = await there.makeGroup(["ann@example.com", "bob@example.com"]);
  await there.createRequest({ ...request, notify: `group:${key}` });
  const [ann, bob] = [await open(there), await open(there, "bob@example.com")];
  await decide(bob, "Approve", "Yes, approve");
  await outcomeOf(ann).getByText("Approved by bob@example.com").waitFor();
  await assertNothingToDecide(ann);
});

journey(
  "of two tabs of one person the second one's older view decides nothing, is told, and loses nothing",
  tooLate,
  async (there) => {
    const { id } = await there.createRequest(request);
    const first = await open(there);
    const second = await first.context().newPage();
    await second.goto(first.url());
    await deafen(second);
    await type(second, { amount: "1.00", note: "From the second tab" });
    await first.bringToFront();
    await type(first, { amount: "99.00", note: "From the first tab" });
    await confirm(first, "Yes, approve with changes");
    await outcomeOf(first).getByText("Approved by you").waitFor();
    const decided = await there.readRequestText(id);
    assert.match(decided, /"modifiedPayload":\{"order":"1042","amount":99\.00\}/);

    await second.bringToFront();
    await confirm(second, "Yes, approve with changes");
    await outcomeOf(second).getByText("Approved by you").waitFor();
    assert.deepEqual(await changesIn(outcomeOf(second)), ["amount before 120.5 → after 99.00"]);
    assert.equal(await there.readRequestText(id), decided, "nothing is decided twice");
    await second.getByText("Your decision came too late and was not counted.").waitFor();
    await assertStillThere(second, "From the second tab", '"amount":1.00');
  },
);

journey(
  "who is removed from the group while the page is open cannot decide, and is told",
  notFound,
  async (there) => {
    const group = await there.makeGroup(["ann@example.com", "bob@example.com"]);
    const { id } = await there.createRequest({ ...request, notify: `group:${group.key}` });
    const page = await open(there);
    await type(page, { amount: "99.00", note: "A little less" });
    await group.removeMember("ann@example.com");
    await confirm(page, "Yes, approve with changes");
    await page
      .getByText(/This link does not work any more.*can’t tell you/)
      .first()
      .waitFor();
    assert.equal((await there.readRequest(id)).status, "PENDING");
    await inspect(page, "removed-in-second-step", notFound);
    await comeBack(page);
    await eventually(
      async () => (await button(page, "Approve with changes").count()) === 0,
      "gone",
    );
    await assertNothingToDecide(page);
    await inspect(page, "removed", notFound);
  },
);

journey(
  "the link of a removed member cannot be told from one that never was",
  notFound,
  async (there) => {
    const group = await there.makeGroup(["ann@example.com", "bob@example.com"]);
    await there.createRequest({ ...request, notify: `group:${group.key}` });
    const { url } = await there.mailedLink("ann@example.com");
    await group.removeMember("ann@example.com");
    const page = await there.visit(url);
    await page.getByRole("heading", { name: "This link does not work" }).waitFor();
    const answers = await Promise.all(
      [url, `${there.site.url}/review/${"A".repeat(43)}`].map(answerOf),
    );
    assert.deepEqual(answers[0], answers[1]);
    assert.equal(answers[0]?.status, 404);
  },
);

journey(
  "the link shows its owner what they decided: who, when, the note and each change, also later",
  async (there) => {
    const { id } = await there.createRequest(request);
    const page = await open(there);
    await type(page, { amount: "99.00", note: "A little less" });
    await confirm(page, "Yes, approve with changes");
    const { url } = await there.mailedLink("ann@example.com", id);
    for (const look of [page, page, await there.visit(url)]) {
      const outcome = outcomeOf(look);
      await outcome.getByText("Approved by you").waitFor();
      await outcome.getByText("A little less").waitFor();
      await outcome.getByText("With 1 change to what the agent sent:").waitFor();
      assert.deepEqual(await changesIn(outcome), ["amount before 120.5 → after 99.00"]);
      const { resolvedAt } = await there.readRequest(id);
      assert.equal(await outcome.getByRole("time").getAttribute("datetime"), resolvedAt);
      assert.equal(await look.getByText("What you had typed").count(), 0);
      await look.getByRole("heading", { name: "What was approved" }).waitFor();
      await assertNothingToDecide(look);
      await look.reload();
    }
  },
);

async function answerOf(url: string) {
  const { status, headers, text } = await fetch(url).then(async (response) => ({
    status: response.status,
    headers: [...response.headers].filter(([name]) => !["date", "x-request-id"].includes(name)),
    text: await response.text(),
  }));
  return { status, headers, text };
}

for (const [name, viewport] of Object.entries({
  "a phone": { width: 390, height: 844 },
  "a desktop": { width: 1280, height: 800 },
})) {
  journey(`10. the page on ${name} says how many others wait for its reader`, async (there) => {
    const { id } = await there.createRequest(request);
    await there.createRequest(request);
    const third = await there.createRequest(request);
    await there.createRequest({ ...request, notify: "bob@example.com" });
    const { url } = await there.mailedLink("ann@example.com", id);
    const page = await there.visit(url, { viewport });
    await page.getByText("2 other requests", { exact: true }).waitFor();
    await there.cancelRequest(third.id);
    await decide(page, "Approve", "Yes, approve");
    await page
      .getByText("1 other request waits for you in this workspace. The links are in your mail.")
      .waitFor();
    await inspect(page, `others-wait-${viewport.width}`);
  });
}
