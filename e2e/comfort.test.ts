// Deciding on any device and with any need: with the keyboard alone, on a narrow window, with custom colours, with a
// very large payload, over a slow line, behind a code.

import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { buffer } from "node:stream/consumers";
import type { BrowserContextOptions, Page } from "playwright-core";
import type { CreateRequest } from "../sdk/src/contract.ts";
import { assertClean, checkAccessibility, screenshot, untilStill } from "./browser.ts";
import { type Journey, type JourneyOptions, journeys } from "./journey.ts";
import {
  agentsWords,
  assertNoSidewaysScrolling,
  button,
  changesIn,
  choose,
  confirm,
  decide,
  eventually,
  inspect,
  openEditor,
  outcomeOf,
  waits,
} from "./review-page.ts";

const journey = journeys();

/** Long words, long paths, deep nesting: what is hard to fit into a narrow window. */
const awkward: CreateRequest = {
  summary: `Transfer to DE${"89370400440532013000".repeat(6)} before noon`,
  agentName: "a".repeat(100),
  reasoning: `See https://intranet.example/${"very-long-path/".repeat(30)}\n\nThen decide.`,
  recentActions: ["x".repeat(300), "Read the ticket"],
  notify: "ann.with.a.rather.long.mailbox.name@subdomain.of.a.long.example.com",
  payload: {
    "a.key.that.is.quite.long.and.has.no.spaces.in.it.at.all": "y".repeat(400),
    deep: { deeper: { deepest: { still: { more: { yet: [[[["end"]]]] } } } } },
    amount: 120.5,
  },
};

async function ask(
  { createRequest, mailedLink, visit }: Journey,
  body: CreateRequest | string,
  options?: BrowserContextOptions,
): Promise<{ id: string; page: Page; url: string }> {
  const { id } = await createRequest(body);
  const { notify } = typeof body === "string" ? JSON.parse(body) : body;
  const { url } = await mailedLink(notify);
  const page = await visit(url, options);
  await button(page, "Approve").waitFor();
  return { id, page, url };
}

/** The name of the focused element, and whether it can be seen. */
async function focused(
  page: Page,
): Promise<{ name: string; isVisible: boolean; isInside: boolean }> {
  return (await page.evaluate(`(() => {
    const element = document.activeElement;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return {
      name: element === document.body ? "" : (element.ariaLabel ?? element.textContent).trim(),
      isVisible: (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none",
      isInside: element.closest("dialog") !== null || element === document.body,
    };
  })()`)) as { name: string; isVisible: boolean; isInside: boolean };
}

journey(
  "the keyboard alone is enough, in a sensible order, and the focus can always be seen",
  async (there) => {
    const payload = { amount: 120.5, to: { name: "Ann" } };
    const { id, page } = await ask(there, {
      summary: "Refund order 1042",
      notify: "ann@example.com",
      payload,
    });
    const names: string[] = [];
    while (names.at(-1) !== "Approve" && names.length < 60) {
      await page.keyboard.press("Tab");
      const { name, isVisible } = await focused(page);
      assert.ok(isVisible, `the focus is visible on ${name}`);
      names.push(name);
    }
    assert.equal(names[0], "Skip to the decision");
    const milestones = [
      "Readable",
      "JSON",
      "Edit",
      "Edit amount",
      "Edit to.name",
      "Reject",
      "Approve",
    ];
    assert.deepEqual(
      names.filter((name) => milestones.includes(name)),
      milestones,
    );

    // From the top again, over the skip link.
    await page.reload();
    await button(page, "Approve").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal((await focused(page)).name, "Reject");
    await page.keyboard.press("Tab");
    const dialog = page.getByRole("dialog");
    // The buttons are inert for a moment whenever they come back.
    const goOn = () =>
      eventually(async () => {
        await page.keyboard.press("Enter");
        return dialog.isVisible();
      }, "the second step");
    await goOn();
    for (let count = 0; count < 8; count += 1) {
      await page.keyboard.press("Tab");
      const { name, isInside } = await focused(page);
      assert.ok(isInside, `the focus left the second step for ${name}`);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    assert.equal((await focused(page)).name, "Approve", "back where it was");
    assert.equal((await there.readRequest(id)).status, "PENDING");

    await goOn();
    const yes = dialog.getByRole("button", { name: "Yes, approve" });
    const box = dialog.getByRole("checkbox");
    for (let count = 0; count < 6 && !(await box.isChecked()); count += 1) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate("document.activeElement.type")) === "checkbox") {
        await page.keyboard.press("Space");
      }
    }
    await eventually(async () => !(await waits(yes)), "the button is no longer inert");
    for (let count = 0; count < 6 && (await focused(page)).name !== "Yes, approve"; count += 1) {
      await page.keyboard.press("Tab");
    }
    assert.ok((await focused(page)).isVisible);
    await page.keyboard.press("Enter");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    assert.equal((await there.readRequest(id)).status, "APPROVED");
    assert.match((await focused(page)).name, /^Approved/, "the outcome is what is read next");
  },
);

