// Of a long payload only the rows near the window have their tools. Far or near, a row says the same, and no way of
// reading misses one.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { open } from "./browser.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, eventually, untilApprovable } from "./review-page.ts";

const journey = journeys();

/** Lets a journey say what the browser would: that a part comes near the window, or leaves. */
const catchObserver = `
  window.IntersectionObserver = class extends IntersectionObserver {
    constructor(onChange, options) {
      super(onChange, options);
      if (options?.rootMargin === "100% 0px") window.sayNear = onChange;
    }
  };
`;

async function askAndOpen(
  { createRequest, mailedLink, visit }: Journey,
  payload: unknown,
): Promise<Page> {
  await createRequest({ summary: "Pay", notify: "ann@example.com", payload });
  const page = await visit("about:blank", { viewport: { width: 1280, height: 800 } });
  await page.addInitScript({ content: catchObserver });
  await open(page, (await mailedLink("ann@example.com")).url);
  await button(page, "Open everything").click();
  await untilApprovable(page);
  return page;
}

journey("the page is as long before its rows were in sight as after", async (there) => {
  const rows = Array.from({ length: 260 }, (_, at) => ({ at, deep: [at, at, at, at, at] }));
  await there.createRequest({ summary: "Pay", notify: "ann@example.com", payload: [rows, 1] });
  const viewport = { width: 1280, height: 800 };
  const { url } = await there.mailedLink("ann@example.com");
  const page = await there.visit("about:blank", { viewport });
  const everything = button(page, "Open everything");
  for (const step of ["folded", "open"]) {
    await open(page, url);
    await everything.waitFor();
    if (step === "open") {
      // Without scrolling to it, or to the end.
      await everything.dispatchEvent("click");
      await everything.waitFor({ state: "detached" });
      await page.locator(".payload-opening > div").waitFor({ state: "detached" });
    }
    const height = () => page.evaluate<number>("document.documentElement.scrollHeight");
    const guessed = await height();
    await page.evaluate(`(async () => {
      for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
        scrollTo(0, y);
        await new Promise(requestAnimationFrame);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    })()`);
    const ratio = guessed / (await height());
    // The browser remembers the height of what was in sight while it was folded.
    assert.ok(
      ratio > 0.8 && ratio < 1.25,
      `${step}: ${guessed} were guessed, ${ratio} times as much`,
    );
    // A page that is loaded again would begin where this one was left.
    await page.goto("about:blank");
  }
});

journey("rows say the same far out of sight as in sight", async (there) => {
  const odd = [
    "pay\u200Bpal",
    "p\u0430ypal",
    " edge ",
    "",
    "12",
    "true",
    "a  b",
    "\u05d0\u05d1 1",
    "line\nline",
  ];
  const rows = Array.from({ length: 300 }, (_, at) => ({
    [`key ${at}`]: odd[at % odd.length],
    " ": at * 1_000,
    "": null,
    deep: [[at % 2 === 0, { x: [] }], -1.5e-7],
  }));
  const page = await askAndOpen(there, [rows, rows.length]);
  const chunk = page.locator(".chunk").filter({ hasText: "key 150" });
  const textOf = () =>
    page.evaluate(`(() => {
      const chunk = [...document.querySelectorAll(".chunk")].find((one) => one.textContent.includes("key 150"));
      const rows = [...chunk.querySelectorAll("li:not(:has(li))")];
      return rows.map((row) => row.textContent.replaceAll(/\\s/g, ""));
    })()`);
  await page.evaluate("scrollTo(0, 0)");
  await eventually(async () => (await chunk.locator(".tools").count()) === 0, "it is far");
  const far = await textOf();
  await eventually(async () => {
    // What stands above may get its true height only now, and push it away again.
    await chunk.scrollIntoViewIfNeeded();
    return (await chunk.locator(".tools").count()) > 0;
  }, "it is near");
  assert.deepEqual(await textOf(), far);
  assert.ok((far as string[]).length > 20);
});

journey(
  "a part that comes near and leaves at once is far, and the other way round",
  async (there) => {
    const payload = Array.from({ length: 2_000 }, (_, at) => `value ${at}`);
    const page = await askAndOpen(there, payload);
    const tools = page.locator(".chunk").filter({ hasText: "value 1500" }).locator(".tools");
    await page.evaluate("scrollTo(0, 0)");
    await eventually(async () => (await tools.count()) === 0, "it is far");
    for (const last of [true, false]) {
      // Both come before the page has handled either.
      await page.evaluate(`(() => {
      const target = [...document.querySelectorAll(".chunk")].find((one) => one.textContent.includes("value 1500"));
      for (const isIntersecting of [${!last}, ${last}]) sayNear([{ target, isIntersecting }]);
    })()`);
      await eventually(
        async () => (await tools.count()) > 0 === last,
        `it is ${last ? "near" : "far"}`,
      );
    }
  },
);

journey("the keyboard finds the tools of every row of a long list", async (there) => {
  const page = await askAndOpen(
    there,
    Array.from({ length: 600 }, (_, at) => at),
  );
  const start = page.locator('[aria-label="Edit [200]"]');
  await start.scrollIntoViewIfNeeded();
  await start.focus();
  for (let at = 201; at < 330; at += 1) {
    // Copy, where the browser has a clipboard for the page, and then the next row.
    await page.keyboard.press("Tab");
    const isCopy = String(await page.evaluate("document.activeElement.ariaLabel")).startsWith(
      "Copy",
    );
    if (isCopy) await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.ariaLabel"), `Edit [${at}]`);
  }
});
