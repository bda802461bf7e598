// Lighthouse's verdict on the review page. Accessibility and best practices are the same on any machine; the
// performance score needs a quiet one, so `npm run lighthouse` asks for it and runs nothing beside it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../server/test/patience.ts";
import { journeys } from "./journey.ts";
import { audit, isInstalled } from "./lighthouse/audit.ts";

const isQuiet = process.env.LIGHTHOUSE === "performance";
const performanceMin = 95;

const request = {
  summary: "Pay invoice 2026-118 of Bright Supplies (48,200.00 EUR) from the operating account",
  agentName: "payables-agent",
  notify: "ann@example.com",
  reasoning: "The invoice is due on Friday and matches the order to the cent.\n".repeat(12),
  recentActions: ["Read the invoice", "Matched it with the order", "Checked the goods receipt"],
  payload: {
    invoice: "2026-118",
    supplier: { name: "Bright Supplies GmbH", iban: "DE89370400440532013000" },
    amount: 1248000.5,
    currency: "EUR",
    discount: { percent: 2, applied: true },
    lookalike: "p\u0430ypal",
    hidden: "pay\u200Bpal",
    notify: ["cfo@example.com", "ap@example.com"],
  },
};

if (isInstalled) {
  const journey = journeys();
  for (const form of ["phone", "desktop"] as const) {
    journey(`11. Lighthouse finds nothing to mend on a ${form}`, async (there, t) => {
      await there.createRequest(request);
      const { url } = await there.mailedLink("ann@example.com");
      const chromePath = process.env.TEST_CHROMIUM ?? "";
      // On a busy machine a recording may lack what the figure is made of. Then there is none, and it is made again.
      const found = await until(async () => {
        const made = await audit(url, { form, chromePath, isQuiet });
        return Number.isNaN(made.layoutShift) ? null : made;
      }, "Lighthouse measures how far parts of the page move");
      t.diagnostic(JSON.stringify(found.scores));
      const { performance, accessibility, bestPractices } = found.scores;
      assert.deepEqual([accessibility, bestPractices], [100, 100], found.flaws.join("\n"));
      assert.ok(found.layoutShift < 0.02, `parts of the page move: ${found.layoutShift}`);
      if (isQuiet) assert.ok((performance ?? 0) >= performanceMin, found.flaws.join("\n"));
    });
  }
} else {
  test("11. Lighthouse finds nothing to mend", { skip: "Lighthouse is not installed" }, () => {});
}
