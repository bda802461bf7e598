// Journeys with webhook endpoints: what a person does to one at the dashboard, and what its receiver hears of it.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { makeEndpoint, type Receiver, startReceiver } from "../server/test/test-worker.ts";
import { isSignedByStandard, isSignedWith } from "../server/test/webhook-verifier.ts";
import {
  atTheDoor,
  columnSum,
  copyBox,
  enterAs,
  goAhead,
  goTo,
  inspectDialog,
  urlOf,
  windowOf,
} from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, eventually, inspect } from "./review-page.ts";

const journey = journeys({ environment: { WEBHOOK_RETRY_DELAYS: "50ms,50ms" } });

journey(
  "a very long URL takes two lines of a list, and its host is there",
  atTheDoor,
  async (there) => {
    const { site, workspace } = there;
    const url = `https://hook.example/${"a-very-long-part/".repeat(50)}`;
    const { id } = await makeEndpoint(site.db, workspace.id, url);
    await site.db.query("update endpoints set failing_since = now_ms() where id = $1", [id]);
    const { page } = await enterAs(there, "viewer");
    await page.setViewportSize({ width: 390, height: 844 });
    for (const [place, shown] of [
      ["/", ".needs-theirs"],
      ["/endpoints", ".cell-main .url"],
    ] as const) {
      await page.goto(urlOf(there, place));
      const text = page.locator(shown);
      await text.waitFor();
      const { height = 0 } = (await text.boundingBox()) ?? {};
      assert.ok(height > 20 && height < 60, `${shown} is ${height} px high`);
      assert.equal(await text.getAttribute("title"), url);
    }
    await inspect(page, "dashboard-long-url", atTheDoor);
  },
);

journey(
  "a failing endpoint is found out, mended, and what it missed is sent again",
  atTheDoor,
  async (there, t) => {
    let isBroken = true;
    const receiver = await startReceiver((response) => {
      response.statusCode = isBroken ? 500 : 200;
      response.end(isBroken ? "the disk is full" : "thanks");
    });
    t.after(() => receiver.close());
    const { page } = await enterAs(there, "admin");
    await goTo(page, "Webhooks");
    await page.getByRole("button", { name: /^Add/ }).first().click();
    await page.getByLabel("URL").fill(receiver.url);
    await inspectDialog(page, "dashboard-add-endpoint");
    await page.getByRole("dialog").getByRole("button", { name: "Add endpoint" }).click();
    assert.match(await copyBox(page, "Signing secret"), /^whsec_/);
    await page.getByRole("dialog").getByRole("button").last().click();
    const { id } = await there.createRequest({
      summary: "Refund order 1042",
      notify: "ann@example.com",
    });
    await eventually(() => receiver.heard.length === 3, "three attempts");
    await page.goto(urlOf(there, `/requests/${id}`));
    const delivery = page.locator(".delivery", { hasText: receiver.url });
    await eventually(
      async () => /500/.test((await delivery.textContent()) ?? ""),
      "the status is shown",
    );
    await delivery.locator(".delivery-toggle").click();
    await page.getByText("the disk is full").first().waitFor();
    await inspect(page, "dashboard-request-failing", atTheDoor);
    isBroken = false;
    await delivery.getByRole("button", { name: /^Resend/ }).click();
    await eventually(() => receiver.heard.length === 4, "it is sent again");
    const ids = new Set(receiver.heard.map(({ headers }) => headers["x-service-delivery-id"]));
    assert.equal(ids.size, 1, "under the same id");
    await eventually(
      async () => /Delivered/i.test((await delivery.textContent()) ?? ""),
      "and the page says so",
    );
  },
);

journey(
  "an endpoint is moved, given another secret and turned off for a while, and misses no event",
  atTheDoor,
  async (there, t) => {
    let isBroken = false;
    const before = await startReceiver();
    const after = await startReceiver((response) => {
      response.statusCode = isBroken ? 503 : 200;
      response.end(isBroken ? "back in a minute" : "thank you kindly");
    });
    t.after(() => Promise.all([before.close(), after.close()]));
    const { workspace, site } = there;
    const { id, secret } = await makeEndpoint(site.db, workspace.id, before.url);
    const { page } = await enterAs(there, "admin", { at: `/endpoints/${id}` });
    await move(page, after.url);
    await seeTestEvent(page, after);
    const newSecret = await rotate(page);
    assert.notEqual(newSecret, secret);
    const first = await askAndHear(there, after);
    for (const each of [secret, newSecret]) {
      const { headers, body } = first;
      assert.ok(isSignedWith(each, String(headers["x-service-signature"]), body));
      assert.ok(isSignedByStandard(each, headers, body));
    }
    // One that fails, and two that come while it is off.
    isBroken = true;
    const failed = await ask(there);
    await untilDeliveries(there, "failed", 1);
    isBroken = false;
    await turnOff(page, "The cluster moves on Friday");
    const missed = [await ask(there), await ask(there)];
    await untilDeliveries(there, "skipped", 2);
    const heardBefore = after.heard.length;
    await page.reload();
    await button(page, "Skipped").click();
    const lines = page.getByRole("table", { name: "Deliveries to this endpoint" });
    await eventually(async () => (await lines.getByRole("row").count()) === 3, "two lines");
    await inspect(page, "dashboard-endpoint-disabled", atTheDoor);
    assert.equal(await lines.getByText("Not sent: the endpoint was disabled.").count(), 2);
    assert.ok(await button(page, "Send test event").isDisabled());
    await button(page, "Enable").click();
    await page.getByRole("region", { name: "Disabled" }).waitFor({ state: "detached" });
    await button(page, "Resend all since …").click();
    await windowOf(page)
      .getByText("3 deliveries to this endpoint failed or were skipped")
      .waitFor();
    await inspectDialog(page, "dashboard-resend-since");
    await goAhead(page, "Resend");
    await page.getByText("3 deliveries are on their way again").waitFor();
    await untilDeliveries(there, "delivered", 5);
    const late = after.heard.slice(heardBefore).map(({ json }) => json.data.id);
    assert.deepEqual(late.toSorted(), [failed, ...missed].toSorted());
    assert.equal(before.heard.length, 0, "nothing goes where it was");
    await assertFigures(there, page, id);
  },
);

