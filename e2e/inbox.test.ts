// The inbox on a phone: somebody who is no member of anything finds what waits for them, and decides it there.

import assert from "node:assert/strict";
import { signInByCode } from "./dashboard-page.ts";
import { openRow, phone, rowOf, summaries } from "./inbox-page.ts";
import { journeys, makeAgent } from "./journey.ts";
import {
  button,
  choose,
  confirm,
  decide,
  eventually,
  inspect,
  outcomeOf,
  untilApprovable,
  waits,
} from "./review-page.ts";

const journey = journeys();
const bob = "bob@example.com";
/** The sign-in page asks who is there; and the inbox asks before anybody is. */
const door = {
  mayFail: ["401 /app/api/me", "401 /inbox/api/list"],
} as const;

journey(
  "somebody who was only ever asked signs in on a phone, and edits, hands over and watches in their inbox",
  door,
  async (there) => {
    const ann = "ann-phone@example.com";
    const other = await makeAgent(there.site, { name: "Umbrella Ltd" });
    await there.makeGroup([ann, bob]);
    const refund = await there.createRequest({
      summary: "Refund order 1042",
      agentName: "refund-agent",
      notify: "group:finance",
      payload: { order: "1042", amount: 19900 },
      ttlMinutes: 60,
    });
    const passed = await there.createRequest({
      summary: "Close the account of a customer",
      notify: ann,
      ttlMinutes: 120,
    });
    const page = await there.visit(`${there.site.url}/inbox`, phone);
    await signInByCode(there, page, ann);
    await rowOf(page, "Refund order 1042").waitFor();
    await other.makeGroup([ann, bob]);
    const restart = await other.createRequest({
      summary: "Restart the \u202Emain database",
      notify: "group:finance",
      ttlMinutes: 30,
    });
    await page.getByRole("button", { name: "1 new request" }).click();
    await eventually(async () => (await summaries(page)).length === 3, "all three are listed");
    assert.match((await summaries(page))[0] ?? "", /^Restart the/);
    await rowOf(page, "Umbrella Ltd").waitFor();
    assert.equal(await page.title(), "(3) Inbox · Countersign");
    await inspect(page, "inbox-list", door);

    await openRow(page, "Refund order 1042");
    await button(page, "Edit amount").click();
    const field = page.getByRole("textbox", { name: "New value of amount" });
    await field.fill("9900");
    await field.press("Enter");
    await untilApprovable(page);
    await choose(page, "Approve with changes");
    await inspect(page, "inbox-second-step", door);
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    await inspect(page, "inbox-decided", door);
    const { status, effectivePayload } = await there.readRequest(refund.id);
    assert.deepEqual([status, effectivePayload], ["APPROVED", { order: "1042", amount: 9900 }]);
    await page.goBack();
    await rowOf(page, "Refund order 1042").getByText("Approved").waitFor();
    assert.equal((await summaries(page)).length, 3, "what ended keeps its place");

    await openRow(page, "Close the account of a customer");
    await button(page, "Hand over").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: bob }).check();
    await dialog.getByRole("checkbox").check();
    await inspect(page, "inbox-hand-over", door);
    const yes = dialog.getByRole("button", { name: "Yes, hand over" });
    await eventually(async () => !(await waits(yes)), "it is no longer inert");
    await yes.click();
    await page.getByRole("heading", { name: "You handed this over" }).waitFor();
    assert.equal((await there.readRequest(passed.id)).status, "PENDING");
    await page.getByRole("link", { name: "Inbox", exact: true }).click();
    assert.equal((await summaries(page)).length, 2, "what ended before is gone at the next visit");

    await rowOf(page, "Umbrella Ltd").getByRole("link").click();
    await page.getByRole("heading", { name: "Your approval is needed" }).waitFor();
    await choose(page, "Reject");
    await page.getByRole("textbox", { name: "Note" }).fill("Not during the day");
    const colleague = await there.visit((await other.mailedLink(bob, restart.id)).url);
    await decide(colleague, "Approve", "Yes, approve");
    await outcomeOf(page).getByText(`Approved by ${bob}`).waitFor();
    await page.getByText("Not during the day").waitFor();
    await inspect(page, "inbox-decided-by-colleague", door);
    await page.goBack();
    await page.getByRole("link", { name: "Decided before" }).click();
    await rowOf(page, "Refund order 1042").waitFor();
    assert.equal(await page.title(), "Inbox · Countersign");
    await inspect(page, "inbox-past", door);
  },
);
