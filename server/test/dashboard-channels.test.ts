// Channels on the dashboard and at the command line: what is connected, where groups are asked, and that no secret comes
// back out.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { connectSlack } from "../src/operations/channels/connect-slack.ts";
import { sealSlackSecret } from "../src/operations/channels/slack-tokens.ts";
import { callSlack } from "../src/outbound/slack-api.ts";
import * as slackConnections from "../src/storage/channels/slack-connections.ts";
import type { GroupChannelChanges } from "../src/wire/dashboard-channels.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackApp } from "./fake-slack/slack-state.ts";
import { callDashboard, fromOurPage, makeMember, signIn } from "./test-dashboard.ts";
import { environmentOn, jsonOf, runCommand, textOf } from "./test-program.ts";
import { startNode, startService, type TestNode, testKeyring } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const slack = await FakeSlack.start();
const service = await startService({ slackApiUrl: slack.apiUrl });
const { db } = service;
const voters = makeVoters(service);
after(async () => {
  await service.stop();
  await slack.stop();
});

const teamsUrl = "https://93.184.215.14/workflows/abc/triggers/manual?sig=s3cret";

async function makePlace(node: TestNode = service, headers = fromOurPage) {
  const { id: workspaceId, groupId } = await voters.workspaceWith();
  const email = `owner@${workspaceId}.example`.replaceAll("_", "-");
  await makeMember(db, { workspaceId, email, role: "owner" });
  const cookie = await signIn(service, email);
  const params = { workspaceId, groupId };
  return {
    ...params,
    change: (body: GroupChannelChanges) =>
      callDashboard(service, "POST /workspaces/:workspaceId/groups/:groupId/channels", {
        ...{ cookie, params, body },
      }),
    show: () => callDashboard(service, "GET /workspaces/:workspaceId/channels", { cookie, params }),
    slack: (path: "" | "/settings" | "/test" | "/disconnect", body: object) =>
      callDashboard(node, `POST /workspaces/:workspaceId/slack${path}`, {
        ...{ cookie, params, body, headers },
      }),
    manifest: (mode: "socket" | "http") =>
      callDashboard(service, "GET /workspaces/:workspaceId/slack/manifest", {
        ...{ cookie, params, query: { mode, matchesEmail: "false" } },
      }),
    attention: () =>
      callDashboard(service, "GET /workspaces/:workspaceId/attention", { cookie, params }),
    activity: () =>
      callDashboard(service, "GET /workspaces/:workspaceId/activity", { cookie, params }),
  };
}

async function connect(workspaceId: string, app: SlackApp): Promise<void> {
  const seal = (name: "bot_token" | "app_token", secret: string) =>
    sealSlackSecret(testKeyring, { workspaceId, name, secret });
  await inTransaction(db, (tx) =>
    slackConnections.put(tx, {
      ...{ workspaceId, teamId: app.teamId, teamName: "Acme", appId: app.id, mode: "socket" },
      botUserId: app.botUserId,
      secretKeyId: testKeyring.current.id,
      sealedBotToken: seal("bot_token", app.botToken),
      sealedAppToken: seal("app_token", app.appToken),
      sealedSigningSecret: null,
      matchesEmail: false,
      showsPayload: true,
      connectedBy: "ann@example.com",
    }),
  );
}

test("a group gets a Slack channel by its link, if the app is in it", async () => {
  const place = await makePlace();
  const app = slack.createApp();
  await connect(place.workspaceId, app);
  const channel = slack.addChannel("finance", { members: [app.botUserId] });
  const link = `https://acme.slack.com/archives/${channel.id}`;
  const { status, json } = await place.change({ slackChannel: link, mailAfterMinutes: 10 });
  assert.deepEqual([status, json.slackChannel], [200, { id: channel.id, name: "finance" }]);
  const shown = (await place.show()).json;
  assert.deepEqual(shown.groups, [
    {
      groupId: place.groupId,
      slackChannel: { id: channel.id, name: "finance" },
      teamsHost: null,
      mailAfterMinutes: 10,
    },
  ]);
  const { connectedAt, ...known } = shown.slack;
  assert.deepEqual(known, {
    ...{ teamName: "Acme", mode: "socket", matchesEmail: false, showsPayload: true },
    ...{ connectedBy: "ann@example.com", broken: null },
  });
  await place.change({ slackChannel: null, mailAfterMinutes: null });
  assert.deepEqual((await place.show()).json.groups, []);
});

