// Nothing is approved unseen: Approve waits until every value of the payload has been in the document with all of its
// text, no matter how the reader opens it.

import assert from "node:assert/strict";
import type { BrowserContextOptions, Page } from "playwright-core";
import { open } from "./browser.ts";
import { type Journey, journeys } from "./journey.ts";
import {
  button,
  choose,
  eventually,
  firstStep,
  openEditor,
  replaceText,
  untilApprovable,
  waits,
} from "./review-page.ts";

const journey = journeys();

const devices: Record<string, BrowserContextOptions> = {
  "a phone": { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  "a desktop": { viewport: { width: 1280, height: 800 } },
};

/** The payload on the page when Approve could first be pressed; null until then. */
type AtApprove = { text: string; isFolded: boolean } | null;

const watchApprove = `
  window.atApprove = null;
  new MutationObserver(() => {
    const button = document.querySelector("#decision .button-primary");
    if (window.atApprove !== null || button === null) return;
    if (button.getAttribute("aria-disabled") !== "false") return;
    const payload = document.querySelector("#payload");
    window.atApprove = {
      text: payload.textContent,
      isFolded: /Show the other|not opened yet/.test(payload.textContent),
    };
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["aria-disabled"] });
`;

async function ask(
  there: Journey,
  payload: string,
  options: BrowserContextOptions,
): Promise<{ page: Page }> {
  const page = await there.visit("about:blank", options);
  await page.addInitScript({ content: watchApprove });
  await askOn(page, there, payload);
  return { page };
}

let people = 0;

/** Each asks somebody else: many mails to one person would wait to become one. */
async function askOn(page: Page, { createRequest, mailedLink }: Journey, payload: string) {
  people += 1;
  const notify = `ann.${people}@example.com`;
  await createRequest(`{"summary":"Pay","notify":"${notify}","payload":${payload}}`);
  await open(page, (await mailedLink(notify)).url);
  await button(page, "Reject").waitFor();
}

async function atApprove(page: Page): Promise<AtApprove> {
  return (await page.evaluate("window.atApprove")) as AtApprove;
}

/** Waits for what the page does of its own accord, and then for the answer to a press on Approve. */
async function assertWaits(page: Page, why: string): Promise<void> {
  // So long that any step of opening would be over, and the buttons are inert no more.
  await choose(page, "Reject");
  await button(page, "Go back").click();
  const approve = page.locator("#decision .button-primary");
  await page.locator("#payload-end").scrollIntoViewIfNeeded();
  assert.ok(await waits(approve), why);
  await approve.dispatchEvent("click");
  assert.equal(await page.getByRole("dialog").count(), 0, why);
}

/** Whether a text of the payload is in sight where it is scrolled to, and nothing lies over it. */
async function assertVisible(page: Page, text: string): Promise<void> {
  await eventually(async () => {
    const found = await page.evaluate(`(async () => {
      const walker = document.createTreeWalker(document.querySelector("#payload"), NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const at = node.data.indexOf(${JSON.stringify(text)});
        if (at === -1) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + ${text.length});
        const box = () => range.getClientRects()[0] ?? range.getBoundingClientRect();
        for (let one = node.parentElement; one !== null; one = one.parentElement) {
          const { top, height } = one.getBoundingClientRect();
          if (getComputedStyle(one).overflowY === "auto") one.scrollTop += box().top - top - height / 2;
        }
        scrollBy(0, box().top - innerHeight / 2);
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const { left, top, width, height, right } = box();
        const element = document.elementFromPoint(left + width / 2, top + height / 2);
        const isOnTop = node.parentElement === element || node.parentElement.contains(element);
        return isOnTop && width > 0 && left >= 0 && right <= innerWidth;
      }
      return false;
    })()`);
    return found === true;
  }, `${text} can be seen`);
}

const tail = "DROP TABLE payments";
const essay = (characters: number) => `${"word ".repeat(characters / 5)}${tail}`;

for (const [device, options] of Object.entries(devices)) {
  journey(
    `on ${device}, Open everything shows the tail of a long text before Approve can be pressed`,
    async (there) => {
      const items = Array.from({ length: 400 }, (_, at) => ({ at, on: true }));
      const payload = JSON.stringify({ first: essay(3_000), items, last: essay(9_000) });
      const { page } = await ask(there, payload, options);
      await assertWaits(page, "nothing was opened");
      await button(page, "Open everything").click();
      await untilApprovable(page);
      const seen = (await atApprove(page)) ?? assert.fail("Approve was never possible");
      assert.equal(seen.text.split(tail).length - 1, 2, "both tails are in the document");
      assert.equal(seen.isFolded, false, "nothing stands there to be opened");
      await assertVisible(page, tail);
      await choose(page, "Approve");
    },
  );

  journey(
    `on ${device}, a press on a warning opens the long text that it leads into`,
    async (there) => {
      const text = `${"word ".repeat(800)}p\u0430ypal ${tail}`;
      const { page } = await ask(there, JSON.stringify({ a: { b: [1, text] }, c: 2 }), options);
      await assertWaits(page, "the text is folded");
      assert.equal(await page.getByText(tail).count(), 0);
      await page.getByRole("button", { name: /only looks like paypal/ }).click();
      await untilApprovable(page);
      const seen = (await atApprove(page)) ?? assert.fail("Approve was never possible");
      assert.ok(seen.text.includes(tail) && !seen.isFolded);
      await assertVisible(page, tail);
      const focused = await page.evaluate("document.activeElement.closest('li').textContent");
      assert.ok(String(focused).includes(tail), "the reader is led to the row");
    },
  );

  journey(
    `on ${device}, what was drawn stays seen when it is folded, and what was not does not`,
    async (there) => {
      const payload = JSON.stringify({ a: { note: essay(4_000) }, b: { note: essay(5_000) } });
      const { page } = await ask(there, payload, options);
      await page
        .getByRole("button", { name: /^Show the other/ })
        .first()
        .click();
      await button(page, "a, 1 field").click();
      await page.getByText(tail).waitFor({ state: "detached" });
      await assertWaits(page, "the other text was never opened");
      await button(page, "b, 1 field").click();
      await assertWaits(page, "folding opens nothing");
      await button(page, "b, 1 field 1 value not opened yet").click();
      await page.getByRole("button", { name: /^Show the other/ }).click();
      await untilApprovable(page);
      assert.equal(await page.getByText(tail).count(), 1, "the first is folded and was seen");
      await button(page, "a, 1 field").click();
      await assertVisible(page, tail);
      assert.equal(await page.getByText(/Show the other/).count(), 0);
    },
  );

  journey(`on ${device}, an edit that moves values has them drawn again`, async (there) => {
    const list = [{ harmless: essay(3_000) }, { harmful: `${essay(3_000)} twice` }];
    const { page } = await ask(there, JSON.stringify(list), options);
    await page
      .getByRole("button", { name: /^Show the other/ })
      .first()
      .click();
    await openEditor(page);
    await replaceText(page, JSON.stringify(list.slice(1)));
    await page.getByText("Approve with changes").waitFor();
    await assertWaits(page, "the second stands in the place of the first, and was never drawn");
    await button(page, "Readable").click();
    await assertWaits(page, "its text is folded");
    await page.getByRole("button", { name: /^Show the other/ }).click();
    await untilApprovable(page);
    await assertVisible(page, `${tail} twice`);
  });

  journey(
    `on ${device}, an edit that is taken back leaves unseen what was unseen`,
    async (there) => {
      const payload = JSON.stringify({ note: essay(4_000) });
      const { page } = await ask(there, payload, options);
      await openEditor(page);
      await replaceText(page, '"mine"');
      await untilApprovable(page);
      await button(page, "Reset").click();
      await firstStep(page, "Approve").waitFor();
      await assertWaits(page, "the agent's own text was never drawn");
    },
  );

  journey(
    `on ${device}, the JSON view draws everything, and the editor counts for nothing`,
    async (there) => {
      const items = Array.from({ length: 400 }, (_, at) => ({ at, on: true }));
      const { page } = await ask(there, JSON.stringify({ items, note: essay(6_000) }), options);
      await openEditor(page);
      await assertWaits(page, "the editor draws a few lines");
      await button(page, "JSON").click();
      await untilApprovable(page);
      const seen = (await atApprove(page)) ?? assert.fail("Approve was never possible");
      assert.ok(seen.text.includes(tail));
      assert.ok(seen.text.includes('{"at":399,"on":true}'));
      await assertVisible(page, tail);
      await button(page, "Readable").click();
      await page.locator(".rows-root").waitFor();
      await untilApprovable(page);
    },
  );
}

/** A payload of any shape in which every simple value can be told from every other. */
function randomPayload(random: () => number): string {
  let last = 1e9;
  const pick = (below: number) => Math.floor(random() * below);
  const unique = () => {
    last += 1;
    return last;
  };
  const make = (depth: number): unknown => {
    const kind = pick(depth > 4 ? 5 : 9);
    if (kind < 2) return unique();
    if (kind < 4) return `text ${unique()}`;
    if (kind === 4) return pick(8) === 0 ? `${"long ".repeat(pick(1_500))}${unique()}` : [];
    const inside = Array.from({ length: pick(depth === 1 ? 90 : 5) }, () => make(depth + 1));
    return kind < 7 ? inside : Object.fromEntries(inside.map((each, at) => [`key ${at}`, each]));
  };
  return JSON.stringify(Array.from({ length: 20 + pick(100) }, () => make(1)));
}

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

journey(
  "when Approve first becomes possible, every value of any payload is in the document",
  async (there, t) => {
    const seed = Number(process.env.TEST_SEED ?? Date.now() % 1e6);
    t.diagnostic(`TEST_SEED=${seed}`);
    const random = randomFrom(seed);
    const { page } = await ask(there, "0", devices["a desktop"] ?? {});
    for (let count = 0; count < 5; count += 1) {
      const payload = randomPayload(random);
      await askOn(page, there, payload);
      const everything = button(page, "Open everything");
      // On a busy machine it comes a moment after the buttons of the decision, and not at all if nothing is folded.
      await eventually(async () => {
        if (await everything.isVisible()) await everything.click();
        await page.locator("#payload-end").scrollIntoViewIfNeeded();
        return !(await waits(page.locator("#decision .button-primary")));
      }, "Approve waits no longer");
      const seen = (await atApprove(page)) ?? assert.fail("Approve was never possible");
      const missing = (payload.match(/1[0-9]{9}/g) ?? []).filter(
        (token) => !seen.text.includes(token),
      );
      assert.deepEqual(missing, [], payload.slice(0, 2_000));
      assert.equal(seen.isFolded, false);
    }
  },
);

const desktop = devices["a desktop"] ?? {};

/** Opens everything, presses Reject on the way, and notes what the page says and how many rows it has as it goes on. */
const openAndPress = `new Promise((resolve) => {
  const find = (name) => [...document.querySelectorAll("button")].find((one) => one.textContent === name);
  const why = () => document.querySelector("#decision .decision-why").textContent;
  const channel = new MessageChannel();
  const seen = { said: [], rows: [], hasAnswered: false };
  let isPressed = false;
  const look = () => {
    const isOpening = why().startsWith("Opening …");
    if (isOpening && !seen.said.includes(why())) seen.said.push(why());
    if (isOpening && isPressed && document.querySelector("dialog") !== null) seen.hasAnswered = true;
    return isOpening;
  };
  // At each change: a busy machine may run the timer below too seldom to see all of them.
  new MutationObserver(() => {
    look();
    seen.rows.push(document.querySelectorAll("#payload li").length);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
  channel.port1.onmessage = () => {
    const isOpening = look();
    // This task runs between two steps of the page. What it presses is answered at once.
    if (isOpening && !isPressed && seen.rows.length > 1) {
      isPressed = true;
      find("Reject").click();
      look();
    }
    if (find("Open everything") === undefined && !isOpening && isPressed) {
      resolve(seen);
    } else setTimeout(() => channel.port2.postMessage(0), 0);
  };
  find("Open everything").click();
  channel.port2.postMessage(0);
})`;

journey(
  "while tens of thousands of values open, the page says how far it is and answers",
  async (there) => {
    const values = Array.from({ length: 30_000 }, (_, at) => (at % 2 === 0 ? at : `a value ${at}`));
    const { page } = await ask(there, JSON.stringify({ values, last: 1 }), desktop);
    // The buttons are inert at first.
    await choose(page, "Reject");
    await button(page, "Go back").click();
    const seen = (await page.evaluate(openAndPress)) as {
      said: string[];
      rows: number[];
      hasAnswered: boolean;
    };
    assert.ok(seen.hasAnswered, "a press was answered before everything was open");
    // When all are drawn the page needs a moment more, and no number.
    const counted = seen.said.filter((said) => said.trim() !== "Opening …");
    const reached = counted.map((said) => {
      const [, count = ""] = /^Opening … ([0-9,]+) of 30,003/.exec(said) ?? assert.fail(said);
      return Number(count.replaceAll(",", ""));
    });
    assert.deepEqual(
      reached,
      reached.toSorted((one, other) => one - other),
    );
    // Counted in rows, not in milliseconds: a machine that stalls draws nothing in that time.
    const steps = seen.rows.map((count, at) => count - (seen.rows[at - 1] ?? 0));
    assert.ok((seen.rows.at(-1) ?? 0) >= 30_000, `${seen.rows.at(-1)} rows`);
    assert.ok(Math.max(...steps) < 30_003 / 2, `it goes on by ${steps.join()}`);
  },
);

/** Presses one button and then another as soon as it is there, however slow the machine that runs the test. */
const pressInTurn = (...names: string[]) => `(async () => {
  const find = (name) => [...document.querySelectorAll("button")].find(
    (one) => one.textContent.trim() === name || one.ariaLabel?.startsWith(name));
  for (const name of ${JSON.stringify(names)}) {
    while (find(name) === undefined) await new Promise(requestAnimationFrame);
    find(name).click();
  }
})()`;

journey(
  "opening can be stopped and gone on with, and folding stops it for a part",
  async (there) => {
    const list = (name: string) => Array.from({ length: 15_000 }, (_, at) => `${name} ${at}`);
    const { page } = await ask(there, JSON.stringify({ a: list("a"), b: list("b") }), desktop);
    await page.evaluate(pressInTurn("Open everything", "Stop"));
    await button(page, "Open everything").waitFor();
    await assertWaits(page, "it was stopped");
    const left = await page.locator(".payload-foot .unopened").innerText();
    assert.match(left, /values not opened yet$/);
    await page.evaluate(pressInTurn("Open everything", "a, 15,000 items"));
    await page
      .getByText(/^Opening …/)
      .first()
      .waitFor({ state: "detached" });
    await assertWaits(page, "a part was folded while it was opened");
    const inside = await button(page, "a, 15,000 items").count();
    assert.equal(inside, 0, "the folded part says how much of it was not opened");
    await button(page, "Open everything").click();
    await untilApprovable(page);
    const seen = (await atApprove(page)) ?? assert.fail("Approve was never possible");
    for (const last of ["a 14999", "b 14999"]) assert.ok(seen.text.includes(last));
  },
);
