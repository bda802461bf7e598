// Takes the pictures of docs/images: the review page with numbers that its text explains, the tour of the dashboard, and
// the review page without numbers for the README.
//
//   TEST_SCREENSHOTS=docs/images npm test -- e2e/docs-pictures.test.ts
//
// Without that variable nobody wants to see them, and it is skipped.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { makeEndpoint, startReceiver } from "../server/test/test-worker.ts";
import { untilStill } from "./browser.ts";
import { atTheDoor, enterAs, urlOf } from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, choose, decide, eventually, tick } from "./review-page.ts";

const folder = process.env.TEST_SCREENSHOTS ?? "";
const journey = folder === "" ? () => {} : journeys();
const colours = ["light", "dark"] as const;

const phone = { viewport: { width: 390, height: 844 } };
const desk = { viewport: { width: 960, height: 640 } };
/** Twice the width that a page gives it, so that a picture is sharp: 390 and 720 pixels. */
const pixelsAcross = { phone: 780, desk: 1_440 };
const quality = 72;
/** All of the second step, with a little of the page above it. */
const secondStepHeight = 1_020;

const refund = {
  summary: "Refund order 1042 (49.50 EUR)",
  notify: "ann@example.com",
  agentName: "refund-agent",
  reasoning:
    "The customer returned the parcel unopened on Monday. The shop's terms give the full price back within 30 days.",
  recentActions: ["Read the return note of order 1042", "Checked that it was not refunded before"],
  payload: { orderId: 1042, amount: 49.5, currency: "EUR", to: "DE89 3704 0044 0532 0130 00" },
};

journey("the review page and its second step, with numbers", async (there) => {
  await there.site.db.query("update workspaces set name = 'Acme Shop' where id = $1", [
    there.workspace.id,
  ]);
  await there.createRequest(refund);
  const page = await there.visit((await there.mailedLink(refund.notify)).url, phone);
  await page.getByText("Waiting for you").waitFor();
  await takeIn("light", page, "review", []);
  await growToContent(page);
  await takeBoth(page, "review-page", [
    page.locator("#summary"),
    page.locator("#agent-name"),
    page.locator("#reasoning"),
    page.locator(".deadline"),
    page.locator("#payload h2"),
    page.locator("#actions-title"),
    page.locator("#decision"),
  ]);
  await page.setViewportSize(phone.viewport);
  await button(page, "Edit amount").click();
  await page.getByRole("textbox", { name: "New value of amount" }).fill("45.5");
  await page.keyboard.press("Enter");
  const dialog = await choose(page, "Approve with changes");
  await takeIn("dark", page, "approve", []);
  await tick(page);
  await page.setViewportSize({ ...phone.viewport, height: secondStepHeight });
  await takeBoth(page, "second-step", [
    dialog.locator("h2").first(),
    dialog.locator(".changes"),
    dialog.getByRole("checkbox"),
    dialog.getByRole("button", { name: "Yes, approve with changes" }),
  ]);
});

journey("the tour of the dashboard", atTheDoor, async (there, t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  await there.site.db.query("update workspaces set name = 'Acme Shop' where id = $1", [
    there.workspace.id,
  ]);
  await makeEndpoint(there.site.db, there.workspace.id, receiver.url);
  await makePast(there);
  const decided = await there.createRequest(refund);
  const review = await there.visit((await there.mailedLink(refund.notify, decided.id)).url);
  await decide(review, "Approve", "Yes, approve");
  for (const [summary, agentName] of [
    ["Delete 12,000 stale rows in reporting", "cleaner"],
    ["Send the newsletter to 80,000 people", "newsletter"],
    ["Refund order 1043 (18.50 EUR)", "refund-agent"],
  ] as const) {
    await there.createRequest({ ...refund, summary, agentName });
  }
  await eventually(() => receiver.heard.length >= 5, "webhooks");
  const { page } = await enterAs(there, "owner", desk);
  const endpoint = await there.site.db.query<{ id: string }>(
    "update endpoints set url = 'https://shop.example/hooks/countersign' where workspace_id = $1 returning id",
    [there.workspace.id],
  );
  for (const [name, path, seen] of [
    ["overview", "", "Median"],
    ["requests", "/requests", "Delete 12,000 stale rows"],
    ["request", `/requests/${decided.id}`, "Approved by"],
    ["endpoint", `/endpoints/${endpoint.rows[0]?.id}`, "Attempts"],
  ] as const) {
    await page.goto(urlOf(there, path));
    await page.getByText(seen).first().waitFor();
    await takeBoth(page, `dashboard-${name}`, []);
  }
});