journey("on small phones a usual agent name is shown whole beside its label", async (there) => {
  const { page } = await ask(there, {
    summary: "Pay invoice 2026-118",
    agentName: "payables-agent",
    notify: "ann@example.com",
    payload: { amount: 120.5 },
  });
  for (const viewport of [
    { width: 320, height: 568 },
    { width: 360, height: 640 },
  ]) {
    await page.setViewportSize(viewport);
    await untilStill(page);
    assert.equal(await agentsWords(page).getByRole("button").count(), 0, "nothing is folded");
  }
});

const narrow: Record<string, BrowserContextOptions> = {
  "320 px": { viewport: { width: 320, height: 568 } },
  "200 % zoom": { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  "400 % zoom": { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 },
};

for (const [name, options] of Object.entries(narrow)) {
  journey(`at ${name} every view fits, and everything can be reached`, async (there) => {
    const { page } = await ask(there, awkward, options);
    const fits = async (state: string) => {
      await assertNoSidewaysScrolling(page);
      await screenshot(page, `narrow-${name.replaceAll(/\W+/g, "-")}-${state}`);
    };
    await fits("readable");
    await button(page, "Edit amount").click();
    await page.getByRole("textbox", { name: "New value of amount" }).fill("99.00");
    await fits("in-place");
    await button(page, "Keep").click();
    await button(page, "JSON").click();
    await fits("raw");
    await openEditor(page);
    await fits("editor");
    const dialog = await choose(page, "Approve with changes");
    await dialog.getByRole("textbox", { name: "Note" }).fill("w".repeat(300));
    await fits("second-step");
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).waitFor();
    await fits("outcome");
  });
}

const ways: Record<string, BrowserContextOptions> = {
  "forced colours": { forcedColors: "active" },
  "forced dark colours": { forcedColors: "active", colorScheme: "dark" },
  "more contrast": { contrast: "more" },
  "reduced motion": { reducedMotion: "reduce" },
};

for (const [name, options] of Object.entries(ways)) {
  journey(`with ${name} the page shows all it says, and is accessible`, async (there) => {
    const trick = {
      summary: "Pay p\u0430ypal\u202E",
      notify: "ann@example.com",
      payload: { amount: 1 },
    };
    const viewport = { width: 390, height: 1_600 };
    const { id, page } = await ask(there, trick, { ...options, viewport });
    const check = options.forcedColors === "active" ? checkButForContrast : checkAccessibility;
    await check(page);
    await screenshot(page, `${name.replaceAll(" ", "-")}-pending`);
    await button(page, "Edit amount").click();
    await page.getByRole("textbox", { name: "New value of amount" }).fill("2");
    await button(page, "Keep").click();
    await choose(page, "Approve with changes");
    await check(page);
    await screenshot(page, `${name.replaceAll(" ", "-")}-second-step`);
    if (name === "reduced motion") {
      await button(page, "Go back").click();
      await there.moveExpiry(id, 230_000);
      await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
      await page
        .getByRole("timer")
        .getByText(/^less than [2-4] minutes left$/)
        .waitFor();
    }
    await assertClean(page);
  });
}

/** axe-core reads the colours that the style asks for, not those that are forced in their place. */
async function checkButForContrast(page: Page): Promise<void> {
  await checkAccessibility(page).catch(({ message }: Error) => {
    const rules = [...message.matchAll(/^ {2}([a-z-]+): /gm)].map(([, rule]) => rule);
    assert.deepEqual(rules, ["color-contrast"], message);
  });
}

for (const [width, options] of Object.entries({
  320: { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true },
  390: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  1280: { viewport: { width: 1280, height: 800 } },
})) {
  journey(
    `at ${width} px what can be pressed in the payload is as large as a finger`,
    async (there) => {
      const payload = {
        amount: 120.5,
        essay: "word ".repeat(800),
        list: [1, { a: [2] }],
        deep: { deeper: { deepest: { still: { more: { yet: 1 } } } } },
      };
      const { page } = await ask(
        there,
        { summary: "Pay", notify: "ann@example.com", payload },
        options,
      );
      await button(page, "Edit amount").click();
      await page.getByRole("textbox", { name: "New value of amount" }).fill("99");
      const small = () =>
        page.evaluate(`[...document.querySelectorAll("#payload button")].flatMap((one) => {
        const { width, height } = one.getBoundingClientRect();
        return width >= 44 && height >= 44 ? [] : [(one.ariaLabel ?? one.textContent) + " " + width + " x " + height];
      })`);
      assert.deepEqual(await small(), []);
      await button(page, "Keep").click();
      await button(page, "Restore amount to what the agent sent").waitFor();
      assert.deepEqual(await small(), []);
      await assertNoSidewaysScrolling(page);
      await screenshot(page, `targets-${width}`);
    },
  );
}

