// A real Chromium, and what no page of ours may do in it: write errors, break its own Content-Security-Policy, call
// another origin, or be out of reach for somebody who cannot see it or use a mouse.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AxeResults, Result } from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { hangMs, until } from "../server/test/patience.ts";

export const switches = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // The tabs of a visitor share a process, and so what it has compiled.
  "--renderer-process-limit=1",
  // Pages live for a second here: making their programs fast would take longer than they run.
  "--js-flags=--no-maglev --no-opt",
  // Nothing leaves this machine, even if a page is tricked into calling out.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
  `--disable-features=${disabledFeatures().join(",")}`,
];
/** A zone and a language that are not the service's, so that a mistake about either shows. */
const usualContext: BrowserContextOptions = {
  viewport: { width: 1280, height: 800 },
  locale: "en-GB",
  timezoneId: "Asia/Kolkata",
};
const accessibilityTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Chromium heeds only the last switch that names features, so that Playwright's own stand here once more
 * (browser.test.ts notices when one is missing).
 */
function disabledFeatures(): string[] {
  const playwrights = [
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
  ];
  // The address bar's drop-down is a page that every window loads and nobody sees here, for more work than our own.
  const popups = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];
  // Each visitor would start one more process, for a page that never comes.
  return [...playwrights, ...popups, "SpareRendererForSitePerProcess"];
}

const otherOrigin = "call to another origin:";
const problems = new WeakMap<BrowserContext, string[]>();

export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: switches });
}

/** A person with a browser of their own: no cookies, nothing stored. All that goes wrong in it is recorded. */
export async function openContext(
  browser: Browser,
  siteUrl: string,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ ...usualContext, ...options });
  context.setDefaultTimeout(hangMs);
  await record(context, new URL(siteUrl).origin);
  return context;
}

async function record(context: BrowserContext, origin: string): Promise<void> {
  const found: string[] = [];
  problems.set(context, found);
  await context.addInitScript({
    content: `document.addEventListener("securitypolicyviolation", (event) =>
      console.error("violation of " + event.effectiveDirective + " by " + (event.blockedURI || "?") +
        " at " + event.sourceFile + ":" + event.lineNumber + " " + event.sample))`,
  });
  context.on("console", (message) => {
    if (message.type() !== "error") return;
    found.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (fault) => {
    found.push(`page error: ${fault.error().stack ?? fault.error().message}`);
  });
  context.on("request", (request) => {
    if (leaves(request.url(), origin)) found.push(`${otherOrigin} ${request.url()}`);
  });
  context.on("page", (page) => {
    page.on("crash", () => found.push(`the page crashed: ${page.url()}`));
    page.on("websocket", (socket) => found.push(`websocket to ${socket.url()}`));
  });
}

function leaves(url: string, origin: string): boolean {
  return /^https?:/.test(url) && new URL(url).origin !== origin;
}

export type Allowances = {
  /** Answers of 400 and above that belong to the journey, such as "409 /review/". Chromium writes each to the console. */
  mayFail?: readonly `${number} /${string}`[];
  /** Part of an address whose connections the journey breaks itself, such as "/decision". */
  mayBreak?: string;
  /** Another origin that the journey leads to, such as a company's sign-in. */
  mayVisit?: string;
};

/** Nothing has gone wrong in this page or in any other tab of its context, so far. */
export async function assertClean(page: Page, allowances: Allowances = {}): Promise<void> {
  // Everything that Chromium sent before this answer has been recorded when it arrives.
  if (!page.isClosed()) await page.evaluate("0");
  assert.deepEqual(problemsOf(page.context(), allowances), [], "something went wrong in the page");
}

/** All that has gone wrong in this context so far, in words. */
export function problemsOf(context: BrowserContext, allowances: Allowances = {}): string[] {
  const { mayFail = [], mayBreak, mayVisit } = allowances;
  return (problems.get(context) ?? []).filter((problem) => {
    const broken = brokenConnection.exec(problem)?.[1];
    if (mayBreak !== undefined && broken?.includes(mayBreak)) return false;
    if (mayVisit !== undefined && problem.startsWith(`${otherOrigin} ${mayVisit}/`)) return false;
    const [, status = "", url] = failingAnswer.exec(problem) ?? [];
    if (isAskedAgain(Number(status))) return false;
    return !mayFail.some((allowed) => {
      const [allowedStatus, path = ""] = allowed.split(" ");
      return status === allowedStatus && url?.includes(path);
    });
  });
}

/** For a browser that another visitor gets. */
export function forgetProblems(context: BrowserContext): void {
  problems.get(context)?.splice(0);
}

/** Whether a page of this context has called another origin. */
export function hasLeft(context: BrowserContext): boolean {
  return (problems.get(context) ?? []).some((problem) => problem.startsWith(otherOrigin));
}

const brokenConnection = /^console: Failed to load resource: net::\S+ \((http[^)]+)\)$/;
const failingAnswer =
  /^console: Failed to load resource: .* a status of ([0-9]{3}) .*\((http[^)]+)\)$/;

