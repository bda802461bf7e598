// Every page of the dashboard as it must always be: within reach of everybody, clean, and as wide as its window.

import type { Page } from "playwright-core";
import { makeEndpoint, startReceiver } from "../server/test/test-worker.ts";
import { enterAs, urlOf } from "./dashboard-page.ts";
import { type Journey, journeys } from "./journey.ts";
import { decide, eventually, inspect } from "./review-page.ts";

const journey = journeys();
const mayFail = ["401 /app/api/me", "404 /app/api/"] as const;

journey(
  "every page about requests is within reach of everybody, and stays in its window",
  { mayFail },
  async (there, t) => {
    const { workspace, site } = there;
    await there.makeGroup(["ann@example.com", "ben@example.com"]);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    await makeEndpoint(site.db, workspace.id, receiver.url);
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
        callbackUrl: "https://workflows.invalid/webhook-waiting/1042?signature=4f0c9a2b77d1e8",
      });
      ids.push(request.id);
    }
    const review = await there.visit((await there.mailedLink("ann@example.com", ids[0])).url);
    await decide(review, "Approve", "Yes, approve");
    await eventually(() => receiver.heard.length === 4, "webhooks");
    const { rows } = await site.db.query(
      "select id from deliveries where workspace_id = $1 and endpoint_id is not null limit 1",
      [workspace.id],
    );
    const { page } = await enterAs(there, "owner");
    await inspectPages(there, page, {
      overview: "",
      requests: "/requests",
      "requests-none": "/requests?search=nothing-like-it",
      request: `/requests/${ids[0]}`,
      "request-pending": `/requests/${ids[1]}`,
      "request-unknown": "/requests/req_unknown",
      delivery: `/deliveries/${rows[0].id}`,
    });
  },
);

journey(
  "every page that runs a workspace is within reach of everybody, and stays in its window",
  { mayFail },
  async (there, t) => {
    const { workspace, site } = there;
    await there.makeGroup(["ann@example.com", "ben@example.com"]);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const { id } = await makeEndpoint(site.db, workspace.id, receiver.url);
    await there.createRequest({ summary: "Refund order 1042", notify: "group:finance" });
    await eventually(() => receiver.heard.length === 1, "a webhook");
    const { page, email } = await enterAs(there, "owner");
    await inspectPages(there, page, {
      endpoints: "/endpoints",
      endpoint: `/endpoints/${id}`,
      keys: "/keys",
      members: "/people",
      groups: "/people?tab=groups",
      settings: "/settings",
      usage: "/settings?tab=usage",
      activity: "/settings?tab=activity",
    });
    await page.goto(`${site.url}/app/account`);
    await page.getByText(email).first().waitFor();
    await inspect(page, "dashboard-account", { mayFail });
  },
);

async function inspectPages(there: Journey, page: Page, paths: Record<string, string>) {
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(urlOf(there, path));
    await page.locator("main h1").first().waitFor();
    await inspect(page, `dashboard-${name}`, { mayFail });
  }
}
