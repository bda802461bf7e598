// Right-to-left letters move nothing around them: what counts is where each piece stands on the screen.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Journey, journeys } from "./journey.ts";
import { button, choose, openEditor } from "./review-page.ts";

const journey = journeys();

async function ask({ createRequest, mailedLink, visit }: Journey, body: object): Promise<Page> {
  await createRequest({ summary: "Pay", notify: "ann@example.com", ...body });
  const { url } = await mailedLink("ann@example.com");
  const page = await visit(url, { viewport: { width: 1280, height: 900 } });
  await button(page, "Reject").waitFor();
  return page;
}

/** Where each piece stands, line by line, looked for one after the other in the order of the document. */
async function placesOf(
  page: Page,
  within: string,
  pieces: readonly string[],
): Promise<{ line: number; left: number }[]> {
  const places = await page.evaluate(`(() => {
    const pieces = ${JSON.stringify(pieces)};
    const places = [];
    const all = (root) => [...root.childNodes].flatMap((node) => node.nodeType === 3 ? [node] :
      [...(node.shadowRoot ? all(node.shadowRoot) : []), ...all(node)]);
    const nodes = all(document.querySelector(${JSON.stringify(within)}));
    let at = 0;
    let from = 0;
    for (const piece of pieces) {
      for (; at < nodes.length; at += 1, from = 0) {
        const found = nodes[at].data.indexOf(piece, from);
        if (found < 0) continue;
        const range = document.createRange();
        range.setStart(nodes[at], found);
        range.setEnd(nodes[at], found + piece.length);
        const { left, top, height } = range.getBoundingClientRect();
        places.push({ left, line: Math.round((top + height / 2) / 16) });
        from = found + piece.length;
        break;
      }
    }
    return places;
  })()`);
  return places as { line: number; left: number }[];
}

/** Each piece stands behind the one before: to its right, or to its left where text runs from right to left. */
async function assertOrder(
  page: Page,
  within: string,
  pieces: readonly string[],
  direction: "ltr" | "rtl" = "ltr",
): Promise<void> {
  const places = await placesOf(page, within, pieces);
  assert.equal(places.length, pieces.length, `${within}: ${pieces}`);
  const sign = direction === "ltr" ? 1 : -1;
  const sorted = places.toSorted(
    (one, other) => one.line - other.line || sign * (one.left - other.left),
  );
  assert.deepEqual(places, sorted, `${within}: ${pieces}`);
}

const value = "100 אב 250 גד/5/הו.txt ١٢ ٣٤ ab شراء، 7";
const pieces = ["100", "אב", "250", "גד", "/5/", "הו", ".txt", "١٢", "٣٤", "ab", "شراء", "7"];

journey("a value stands in its stored order in every view, and says so", async (there) => {
  const page = await ask(there, { payload: { [value]: value, n: 1, plain: "שלום" } });
  await assertOrder(page, "#payload .scalar", pieces);
  await assertOrder(page, "#payload .key", pieces);
  const note = page.locator("#payload .value").getByText("right-to-left text, in stored order");
  assert.equal(await page.locator(".scalar-string").getByText("in stored order").count(), 0);
  assert.equal(await note.count(), 1, "the value that mixes, and not the plain one");
  await button(page, "JSON").click();
  await assertOrder(page, "#payload .raw", [...pieces, "שלום"]);
  await openEditor(page);
  await assertOrder(page, "#payload", [...pieces, "שלום"]);
});

journey("marks of direction that belong to such letters turn nothing in a value", async (there) => {
  const turned = "אב\u200F 12 \u200Fגד 34 הו\u200F 56";
  const page = await ask(there, { payload: { turned } });
  assert.equal(await page.getByText("Before you decide").count(), 0);
  await assertOrder(page, "#payload .scalar", ["אב", "12", "גד", "34", "הו", "56"]);
});

journey("a changed value and its path stand in their stored order", async (there) => {
  const page = await ask(there, { payload: { "אב/5/גד": "1" } });
  await page.getByRole("button", { name: /^Edit \[/ }).click();
  await page.getByRole("textbox", { name: /^New value of/ }).fill(value);
  await button(page, "Keep").click();
  await choose(page, "Approve with changes");
  await assertOrder(page, "dialog .change-path", ["אב", "/5/", "גד"]);
  await assertOrder(page, "dialog ins", pieces);
});

journey(
  "prose of mostly Latin letters is not turned by others, wherever they stand",
  async (there) => {
    const reasoning = "א 100 EUR to Bob, 5 EUR to Eve";
    const page = await ask(there, { summary: "Pay 100 א 200 ב 900 EUR", reasoning });
    await assertOrder(page, "#summary", ["Pay", "100", "א", "200", "ב", "900", "EUR"]);
    await assertOrder(page, "#reasoning", ["א", "100", "Bob", "5", "Eve"]);
  },
);

journey(
  "right-to-left prose reads naturally, and numbers and paths in it stay whole",
  async (there) => {
    const summary = "ادفع 120.50 إلى الحساب في a/אב/5/גד/b قبل 12/05/2026 واكتب إلى ann@x.de";
    const page = await ask(there, {
      summary,
      reasoning: "שלמו ב-5 מתוך 7 עד https://google.com@evil.com/a היום",
    });
    await assertOrder(page, "#summary", ["a/", "אב", "/5/", "גד", "/b"]);
    await assertOrder(page, "#summary", ["12/", "05/", "2026"]);
    await assertOrder(page, "#summary", ["ann", "@x", ".de"]);
    await assertOrder(page, "#reasoning", ["https:", "google.com@", "goes to", "evil.com/a"]);
    await assertOrder(page, "#summary", ["ادفع", "120.50", "إلى", "a/", "12/", "ann"], "rtl");
    const hebrew = ["שלמו", "5", "מתוך", "7", "https"];
    await assertOrder(page, "#reasoning", hebrew, "rtl");
  },
);

journey("a word with a joiner in it stays one word, in values and in prose", async (there) => {
  const persian = "من می\u200Cخواهم";
  const page = await ask(there, { summary: persian, payload: { text: persian } });
  for (const within of ["#summary", "#payload .scalar"]) {
    await assertOrder(page, within, ["من", "می", "خواهم"], "rtl");
    assert.equal(await page.locator(`${within} .faint`).count(), 1);
  }
  assert.equal(await page.getByText("Before you decide").count(), 0);
});

journey("marks piled on a letter end with its line, and struck text is told", async (there) => {
  const pile = `a${"\u030D\u0353".repeat(40)}`;
  const struck = "1\u03360\u03360\u0336";
  const page = await ask(there, {
    summary: `Pay ${pile} now`,
    payload: { above: 1, pile, struck, below: 1 },
  });
  const boxes = await page.evaluate(`[...document.querySelectorAll(".clipped")].map((one) => {
    const { overflow, fontSize } = getComputedStyle(one);
    const lines = one.getBoundingClientRect().height / Number.parseFloat(fontSize);
    return { overflow, isOneLine: lines <= 1.6 };
  })`);
  assert.deepEqual(boxes, Array(2).fill({ overflow: "clip", isOneLine: true }));
  await page.getByRole("img", { name: "80 marks on one letter" }).first().waitFor();
  await page.getByRole("img", { name: "struck through" }).waitFor();
  await button(page, "100 is struck through, but still counts, in struck").waitFor();
});
