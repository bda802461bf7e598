// The tables of tricks and of honest texts, on the page itself: what it tells about each trick, and that it tells nothing
// about an honest text. By turns on a phone and on a desktop.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { open } from "./browser.ts";
import { honestTexts } from "./honest-texts.ts";
import { type Journey, journeys } from "./journey.ts";
import { button } from "./review-page.ts";
import type { Trick } from "./trick.ts";
import { tricks } from "./tricks-table.ts";

const journey = journeys();

const screens: BrowserContextOptions[] = [
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  { viewport: { width: 1280, height: 800 } },
];
/** Each trick asks somebody else: many mails to one person would become one. */
let asked = 0;

type Asked = Pick<Trick, "summary" | "agentName" | "reasoning" | "payload">;

/** Shows each of a journey's requests in one and the same window per screen: a new browser for each costs far more. */
function reader(there: Journey): (words: Asked) => Promise<Page> {
  const pages = new Map<BrowserContextOptions, Page>();
  return async (words) => {
    const url = await ask(there, words);
    const screen = screens[asked % screens.length] ?? {};
    const page = pages.get(screen) ?? (await there.visit("about:blank", screen));
    pages.set(screen, page);
    await open(page, url);
    await button(page, "Reject").waitFor();
    return page;
  };
}

async function ask({ createRequest, mailedLink }: Journey, words: Asked): Promise<string> {
  asked += 1;
  // One trick is to be called like the approver.
  const isNamesake = words.agentName?.includes("ann@example.com") ?? false;
  const notify = isNamesake ? "ann@example.com" : `approver-${asked}@example.com`;
  await createRequest(JSON.stringify({ summary: "Pay the invoice", ...words, notify }));
  return (await mailedLink(notify)).url;
}

/** The text that a person reads, and the text that is read aloud to somebody who can't see. */
async function toldOn(page: Page): Promise<string[]> {
  const told = await page.evaluate(`[
    document.querySelector("main").innerText,
    ...[...document.querySelectorAll("main button, main li, main [title]")].flatMap((one) =>
      [one.textContent, one.ariaLabel ?? "", one.title]),
    // Drawn by the style, so that nobody copies it with the value.
    ...[...document.querySelectorAll("[data-grouped]")].map((one) =>
      getComputedStyle(one, "::before").content + getComputedStyle(one, "::after").content),
  ].map((text) => text.replaceAll(/\\s+/g, " ").trim())`);
  return told as string[];
}

test("there are at least 60 tricks, and 30 honest texts in 15 languages", () => {
  assert.ok(tricks.length >= 60, `${tricks.length} tricks`);
  assert.ok(honestTexts.length >= 30, `${honestTexts.length} texts`);
  const languages = new Set(honestTexts.map(({ name }) => name.split(/[, ]/)[0]));
  assert.ok(languages.size >= 15, [...languages].join());
});

for (const line of new Set(tricks.map((trick) => trick.line))) {
  const these = tricks.filter((trick) => trick.line === line);
  journey(`${line}. the page tells about each of ${these.length} tricks`, async (there) => {
    const read = reader(there);
    for (const { name, tells, ...words } of these) {
      const page = await read(words);
      const told = await toldOn(page);
      const isTold = told.some((text) =>
        typeof tells === "string" ? text.includes(tells) : tells.test(text),
      );
      assert.ok(isTold, `${name}: nothing tells ${tells}:\n${told[0]}`);
    }
  });
}

journey("6. the page tells nothing about any honest text, wherever it stands", async (there) => {
  const read = reader(there);
  for (const { name, text } of honestTexts) {
    const page = await read({
      summary: text.slice(0, 500),
      reasoning: text,
      payload: { value: text, list: [text] },
    });
    assert.equal(await page.getByText("Before you decide").count(), 0, name);
    assert.equal(await page.getByText(/deserves? a look first/).count(), 0, name);
    assert.equal(await page.locator("main .chip:not(.chip-quiet)").count(), 0, name);
  }
});