/** Decided requests of the last two weeks, so that the figures have something to show. */
async function makePast({ site, workspace }: Journey): Promise<void> {
  await site.db.query(
    `insert into approvals (workspace_id, id, status, summary, agent_name, approver_email, created_at, expires_at,
       resolved_at, resolved_by_email)
     select $1, 'req_' || lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
         || right(replace(gen_random_uuid()::text, '-', ''), 20),
       status, 'Refund order ' || (900 + n), 'refund-agent', 'ann@example.com', at, at + interval '1 day',
       case status when 'EXPIRED' then at + interval '1 day' else at + (n % 17 + 1) * interval '1 minute' end,
       case when status in ('APPROVED', 'REJECTED') then 'ann@example.com' end
     from (
       select n, now_ms() - (1 + n % 13) * interval '1 day' - (n * 37 % 500) * interval '1 minute' as at,
         case when n % 9 = 0 then 'EXPIRED' when n % 5 = 0 then 'REJECTED' else 'APPROVED' end as status
       from generate_series(1, 96) as n
     ) as past`,
    [workspace.id],
  );
}

/** So high that the bar with the buttons, which stays in sight, covers nothing. */
async function growToContent(page: Page): Promise<void> {
  const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
  await page.setViewportSize({ width: phone.viewport.width, height });
}

async function takeBoth(page: Page, name: string, numbered: Locator[]): Promise<void> {
  for (const colorScheme of colours) await takeIn(colorScheme, page, name, numbered);
}

async function takeIn(
  colorScheme: (typeof colours)[number],
  page: Page,
  name: string,
  numbered: Locator[],
): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await untilStill(page);
  const places = await Promise.all(numbered.map((each) => each.boundingBox()));
  await page.evaluate(numbersAt(places.map((place) => place?.y ?? 0)));
  await take(page, `${name}-${colorScheme}`);
  await page.evaluate(
    "document.querySelectorAll('.picture-number').forEach((one) => one.remove())",
  );
}

/** Numbers in circles at the right edge, each as high as the thing that it names, on top of any window. */
function numbersAt(heights: number[]): string {
  return `(() => {
    const host = document.querySelector("dialog[open]") ?? document.body;
    for (const [at, y] of ${JSON.stringify(heights)}.entries()) {
      const number = document.createElement("div");
      number.className = "picture-number";
      number.textContent = String(at + 1);
      Object.assign(number.style, {
        position: "fixed", right: "3px", top: Math.max(2, y - 2) + "px",
        width: "22px", height: "22px", borderRadius: "50%", zIndex: "9999", font: "650 13px/22px system-ui",
        textAlign: "center", color: "white", background: "oklch(47% 0.17 300)", boxShadow: "0 0 0 2px white",
      });
      host.append(number);
    }
  })()`;
}

/** Chromium's own WebP: a third of the PNG, and Playwright doesn't offer it. */
async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { width, height } = page.viewportSize() ?? phone.viewport;
  const across = width === phone.viewport.width ? pixelsAcross.phone : pixelsAcross.desk;
  const y = Number(await page.evaluate("scrollY"));
  const clip = { x: 0, y, width, height, scale: across / width };
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality, clip });
  await session.detach();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.webp`), Buffer.from(data, "base64"));
}
