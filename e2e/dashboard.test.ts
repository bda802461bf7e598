// Journeys at the dashboard, with real mail, real webhooks and a real Chromium.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { makeMember } from "../server/test/test-dashboard.ts";
import { makeWorkspace } from "../server/test/test-service.ts";
import { startReceiver, until } from "../server/test/test-worker.ts";
import { copyBox, enterAs, goTo, signInByCode } from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import { button, decide, eventually, inspect } from "./review-page.ts";

const journey = journeys({ environment: { WEBHOOK_RETRY_DELAYS: "50ms,50ms" } });
/** Whoever is not signed in yet is told so, once. */
const atTheDoor = { mayFail: ["401 /app/api/me"] } as const;

const run = promisify(execFile);

function urlOf({ site, workspace }: Journey, path: string): string {
  return `${site.url}/app/w/${workspace.id}${path}`;
}

journey(
  "from an empty workspace to the first approved request, with nothing but the page",
  atTheDoor,
  async (there) => {
    const { page, email } = await enterAs(there, "owner");
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    await inspect(page, "dashboard-first-steps", atTheDoor);
    await page.getByRole("button", { name: /^Create (a|another) key$/ }).click();
    const line = await copyBox(page, "Ask for an approval");
    assert.match(line, /^curl /);
    // As it would be pasted into a terminal.
    const { stdout } = await run("bash", ["-c", line]);
    const { id } = JSON.parse(stdout.slice(stdout.indexOf("{")));
    await page.getByText("It has arrived:").waitFor();
    await inspect(page, "dashboard-first-steps-asked", atTheDoor);
    const review = await there.visit((await there.mailedLink(email, id)).url);
    await decide(review, "Approve", "Yes, approve");
    await page.getByText("The request was approved. All steps are done.").waitFor();
    await inspect(page, "dashboard-first-steps-done", atTheDoor);
  },
);

