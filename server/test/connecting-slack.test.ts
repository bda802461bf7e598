import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Manifest } from "@slack/web-api/dist/types/request/manifest.js";
import { neededScopes, slackManifest } from "../src/domain/channels/slack-manifest.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  connectSlack,
  disconnectSlack,
  type SlackProofOfClicks,
} from "../src/operations/channels/connect-slack.ts";
import {
  openAppToken,
  openBotToken,
  openSigningSecret,
} from "../src/operations/channels/slack-tokens.ts";
import { trySlack } from "../src/operations/channels/try-slack.ts";
import { callSlack } from "../src/outbound/slack-api.ts";
import * as slackConnections from "../src/storage/channels/slack-connections.ts";
import { allScopes, FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackApp } from "./fake-slack/slack-state.ts";
import { makeWorkspace, startService, testKeyring } from "./test-service.ts";

const service = await startService();
const { db } = service;
let slack: FakeSlack;
before(async () => {
  slack = await FakeSlack.start({ messageEveryMs: 0 });
});
after(async () => {
  await slack.stop();
  await service.stop();
});

const parts = (apiUrl = slack.apiUrl) => ({
  db,
  keyring: testKeyring,
  callSlack: (call: { token: string; method: string; body?: Record<string, unknown> }) =>
    callSlack({ ...call, apiUrl, timeoutMs: 2_000 }),
});

type Given = {
  botToken?: string;
  proof?: SlackProofOfClicks;
  matchesEmail?: boolean;
  apiUrl?: string;
};

async function connect(workspaceId: string, app: SlackApp, given: Given = {}) {
  const { apiUrl, ...over } = given;
  const proof = { mode: "socket", appToken: app.appToken } as const;
  const wanted = {
    botToken: app.botToken,
    proof,
    matchesEmail: false,
    showsPayload: true,
    ...over,
  };
  return connectSlack(parts(apiUrl), { workspaceId, ...wanted });
}

async function hasChannels(workspaceId: string): Promise<boolean> {
  const { rows } = await db.query("select has_channels from workspaces where id = $1", [
    workspaceId,
  ]);
  return rows[0].has_channels;
}

test("tokens that Slack takes are stored sealed, with the team and app they belong to", async () => {
  const { id: workspaceId } = await makeWorkspace(db, { name: "Acme" });
  const app = slack.createApp({ teamId: "T0007" });
  const connection = await connect(workspaceId, app);
  assert.ok(!isRefusal(connection), JSON.stringify(connection));
  const { teamId, appId, botUserId, mode, teamName } = connection;
  assert.deepEqual(
    [teamId, appId, botUserId, mode, teamName],
    ["T0007", app.id, app.botUserId, "socket", "Team T0007"],
  );
  assert.equal(openBotToken(testKeyring, connection), app.botToken);
  assert.equal(openAppToken(testKeyring, connection), app.appToken);
  assert.equal(openSigningSecret(testKeyring, connection), null);
  const { rows } = await db.query(
    "select c::text as text from slack_connections c where workspace_id = $1",
    [workspaceId],
  );
  assert.ok(!rows[0].text.includes(Buffer.from(app.botToken).toString("hex")));
  assert.equal(await hasChannels(workspaceId), true);
  const another = { ...connection, workspaceId: "ws_other" };
  assert.equal(openBotToken(testKeyring, another), null);
  const http = await connect(workspaceId, app, {
    proof: { mode: "http", signingSecret: app.signingSecret },
  });
  assert.ok(!isRefusal(http));
  assert.equal(openSigningSecret(testKeyring, http), app.signingSecret);
  assert.equal(http.sealedAppToken, null);
  assert.deepEqual(await disconnectSlack(db, workspaceId), { teamName: "Team T0007" });
  assert.equal(await slackConnections.find(db, workspaceId), null);
  assert.equal(await hasChannels(workspaceId), false);
  assert.match(
    ((await disconnectSlack(db, workspaceId)) as { message: string }).message,
    /not connected/,
  );
  const { rows: noted } = await db.query(
    "select action, subject from activity where workspace_id = $1 and action like 'slack.%' order by id",
    [workspaceId],
  );
  assert.deepEqual(
    noted.map(({ action }) => action),
    ["slack.connected", "slack.connected", "slack.disconnected"],
  );
});

