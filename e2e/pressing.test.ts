// No accident and no machine decides: not two taps on one spot, not a script that clicks every button, not a decision about
// a payload that was never on the screen. With fingers on a phone, upright and on its side, and with a mouse on a desktop.

import assert from "node:assert/strict";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import type { CreateRequest } from "../sdk/src/contract.ts";
import { untilStill } from "./browser.ts";
import { type Journey, journeys } from "./journey.ts";
import {
  agentsWords,
  assertNoSidewaysScrolling,
  button,
  choose,
  confirm,
  eventually,
  firstStep,
  inspect,
  outcomeOf,
  tick,
  waits,
} from "./review-page.ts";

const journey = journeys();

const finger = { hasTouch: true, isMobile: true };
const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, ...finger };
const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
/** The devices of a browser, and the windows that it is tried in, one after the other. */
const devices = {
  "a phone": {
    options: phone,
    windows: {
      upright: { width: 390, height: 844 },
      "on its side": { width: 844, height: 390 },
      "of 320 px": { width: 320, height: 568 },
    },
  },
  "a desktop": { options: desktop, windows: { wide: { width: 1280, height: 800 } } },
};
type Device = (typeof devices)[keyof typeof devices];

/** Reloads the page in each window: as good as another visit, and much cheaper. */
async function inEachWindow(
  page: Page,
  windows: Record<string, { width: number; height: number }>,
  look: (name: string) => Promise<void>,
): Promise<void> {
  for (const [name, size] of Object.entries(windows)) {
    await page.setViewportSize(size);
    await page.reload();
    await button(page, "Approve").waitFor();
    await look(name);
  }
}

const payment: CreateRequest = {
  summary: "Pay invoice 2026-118 of Bright Supplies (48,200.00 EUR)",
  agentName: "payables-agent",
  notify: "ann@example.com",
  reasoning: "The invoice is due on Friday and matches the order.\n".repeat(12),
  recentActions: ["Read the invoice", "Matched it with the order", "Checked the goods receipt"],
  payload: {
    invoice: "2026-118",
    supplier: { name: "Bright Supplies", iban: "DE89370400440532013000" },
    amount: 48200,
    currency: "EUR",
    approvedBudget: true,
    reference: "PO-7781",
    costCentre: 4711,
  },
};

async function askFor(
  { createRequest, mailedLink }: Journey,
  body: CreateRequest,
): Promise<{ id: string; url: string }> {
  const { id } = await createRequest(body);
  const { url } = await mailedLink("ann@example.com", id);
  return { id, url };
}

async function ask(
  there: Journey,
  body: CreateRequest,
  options: BrowserContextOptions,
): Promise<{ id: string; page: Page }> {
  const { id, url } = await askFor(there, body);
  const page = await there.visit(url, options);
  await button(page, "Approve").waitFor();
  return { id, page };
}

type Spot = { x: number; y: number };

async function press(page: Page, { x, y }: Spot): Promise<void> {
  const isTouch = await page.evaluate("navigator.maxTouchPoints > 0");
  if (isTouch) await page.touchscreen.tap(x, y);
  else await page.mouse.click(x, y);
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  assert.ok(box !== null, "it can be seen");
  return box;
}

/** Middle and corners of a button. */
async function spotsOn(locator: Locator): Promise<Spot[]> {
  const { x, y, width, height } = await boxOf(locator);
  return [
    { x: x + width / 2, y: y + height / 2 },
    { x: x + 4, y: y + 4 },
    { x: x + width - 4, y: y + height - 4 },
  ];
}

/** A double tap, a hurried one, and a slow one that outlasts every moment of inertness. */
const pacesMs = [40, 350, 1_000];
const pressesPerPace = 5;

