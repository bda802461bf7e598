// Tricks by which an agent, or somebody who speaks through it, may try to show something else than is executed.
// Each family of tricks is tried in every field at once; what counts is the page as it is seen, not only its source.

import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { type Journey, journeys } from "./journey.ts";
import {
  assertNoSidewaysScrolling,
  button,
  changesIn,
  choose,
  confirm,
  eventually,
  firstStep,
  inspect,
  openEditor,
  outcomeOf,
  textOfEditor,
  waits,
} from "./review-page.ts";

const journey = journeys();

type Words = { summary: string; agentName: string; reasoning: string; action: string };

/** The same trick in each field. The payload is JSON text: some of it no JavaScript value can hold. */
async function ask(
  { createRequest, mailedLink, visit }: Journey,
  words: Words,
  payload: string,
  more = "",
): Promise<{ id: string; page: Page; url: string }> {
  const { action, ...fields } = words;
  const body = JSON.stringify({ ...fields, recentActions: [action], notify: "ann@example.com" });
  const { id } = await createRequest(`${body.slice(0, -1)},"payload":${payload}${more}}`);
  const { url } = await mailedLink("ann@example.com");
  const page = await visit(url);
  await button(page, "Reject").waitFor();
  await unfold(page);
  return { id, page, url };
}

/** Prose shows its first lines; a reader who wants the rest opens it in place. */
async function unfold(page: Page): Promise<void> {
  const folded = page.getByRole("button", { name: /^Show [0-9,]+ more lines?$/ });
  while ((await folded.count()) > 0) await folded.first().click();
}

function everywhere(text: string): Words {
  return { summary: text, agentName: text, reasoning: text, action: text };
}

/** Where each field's text stands, so that nothing is found in the wrong place. */
function placesOf(page: Page): Record<string, Locator> {
  return {
    summary: page.locator("#summary"),
    agentName: page.locator("#agent-name blockquote"),
    reasoning: page.locator("#reasoning"),
    action: page.getByRole("region", { name: "Recent actions" }).getByRole("listitem"),
    payload: payloadOf(page),
  };
}

function payloadOf(page: Page): Locator {
  return page.getByRole("region", { name: "What will be executed" });
}

/** Of everything that can be named in the payload: its paths, in the order in which they are shown. */
async function pathsOf(page: Page): Promise<string[]> {
  const labels = await page.evaluate(
    `[...document.querySelectorAll("#payload li [aria-label^='Copy ']")].map((one) => one.ariaLabel)`,
  );
  return (labels as string[]).map((label) => label.slice("Copy ".length));
}

/**
 * Whether each occurrence of a text can be seen: it has a size, stands within the window's width, and nothing lies
 * over it or cuts it off where it is scrolled to.
 */
async function assertSeen(
  page: Page,
  text: string,
  { times, within = "body" }: { times: number; within?: string },
): Promise<void> {
  const seen = await page.evaluate(`(async () => {
    const found = [];
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const root = document.querySelector(${JSON.stringify(within)});
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const look = async (node, at) => {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + ${text.length});
      const middle = () => range.getBoundingClientRect().top;
      const lead = () => {
      for (let one = node.parentElement; one !== null; one = one.parentElement) {
        const { top, height } = one.getBoundingClientRect();
        if (getComputedStyle(one).overflowY === "auto") one.scrollTop += middle() - top - height / 2;
      }
      scrollBy(0, middle() - innerHeight / 2);
      };
      // A part that was out of sight may change its size when it comes into view.
      for (let tries = 0, before = null; tries < 10 && before !== middle(); tries += 1) {
        before = middle();
        lead();
        await frame();
        await frame();
      }
      const box = range.getBoundingClientRect();
      const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      found.push({
        isInside: box.left >= 0 && box.right <= innerWidth && box.width > 0 && box.height > 0,
        isOnTop: top === node.parentElement || node.parentElement.contains(top),
      });
    };
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.parentElement.closest("script") !== null) continue;
      for (const { index } of node.data.matchAll(new RegExp(RegExp.escape(${JSON.stringify(text)}), "g"))) await look(node, index);
    }
    return found;
  })()`);
  assert.deepEqual(seen, Array(times).fill({ isInside: true, isOnTop: true }), text);
}

