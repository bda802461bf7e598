import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertClean, checkAccessibility, screenshot } from "./browser.ts";
import { type JourneyOptions, journeys } from "./journey.ts";

const journey = journeys();
const notFound: JourneyOptions = { mayFail: ["404 /review/"] };

journey(
  "a link that was mistyped, cut off or made up shows one and the same page, which says what to do",
  notFound,
  async ({ site, createRequest, mailedLink, visit, readRequest }) => {
    const { id } = await createRequest({ summary: "Refund order 1042", notify: "ann@example.com" });
    const { url } = await mailedLink("ann@example.com");
    const first = url.at(-43) === "A" ? "B" : "A";
    const page = await visit(`${url.slice(0, -43)}${first}${url.slice(-42)}`);
    const shown = await textOf(page);
    assert.match(shown, /^countersign\nThis link does not work\n/);
    assert.match(shown, /Nothing was decided/);
    const tampered = [url.slice(0, -1), `${url}x`, `${url}.`, `${site.url}/review/0`];
    for (const bad of tampered) {
      await page.goto(bad);
      assert.equal(await textOf(page), shown, bad);
    }
    assert.equal((await readRequest(id)).status, "PENDING");
  },
);

journey(
  "a bad link's page is accessible and clean at any width, in light and dark",
  notFound,
  async ({ site, visit }) => {
    const page = await visit(`${site.url}/review/${"A".repeat(43)}`);
    await page.getByRole("heading", { level: 1, name: "This link does not work" }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        assert.deepEqual(await checkAccessibility(page), [], `${width} px, ${colorScheme}`);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), width);
        await screenshot(page, `bad-link-${width}-${colorScheme}`);
      }
    }
    await assertClean(page, notFound);
    assert.deepEqual(await page.context().cookies(), []);
  },
);

function textOf(page: Page): Promise<string> {
  return page.locator("body").innerText();
}