journey("long numbers are shown in groups beside the value, and copied without", async (there) => {
  const payload = `{"amount":1248000.00,"text":"-98765.4","order":"0012345","big":1248000e2,"id":1234}`;
  const { page } = await ask(
    there,
    `{"summary":"Pay","notify":"ann@example.com","payload":${payload}}`,
  );
  const notes = await page.evaluate(
    `[...document.querySelectorAll("#payload .grouped")].map((one) => getComputedStyle(one, "::after").content)`,
  );
  assert.deepEqual(notes, ['"· 1,248,000.00"', '"· -98,765.4"']);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await button(page, "Copy amount").click();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), "1248000.00");
  const selected = await page.evaluate(`(() => {
    getSelection().selectAllChildren(document.querySelector("#payload .rows-root"));
    return getSelection().toString();
  })()`);
  assert.doesNotMatch(String(selected), /,/);
  await inspect(page, "grouped");
});

/** A text that takes some lines. */
const long =
  "These words are wrapped, so their height is known only when they were laid out. ".repeat(4);

for (const [name, payload] of Object.entries({
  "long texts": Array.from({ length: 300 }, (_, at) => `${long} ${at}`),
  "longer texts, in blocks": Array.from({ length: 300 }, (_, at) => `${long.repeat(4)} ${at}`),
  "numbers before a long text": { values: Array.from({ length: 300 }, (_, at) => at), long },
})) {
  journey(
    `${name}: nothing below what is open at first moves once it is in sight`,
    async (there) => {
      const { page } = await ask(there, { summary: "Import", notify: "ann@example.com", payload });
      const foot = page.locator(".payload-foot");
      const placeOfFoot = () =>
        page.evaluate(
          `Math.round(document.querySelector(".payload-foot").getBoundingClientRect().top + scrollY)`,
        );
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        // A page that is loaded again is scrolled to where it was.
        await page.evaluate("scrollTo(0, 0)");
        await page.reload();
        await foot.waitFor();
        await untilStill(page);
        const before = await placeOfFoot();
        await foot.scrollIntoViewIfNeeded();
        // What comes near the window changes a few frames later.
        await untilStill(page);
        assert.equal(await placeOfFoot(), before, `${width} pixels wide`);
      }
    },
  );
}

journey("first rows with very many signs are laid out only when they come near", async (there) => {
  const payload = Array.from({ length: 240 }, () => "a\u200b".repeat(80));
  const { page } = await ask(there, { summary: "Import", notify: "ann@example.com", payload });
  const laidOut = (await page.evaluate(
    `[...document.querySelectorAll(".chunk")].map((chunk) => chunk.classList.contains("at-once"))`,
  )) as boolean[];
  assert.deepEqual([laidOut.at(0), laidOut.at(-1)], [true, false]);
});

journey(
  "a payload of 20,000 values and 200 KB is opened, scrolled and edited in place",
  async (there) => {
    const values = Array.from({ length: 19_990 }, (_, at) => (at % 2 === 0 ? at : `a value ${at}`));
    const text = JSON.stringify({ values, last: 1, pad: "p".repeat(1_000) });
    assert.ok(text.length > 200_000);
    const { id, page } = await ask(
      there,
      `{"summary":"Import","notify":"ann@example.com","payload":${text}}`,
    );
    assert.ok(await waits(button(page, "Approve")));
    await button(page, "Open everything").click();
    // Rows get their tools when they come near, and their labels' text is quicker to find than their names.
    const last = page.locator('[aria-label="Edit values[19988]"]');
    await eventually(async () => {
      await page.locator("#payload-end").scrollIntoViewIfNeeded();
      return last.isVisible();
    }, "the last rows have their tools");
    await last.click();
    const field = page.locator('[aria-label="New value of values[19988]"]');
    await field.fill("9007199254740995");
    await field.press("Enter");
    const dialog = await choose(page, "Approve with changes");
    assert.deepEqual(await changesIn(dialog), [
      "values[19988] before 19988 → after 9007199254740995",
    ]);
    await confirm(page, "Yes, approve with changes");
    await page.locator(".outcome").waitFor();
    const edited = text.replace(",19988,", ",9007199254740995,");
    assert.ok((await there.readRequestText(id)).includes(`"modifiedPayload":${edited},"effective`));
  },
);