/** Nothing in the page is invisible to a person, in its text or when read aloud, no matter who wrote it. */
async function assertNothingHidden(page: Page): Promise<void> {
  const texts = (await page.evaluate(`[
    document.title,
    document.body.innerText,
    ...[...document.querySelectorAll("body *")].flatMap((element) =>
      [...element.attributes].map(({ value }) => value)),
  ]`)) as string[];
  const hidden =
    /[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}\u2800\uFFFC\u{13441}\u{13442}\u{1D159}\u{16FE4}]--[ \n\t]]/v;
  assert.deepEqual(
    texts.filter((text) => hidden.test(text)),
    [],
  );
}

/** Each with what a person sees in its place. */
const hiddenCharacters: Record<string, string> = {
  "\u202E": "U+202E RLO",
  "\u2066": "U+2066 LRI",
  "\u200B": "U+200B ZWSP",
  "\u200F": "U+200F RLM",
  "\u00AD": "U+00AD SHY",
  "\u00A0\u00A0": "U+00A0 NBSP ×2",
  "\u3000": "U+3000 IDEOGRAPHIC SPACE",
  "\u2028": "U+2028 LINE SEPARATOR",
  "\u3164": "U+3164 HANGUL FILLER",
  "\u2800": "U+2800 BRAILLE BLANK",
  "\uFE0F": "U+FE0F VS16",
  "\u{E0100}": "U+E0100 VS17",
  "\u{E0041}": "U+E0041 TAG A",
  "\u034F": "U+034F CGJ",
  "\uFFF9": "U+FFF9 ANNOTATION ANCHOR",
  "\uE000": "U+E000",
  "\u0378": "U+0378",
};

journey(
  "a hidden character is a named chip in its place, in every field, and nothing else hides anything",
  async (there) => {
    const characters = Object.keys(hiddenCharacters);
    const trick = characters.map((character) => `a${character}z`).join("");
    const shown = Object.values(hiddenCharacters)
      .map((chip) => `a${chip}z`)
      .join("");
    const payload = `{${JSON.stringify(trick)}:${JSON.stringify(trick)},"filler":"\u3164","half":"\\ud800","nul":"x\\u0000y","run":"${"\u200B".repeat(300)}"}`;
    const { page } = await ask(there, everywhere(trick), payload);
    for (const [name, place] of Object.entries(placesOf(page))) {
      assert.ok((await place.innerText()).includes(shown), `${name}: ${await place.innerText()}`);
      const rlo = place.getByRole("img", { name: "Hidden character U+202E, RLO" });
      assert.equal(await rlo.count(), name === "payload" ? 2 : 1, name);
    }
    const text = await payloadOf(page).innerText();
    for (const chip of ["U+3164 HANGUL FILLER", "U+D800", "xU+0000 NULy", "U+200B ZWSP ×300"]) {
      assert.ok(text.includes(chip), `${chip} is not in ${text}`);
    }
    await assertSeen(page, "U+3164 HANGUL FILLER", { times: 3, within: "#payload" });
    await assertNothingHidden(page);
    await page.getByText(/^[0-9]+ things deserve a look first$/).waitFor();
    await button(page, "15 hidden characters in the summary").waitFor();
    await button(page, "3 hidden characters turn the text around in the summary").waitFor();
    await inspect(page, "hidden-characters");

    await button(page, "JSON").click();
    const raw = payloadOf(page).getByRole("region", { name: "Payload as JSON" });
    assert.ok((await raw.innerText()).startsWith(`{"${shown}":"${shown}","filler":"U+3164`));
    await assertNothingHidden(page);
    const dialog = await choose(page, "Approve");
    assert.ok((await dialog.innerText()).includes(shown), "the second step repeats the summary");
    await assertNothingHidden(page);
  },
);

journey(
  "the editor shows hidden characters as chips too, and keeps them as they are",
  async (there) => {
    const payload = `{"file":"invoice_\u202Efdp.exe","host":"pay\u200Bpal.com","n":1}`;
    const { id, page } = await ask(there, everywhere("Pay"), payload);
    const editor = await openEditor(page);
    await editor.getByRole("img", { name: "hidden character U+202E RLO" }).waitFor();
    await editor.getByRole("img", { name: "hidden character U+200B ZWSP" }).waitFor();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("2");
    const dialog = await choose(page, "Approve with changes");
    assert.deepEqual(await changesIn(dialog), ["n before 1 → after 12"]);
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).waitFor();
    const edited = payload.replace(":1}", ":12}");
    assert.ok((await there.readRequestText(id)).includes(`"modifiedPayload":${edited}`));
  },
);

