// An owner connects Slack, gives a group its places, and sees that Slack refuses the connection; an admin only looks.

import assert from "node:assert/strict";
import { after } from "node:test";
import { FakeSlack } from "../server/test/fake-slack/fake-slack.ts";
import {
  atTheDoor,
  copyBox,
  enterAs,
  goAhead,
  goTo,
  inspectDialog,
  windowOf,
} from "./dashboard-page.ts";
import { journeys } from "./journey.ts";
import { button, inspect } from "./review-page.ts";

const slack = await FakeSlack.start();
after(() => slack.stop());
const journey = journeys({ environment: { SLACK_API_URL: slack.apiUrl } });
const allowed = { mayFail: [...atTheDoor.mayFail, "400 /app/api/workspaces/"] } as const;

journey(
  "an owner connects Slack, gives a group its channels, and takes Slack away again",
  allowed,
  async (there) => {
    await there.makeGroup(["ann@example.com"]);
    const app = slack.createApp();
    const channel = slack.addChannel("finance", { members: [app.botUserId] });
    const { page } = await enterAs(there, "owner", { at: "/settings?tab=channels" });
    await page.getByText("Slack isn’t connected.").waitFor();
    await inspect(page, "dash-channels-none", allowed);

    await button(page, "Connect Slack").click();
    await page.getByText("The app’s manifest").click();
    assert.match(await copyBox(page, "Manifest"), /"socket_mode_enabled": true/);
    await page.getByLabel("Bot token").fill("xoxb-000000000000");
    await page.getByLabel("App-level token").fill(app.appToken);
    await windowOf(page).getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Copy it again, whole.").waitFor();
    await inspectDialog(page, "dash-channels-refused", allowed);
    await page.getByLabel("Bot token").fill(app.botToken);
    await goAhead(page, "Connect");
    await page.getByText("Socket Mode").waitFor();
    assert.doesNotMatch(await page.content(), new RegExp(`${app.botToken}|${app.appToken}`));

    await button(page, "Test").click();
    await page.getByLabel("Post to").fill(channel.id);
    await goAhead(page, "Test");
    assert.equal(slack.messagesIn(channel.id).length, 1);
    await button(page, "Change").click();
    await page.getByLabel("Keep payloads out of Slack").check();
    await inspectDialog(page, "dash-channels-change", allowed);
    await goAhead(page, "Save");
    await page.getByText("Kept out of Slack").waitFor();

    await page.getByRole("link", { name: "on the group itself" }).click();
    await button(page, "Change channels of Finance").click();
    await page.getByLabel("Slack channel").fill(`https://acme.slack.com/archives/${channel.id}`);
    await page.getByLabel("Teams webhook").fill("https://93.184.215.14/workflows/1?sig=s3cret");
    await page.getByLabel("Wait", { exact: true }).check();
    await inspectDialog(page, "dash-group-channels", allowed);
    await goAhead(page, "Save");
    await page.getByText("#finance").waitFor();
    await page.getByText("93.184.215.14").waitFor();
    await page.getByText("10 minutes after the other channels").waitFor();
    assert.doesNotMatch(await page.content(), /s3cret/);
    await inspect(page, "dash-group-card", allowed);

    await there.site.db.query(
      "update slack_connections set broken_at = now_ms(), broken_reason = 'token_revoked' where workspace_id = $1",
      [there.workspace.id],
    );
    await goTo(page, "Overview");
    await page.reload();
    await page.getByRole("link", { name: /Slack refuses the connection/ }).click();
    await page.getByText("the token was revoked, or the app was removed").waitFor();
    await inspect(page, "dash-channels-broken", allowed);

    const { page: theirs } = await enterAs(there, "admin", { at: "/settings?tab=channels" });
    await theirs.getByText("Tell an owner.").waitFor();
    assert.equal(await theirs.getByRole("button", { name: /Connect|Disconnect|Test/ }).count(), 0);

    await button(page, "Disconnect").click();
    await goAhead(page, "Disconnect");
    await button(page, "Connect Slack").waitFor();
    await page.getByRole("tab", { name: "Activity" }).click();
    await page
      .getByText(/disconnected/)
      .first()
      .waitFor();
  },
);