journey(
  "the first load is light, the editor comes only when editing starts, and all of it from here",
  async (there) => {
    const { page, url } = await ask(there, {
      summary: "Refund",
      notify: "ann@example.com",
      payload: { amount: 120.5 },
    });
    const scripts: string[] = [];
    const others: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "script") scripts.push(request.url());
      if (new URL(request.url()).origin !== there.site.url) others.push(request.url());
    });
    await page.reload();
    await decidable(page);
    const atFirst = [...scripts];
    const sizes = await Promise.all(atFirst.map(gzippedBytes));
    const sum = sizes.reduce((total, bytes) => total + bytes, 0);
    assert.ok(sum > 10_000 && sum <= 90 * 1024, `${sum} bytes of JavaScript on the first load`);
    assert.ok(atFirst.every((script) => !script.includes("editor")));
    await openEditor(page);
    assert.ok(scripts.length > atFirst.length, "the editor was loaded now");
    assert.deepEqual(others, []);
    const html = await fetch(url).then((response) => response.text());
    assert.doesNotMatch(html, /json-editor/, "nothing asks for it earlier");
  },
);

async function decidable(page: Page): Promise<void> {
  await choose(page, "Reject");
  await button(page, "Go back").click();
}

/** The bytes that travel to a browser that accepts gzip. */
async function gzippedBytes(url: string): Promise<number> {
  const [response] = await once(
    http.get(url, { headers: { "accept-encoding": "gzip" } }),
    "response",
  );
  const bytes = (await buffer(response)).length;
  // A file that fits into one packet is sent uncompressed.
  if (bytes >= 1_024) assert.equal(response.headers["content-encoding"], "gzip", url);
  return bytes;
}

const withCode: JourneyOptions = { workspace: { reviewCode: true }, mayFail: ["403 /review/"] };

async function askWithCode({ createRequest, mailedLink, visit }: Journey) {
  const { id } = await createRequest({
    summary: "Refund SECRET-summary",
    reasoning: "SECRET-reason",
    agentName: "SECRET-agent",
    notify: "ann@example.com",
    payload: { amount: "SECRET-payload" },
  });
  const { url, code } = await mailedLink("ann@example.com");
  const page = await visit(url);
  const field = page.getByRole("textbox", { name: "Code" });
  await field.waitFor();
  const tryCode = async (typed: string) => {
    await field.fill(typed);
    await button(page, "Open the request").click();
  };
  return { id, url, code: code ?? "", page, tryCode };
}

function wrong(code: string): string {
  return code.startsWith("A") ? `B${code.slice(1)}` : `A${code.slice(1)}`;
}

journey(
  "where a code is asked for nothing of the request is there before it, and with it the decision works",
  withCode,
  async (there) => {
    const { id, url, code, page, tryCode } = await askWithCode(there);
    assert.doesNotMatch(await (await fetch(url)).text(), /SECRET/);
    assert.doesNotMatch(await page.content(), /SECRET/);
    await inspect(page, "code", withCode);
    await tryCode("123");
    await page.getByText("The code has six letters or digits.").waitFor();
    await tryCode(wrong(code));
    await page.getByText("That’s not the code. 9 tries left.").waitFor();
    assert.doesNotMatch(await page.content(), /SECRET/);
    await inspect(page, "code-wrong", withCode);
    await tryCode(` ${code.toLowerCase()} `);
    await agentsWords(page).getByText("Refund SECRET-summary").waitFor();
    await decide(page, "Approve", "Yes, approve");
    await outcomeOf(page).getByText("Approved by you").waitFor();
    assert.equal((await there.readRequest(id)).status, "APPROVED");
    await page.reload();
    assert.doesNotMatch(await page.content(), /SECRET/, "the outcome needs the code as well");
  },
);

journey("ten wrong codes lock the link, and nothing is decided", withCode, async (there) => {
  const { id, url, code, page, tryCode } = await askWithCode(there);
  for (let left = 9; left > 0; left -= 1) {
    await tryCode(wrong(code));
    await page.getByText(`${left} ${left === 1 ? "try" : "tries"} left.`).waitFor();
  }
  await tryCode(wrong(code));
  await page.getByRole("heading", { name: "This link is locked" }).waitFor();
  await inspect(page, "code-locked", withCode);
  await page.goto(url);
  await page.getByRole("heading", { name: "This link is locked" }).waitFor();
  const answer = await page.evaluate(
    `fetch(location.pathname + "/open", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(JSON.stringify({ code }))} }).then((response) => response.text())`,
  );
  assert.match(String(answer), /link_locked/, "not even the right one opens it");
  assert.equal((await there.readRequest(id)).status, "PENDING");
});