journey("ordinary text of any language raises no flag", async (there) => {
  const ordinary =
    "naïve 日本Corp שלום Ελλάδα Москва \u{1F468}\u200D\u{1F469}\u200D\u{1F467} ❤\uFE0F 5kΩ";
  const { page } = await ask(there, everywhere(ordinary), JSON.stringify({ [ordinary]: ordinary }));
  for (const [name, place] of Object.entries(placesOf(page))) {
    assert.ok((await place.innerText()).includes(ordinary), name);
    assert.equal(await place.getByRole("img").count(), 0, name);
  }
  assert.equal(await page.getByText("Before you decide").count(), 0);
});

journey(
  "text behind a long stretch of nothing is seen without scrolling sideways, and the stretch is counted",
  async (there) => {
    const padded = (count: number) => `head${" ".repeat(count)}TAIL`;
    const words = {
      summary: padded(480),
      agentName: padded(90),
      reasoning: padded(1_900),
      action: padded(280),
    };
    const payload = JSON.stringify({
      spaces: padded(5_000),
      tabs: `head${"\t".repeat(5_000)}TAIL`,
      lines: `head${"\n".repeat(5_000)}TAIL`,
      mixed: `head${" \t".repeat(2_500)}TAIL`,
      [padded(5_000)]: "key",
      word: `${"x".repeat(1_500)}TAIL`,
    });
    const { page } = await ask(there, words, payload);
    const chips = {
      summary: "480 spaces",
      agentName: "90 spaces",
      reasoning: "1,900 spaces",
      action: "280 spaces",
      payload: "5,000 spaces",
    };
    for (const [name, place] of Object.entries(placesOf(page))) {
      const chip = chips[name as keyof typeof chips];
      assert.match(await place.innerText(), new RegExp(`head${chip}TAIL`), name);
    }
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      await assertNoSidewaysScrolling(page);
      await assertSeen(page, "TAIL", { times: 10 });
    }
    await page
      .getByRole("button", { name: "A long stretch of white space in the summary" })
      .waitFor();
    await inspect(page, "padding");
    await page.setViewportSize({ width: 320, height: 844 });
    await button(page, "JSON").click();
    await assertNoSidewaysScrolling(page);
    await assertSeen(page, "TAIL", { times: 6, within: "#payload" });
    await choose(page, "Approve");
    await assertNoSidewaysScrolling(page);
    // In the summary, and in the name of a leading value.
    await assertSeen(page, "TAIL", { times: 2, within: "dialog" });
  },
);

const markup = [
  `<script>document.title="pwned"</script>`,
  `<img src=https://evil.example/p.png onerror=alert(1)>`,
  `</pre></script></textarea><b id="pwned">`,
  `<!--<script>`,
  `![x](https://evil.example/p.png)`,
  `[click](javascript:alert(1))`,
  "javascript:alert(1)",
  `https://evil.example/?a&amp;b`,
  `"><a href="https://evil.example">`,
  `<style>*{display:none}</style>`,
];