async function move(page: Page, url: string): Promise<void> {
  await button(page, "Change").click();
  const form = windowOf(page);
  await form.getByLabel("URL").fill(url);
  await form.getByLabel("Created and every outcome").uncheck();
  for (const kind of ["request.approved", "request.rejected", "request.expired"]) {
    await form.getByLabel(kind).uncheck();
  }
  await inspectDialog(page, "dashboard-change-endpoint");
  await goAhead(page, "Save");
  await page.getByRole("heading", { level: 1, name: url }).waitFor();
  await page.getByText("created, cancelled", { exact: true }).waitFor();
}

async function seeTestEvent(page: Page, receiver: Receiver): Promise<void> {
  await button(page, "Send test event").click();
  await page.getByText("Received and confirmed.").waitFor();
  assert.deepEqual(
    receiver.heard.map(({ json }) => json.event),
    ["webhook.test"],
  );
  await page.getByRole("link", { name: "See the webhook and the response" }).click();
  await page.getByText("Response", { exact: true }).click();
  await page.getByText("thank you kindly").waitFor();
  await page.goBack();
}

/** The secret is shown this once. */
async function rotate(page: Page): Promise<string> {
  await button(page, "Rotate secret").click();
  await button(page, "Make a new secret").click();
  const shown = await copyBox(page, "Signing secret");
  assert.match(shown, /^whsec_/);
  await inspectDialog(page, "dashboard-new-secret");
  await page.keyboard.press("Escape");
  assert.equal(await copyBox(page, "Signing secret"), shown, "it does not go by accident");
  await goAhead(page, "I have stored the secret");
  assert.ok(!(await page.content()).includes(shown));
  return shown;
}

async function turnOff(page: Page, reason: string): Promise<void> {
  await button(page, "Disable").click();
  await windowOf(page).getByLabel("Reason").fill(reason);
  await goAhead(page, "Disable this endpoint");
  const state = page.getByRole("region", { name: "Disabled" });
  await state.getByText(reason).waitFor();
}

let orders = 1_041;

async function ask({ createRequest }: Journey): Promise<string> {
  orders += 1;
  const { id } = await createRequest({
    summary: `Refund order ${orders}`,
    notify: "ann@example.com",
  });
  return id;
}

async function askAndHear(there: Journey, { heard }: Receiver) {
  const id = await ask(there);
  const find = () => heard.find(({ json }) => json.data.id === id);
  await eventually(() => find() !== undefined, "the event");
  const found = find();
  assert.ok(found);
  return found;
}

async function untilDeliveries({ site, workspace }: Journey, state: string, count: number) {
  await eventually(async () => {
    const { rows } = await site.db.query(
      `select count(*)::int as count from deliveries
       where workspace_id = $1 and endpoint_id is not null and state = $2`,
      [workspace.id, state],
    );
    return rows[0].count === count;
  }, `${count} ${state}`);
}

/** The page's figures of the last days match the attempts. */
async function assertFigures({ site, workspace }: Journey, page: Page, id: string) {
  const { rows } = await site.db.query(
    `select count(*) filter (where a.outcome = 'delivered')::int as arrived,
       count(*) filter (where a.outcome <> 'delivered')::int as failed
     from attempts a join deliveries d on d.workspace_id = a.workspace_id and d.id = a.delivery_id
     where d.workspace_id = $1 and d.endpoint_id = $2`,
    [workspace.id, id],
  );
  const { arrived, failed } = rows[0];
  assert.deepEqual({ arrived, failed }, { arrived: 5, failed: 3 });
  await page.reload();
  await page.getByText(`of ${arrived + failed} attempts arrived`).waitFor();
  await page.getByText("63%", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Show as table.*Attempts per day$/ }).click();
  await page.getByRole("region", { name: "Attempts per day, as a table" }).waitFor();
  assert.equal(await columnSum(page, "Attempts per day", "Arrived"), arrived);
  assert.equal(await columnSum(page, "Attempts per day", "Failed"), failed);
  await inspect(page, "dashboard-endpoint-table", atTheDoor);
}
