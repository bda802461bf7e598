// The list of warnings above the buttons: grouped, counted, and that of the payload as it stands.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Journey, journeys } from "./journey.ts";
import { button } from "./review-page.ts";

const journey = journeys();

async function ask({ createRequest, mailedLink, visit }: Journey, body: object): Promise<Page> {
  await createRequest({ summary: "Pay", notify: "ann@example.com", ...body });
  const { url } = await mailedLink("ann@example.com");
  const page = await visit(url);
  await button(page, "Reject").waitFor();
  return page;
}

function warnings(page: Page) {
  return page.getByRole("region", { name: "Before you decide" });
}

journey(
  "warnings stand in groups by weight with true totals, three of each at first",
  async (there) => {
    const payload = {
      letters: "p\u0430ypal",
      hidden: Array.from({ length: 60 }, (_, at) => `${at}\u200B`),
      turned: "a\u202Eb",
    };
    const page = await ask(there, { payload });
    const titles = await warnings(page).getByRole("heading", { level: 3 }).allInnerTexts();
    assert.deepEqual(titles, ["Turned text", "Hidden characters 60 places", "Look-alike letters"]);
    await page.getByText("62 things deserve a look first").waitFor();
    const listed = warnings(page).getByRole("button", { name: /^1 hidden character in/ });
    assert.equal(await listed.count(), 3);
    await button(page, "Show 50 of 57 more").click();
    assert.equal(await listed.count(), 53);
    await button(page, "Show 7 more").click();
    assert.equal(await listed.count(), 60);
  },
);

journey("an edit takes its warning away, and brings those of what was typed", async (there) => {
  const page = await ask(there, { payload: { to: "p\u0430ypal" } });
  const told = (name: string) => warnings(page).getByText(name);
  await told("Look-alike letters").waitFor();
  await button(page, "Edit to").click();
  await page.getByRole("textbox", { name: "New value of to" }).fill("paypal");
  await button(page, "Keep").click();
  await told("You made 1 change").waitFor();
  assert.equal(await told("Look-alike letters").count(), 0);
  await button(page, "Edit to").click();
  await page.getByRole("textbox", { name: "New value of to" }).fill("1O0");
  await button(page, "Keep").click();
  await told("Numbers that aren’t what they seem").waitFor();
});

journey("an agent that calls itself by our name is told of", async (there) => {
  const page = await ask(there, { agentName: "Countersign Security", payload: { n: 1 } });
  await button(page, "The agent’s name looks like our own: Countersign").waitFor();
});