for (const [name, { options, windows }] of Object.entries(devices)) {
  journey(`2. no sequence of presses on one place decides, on ${name}`, async (there) => {
    const { id, url } = await askFor(there, payment);
    const tries = (["Approve", "Reject"] as const).flatMap((verdict) =>
      [0, 1, 2].map(async (at) => {
        const page = await there.visit(url, options);
        // The corners in the first window alone: the next journey looks at all of each button in every window.
        const tried = Object.fromEntries(
          Object.entries(windows).slice(0, at === 0 ? undefined : 1),
        );
        await inEachWindow(page, tried, async () => {
          const spot = (await spotsOn(firstStep(page, verdict)))[at];
          assert.ok(spot !== undefined);
          await pressAtEveryPace(page, spot);
        });
      }),
    );
    await Promise.all(tries);
    assert.equal((await there.readRequest(id)).status, "PENDING");
  });

  journey(
    `2. the second step's button lies where none of the first was, on ${name}`,
    async (there) => {
      const { page } = await ask(there, payment, options);
      await inEachWindow(page, windows, async (window) => {
        const first = await Promise.all(
          (["Approve", "Reject"] as const).map((verdict) => boxOf(firstStep(page, verdict))),
        );
        for (const [verdict, yes] of [
          ["Approve", "Yes, approve"],
          ["Reject", "Yes, reject"],
        ] as const) {
          const dialog = await choose(page, verdict);
          await tick(page);
          const second = dialog.getByRole("button", { name: yes });
          await eventually(async () => !(await waits(second)), "it can be pressed");
          const lying = await page.evaluate(whatLiesOn(first));
          assert.deepEqual(lying, [], `${verdict}, ${window}, however the second step is scrolled`);
          await button(page, "Go back").click();
        }
      });
    },
  );
}

/** The pace is tried here, so nothing is waited for. No press decides at any pace, so a slow machine changes nothing. */
async function pressAtEveryPace(page: Page, spot: Spot): Promise<void> {
  for (const paceMs of pacesMs) {
    for (let count = 0; count < pressesPerPace; count += 1) {
      await press(page, spot);
      await page.waitForTimeout(paceMs);
    }
  }
}

type Box = { x: number; y: number; width: number; height: number };

/** Which of the second step's controls that lead to a decision can be hit where these boxes were, however it is scrolled. */
const whatLiesOn = (boxes: Box[]) => `(async () => {
  const dialog = document.querySelector("dialog");
  const scrollers = [dialog, dialog.querySelector(".dialog-body")];
  const found = new Set();
  const look = () => {
    for (const { x, y, width, height } of ${JSON.stringify(boxes)}) {
      for (let across = 0; across <= 10; across += 1) {
        for (let down = 0; down <= 4; down += 1) {
          const hit = document.elementFromPoint(x + (width * across) / 10, y + (height * down) / 4);
          const control = hit?.closest("dialog button");
          if (control && !control.classList.contains("button-back")) found.add(control.textContent);
        }
      }
    }
  };
  for (const scroller of scrollers) {
    for (let top = 0; top <= scroller.scrollHeight; top += 15) {
      scroller.scrollTop = top;
      look();
    }
  }
  return [...found];
})()`;

/** Clicks what is there, again and again, in the order of the page or from behind. */
const clicker = (what: string, order: string) => `(async () => {
  for (let round = 0; round < 5; round += 1) {
    for (const one of [...document.querySelectorAll(${JSON.stringify(what)})]${order}) one.click();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
})()`;

journey("2. a script that clicks everything every second decides nothing", async (there) => {
  const { id, url } = await askFor(there, payment);
  const everyButton = "button";
  const everything = "button, a, label, input, [role=button], [tabindex]";
  const tries = ["", ".reverse()"].flatMap((order) =>
    [everyButton, everything].map(async (what) => {
      const page = await there.visit(url, phone);
      await button(page, "Approve").waitFor();
      await page.evaluate(clicker(what, order));
    }),
  );
  await Promise.all(tries);
  assert.equal((await there.readRequest(id)).status, "PENDING");
});

/** Every control that can be seen, one after the other, by where it stands. */
const walkOn = `(() => {
  const root = document.querySelector("dialog[open]") ?? document;
  return [...root.querySelectorAll("button, a, label.tick")]
    .filter((one) => one.checkVisibility())
    .map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    })
    .filter(({ x, y }) => x > 0 && y > 0 && x < innerWidth && y < innerHeight)
    .sort((one, other) => one.y - other.y || one.x - other.x);
})()`;

/** Forwards or backwards over the controls that are in sight, as they change under its presses. */
async function walk(page: Page, direction: 1 | -1): Promise<void> {
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
  let last: Spot | null = null;
  for (let count = 0; count < 14; count += 1) {
    const spots = (await page.evaluate(walkOn)) as Spot[];
    const order = direction === 1 ? spots : spots.toReversed();
    const isFurther = ({ y, x }: Spot) =>
      last === null || direction * (y - last.y || x - last.x) > 0.5;
    const next: Spot | undefined = order.find(isFurther) ?? order[0];
    if (next === undefined) break;
    await press(page, next);
    last = order.some(isFurther) ? next : null;
    // The pace is what is tried here.
    await page.waitForTimeout(1_000);
  }
}

