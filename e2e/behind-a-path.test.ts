import assert from "node:assert/strict";
import { checkAccessibility } from "./browser.ts";
import { journeys } from "./journey.ts";
import { button, choose, confirm, openEditor, outcomeOf } from "./review-page.ts";

const journeysByProxy = {
  "takes the path off": journeys({ path: "/approvals" }),
  "passes the path on": journeys({ path: "/approvals", passesPathOn: true }),
};

for (const [what, journey] of Object.entries(journeysByProxy)) {
  journey(
    `behind a proxy that ${what}, mailed links and pages with all their files lead through it`,
    { mayFail: ["404 /review/"] },
    async ({ site, createRequest, mailedLink, visit }) => {
      await createRequest({ summary: "Refund order 1042", notify: "ann@example.com" });
      const { url } = await mailedLink("ann@example.com");
      assert.match(url, /^http:\/\/localhost:[0-9]+\/approvals\/review\/[\w-]{43}$/);
      const page = await visit(`${site.url}/review/${"A".repeat(43)}`);
      await page.getByRole("heading", { level: 1, name: "This link does not work" }).waitFor();
      assert.ok(Number(await page.evaluate("document.styleSheets.length")) > 0, "it has its style");
      await checkAccessibility(page);
    },
  );

  journey(
    `behind a proxy that ${what}, a person opens, edits and approves`,
    async ({ createRequest, mailedLink, visit, readRequest }) => {
      const body = { summary: "Refund order 1042", notify: "ann@example.com" };
      const { id } = await createRequest({ ...body, payload: { amount: 120.5 } });
      const page = await visit((await mailedLink("ann@example.com")).url);
      const editor = await openEditor(page);
      await editor.press("ControlOrMeta+End");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.type("1");
      await button(page, "Approve with changes").waitFor();
      await choose(page, "Approve with changes");
      await confirm(page, "Yes, approve with changes");
      await outcomeOf(page).getByText("Approved by you").waitFor();
      const { status, modifiedPayload } = await readRequest(id);
      assert.deepEqual(
        { status, modifiedPayload },
        { status: "APPROVED", modifiedPayload: { amount: 120.51 } },
      );
      await page.reload();
      await outcomeOf(page).getByText("Approved by you").waitFor();
    },
  );
}
