// The review page as a person uses it: through the names of its fields and buttons, in two steps.

import assert from "node:assert/strict";
import { errors, type Locator, type Page } from "playwright-core";
import { hangMs, until } from "../server/test/patience.ts";
import { type Allowances, assertClean, checkAccessibility, screenshot } from "./browser.ts";

type FirstStep = "Approve" | "Approve with changes" | "Reject";
type SecondStep =
  | "Yes, approve"
  | "Yes, approve with changes"
  | "Yes, reject"
  | "Sign and approve"
  | "Sign and approve with changes"
  | "Sign and reject";

/** Only paces: a press that comes sooner or later leads to the same. */
const pressAgainMs = 200;
/** A dialog that opens while a press is under way covers its button for good. A press on a large page takes seconds. */
const pressMs = hangMs / 4;

/** The first step. Its buttons do nothing in their first moment, so a press that comes too soon is repeated. */
export async function choose(page: Page, name: FirstStep): Promise<Locator> {
  const dialog = page.locator("dialog");
  await until(async () => {
    if (await dialog.isVisible()) return true;
    await press(firstStep(page, name));
    return dialog.waitFor({ timeout: pressAgainMs }).then(
      () => true,
      () => false,
    );
  }, `${name} leads to the second step`);
  return dialog;
}

async function press(control: Locator): Promise<void> {
  await control.click({ timeout: pressMs }).catch((error: unknown) => {
    if (!(error instanceof errors.TimeoutError)) throw error;
  });
}

/** Looked for in its own place: a payload may have tens of thousands of buttons. */
export function firstStep(page: Page, name: FirstStep): Locator {
  const bar = page.locator("#decision");
  return bar.getByRole("button", { name, exact: true });
}

/** The second step: a tick, and once the button is no longer inert a press on it. */
export async function confirm(page: Page, name: SecondStep): Promise<void> {
  await tick(page);
  const yes = page.locator("dialog").getByRole("button", { name, exact: true });
  await eventually(async () => !(await waits(yes)), `${name} is no longer inert`);
  await yes.click();
}

export async function tick(page: Page): Promise<void> {
  await page.locator("dialog .tick").getByRole("checkbox").check();
}

/** Both steps, until the page shows what became of it. */
export async function decide(page: Page, first: FirstStep, second: SecondStep): Promise<void> {
  await choose(page, first);
  await confirm(page, second);
  await outcomeOf(page).waitFor();
}

export function button(page: Page, name: string): Locator {
  return page.getByRole("button", { name, exact: true });
}

/** The frame with what the agent says for itself: summary, name and why. */
export function agentsWords(page: Page): Locator {
  return page.locator("main figure").first();
}

/** The outcome is the one region that is named by what became of the request. */
export function outcomeOf(page: Page): Locator {
  return page.getByRole("region", {
    name: /^(Approved by|Rejected by|Nobody|The request was cancelled)/,
  });
}

/** Whether a button is there but does nothing yet. */
export async function waits(locator: Locator): Promise<boolean> {
  return (await locator.getAttribute("aria-disabled")) === "true";
}

/** Opens the JSON editor and waits until it can be typed into. */
export async function openEditor(page: Page): Promise<Locator> {
  await button(page, "Edit").click();
  return editorOf(page);
}

export async function editorOf(page: Page): Promise<Locator> {
  const editor = page.getByRole("textbox", { name: "Payload as JSON" });
  await editor.waitFor();
  return editor;
}

/** As somebody does who selects all of it and pastes. */
export async function replaceText(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await (await editorOf(page)).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("ControlOrMeta+v");
}

/** The editor's text, line by line. */
export async function textOfEditor(page: Page): Promise<string> {
  const lines = (await editorOf(page)).locator(".cm-line");
  return (await lines.allTextContents()).join("\n");
}

/** As somebody does who looks at what is marked before they type: a page that is still settling moves between two clicks. */
export async function selectWord(editor: Locator, word: string): Promise<void> {
  await until(async () => {
    await editor.getByText(word).dblclick();
    return (await editor.page().evaluate("String(getSelection())")) === word;
  }, `${word} is marked`);
}

/** The changes that the second step, or an outcome, lists. */
export async function changesIn(place: Locator): Promise<string[]> {
  const items = place.getByRole("list", { name: "Changes" }).getByRole("listitem");
  return (await items.allInnerTexts()).map((item) => item.replaceAll(/\s+/g, " "));
}

/** Waits for what follows from something that has just happened. */
export async function eventually(
  look: () => Promise<boolean> | boolean,
  what: string,
): Promise<void> {
  await until(look, what);
}

/** As a reader does it who goes to the end of the payload. */
export async function untilApprovable(page: Page): Promise<void> {
  const approve = page.locator("#decision .button-primary");
  await eventually(async () => {
    // Into the middle: at the lower edge of the window it may lie behind the bar with the buttons.
    const end = `document.querySelector("#payload-end")`;
    // A page that opens another request has none for a moment.
    if (await page.evaluate(`${end} === null`)) return false;
    await page.evaluate(`${end}?.scrollIntoView({ block: "center" })`);
    return !(await waits(approve));
  }, "Approve waits no longer");
}

/** Each width and each colour scheme is looked at by axe-core once; a person who wants to see them sees all four. */
const allLooks = [
  { width: 390, colorScheme: "light", isChecked: true },
  { width: 1280, colorScheme: "light", isChecked: false },
  { width: 390, colorScheme: "dark", isChecked: false },
  { width: 1280, colorScheme: "dark", isChecked: true },
] as const;
const hasViewer = (process.env.TEST_SCREENSHOTS ?? "") !== "";
const looks = allLooks.filter(({ isChecked }) => isChecked || hasViewer);

/** A state of the page as it must always be: within reach of everybody, clean, and as wide as its window. */
export async function inspect(
  page: Page,
  name: string,
  allowances: Allowances = {},
): Promise<void> {
  const before = page.viewportSize();
  for (const { width, colorScheme, isChecked } of looks) {
    await page.emulateMedia({ colorScheme });
    await showWhole(page, width);
    if (isChecked) await checkAccessibility(page);
    await assertNoSidewaysScrolling(page);
    await screenshot(page, `${name}-${width}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: null });
  if (before !== null) await page.setViewportSize(before);
  await assertClean(page, allowances);
}

/** In a window so high that the bar with the buttons, which stays in sight, covers nothing. */
async function showWhole(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 844 });
  const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
  await page.setViewportSize({ width, height: Math.min(height, 5_000) });
}

export async function assertNoSidewaysScrolling(page: Page): Promise<void> {
  const [wanted, there] = (await page.evaluate(
    "[document.documentElement.scrollWidth, innerWidth]",
  )) as [number, number];
  assert.ok(wanted <= there, `the page is ${wanted} px wide in a window of ${there} px`);
}

/** The page hears of nothing that others do, as on a bad line. */
export async function deafen(page: Page): Promise<void> {
  await page.route("**/status", (route) => route.fulfill({ status: 503, body: "" }));
  await page.reload();
}