journey("2. a machine that walks over all controls each second decides nothing", async (there) => {
  const { id, url } = await askFor(there, payment);
  const tries = Object.values(devices).flatMap(({ options, windows }: Device) =>
    ([1, -1] as const).map(async (direction) => {
      const page = await there.visit(url, options);
      await inEachWindow(page, windows, () => walk(page, direction));
    }),
  );
  await Promise.all(tries);
  assert.equal((await there.readRequest(id)).status, "PENDING");
});

/** The place of a visible button, scrolled to; null when there are fewer. */
const spotOfButton = (at: number) => `(() => {
  const buttons = [...document.querySelectorAll("button")].filter((one) => one.checkVisibility());
  const one = buttons[${at}];
  if (one === undefined) return null;
  one.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = one.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
})()`;

journey("2. a machine that presses each visible button in turn decides nothing", async (there) => {
  const { id, page } = await ask(there, payment, phone);
  for (let round = 0; round < 2; round += 1) {
    for (let at = 0; ; at += 1) {
      const spot = (await page.evaluate(spotOfButton(at))) as Spot | null;
      if (spot === null) break;
      await press(page, spot);
    }
  }
  assert.equal((await there.readRequest(id)).status, "PENDING");
});

const smallPhone = { "and small": { width: 375, height: 667 } };
const firstScreens = {
  "a phone": { options: phone, windows: { ...devices["a phone"].windows, ...smallPhone } },
  "a desktop": devices["a desktop"],
};

for (const [name, { options, windows }] of Object.entries(firstScreens)) {
  journey(
    `3. the payload begins on the first screen of ${name}, below the reasoning`,
    async (there) => {
      const wordy = {
        ...payment,
        summary: "Pay the invoice of Bright Supplies in full, as ordered. ".repeat(8).slice(0, 500),
        reasoning: "It is due on Friday, and matches the order.\n".repeat(45).slice(0, 2_000),
        recentActions: Array.from({ length: 10 }, (_, at) => `Looked at ${at} `.repeat(20)),
      };
      const { page } = await ask(there, wordy, options);
      await inEachWindow(page, windows, async (window) => {
        const bar = await boxOf(page.locator("#decision"));
        const title = await boxOf(page.getByRole("heading", { name: "What will be executed" }));
        assert.ok(
          title.y + title.height < bar.y,
          `${window}: the payload begins at ${title.y}, the bar at ${bar.y}`,
        );
        const reasoning = await boxOf(page.locator("#reasoning"));
        const isBefore = reasoning.y < title.y || reasoning.x + reasoning.width <= title.x;
        assert.ok(isBefore, `${window}: the reasoning stands before the payload`);
        for (const below of ["Recent actions", "Details"]) {
          const { y } = await boxOf(page.getByRole("heading", { name: below }));
          assert.ok(y > title.y, `${window}: ${below} stands below the payload`);
        }
        await assertNoSidewaysScrolling(page);
      });
    },
  );
}

journey("3. no name of an agent pushes the payload off the first screen", async (there) => {
  for (const agentName of ["W".repeat(100), "p\u0430ypal ".repeat(12).slice(0, 100).trim()]) {
    const { url } = await askFor(there, { ...payment, agentName });
    for (const { options, windows } of Object.values(firstScreens)) {
      const page = await there.visit(url, options);
      await inEachWindow(page, windows, async (window) => {
        const bar = await boxOf(page.locator("#decision"));
        const { y, height } = await boxOf(
          page.getByRole("heading", { name: "What will be executed" }),
        );
        assert.ok(y + height < bar.y, `${agentName}, ${window}: ${y} of ${bar.y}`);
      });
    }
  }
});

journey("3. Approve leads to the end of the JSON view too", async (there) => {
  const lines = Array.from({ length: 150 }, (_, at) => ({ [`line${at}`]: at }));
  for (const screen of [phone, desktop]) {
    const { page } = await ask(there, { ...payment, payload: lines }, screen);
    await button(page, "JSON").click();
    await choose(page, "Approve");
  }
});