/** A busy machine brings these about. Pages and agents ask again, so that they are no faults where the journey ends well. */
export function isAskedAgain(status: number): boolean {
  return status === 429 || status === 503;
}

/** As a person does it, who loads a page again that says it is busy. */
export async function open(page: Page, url: string): Promise<void> {
  await until(async () => {
    const answer = await page.goto(url);
    return answer === null || !isAskedAgain(answer.status());
  }, `${url} opens`);
}

/** Nothing moves any more, and nothing is still to come. Waited for before a page is judged as it stands. */
export async function untilStill(page: Page): Promise<void> {
  await until(async () => (await page.evaluate(isStill)) === true, "the page is still");
}

/** An animation without an end, such as a dot that pulses, is part of the stillness. */
const isStill = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const isMoving = ({ playState, effect }) =>
    playState === "running" && effect !== null && effect.getComputedTiming().endTime !== Infinity;
  const layout = () => JSON.stringify([
    scrollX, scrollY, innerWidth, innerHeight, document.getElementsByTagName("*").length,
    ...[...document.querySelectorAll("html, main, main > *, dialog, [role=dialog], [role=alertdialog]")].map(
      (one) => [one.scrollWidth, one.scrollHeight, one.getBoundingClientRect()]),
  ]);
  await document.fonts.ready;
  await frame();
  const before = layout();
  await frame();
  return document.readyState === "complete"
    && document.querySelector(".loading, .loading-lines, main [aria-busy=true]") === null
    && !document.getAnimations().some(isMoving)
    && layout() === before;
})()`;

let axeSource: Promise<string> | null = null;

/**
 * Fails with a list of what axe-core finds once the page is still. Answers with the rules that it could not decide by itself, such as
 * contrast on an image.
 */
export async function checkAccessibility(page: Page): Promise<string[]> {
  axeSource ??= readFile(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
  await untilStill(page);
  // None of these is subject to the page's Content-Security-Policy, which lets no other script in.
  const isThere = await page.evaluate("typeof axe !== 'undefined'");
  if (!isThere) await page.evaluate(`${await axeSource}; 0`);
  // Of what passes, one example each is enough: nobody reads more of it.
  const resultTypes = ["violations", "incomplete"];
  const options = { preload: false, runOnly: accessibilityTags, resultTypes };
  const results: Pick<AxeResults, "violations" | "incomplete"> = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations, incomplete }) => ({ violations, incomplete }))`,
  );
  const list = results.violations.map(describeViolation).join("\n");
  assert.ok(list === "", `axe-core finds on ${page.url()}:\n${list}`);
  return results.incomplete.map(({ id }) => id);
}

function describeViolation({ id, help, nodes }: Result): string {
  const places = nodes.map(({ target, html, failureSummary = "" }) => {
    const why = failureSummary.split("\n").slice(1).join(";").trim();
    return `    ${target.join(" ")}  ${html.slice(0, 120)}\n      ${why}`;
  });
  return [`  ${id}: ${help}`, ...places].join("\n");
}

/** Kept only where somebody asks to see them: TEST_SCREENSHOTS names the folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.TEST_SCREENSHOTS ?? "";
  if (folder === "") return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
