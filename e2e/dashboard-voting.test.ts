// Several people decide: a member sees who is awaited, reminds them, and reads on the receipt which rule held.

import assert from "node:assert/strict";
import { recordVote } from "../server/src/operations/votings/cast-vote.ts";
import { someEvidence } from "../server/test/test-evidence.ts";
import { testKeyring } from "../server/test/test-service.ts";
import { atTheDoor, enterAs, goTo } from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, eventually, inspect } from "./review-page.ts";

const journey = journeys();

type Wish = { email: string; revision?: number; note?: string; edit?: string };

/** Without a browser: the review page has journeys of its own. */
async function vote({ site, workspace }: Journey, approvalId: string, wish: Wish): Promise<void> {
  const { email, revision = 1, note = null, edit = null } = wish;
  const counted = await recordVote(
    { db: site.db, keyring: testKeyring },
    { workspaceId: workspace.id, approvalId },
    {
      ...{ email, verdict: "approve", note, revision, via: "link", evidence: someEvidence },
      edit: edit as Parameters<typeof recordVote>[2]["edit"],
    },
  );
  assert.ok(!("refusal" in counted), JSON.stringify(counted));
}

journey(
  "a member finds what waits for somebody, reminds them, and reads which rule held",
  atTheDoor,
  async (there) => {
    await there.makeGroup(["ann@example.com", "bob@example.com", "cy@example.com"]);
    const { id } = await there.createRequest({
      summary: "Pay 40,000 to Acme Steel",
      notify: "group:finance",
      payload: { to: "Acme Steel", amount: 40_000 },
      quorum: 2,
      then: [{ notify: "cfo@example.com" }],
      escalate: [{ afterMinutes: 30, notify: "boss@example.com" }],
    });
    await there.createRequest({ summary: "Send the newsletter", notify: "eve@example.com" });
    await vote(there, id, { email: "ann@example.com", note: "The price is as agreed." });
    await vote(there, id, {
      email: "bob@example.com",
      edit: '{ "to": "Acme Steel", "amount": 38000 }',
    });
    const { page } = await enterAs(there, "admin", { at: "/requests" });
    await page.getByRole("button", { name: /^Filters/ }).click();
    await page.getByLabel("Waiting for", { exact: true }).fill("cy@example.com");
    await page.waitForURL(/waitingFor=cy/);
    const rows = page.locator(".requests-rows").getByRole("listitem");
    await rows.getByText("1 of 2 · stage 1 of 2").waitFor();
    await eventually(async () => (await rows.count()) === 1, "only what waits for them");
    await inspect(page, "dash-waiting-for", atTheDoor);
    await rows.getByRole("link").click();
    await page.getByRole("heading", { name: "Revision 2" }).waitFor();
    await page.getByText("No longer counts since revision 2").waitFor();
    await page.getByText("Waiting for 1 more approval of Finance").waitFor();
    await page.locator(".stage-awaited", { hasText: "cy@example.com" }).waitFor();
    await inspect(page, "dash-request-open", atTheDoor);
    await button(page, "Remind").click();
    await page.getByText("2 people are being reminded.").waitFor();
    await vote(there, id, { email: "cy@example.com", revision: 2 });
    await vote(there, id, { email: "cfo@example.com", revision: 2 });
    await page.getByText("Approved by 2 of 2 of Finance, then cfo@example.com").waitFor();
    await inspect(page, "dash-request-approved", atTheDoor);
    await goTo(page, "Overview");
    await page.getByRole("heading", { name: "Time per stage" }).waitFor();
    await inspect(page, "dash-figures", atTheDoor);
  },
);