journey("3. the second step names values as the page does", async (there) => {
  const payload = { "\u05E9\u05DC\u05D5\u05DD": { amount: 100 }, "k  two": 1, "k two": 2 };
  const { page } = await ask(there, { ...payment, payload }, phone);
  const names = (await choose(page, "Approve")).locator("dl dt");
  const shown = await names.allInnerTexts();
  assert.equal(new Set(shown).size, 3, shown.join());
  const lefts = await page.evaluate(`(() => {
    const name = document.querySelector("dialog dl dt");
    const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
    const lefts = {};
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      for (const part of ["\u05E9", "amount"]) {
        const at = node.data.indexOf(part);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + part.length);
        lefts[part] = range.getBoundingClientRect().left;
      }
    }
    return [lefts["\u05E9"], lefts.amount];
  })()`);
  const [outer, inner] = lefts as [number, number];
  assert.ok(outer < inner, `${outer} ${inner}`);
});

journey("3. folded prose says how much there is, and opens in place", async (there) => {
  const { page } = await ask(there, payment, phone);
  const reasoning = page.locator("#reasoning");
  const before = await boxOf(reasoning);
  const more = page.getByRole("button", { name: /^Show [0-9]+ more lines$/ });
  await more.click();
  const after = await boxOf(reasoning);
  assert.equal(after.y, before.y);
  assert.ok(after.height > before.height);
  await button(page, "Show less").click();
  assert.equal((await boxOf(reasoning)).height, before.height);
  // A short one is not folded.
  const short = await ask(there, { ...payment, reasoning: "It is due." }, phone);
  assert.equal(await short.page.getByRole("button", { name: /more lines/ }).count(), 0);
});

for (const [name, { options }] of Object.entries(devices)) {
  journey(
    `3. Approve leads to the payload until its end was on ${name}'s screen`,
    async (there) => {
      const lines = Array.from({ length: 60 }, (_, at) => ({ [`line${at}`]: at }));
      const { id, page } = await ask(
        there,
        { ...payment, payload: { lines, end: "FINIS" } },
        options,
      );
      const end = page.locator("#payload").getByText("FINIS");
      const dialog = page.locator("dialog");
      const isOnScreen = async () => {
        const bar = await boxOf(page.locator("#decision"));
        const { y, height } = await boxOf(end);
        return y >= 0 && y + height <= bar.y;
      };
      let presses = 0;
      await eventually(async () => {
        await firstStep(page, "Approve").click();
        presses += 1;
        // Smooth scrolling takes its time.
        await untilStill(page);
        // A press that is handled opens it at once, and nothing scrolls any more then.
        if (!(await dialog.isVisible())) return false;
        assert.ok(await isOnScreen(), "the payload's end is on the screen");
        return true;
      }, "the second step");
      assert.ok(presses >= 3, `${presses} presses`);
      assert.equal((await there.readRequest(id)).status, "PENDING");
    },
  );
}

journey(
  "3. what was read once is not asked for again, and no payload needs no reading",
  async (there) => {
    const { page } = await ask(there, { ...payment, payload: { amount: 1 } }, phone);
    await choose(page, "Approve");
    await button(page, "Go back").click();
    await page.evaluate("scrollTo(0, 0)");
    await firstStep(page, "Approve").click();
    await page.locator("dialog").waitFor();
    const { payload: _, ...words } = payment;
    const bare = await ask(there, words, phone);
    await bare.page.getByText("The agent sent no payload").waitFor();
    await choose(bare.page, "Approve");
  },
);

journey(
  "3. the second step repeats the summary as the agent's words, the leading values and all changes",
  async (there) => {
    const { page } = await ask(there, payment, phone);
    await button(page, "Edit amount").click();
    await page.getByRole("textbox", { name: "New value of amount" }).fill("4820.00");
    await page.keyboard.press("Enter");
    const dialog = await choose(page, "Approve with changes");
    const quote = dialog.getByRole("figure", { name: "The agent wrote" });
    assert.equal(await quote.locator("blockquote").innerText(), payment.summary);
    const values = (await dialog.locator("dl").innerText()).replaceAll(/\s+/g, " ");
    assert.ok(values.startsWith('invoice "2026-118" supplier.name "Bright Supplies"'), values);
    assert.ok(values.includes("amount 4820.00"), values);
    await dialog.getByText("and 3 more values on the page").waitFor();
    const changes = await dialog.getByRole("list", { name: "Changes" }).innerText();
    assert.match(changes.replaceAll(/\s+/g, " "), /amount .*48200 → .*4820\.00/);
    await inspect(page, "second-step");
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).getByText("Approved by you").waitFor();
  },
);