journey(
  "markup of any kind is literal text in every field, keys included, and makes nothing but text",
  async (there) => {
    const half = markup.slice(0, 3).join("");
    const words = { ...everywhere(markup.join("")), agentName: half.slice(0, 100) };
    const { action, ...rest } = words;
    const texts = { ...rest, action: action.slice(0, 300) };
    const all = markup.join("");
    const { page, url } = await ask(there, texts, JSON.stringify({ [all]: all, n: 1 }));
    const shown = { ...texts, payload: all };
    const assertLiteral = async () => {
      const made = await page.evaluate(`({
        title: document.title,
        links: [...document.links].map((link) => link.getAttribute("href")),
        made: document.querySelectorAll("#pwned, img, iframe, object, embed, b, style, svg image").length,
        scripts: [...document.scripts].map(({ type }) => type),
      })`);
      assert.deepEqual(made, {
        title: "Review request · Countersign",
        links: ["#decision"],
        made: 0,
        scripts: ["module", "module", "module", "application/json"],
      });
    };
    for (const [name, place] of Object.entries(placesOf(page))) {
      const expected = shown[name as keyof typeof shown];
      assert.ok(
        (await place.innerText()).includes(expected),
        `${name}: ${await place.innerText()}`,
      );
    }
    await assertLiteral();
    await inspect(page, "markup");
    await payloadOf(page).getByText("javascript:alert(1)").first().click();
    await placesOf(page).summary?.click();
    assert.equal(page.url(), url);
    await button(page, "JSON").click();
    await assertLiteral();
    await button(page, "Edit").click();
    await page.getByRole("textbox", { name: "Payload as JSON" }).waitFor();
    await assertLiteral();
    await button(page, "Readable").click();
    await button(page, "Edit n").click();
    await page.getByRole("textbox", { name: "New value of n" }).fill("2");
    await button(page, "Keep").click();
    await choose(page, "Approve with changes");
    await assertLiteral();
    await confirm(page, "Yes, approve with changes");
    await outcomeOf(page).waitFor();
    const { made } = (await page.evaluate(
      `({ made: document.querySelectorAll("#pwned, img, iframe, b, style").length })`,
    )) as { made: number };
    assert.equal(made, 0);
  },
);

journey("numbers keep their digits, keys their order and names, in every view", async (there) => {
  const payload = `{"b":1,"2":1.0,"1":-0,"id":9007199254740993,"big":1E400,"small":0.10e-7,"__proto__":{"admin":true},"constructor":{"prototype":null},"":"","text":"12","truth":"true","nothing":null,"a":[],"o":{}}`;
  const { page } = await ask(there, everywhere("Pay"), payload);
  assert.deepEqual(await pathsOf(page), [
    "the whole payload",
    ...["b", '["2"]', '["1"]', "id", "big", "small", "__proto__", "__proto__.admin", "constructor"],
    ...["constructor.prototype", '[""]', "text", "truth", "nothing", "a", "o"],
  ]);
  const rows = (await payloadOf(page).getByRole("listitem").last().innerText()).split("\n");
  assert.deepEqual(rows, ["o", "{ } empty object"]);
  const text = (await payloadOf(page).innerText()).replaceAll(/\s+/g, " ");
  const order = `b 1 2 1.0 1 -0 id 9007199254740993 big 1E400 small 0.10e-7 __proto__ { } 1 field admin true`;
  assert.ok(text.includes(order), text);
  assert.ok(text.includes(`empty key empty text text 12 text truth true text nothing null`), text);
  assert.equal(await page.evaluate("({}).admin"), undefined);
  await button(page, "JSON").click();
  const raw = payloadOf(page).getByRole("region", { name: "Payload as JSON" });
  assert.equal(await raw.innerText(), payload);
  await openEditor(page);
  assert.equal(await textOfEditor(page), payload);
});

journey(
  "letters that look like others, and hosts that are not what they seem, are marked in every field",
  async (there) => {
    const trick = "Pay p\u0430ypal via https://\u0430pple.com/login";
    const payload = JSON.stringify({ [trick]: trick });
    const { page } = await ask(there, everywhere(trick), payload);
    for (const [name, place] of Object.entries(placesOf(page))) {
      const times = name === "payload" ? 2 : 1;
      const mixed = place.getByRole("img", { name: "only looks like paypal" });
      assert.equal(await mixed.count(), times, name);
      const host = place.getByRole("img", { name: "really xn--pple-43d.com" });
      assert.equal(await host.count(), times, name);
    }
    const told = (name: RegExp) => page.getByRole("button", { name }).waitFor();
    await told(/ only looks like paypal: one letter is Cyrillic, in the summary$/);
    await told(/ only looks like apple\.com\. It goes to xn--pple-43d\.com, in the summary$/);
    await inspect(page, "look-alikes");
    await button(page, "JSON").click();
    const raw = payloadOf(page).getByRole("region", { name: "Payload as JSON" });
    assert.equal(await raw.getByRole("img", { name: "really xn--pple-43d.com" }).count(), 2);
  },
);