test("a channel that nobody could post to is refused beside its field, with what to do", async () => {
  const place = await makePlace();
  const app = slack.createApp();
  const refused = async (slackChannel: string, sentence: RegExp) => {
    const { status, json } = await place.change({ slackChannel });
    assert.deepEqual([status, json.error.field], [400, "slackChannel"], slackChannel);
    assert.match(json.error.message, sentence);
  };
  await refused("C0123456789", /Slack is not connected/);
  await connect(place.workspaceId, app);
  await refused("#finance", /must be a channel's ID/);
  await refused("C0123456789", /knows no such channel/);
  await refused(slack.addChannel("open").id, /the app is not in #open; invite it/);
  await refused(slack.addChannel("closed", { kind: "private" }).id, /no such channel, or the app/);
  const old = slack.addChannel("old", { members: [app.botUserId] });
  old.isArchived = true;
  await refused(old.id, /#old is archived/);
  slack.revoke(app);
  await refused(old.id, /Slack could not be asked: token_revoked/);
  assert.deepEqual((await place.show()).json.groups, []);
});

test("an owner connects Slack with tokens that Slack takes, tries and changes it, and no token comes back", async () => {
  const place = await makePlace();
  const app = slack.createApp();
  const channel = slack.addChannel("ops", { members: [app.botUserId] });
  const { botToken, appToken } = app;
  const choice = { matchesEmail: true, showsPayload: true };
  const wrong = await place.slack("", {
    ...{ mode: "socket", botToken: "xoxb-0000000000000", appToken, ...choice },
  });
  assert.deepEqual([wrong.status, wrong.json.error.field], [400, "botToken"]);
  assert.equal((await place.show()).json.slack, null, "nothing is kept of tokens that are refused");
  const connected = await place.slack("", { mode: "socket", botToken, appToken, ...choice });
  assert.deepEqual([connected.status, connected.json.mode], [200, "socket"]);
  assert.match(connected.json.connectedBy, /^owner@/);
  const tried = await place.slack("/test", { to: channel.id });
  assert.deepEqual([tried.status, tried.json.isPosted], [200, true]);
  assert.equal(slack.messagesIn(channel.id).length, 1);
  assert.equal((await place.slack("/test", { to: null })).json.isPosted, false);
  const nowhere = await place.slack("/test", { to: "somewhere" });
  assert.deepEqual([nowhere.status, nowhere.json.error.field], [400, "to"]);
  const changed = await place.slack("/settings", { matchesEmail: false, showsPayload: false });
  assert.deepEqual([changed.json.matchesEmail, changed.json.showsPayload], [false, false]);
  const told = [connected.json, changed.json, (await place.show()).json];
  const activity = (await place.activity()).json;
  assert.doesNotMatch(JSON.stringify([told, activity]), new RegExp(`${botToken}|${appToken}`));
  const noted = activity.items.map(({ action }: { action: string }) => action);
  assert.deepEqual(noted.slice(0, 2), ["slack.changed", "slack.connected"]);
  assert.equal((await place.slack("/disconnect", {})).status, 200);
  assert.equal((await place.slack("/disconnect", {})).status, 404);
});

test("people are matched by address only if the app may read addresses", async () => {
  const place = await makePlace();
  const scopes = ["chat:write", "im:write", "channels:read", "groups:read", "users:read"];
  await connect(place.workspaceId, slack.createApp({ scopes }));
  const { status, json } = await place.slack("/settings", {
    ...{ matchesEmail: true, showsPayload: true },
  });
  assert.deepEqual([status, json.error.field], [400, "matchesEmail"]);
  assert.match(json.error.message, /lacks the scope users:read\.email/);
  assert.equal((await place.show()).json.slack.matchesEmail, false);
});

test("the manifest leads clicks to a socket, or to this service", async () => {
  const place = await makePlace();
  const socket = JSON.parse((await place.manifest("socket")).json.text);
  assert.equal(socket.settings.socket_mode_enabled, true);
  const http = JSON.parse((await place.manifest("http")).json.text);
  assert.equal(
    http.settings.interactivity.request_url,
    "https://approvals.example/countersign/slack/interactions",
  );
});

test("where Slack can't call this service, only Socket Mode is connected", async () => {
  const publicUrl = "https://localhost";
  const near = await startNode(service.database, { slackApiUrl: slack.apiUrl, publicUrl });
  try {
    const place = await makePlace(near, { ...fromOurPage, origin: publicUrl });
    const app = slack.createApp();
    const { botToken, signingSecret, appToken } = app;
    const settings = { matchesEmail: false, showsPayload: true, botToken };
    const http = await place.slack("", { ...settings, mode: "http", signingSecret });
    assert.equal(http.status, 400);
    assert.match(http.json.error.message, /only https addresses .* Choose Socket Mode\.$/);
    const socket = await place.slack("", { ...settings, mode: "socket", appToken });
    assert.equal(socket.status, 200);
  } finally {
    await near.stop();
  }
});

test("a connection that Slack refuses needs attention, for as long as it is refused", async () => {
  const place = await makePlace();
  assert.equal("brokenSlack" in (await place.attention()).json, false);
  await connect(place.workspaceId, slack.createApp());
  assert.equal("brokenSlack" in (await place.attention()).json, false);
  const { rows } = await db.query(
    `update slack_connections set broken_at = now_ms(), broken_reason = 'token_revoked'
     where workspace_id = $1 returning broken_at`,
    [place.workspaceId],
  );
  const at = rows[0].broken_at.toISOString();
  assert.deepEqual((await place.attention()).json.brokenSlack, { teamName: "Acme", at });
  assert.deepEqual((await place.show()).json.slack.broken, { at, reason: "token_revoked" });
});

test("the address of a webhook goes in and never comes out, on no page and in no activity", async () => {
  const place = await makePlace();
  const { status, json } = await place.change({ teamsUrl });
  assert.deepEqual([status, json.teamsHost], [200, "93.184.215.14"]);
  const told = [json, (await place.show()).json, (await place.activity()).json];
  assert.doesNotMatch(JSON.stringify(told), /s3cret/);
  const bad = await place.change({ teamsUrl: "https://acme.webhook.office.com/webhookb2/s3cret" });
  assert.deepEqual([bad.status, bad.json.error.field], [400, "teamsUrl"]);
  assert.match(bad.json.error.message, /^teamsUrl: is the address of a connector/);
  const late = await place.change({ teamsUrl: null, mailAfterMinutes: 1_441 });
  assert.deepEqual([late.status, late.json.error.field], [400, "mailAfterMinutes"]);
  assert.deepEqual((await place.show()).json.groups, [], "what came before the refusal holds");
});

test("at the command line a group's webhook is read from standard input, and only its host is told", async () => {
  const { workspaceId, groupId } = await makePlace();
  const environment = { ...environmentOn(service.database.url), SLACK_API_URL: slack.apiUrl };
  const where = ["--workspace", workspaceId, "--group", "finance"];
  const program = join(import.meta.dirname, "..", "bin", "countersign.mjs");
  const child = spawn(process.execPath, [program, "teams", "connect", ...where], {
    env: { ...environment, PATH: process.env.PATH },
  });
  child.stdin.end(`${teamsUrl}\n`);
  const [out, err] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  assert.deepEqual([child.exitCode, err], [0, ""]);
  assert.match(out, /^teams {2}93\.184\.215\.14$/m);
  assert.doesNotMatch(out, /s3cret/);
  const app = slack.createApp();
  await connect(workspaceId, app);
  const channel = slack.addChannel("ops", { members: [app.botUserId] });
  const run = (...words: string[]) => runCommand(environment, words);
  const set = ["--slack-channel", channel.id, "--mail-after", "15"];
  assert.deepEqual(jsonOf(await run("group", "channels", ...where, ...set, "--json")), {
    groupId,
    slackChannel: { id: channel.id, name: "ops" },
    teamsHost: "93.184.215.14",
    mailAfterMinutes: 15,
  });
  const none = ["--slack-channel", "none", "--mail-after", "none"];
  await run("group", "channels", ...where, ...none);
  await run("teams", "disconnect", ...where);
  assert.equal(
    textOf(await run("group", "channels", ...where)),
    "slack  none\nteams  none\nmail   at once",
  );
  const unknown = await run("group", "channels", "--workspace", workspaceId, "--group", "nobody");
  assert.match(unknown.stderr, /there is no group nobody/);
});

test("an admin can't put an app of their own into Slack's place", async () => {
  const { workspaceId } = await makePlace();
  const email = `other@${workspaceId}.example`.replaceAll("_", "-");
  await makeMember(db, { workspaceId, email, role: "admin" });
  const app = slack.createApp();
  const body = { botToken: app.botToken, mode: "socket", appToken: app.appToken };
  const refused = await callDashboard(service, "POST /workspaces/:workspaceId/slack", {
    cookie: await signIn(service, email),
    params: { workspaceId },
    body,
  });
  assert.equal(refused.status, 403);
  const connected = await connectSlack(
    { db, keyring: testKeyring, callSlack: (call) => callSlack({ ...call, apiUrl: slack.apiUrl }) },
    {
      ...{ workspaceId, botToken: app.botToken, matchesEmail: false, showsPayload: true },
      proof: { mode: "socket", appToken: app.appToken },
    },
    { actor: email, workspaceId },
  );
  assert.ok(isRefusal(connected) && connected.refusal === "forbidden");
});
