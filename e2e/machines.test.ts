// Machines open mailed links, run their scripts and press buttons, and other pages try to act through a browser that
// holds one. None of them decides anything.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import { shownText } from "../server/src/domain/shown/shown-text.ts";
import type { ReviewPage } from "../server/src/wire/review-contract.ts";
import { until } from "../server/test/patience.ts";
import type { ReceivedMail } from "../server/test/test-mailbox.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, eventually } from "./review-page.ts";

const journey = journeys();
const body = {
  summary: "Refund order 1042",
  notify: "ann@example.com",
  payload: { amount: 120.5 },
};

async function ask({ createRequest, mailedLink }: Journey) {
  const { id } = await createRequest(body);
  const { url, mail } = await mailedLink("ann@example.com");
  return { id, url, mail };
}

journey(
  "a machine that opens the links of a mail 100 times, and presses what it finds once, decides nothing",
  async (there) => {
    const { id, url, mail } = await ask(there);
    const before = await there.readRequestText(id);
    const links = linksIn(mail, there.site.url);
    assert.deepEqual(
      links.filter((link) => link !== there.site.url),
      [url],
      "one neutral link",
    );
    for (let count = 0; count < 100; count += 1) {
      for (const link of links) await openBothWays(link);
    }
    const page = await there.visit(url);
    // So many calls use up what one link may make in a minute, and then the page is loaded again.
    const load = () => until(async () => (await page.goto(url))?.ok() === true, "the page again");
    for (let count = 0; count < 10; count += 1) {
      await load();
      await button(page, "Approve").waitFor();
    }
    await page.getByRole("button").first().click();
    for (const name of ["Approve", "Reject"]) {
      await load();
      await button(page, name).click();
    }
    // However long it waits before it presses once.
    await load();
    await eventually(async () => {
      await button(page, "Approve").dispatchEvent("click");
      return page.getByRole("dialog").isVisible();
    }, "the second step");
    await load();
    await button(page, "Approve").waitFor();
    assert.deepEqual(await page.context().cookies(), [], "no cookie is ever set");
    assert.equal(await there.readRequestText(id), before);
  },
);

/** Everything that a machine would take for an address, in either part of a mail. */
function linksIn({ text, html }: ReceivedMail, siteUrl: string): string[] {
  const found = `${text} ${html}`.match(/https?:\/\/[^\s"<>]+[^\s"<>.]/g) ?? [];
  return [...new Set(found)].filter((link) => link.startsWith(siteUrl));
}

async function openBothWays(link: string): Promise<void> {
  for (const method of ["GET", "HEAD"]) {
    const response = await fetch(link, { method });
    await response.text();
    assert.equal(response.headers.get("set-cookie"), null);
  }
}

journey(
  "a machine that presses every button of the page once, in order, decides nothing",
  async (there) => {
    const { id, url } = await ask(there);
    const page = await there.visit(url);
    await button(page, "Approve").waitFor();
    const pressed = await page.evaluate(`(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const buttons = [...document.querySelectorAll("button, a")];
      for (const one of buttons) one.click();
      return buttons.map((one) => one.textContent);
    })()`);
    assert.ok((pressed as string[]).includes("Approve"));
    assert.equal((await there.readRequest(id)).status, "PENDING");
  },
);

/** A page of somebody else, in a browser of its own: what it calls is not ours to count. */
async function strangerPage(t: TestContext, page: Page, html: string) {
  const server = http.createServer((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8").end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = page.context().browser();
  assert.ok(browser !== null);
  const context = await browser.newContext();
  t.after(async () => {
    await context.close();
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { stranger: await context.newPage(), address };
}

journey("in a frame of another page nothing of the request is shown", async (there, t) => {
  const { url } = await ask(there);
  const page = await there.visit(url);
  const refused = async (html: string) => {
    const { stranger, address } = await strangerPage(t, page, html);
    await stranger.goto(address);
    await eventually(() => stranger.frames().length === 2, "the frame is there");
    const [, frame] = stranger.frames();
    await frame?.waitForLoadState();
    assert.equal(frame?.url(), "chrome-error://chromewebdata/");
    assert.doesNotMatch((await frame?.content()) ?? "", /Refund|Approve|review-data/);
  };
  await refused(`<!doctype html><iframe src="${url}"></iframe>`);
  await refused(
    `<!doctype html><iframe sandbox="allow-scripts allow-forms" src="${url}"></iframe>`,
  );
});

journey("a decision that another page sends is refused, whatever it contains", async (there, t) => {
  const { id, url } = await ask(there);
  const page = await there.visit(url);
  const decision = await decisionOf(page);
  const address = JSON.stringify(`${url}/decision`);
  const text = JSON.stringify(decision);
  const attempts = {
    "a fetch": `<script>fetch(${address}, { method: "POST", mode: "no-cors", credentials: "include", body: ${text} })</script>`,
    "a fetch that asks first": `<script>fetch(${address}, { method: "POST", headers: { "content-type": "application/json" }, body: ${text} })</script>`,
    "a beacon": `<script>navigator.sendBeacon(${address}, ${text})</script>`,
    "a form": `<form method="post" enctype="text/plain" action=${address}><input name='${decision.slice(0, -1)},"a":"' value='"}'></form><script>document.forms[0].submit()</script>`,
    "a frame without an origin": `<script>onmessage = () => { document.title = "sent" }</script><iframe sandbox="allow-scripts" srcdoc="${escaped(`<script>fetch(${address}, { method: "POST", mode: "no-cors", body: ${text} }).finally(() => parent.postMessage("", "*"))</script>`)}"></iframe>`,
  };
  for (const [name, html] of Object.entries(attempts)) {
    const { stranger, address: strange } = await strangerPage(t, page, `<!doctype html>${html}`);
    const statuses: number[] = [];
    stranger.on("response", async (response) => {
      if (response.url() === `${url}/decision`) statuses.push(response.status());
    });
    stranger.on("requestfailed", (failed) => {
      if (failed.url() === `${url}/decision`) statuses.push(0);
    });
    await stranger.goto(strange, { waitUntil: "commit" });
    // An observer doesn't always hear of a frame without an origin, so the frame reports itself.
    const isSent = async () => statuses.length > 0 || (await stranger.title()) === "sent";
    await eventually(isSent, `${name} is answered`);
    assert.ok(
      statuses.every((status) => status === 0 || status >= 400),
      `${name}: ${statuses}`,
    );
    assert.equal((await there.readRequest(id)).status, "PENDING", name);
  }
  // The same words count when they come from our own page.
  const status = await page.evaluate(
    `fetch(${address}, { method: "POST", headers: { "content-type": "application/json" }, body: ${text} }).then(({ status }) => status)`,
  );
  assert.equal(status, 200);
  assert.equal((await there.readRequest(id)).status, "APPROVED");
});

/** The call that the page itself would send. */
async function decisionOf(page: Page): Promise<string> {
  const data = await page.locator("#review-data").textContent();
  const { kind, ...rest } = JSON.parse(data ?? "") as ReviewPage;
  assert.ok(kind === "review" && "review" in rest);
  const digest = createHash("sha256").update(shownText(rest.review)).digest("hex");
  return JSON.stringify({ verdict: "approve", digest, ticket: rest.review.ticket });
}

function escaped(html: string): string {
  return html.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}