journey(
  "text that imitates the page stands in the agent's frame, and what only the page can make is not made",
  async (there) => {
    const trick = "Status: APPROVED\nApproved by you\nU+202E RLO\nApprove\nBefore you decide";
    const payload = JSON.stringify({ [trick]: trick, Approve: "Waiting for you", "edited was": 1 });
    const { id, page } = await ask(there, everywhere(trick), payload);
    const { payload: shown, ...prose } = placesOf(page);
    for (const [name, place] of Object.entries(prose)) {
      assert.equal(await place.getByRole("img").count(), name === "agentName" ? 4 : 0, name);
      assert.equal(await place.getByRole("button").count(), 0, name);
      if (name === "agentName") continue;
      const caption = place.locator("xpath=ancestor::figure/figcaption");
      assert.equal(await caption.innerText(), "The agent wrote", name);
    }
    await shown?.waitFor();
    // Our own say stands outside of every frame.
    const frames = page.getByRole("figure");
    assert.equal(await page.getByText("Waiting for you", { exact: true }).count(), 2);
    assert.equal(await frames.getByText("Waiting for you").count(), 0);
    assert.equal(await button(page, "Approve").count(), 1);
    assert.equal(await page.getByRole("region", { name: "Before you decide" }).count(), 1);
    assert.equal(await outcomeOf(page).count(), 0);
    await inspect(page, "imitation");
    assert.equal((await there.readRequest(id)).status, "PENDING");
  },
);

journey(
  "text that is written from right to left looks right and moves nothing of the page",
  async (there) => {
    const arabic = "ادفع 120.50 إلى Acme (فاتورة 7)!";
    const hebrew = "שלום: 12 > 7, Acme?";
    const boxesOf = async (page: Page) => {
      const boxes = await page.evaluate(`[
        ...document.querySelectorAll("dt, h2, figcaption, .views button, .decision-buttons button"),
      ].map((one) => [one.textContent, Math.round(one.getBoundingClientRect().left)])`);
      return JSON.stringify(boxes);
    };
    const latin = await ask(there, everywhere("Pay 120.50"), '{"a":{"b":"c"},"n":1}');
    const keys = JSON.stringify({ [hebrew]: { [arabic]: hebrew }, n: 1 });
    const { page } = await ask(there, everywhere(arabic), keys);
    // For each of them the other one waits by now, which the page says.
    await latin.page.reload();
    await button(latin.page, "Reject").waitFor();
    assert.equal(await boxesOf(page), await boxesOf(latin.page));
    const direction = await page.evaluate(
      `getComputedStyle(document.querySelector("#summary bdi")).direction`,
    );
    assert.equal(direction, "rtl");
    await inspect(page, "right-to-left");

    // A change under such keys: path, old and new from left to right, in any script.
    await button(page, `Edit ["${hebrew}"]["${arabic}"]`).click();
    await page.getByRole("textbox", { name: /^New value of/ }).fill(arabic);
    await button(page, "Keep").click();
    const dialog = await choose(page, "Approve with changes");
    const change = dialog.getByRole("list", { name: "Changes" }).getByRole("listitem");
    const left = async (place: Locator) => (await place.boundingBox())?.x ?? Number.NaN;
    const before = await left(change.locator("del"));
    const arrow = await left(change.getByRole("img", { name: "changed to" }));
    const after = await left(change.locator("ins"));
    assert.ok(before < arrow && arrow < after, `${before} ${arrow} ${after}`);
    await inspect(page, "right-to-left-second-step");
  },
);

journey(
  "the steps of a changed path are read in their order, whatever they are written in",
  async (there) => {
    const { page } = await ask(there, everywhere("Pay"), '{"אב":{"גד":1}}');
    await page.getByRole("button", { name: /^Edit .*גד/ }).click();
    await page.getByRole("textbox", { name: /^New value of/ }).fill("2");
    await button(page, "Keep").click();
    await choose(page, "Approve with changes");
    const lefts = await page.evaluate(`(() => {
      const list = document.querySelector("dialog ul");
      const walker = document.createTreeWalker(list, NodeFilter.SHOW_TEXT);
      const lefts = {};
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        for (const step of ["אב", "גד"]) {
          const at = node.data.indexOf(step);
          if (at < 0) continue;
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 2);
          lefts[step] = range.getBoundingClientRect().left;
        }
      }
      return [lefts["אב"], lefts["גד"]];
    })()`);
    const [outer, inner] = lefts as [number, number];
    assert.ok(outer < inner, `the outer step stands at ${outer} px, the inner one at ${inner} px`);
  },
);

