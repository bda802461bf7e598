// The tables of tricks and of honest texts, on the page itself: what it tells about a trick, and that it tells nothing
// about an honest text. A phone and a desktop take turns. The rules go through the whole tables without a browser
// (web/src/review/attention/tricks.test.ts); the page shows what they find, so it is tried with each kind of finding.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { findingsOf } from "../web/src/review/attention/findings.ts";
import { open } from "./browser.ts";
import { honestTexts } from "./honest-texts.ts";
import { type Journey, journeys } from "./journey.ts";
import { button } from "./review-page.ts";
import { linesOfRules, type Trick, wordsOf } from "./trick.ts";
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
  // In one trick the agent has the approver's name.
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

/** The kinds and places that the rules find in a trick: "number digits payload". Empty if it is a matter of drawing. */
function kindsOf(trick: Trick): string[] {
  return findingsOf(wordsOf(trick)).flatMap(({ listed }) =>
    listed.map((finding) => {
      const { kind, place } = finding;
      const mark = "marked" in finding ? finding.marked.mark.kind : "";
      return [kind, mark, place.kind === "field" ? place.id : `payload ${place.isKey}`].join(" ");
    }),
  );
}

/** Leaves out a trick if earlier ones have a finding of the same kind and place for each of its own. */
function oneOfEachKind(all: readonly Trick[]): Trick[] {
  const known = new Set<string>();
  return all.filter((trick) => {
    const kinds = kindsOf(trick);
    const isDrawn = kinds.length === 0 || !linesOfRules.includes(trick.line);
    const isNew = isDrawn || kinds.some((kind) => !known.has(kind));
    for (const kind of kinds) known.add(kind);
    return isNew;
  });
}

const shown = oneOfEachKind(tricks);

for (const line of new Set(shown.map((trick) => trick.line))) {
  const these = shown.filter((trick) => trick.line === line);
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

const textsPerPage = 6;

journey(
  "6. the page tells nothing about any honest text in a payload, nor in prose",
  async (there) => {
    const read = reader(there);
    for (let from = 0; from < honestTexts.length; from += textsPerPage) {
      const these = honestTexts.slice(from, from + textsPerPage);
      const texts = these.map(({ text }) => text);
      const names = these.map(({ name }) => name).join("; ");
      const [prose = ""] = texts;
      const page = await read({
        summary: prose.slice(0, 500),
        reasoning: prose,
        payload: { texts, list: [texts] },
      });
      assert.equal(await page.getByText("Before you decide").count(), 0, names);
      assert.equal(await page.getByText(/deserves? a look first/).count(), 0, names);
      assert.equal(await page.locator("main .chip:not(.chip-quiet)").count(), 0, names);
    }
  },
);