test("whatever Slack refuses is told in a sentence with what to do, quotes no token, and stores nothing", async () => {
  const { id: workspaceId } = await makeWorkspace(db, { name: "Acme" });
  const app = slack.createApp();
  const other = slack.createApp();
  const poor = slack.createApp({ scopes: allScopes.filter((scope) => scope !== "im:write") });
  const gone = slack.createApp();
  slack.revoke(gone, "account_inactive");
  const socket = (appToken: string) => ({ mode: "socket", appToken }) as const;
  const cases: [SlackApp, Given, RegExp][] = [
    [
      app,
      { botToken: "xoxp-1234567890ab" },
      /^botToken: must be the Bot User OAuth Token, which begins with xoxb-/,
    ],
    [app, { botToken: "" }, /^botToken: must be/],
    [app, { botToken: `${app.botToken}\n` }, /^botToken: must be/],
    [app, { proof: socket("xoxb-1234567890ab") }, /^appToken: must be an App-Level Token/],
    [app, { proof: { mode: "http", signingSecret: "secret" } }, /^signingSecret: must be/],
    [
      app,
      { botToken: "xoxb-unknown-token" },
      /refused the bot token \(invalid_auth\).*Copy it again/,
    ],
    [
      app,
      { proof: socket(other.appToken) },
      /^appToken: belongs to the app A\w+, and the bot token to A\w+/,
    ],
    [
      app,
      { proof: socket("xapp-1-unknown-token") },
      /refused the app-level token \(invalid_auth\)/,
    ],
    [poor, {}, /lacks the scope im:write.*install the app again/],
    [gone, {}, /account_inactive.*Install the app again/],
    [app, { apiUrl: "http://127.0.0.1:1/" }, /can't be reached from this machine.*SLACK_API_URL/],
  ];
  for (const [of, given, expected] of cases) {
    const refusal = await connect(workspaceId, of, given);
    assert.ok(isRefusal(refusal), String(expected));
    assert.match(refusal.message, expected);
    assert.ok(!refusal.message.includes(of.botToken) && !refusal.message.includes(of.appToken));
  }
  const withoutEmail = slack.createApp({ scopes: neededScopes({ matchesEmail: false }) });
  const refusal = await connect(workspaceId, withoutEmail, { matchesEmail: true });
  assert.match((refusal as { message: string }).message, /lacks the scope users:read\.email/);
  assert.equal(await slackConnections.find(db, workspaceId), null);
  assert.equal(await hasChannels(workspaceId), false);
  assert.ok(!isRefusal(await connect(workspaceId, withoutEmail)));
});

test("a test message says whether the connection works, and where it went", async () => {
  const { id: workspaceId } = await makeWorkspace(db, { name: "Acme" });
  const app = slack.createApp();
  const ann = slack.addUser({ email: "ann-tests@example.com" });
  const channel = slack.addChannel("tests", { members: [app.botUserId] });
  const attempt = (place: { channel: string } | { email: string } | null) =>
    trySlack(parts(), { workspaceId, place });
  assert.match(((await attempt(null)) as { message: string }).message, /not connected/);
  await connect(workspaceId, app);
  assert.deepEqual(await attempt(null), { teamName: "Team T0001", postedTo: null });
  assert.deepEqual(await attempt({ channel: channel.id }), {
    teamName: "Team T0001",
    postedTo: channel.id,
  });
  const [posted] = slack.messagesIn(channel.id);
  assert.match(posted?.text ?? "", /test message of Countersign/);
  assert.match(JSON.stringify(posted?.blocks), /"action_id":"countersign_link"/);
  await attempt({ email: "ann-tests@example.com" });
  assert.equal(slack.directMessages(app, ann).length, 1);
  assert.match(
    ((await attempt({ email: "nobody@example.com" })) as { message: string }).message,
    /Nobody in this Slack team/,
  );
  assert.match(
    ((await attempt({ channel: "C404" })) as { message: string }).message,
    /Invite it there/,
  );
  slack.revoke(app);
  assert.match(
    ((await attempt(null)) as { message: string }).message,
    /token_revoked.*Install the app again/,
  );
});

test("the manifest has only fields that Slack publishes, within their bounds", () => {
  for (const interactionsUrl of [null, "https://approvals.example/slack/interactions"]) {
    for (const matchesEmail of [false, true]) {
      const manifest = slackManifest({ interactionsUrl, matchesEmail });
      // The compiler compares it with the type of Slack's own library.
      const published: Manifest = manifest;
      assert.deepEqual(
        Object.keys(published).filter((name) => !publishedFields.includes(name)),
        [],
      );
      assert.ok(manifest.display_information.name.length <= 35);
      assert.ok(manifest.display_information.description.length <= 140);
      assert.equal(manifest.settings.socket_mode_enabled, interactionsUrl === null);
      assert.equal(manifest.settings.interactivity.request_url, interactionsUrl ?? undefined);
      // An app that was made from it can be connected: the fake's methods say which scopes they need.
      assert.ok(manifest.oauth_config.scopes.bot.every((scope) => allScopes.includes(scope)));
      assert.ok(!JSON.stringify(manifest).includes("history"));
    }
  }
});

const publishedFields = [
  "_metadata",
  "display_information",
  "features",
  "oauth_config",
  "settings",
  "functions",
];