journey(
  "a viewer who was invited joins, sees everything and changes nothing",
  { mayFail: ["401 /app/api/me", "403 /app/api/"] },
  async (there) => {
    await there.createRequest({
      summary: "Refund order 1042",
      notify: "ann@example.com",
      agentState: { step: 3 },
    });
    const { page: owner } = await enterAs(there, "owner");
    await goTo(owner, "People");
    await button(owner, "Invite").click();
    await owner.getByLabel("Mail address").fill("new-viewer@example.com");
    await button(owner, "Send invitation").click();
    await owner.getByText("new-viewer@example.com").first().waitFor();
    const mail = await until(
      () =>
        there.site.mails.find(({ recipients }) => recipients.includes("new-viewer@example.com")) ??
        null,
      "the invitation",
    );
    assert.match(mail.text, /invited/i);
    const page = await there.visit(`${there.site.url}/app`);
    await inspect(page, "dashboard-sign-in", atTheDoor);
    await signInByCode(there, page, "new-viewer@example.com");
    await button(page, "Join").waitFor();
    await inspect(page, "dashboard-invited", atTheDoor);
    await button(page, "Join").click();
    await goTo(page, "Requests");
    await page.getByText("Refund order 1042").first().click();
    await page.getByText("Agent state").first().waitFor();
    assert.equal(
      await page.getByRole("button", { name: /Withdraw|Send the mail again/ }).count(),
      0,
    );
    for (const [place, forbidden] of [
      ["API keys", /Create/],
      ["Webhooks", /Add/],
      ["People", /Invite|Remove/],
      ["Settings", /Save/],
    ] as const) {
      await goTo(page, place);
      assert.equal(
        await page.locator("main").getByRole("button", { name: forbidden }).count(),
        0,
        place,
      );
    }
    // And whoever gets around the page is refused by the service.
    const status = await page.evaluate(
      `fetch("/app/api/workspaces/${there.workspace.id}/keys", { method: "POST", body: '{"name":"x"}' }).then(({ status }) => status)`,
    );
    assert.equal(status, 403);
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

journey("a key that was revoked is refused by the very next call", atTheDoor, async (there) => {
  const { page } = await enterAs(there, "admin");
  await goTo(page, "API keys");
  await page
    .getByRole("button", { name: /^Create/ })
    .first()
    .click();
  await page.getByLabel("Name").fill("Refund agent");
  await button(page, "Create key").click();
  const key = await copyBox(page, "API key");
  const list = () =>
    fetch(`${there.site.address}/v1/requests`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal((await list()).status, 200);
  await page.getByRole("dialog").getByRole("button").last().click();
  await page.getByRole("button", { name: "Revoke Refund agent" }).click();
  await inspectDialog(page, "dashboard-revoke-key");
  await button(page, "Revoke this key").click();
  await page.getByRole("alertdialog").waitFor({ state: "detached" });
  assert.equal((await list()).status, 401);
});

journey("a passkey signs in without any mail", atTheDoor, async (there) => {
  const { page, email } = await enterAs(there, "viewer");
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(`${there.site.url}/app/account`);
  await button(page, "Add passkey").click();
  await page.getByRole("dialog").getByLabel("Name").fill("My laptop");
  await button(page, "Go on").click();
  await page.getByText("My laptop").first().waitFor();
  await inspect(page, "dashboard-account-passkey", atTheDoor);
  await button(page, "Sign out").click();
  const mailsBefore = there.site.mails.length;
  await button(page, "Use a passkey").click();
  await page.getByRole("navigation", { name: "Workspace" }).waitFor();
  assert.equal(there.site.mails.length, mailsBefore);
  await page.goto(`${there.site.url}/app/account`);
  await page.getByText(email).first().waitFor();
});

journey(
  "a workspace is run from its pages, and another one is a choice away",
  { mayFail: ["401 /app/api/me", "400 /app/api/"] },
  async (there) => {
    const { page, email } = await enterAs(there, "owner");
    const { id: otherId } = await makeWorkspace(there.site.db, { name: "Other Shop" });
    await makeMember(there.site.db, { workspaceId: otherId, email, role: "viewer" });
    // New requests appear by themselves, and are found by the beginning of a word.
    await there.createRequest({ summary: "Refund order 1042", notify: "ann@example.com" });
    await goTo(page, "Requests");
    await page.getByText("Refund order 1042").first().waitFor();
    await there.createRequest({ summary: "Delete stale rows", notify: "ann@example.com" });
    await page.getByText("Delete stale rows").first().waitFor();
    await page.getByPlaceholder("Search summary or id").fill("ref");
    await page.getByText("Delete stale rows").first().waitFor({ state: "detached" });
    assert.match(page.url(), /search=ref/);
    await page.reload();
    await page.getByText("Refund order 1042").first().waitFor();
    assert.equal(await page.getByText("Delete stale rows").count(), 0);
    // A group that agents can ask.
    await page.goto(urlOf(there, "/people?tab=groups"));
    await page.getByRole("button", { name: "Create group" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Finance");
    await dialog.getByLabel("Key").fill("finance");
    await dialog.getByLabel("Members").fill("ann@example.com");
    await dialog.getByRole("button", { name: "Create group" }).click();
    await button(page, "Rename Finance").waitFor();
    await there.createRequest({ summary: "Pay the rent", notify: "group:finance" });
    // Settings, and who changed them.
    await goTo(page, "Settings");
    await page.getByLabel("Default expiry").fill("3");
    await button(page, "Save changes").click();
    await page
      .getByText(/from 5 to 10080/)
      .first()
      .waitFor();
    await page.getByLabel("Default expiry").fill("60");
    await button(page, "Save changes").click();
    await page.getByText("Everything is saved.").waitFor();
    await page.goto(urlOf(there, "/settings?tab=activity"));
    await page.getByText(email).first().waitFor();
    // Somewhere else one may be somebody else.
    await page.getByRole("button", { name: /^Workspace: Acme Shop/ }).click();
    await page.getByRole("menuitem", { name: /Other Shop/ }).click();
    await page.waitForURL(new RegExp(otherId));
    await page.getByRole("button", { name: /^Workspace: Other Shop.*Viewer/ }).waitFor();
  },
);

journey(
  "every page is within reach of everybody, and stays in its window",
  { mayFail: ["401 /app/api/me", "404 /app/api/"] },
  async (there, t) => {
    const { workspace, site } = there;
    await there.makeGroup(["ann@example.com", "ben@example.com"]);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { page, email } = await enterAs(there, "owner");
    await page.evaluate(
      `fetch("/app/api/workspaces/${workspace.id}/endpoints", { method: "POST", body: JSON.stringify({ url: ${JSON.stringify(receiver.url)}, eventKinds: null }) })`,
    );
    const ids: string[] = [];
    for (const summary of [
      "Refund order 1042 (49.00 EUR)",
      "Delete 12,000 stale rows in reporting",
      "Send the newsletter to 80,000 people",
    ]) {
      const request = await there.createRequest({
        summary,
        notify: "group:finance",
        agentName: "payer",
        reasoning: "The parcel came back unopened.",
        recentActions: ["Read the note", "Looked up the order"],
        payload: { orderId: 1042, amount: 49 },
        agentState: { step: 3 },
      });
      ids.push(request.id);
    }
    const review = await there.visit((await there.mailedLink("ann@example.com", ids[0])).url);
    await decide(review, "Approve", "Yes, approve");
    await eventually(() => receiver.heard.length === 4, "webhooks");
    const { rows } = await site.db.query(
      "select id, endpoint_id from deliveries where workspace_id = $1 and endpoint_id is not null limit 1",
      [workspace.id],
    );
    const paths = {
      overview: "",
      requests: "/requests",
      "requests-none": "/requests?search=nothing-like-it",
      request: `/requests/${ids[0]}`,
      "request-pending": `/requests/${ids[1]}`,
      "request-unknown": "/requests/req_unknown",
      delivery: `/deliveries/${rows[0].id}`,
      endpoints: "/endpoints",
      endpoint: `/endpoints/${rows[0].endpoint_id}`,
      keys: "/keys",
      members: "/people",
      groups: "/people?tab=groups",
      settings: "/settings",
      usage: "/settings?tab=usage",
      activity: "/settings?tab=activity",
    };
    for (const [name, path] of Object.entries(paths)) {
      await page.goto(urlOf(there, path));
      await page.locator("main h1").first().waitFor();
      await page.locator("main .loading").first().waitFor({ state: "detached" });
      await inspect(page, `dashboard-${name}`, { mayFail: ["401 /app/api/me", "404 /app/api/"] });
    }
    await page.goto(`${site.url}/app/account`);
    await page.getByText(email).first().waitFor();
    await inspect(page, "dashboard-account", { mayFail: ["401 /app/api/me", "404 /app/api/"] });
  },
);

/** With a window open only what is in it counts: the rest is inert. */
async function inspectDialog(page: Page, name: string): Promise<void> {
  await page.locator("[role=dialog], [role=alertdialog]").waitFor();
  await inspect(page, name, atTheDoor);
}
