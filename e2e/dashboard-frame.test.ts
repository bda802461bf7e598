// The dashboard on bad days and in odd windows: before its program has arrived, while the service is away, and at widths
// and with numbers that nobody designed for.

import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import { atTheDoor, enterAs, goTo, makePerson, urlOf } from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { eventually } from "./review-page.ts";

const journey = journeys();

const broken = { mayBreak: "/", mayFail: atTheDoor.mayFail } as const;

journey(
  "a slow network shows our mark and a sentence, and a program that doesn't arrive says so",
  broken,
  async (there) => {
    const { page } = await enterAs(there, "viewer");
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let isBroken = false;
    await page.route(/\/assets\/.*\.(js|css)$/, async (route) => {
      await held;
      await (isBroken && /\/main-.*js$/.test(route.request().url())
        ? route.abort()
        : route.continue());
    });
    await page.goto(urlOf(there, "/keys"), { waitUntil: "commit" });
    await page.getByText("Loading the dashboard …").waitFor();
    await eventually(
      async () =>
        (await page.evaluate(`performance.getEntriesByName("first-contentful-paint").length`)) ===
        1,
      "it is painted before any file has arrived",
    );
    isBroken = true;
    release();
    await page.getByText(/could not be loaded\. Check your connection/).waitFor();
    isBroken = false;
    await page.getByRole("link", { name: "Load again" }).click();
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  },
);

journey("after an outage every page comes back by itself", broken, async (there) => {
  const { page } = await enterAs(there, "owner");
  const service = await outage(page);
  await goTo(page, "Requests");
  await page.getByText("No requests yet").or(page.getByRole("heading").nth(1)).first().waitFor();
  const alert = page.getByRole("alert").first();
  // A list that was there, and is read again and again.
  service.away();
  await alert.waitFor();
  await there.createRequest({ summary: "Pay the rent", notify: "ann@example.com" });
  service.back();
  await page.getByRole("link", { name: "Pay the rent" }).waitFor();
  await alert.waitFor({ state: "detached" });
  // Pages that were never seen: neither their code nor their data is here.
  for (const place of ["People", "Settings"]) {
    service.away();
    await page
      .getByRole("navigation", { name: "Workspace" })
      .getByRole("link", { name: place, exact: true })
      .click();
    await alert.waitFor();
    service.back();
    await page.getByRole("heading", { name: place, level: 1 }).waitFor();
    await alert.waitFor({ state: "detached" });
  }
});

/** The service is away for this page, as if nobody listened. */
async function outage(page: Page) {
  let isAway = false;
  await page.route("**/*", (route: Route) =>
    isAway ? route.abort("connectionrefused") : route.continue(),
  );
  return {
    away: () => {
      isAway = true;
    },
    back: () => {
      isAway = false;
    },
  };
}

const shiftMax = 0.05;

journey("People stand still while they load", atTheDoor, async (there) => {
  await there.makeGroup(["ann@example.com", "ben@example.com"]);
  for (let made = 0; made < 12; made += 1) await makePerson(there, "viewer");
  const { page } = await enterAs(there, "owner");
  await page.addInitScript({
    content: `window.shift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
      }).observe({ type: "layout-shift", buffered: true });`,
  });
  // As on a slow network, placeholders are there first.
  await page.route("**/app/api/**", async (route) => {
    await page.locator(".loading-lines").first().waitFor({ state: "attached" });
    await route.continue();
  });
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 844 });
    for (const [path, name] of [
      ["/people", "Members"],
      ["/people?tab=groups", "Members of Finance"],
    ] as const) {
      await page.goto(urlOf(there, path));
      const list = page.getByRole("table", { name }).or(page.getByRole("list", { name }));
      await list.first().waitFor();
      const shift = Number(await page.evaluate("window.shift"));
      assert.ok(shift < shiftMax, `${path} at ${width} px shifts by ${shift}`);
    }
  }
  // A call after the placeholders are gone waits for the next ones, and there are none.
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

journey("no word on People is broken, however narrow the window", atTheDoor, async (there) => {
  const { page, email } = await enterAs(there, "owner");
  await there.site.db.query(
    `insert into members (workspace_id, email, role)
     values ($1, 'a.rather.long.name.of.somebody.who.works.far.away@a-long-department.example.com', 'admin')`,
    [there.workspace.id],
  );
  await page.goto(urlOf(there, "/people"));
  await page.getByText(email).first().waitFor();
  for (const width of [320, 390, 640, 700, 768, 820, 960, 1024, 1280]) {
    await page.setViewportSize({ width, height: 844 });
    assert.deepEqual(await page.evaluate(brokenWords), [], `at ${width} px`);
  }
});

/** Words of at most 20 letters that stand on more than one line. */
const brokenWords = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(".sr-only, .url, code, thead")) continue;
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]{2,20}(?![\\w@.-])/g)) {
      if (/[@.\\w-]/.test(node.data[index - 1] ?? "")) continue;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) found.push(word);
    }
  }
  return found;
})()`;

journey("labels of charts never overlap, whatever the numbers", atTheDoor, async (there) => {
  // With so many requests a workspace is in use, and shows figures instead of the first steps.
  for (const summary of ["Pay the rent", "Pay the gas", "Pay the phone", "Pay the power"]) {
    await there.createRequest({ summary, notify: "ann@example.com" });
  }
  const { page } = await enterAs(there, "viewer");
  await page.route(/\/overview(\?|$)/, async (route) => {
    const answer = await route.fetch();
    const overview = await answer.json();
    const share = (at: number) => ({
      ...{ asked: 43_210 + at, pending: 0, approved: 40_000 + at, edited: 1_234, rejected: 1_976 },
      ...{ expired: 1_034, cancelled: 200, medianMs: 754_000 + at * 61_000, p90Ms: 7_540_000 },
    });
    const perDay = overview.perDay.map((day: { day: string }, at: number) => ({
      day: day.day,
      ...share(at),
    }));
    await route.fulfill({
      json: { ...overview, perDay, total: { ...share(0), asked: 3_888_900 } },
    });
  });
  for (const days of ["7", "30", "90"]) {
    await page.goto(urlOf(there, `?days=${days}`));
    await page.locator("svg.bar-plot").nth(1).waitFor();
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      await eventually(
        async () => Number(await page.evaluate(widthOfPlots)) <= width,
        "the pictures are drawn anew",
      );
      assert.deepEqual(await page.evaluate(overlaps), [], `${days} days at ${width} px`);
    }
  }
});

const widthOfPlots = `Math.max(...[...document.querySelectorAll("svg.bar-plot")].map((one) => one.getBoundingClientRect().right))`;

const overlaps = `[...document.querySelectorAll("svg.bar-plot")].flatMap((plot) => {
  const boxes = [...plot.querySelectorAll("text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
  return boxes.flatMap(([text, a], at) => boxes.slice(at + 1)
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
    .map(([other]) => text + " | " + other));
})`;