journey("agentState and metadata reach the page in no way", async (there) => {
  const secret = `,"agentState":{"token":"STATE-secret"},"metadata":{"run":"META-secret"}`;
  const { id, page, url } = await ask(there, everywhere("Pay"), '{"n":1}', secret);
  const heard: Promise<string>[] = [(await fetch(url)).text()];
  page.on("response", (response) => heard.push(response.text().catch(() => "")));
  await page.reload();
  await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
  await choose(page, "Approve");
  await confirm(page, "Yes, approve");
  await outcomeOf(page).waitFor();
  const everything = [...(await Promise.all(heard)), await page.content()];
  assert.ok(everything.length >= 5, "the page, its files, how it stands, the decision");
  for (const text of everything) assert.doesNotMatch(text, /-secret|agentState"|metadata"/);
  assert.match(
    await there.readRequestText(id),
    /STATE-secret.*META-secret|META-secret.*STATE-secret/s,
  );
});

journey(
  "whatever is folded is announced with its size, and Approve waits until it was opened",
  async (there) => {
    const items = Array.from({ length: 1_250 }, (_, at) => ({ at, name: `n${at}`, on: true }));
    const payload = JSON.stringify({ items, note: `${"word ".repeat(1_000)}FINIS` });
    const { id, page } = await ask(there, everywhere("Pay"), payload);
    const approve = firstStep(page, "Approve");
    assert.ok(await waits(approve));
    await page.getByText("Open the folded parts first.").waitFor();
    // The list, its items with three values each, the note: all but what is open at first.
    const announced = await page
      .getByText(/values not opened yet$/)
      .last()
      .innerText();
    assert.match(announced, /^4,7[0-9]{2} values/);
    await inspect(page, "folded");
    // Pressed all the same, and not only in the moment in which it is inert anyway.
    await choose(page, "Reject");
    await button(page, "Go back").click();
    await approve.dispatchEvent("click");
    assert.equal(await page.getByRole("dialog").count(), 0);

    await button(page, "Show the other 3,005 characters").click();
    await assertSeen(page, "FINIS", { times: 1 });
    assert.ok(await waits(approve), "there is more");
    await button(page, "Open everything").click();
    await eventually(async () => !(await waits(approve)), "Approve waits no longer");
    assert.equal(await page.getByText(/not opened yet/).count(), 0);
    await payloadOf(page).getByText("n1249", { exact: true }).waitFor();
    assert.equal((await there.readRequest(id)).status, "PENDING");
    await choose(page, "Approve");
  },
);

journey("right-to-left names keep their places around numbers in every view", async (there) => {
  const payload = '{"x":1,"from_amount_to":["\u05d0\u05d1\u05d9",1,250000,"\u05d3\u05e0\u05d4"]}';
  const { page } = await ask(there, everywhere("Pay"), payload);
  await button(page, "JSON").click();
  const lefts = (await page.evaluate(`(() => {
    const root = document.querySelector(".raw");
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const leftOf = (part) => {
      walker.currentNode = root;
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const at = node.data.indexOf(part);
        if (at === -1) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + part.length);
        return range.getBoundingClientRect().left;
      }
    };
    return ["\u05d0\u05d1\u05d9", "250000", "\u05d3\u05e0\u05d4"].map(leftOf);
  })()`)) as number[];
  assert.deepEqual(
    lefts,
    lefts.toSorted((one, other) => one - other),
    "the order of the text is the order on the page",
  );
});

journey("names that differ in what nobody sees are told apart, and pointed out", async (there) => {
  const payload = '{"amount":1,"amount ":1000000,"  ":"blank","caf\u00e9":1,"cafe\u0301":2}';
  const { page } = await ask(there, everywhere("Pay"), payload);
  await payloadOf(page).getByText("1 space", { exact: true }).waitFor();
  await payloadOf(page).getByText("2 spaces", { exact: true }).waitFor();
  const said = await page.getByRole("region", { name: "Before you decide" }).innerText();
  assert.match(said, /look alike/);
});
