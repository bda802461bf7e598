// An operator's day: the overview says what needs somebody, leads to where it can be mended, and is quiet afterwards.

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { makeEndpoint, startReceiver } from "../server/test/test-worker.ts";
import { atTheDoor, enterAs, goAhead, goTo, urlOf, windowOf } from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, eventually, inspect } from "./review-page.ts";
import type { Site } from "./site.ts";

const journey = journeys({ environment: { WEBHOOK_RETRY_DELAYS: "50ms,50ms" } });

journey(
  "a failing endpoint is seen on the overview, its reason is read, it is mended and resent, and all is quiet",
  atTheDoor,
  async (there, t) => {
    const broken = await startReceiver((response) => response.writeHead(404).end("no such route"));
    const mended = await startReceiver();
    t.after(() => Promise.all([broken.close(), mended.close()]));
    const { site, workspace } = there;
    const { page, email } = await enterAs(there, "owner");
    await makeEndpoint(site.db, workspace.id, broken.url);
    await there.createRequest({ summary: "Refund order 1042", notify: "ann@example.com" });
    await eventually(() => broken.heard.length === 3, "three attempts");
    await eventually(() => mailsTo(email).length === 1, "the owner's mail");
    await page.goto(urlOf(there, ""));
    const strip = page.getByRole("region", { name: "Needs attention" });
    const line = strip.getByRole("link", { name: /^Webhook endpoint failing/ });
    await line.getByText("1 delivery given up").waitFor();
    await markOf(page, "Webhooks").waitFor();

    await line.click();
    await page.getByText("nothing is at this address. Check the path.").first().waitFor();
    await page.getByRole("link", { name: /^request\.created/ }).click();
    await page.getByText("no such route").first().waitFor();
    await page.getByRole("link", { name: broken.url }).click();
    await button(page, "Change").click();
    await windowOf(page).getByLabel("URL").fill(mended.url);
    await goAhead(page, "Save");
    await page.getByRole("button", { name: /^Resend request\.created/ }).click();
    await eventually(() => mended.heard.length === 1, "it is sent again");

    await goTo(page, "Overview");
    await page.locator(".figure-stack[aria-busy]").waitFor();
    await strip.waitFor({ state: "detached" });
    await markOf(page, "Webhooks").waitFor({ state: "detached" });

    function mailsTo(address: string) {
      return site.mails.filter(
        ({ recipients, headers }) =>
          recipients.includes(address) && /^Webhook delivery/.test(headers.get("subject") ?? ""),
      );
    }
  },
);

journey(
  "all that can need attention stands in one strip, and each line leads to its page, for a viewer too",
  { ...atTheDoor, workspace: { plan: "hobby", included: 2 } },
  async (there) => {
    const { site, workspace } = there;
    const { id } = await there.createRequest({ summary: "Refund", notify: "ann@example.com" });
    const { id: other } = await there.createRequest({ summary: "Pay", notify: "ben@example.com" });
    await there.mailedLink("ann@example.com", id);
    await there.mailedLink("ben@example.com", other);
    await site.db.query(
      `update approvals set created_at = now_ms() - interval '1 day', expires_at = now_ms() + interval '40 minutes'
       where id = $1`,
      [id],
    );
    // The mail is there before the service has recorded that.
    await eventually(async () => {
      const { rowCount } = await site.db.query(
        `update deliveries set state = 'failed' where workspace_id = $1 and state = 'delivered' and reviewer_id =
           (select id from reviewers where workspace_id = $1 and approval_id = $2)`,
        [workspace.id, other],
      );
      return rowCount === 1;
    }, "the mail's delivery");
    const { id: endpointId } = await makeEndpoint(site.db, workspace.id, "https://hook.example/in");
    await site.db.query(
      "update endpoints set failing_since = now_ms() - interval '3 hours' where id = $1",
      [endpointId],
    );
    await giveUpCallback(there);
    const { page } = await enterAs(there, "viewer");
    await page.getByRole("region", { name: "Needs attention" }).waitFor();
    await inspect(page, "dashboard-attention", atTheDoor);
    for (const [name, arrived] of [
      [/^Monthly volume used up/, /\/settings\?tab=usage$/],
      [/^1 request expires soon/, new RegExp(`/requests/${id}$`)],
      [/^Mail to an approver failed/, /\/deliveries\/dlv_\w+$/],
      [/^Callback failed workflows\.example/, /\/deliveries\/dlv_\w+$/],
      [/^Webhook endpoint failing/, new RegExp(`/endpoints/${endpointId}$`)],
    ] as const) {
      await page.goto(urlOf(there, ""));
      await page.getByRole("link", { name }).click();
      await page.waitForURL(arrived);
    }
    for (const place of ["Requests", "Webhooks", "Settings"]) await markOf(page, place).waitFor();
    assert.equal(await markOf(page, "People").count(), 0);
  },
);

function markOf(page: Page, place: string) {
  const rail = page.getByRole("navigation", { name: "Workspace" });
  return rail.getByRole("link", { name: place, exact: true }).locator(".place-mark");
}

/** As if a request had named an address that refused its outcome. */
async function giveUpCallback({ site, workspace }: { site: Site; workspace: { id: string } }) {
  await site.db.query(
    `with approval as (
       insert into approvals (workspace_id, id, summary, approver_email, status, resolved_at, expires_at)
       select $1, new_id('req_'), 'Refund', 'ann@example.com', 'CANCELLED', now_ms(), now_ms() + interval '1 day'
       returning workspace_id, id
     ), event as (
       insert into events (workspace_id, approval_id, kind)
       select workspace_id, id, 'request.cancelled' from approval
       returning workspace_id, id
     )
     insert into deliveries (workspace_id, event_id, channel, recipient, state, finished_at, attempts)
     select workspace_id, id, 'callback', 'workflows.example', 'failed', now_ms(), 3 from event`,
    [workspace.id],
  );
}