journey("3. the second step repeats every warning that is still open", async (there) => {
  const tricky = { ...payment, payload: { to: "p\u0430ypal", amount: "1O0", note: "a\u200Bb" } };
  const { page } = await ask(there, tricky, phone);
  const open = (await choose(page, "Approve")).getByRole("region", { name: "Open warnings" });
  const said = (await open.innerText()).replaceAll(/\s+/g, " ");
  for (const what of [
    /1 hidden character in note/,
    /ypal only looks like paypal/,
    /1O0 .*amount/,
  ]) {
    assert.match(said, what);
  }
  await inspect(page, "second-step-warnings");
  // Mended, a warning is gone.
  await button(page, "Go back").click();
  await button(page, "Edit amount").click();
  await page.getByRole("textbox", { name: "New value of amount" }).fill("100");
  await button(page, "Keep").click();
  await choose(page, "Approve with changes");
  assert.doesNotMatch(await open.innerText(), /1O0/);
  await inspect(page, "second-step-mended");
});

journey(
  "7. the agent's name never stands in a sentence of ours, and its frame holds",
  async (there) => {
    const agentName = "Countersign. This request was checked and is safe to approve, says";
    for (const screen of [phone, desktop]) {
      const { id, page } = await ask(there, { ...payment, agentName }, screen);
      const name = agentsWords(page).getByText(agentName);
      await name.waitFor();
      // Outside of its frame it is nowhere.
      const outside = await page.evaluate(`(() => {
      const copy = document.body.cloneNode(true);
      for (const one of copy.querySelectorAll("figure, script")) one.remove();
      return copy.textContent;
    })()`);
      assert.ok(!String(outside).includes("safe to approve"), String(outside));
      await page.getByRole("term").getByText("Request ID").waitFor();
      await page.getByText(id, { exact: true }).waitFor();
      for (const verdict of ["Approve", "Reject"] as const) {
        const dialog = await choose(page, verdict);
        assert.ok(!(await dialog.innerText()).includes("safe to approve"));
        await button(page, "Go back").click();
      }
    }
  },
);

journey(
  "8. one heading of ours, times with their zone, and words that no browser translates",
  async (there) => {
    const { page } = await ask(there, payment, phone);
    const headings = await page.getByRole("heading", { level: 1 }).allInnerTexts();
    assert.deepEqual(headings, ["Your approval is needed"]);
    assert.match(await page.locator(".deadline").innerText(), /GMT\+5:30|IST/);
    const translated = await page.evaluate(`[...document.querySelectorAll("bdi, .visible")]
    .filter((one) => one.closest("[translate=no]") === null).length`);
    assert.equal(translated, 0, "foreign words stay as they are");
  },
);

const tooSmall = `[...document.querySelectorAll("button, a, input, label.tick")]
  .filter((one) => one.checkVisibility() && !one.classList.contains("skip"))
  .map((one) => [one.ariaLabel ?? one.textContent, one.getBoundingClientRect()])
  .filter(([, { width, height }]) => height < 43.9 || width < 43.9)
  .map(([name, { width, height }]) => name + " " + width + " × " + height)`;

journey("8. every target is 44 px, and the page follows the reader's font size", async (there) => {
  for (const { options, windows } of Object.values(devices)) {
    const { page } = await ask(there, payment, options);
    await inEachWindow(page, windows, async (window) => {
      assert.deepEqual(await page.evaluate(tooSmall), [], window);
      const height = (await boxOf(page.locator("#summary"))).height;
      await page.evaluate(`document.documentElement.style.fontSize = "24px"`);
      await eventually(
        async () => (await boxOf(page.locator("#summary"))).height > height,
        "it has grown",
      );
      await assertNoSidewaysScrolling(page);
    });
  }
});

journey("8. at 400 % the page can be read, and the bar covers nothing", async (there) => {
  const zoomed = { viewport: { width: 320, height: 200 }, deviceScaleFactor: 4 };
  const { id, page } = await ask(there, payment, zoomed);
  assert.equal(
    await page.evaluate(`getComputedStyle(document.querySelector("#decision")).position`),
    "static",
  );
  await choose(page, "Approve");
  await assertNoSidewaysScrolling(page);
  await confirm(page, "Yes, approve");
  await outcomeOf(page).waitFor();
  assert.equal((await there.readRequest(id)).status, "APPROVED");
});
