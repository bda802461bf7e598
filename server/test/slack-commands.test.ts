// The operator's commands about Slack, as an operator runs them, against the fake Slack.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import { assertRefused, environmentOn, jsonOf, runCommand, textOf } from "./test-program.ts";
import { makeWorkspace, startService } from "./test-service.ts";

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

const environment = () => ({ ...environmentOn(service.database.url), SLACK_API_URL: slack.apiUrl });
const run = (...words: string[]) => runCommand(environment(), ["slack", ...words]);

test("the manifest is printed as JSON, with a socket, or with an address that Slack can call", async () => {
  const manifest = JSON.parse(textOf(await run("manifest")));
  assert.equal(manifest.settings.socket_mode_enabled, true);
  assert.ok(!manifest.oauth_config.scopes.bot.includes("users:read.email"));
  const withEmail = JSON.parse(textOf(await run("manifest", "--match-email")));
  assert.ok(withEmail.oauth_config.scopes.bot.includes("users:read.email"));
  assertRefused(await run("manifest", "--http"), /PUBLIC_URL is http:\/\/localhost/);
  const publicUrl = { ...environment(), PUBLIC_URL: "https://approvals.example/countersign" };
  const http = JSON.parse(textOf(await runCommand(publicUrl, ["slack", "manifest", "--http"])));
  assert.deepEqual(http.settings.interactivity, {
    is_enabled: true,
    request_url: "https://approvals.example/countersign/slack/interactions",
  });
});

test("a workspace is connected, tried, shown and disconnected, and no command prints a token", async () => {
  const { id: workspace } = await makeWorkspace(db, { name: "Acme" });
  const app = slack.createApp();
  const channel = slack.addChannel("ops", { members: [app.botUserId] });
  const of = ["--workspace", workspace];
  const tokens = ["--bot-token", app.botToken, "--app-token", app.appToken];
  assertRefused(await run("status", ...of), /Slack is not connected/);
  const outcomes = [
    await run("connect", ...of, ...tokens, "--without-payload", "--json"),
    await run("connect", ...of, ...tokens, "--match-email"),
    await run("test", ...of, "--channel", channel.id),
    await run("status", ...of),
    await run("status", "--json"),
  ];
  const connected = jsonOf(outcomes[0] as never);
  assert.deepEqual(
    [connected.showsPayload, connected.matchesEmail, connected.mode],
    [false, false, "socket"],
  );
  assert.match(textOf(outcomes[1] as never), /Connected .* to the Slack workspace Team T0001/);
  assert.match(
    textOf(outcomes[2] as never),
    new RegExp(`test message was posted to ${channel.id}`),
  );
  assert.equal(slack.messagesIn(channel.id).length, 1);
  assert.match(
    textOf(outcomes[3] as never),
    /Team T0001 +socket +link or address +shown +connected/,
  );
  const printed = JSON.stringify(outcomes);
  assert.ok(!printed.includes(app.botToken) && !printed.includes(app.appToken));
  slack.revoke(app);
  assertRefused(await run("test", ...of), /token_revoked/);
  await db.query(
    "update slack_connections set broken_at = now_ms(), broken_reason = 'token_revoked'",
  );
  const doctor = await runCommand(environment(), ["doctor"]);
  assert.match(
    doctor.stdout,
    /warning +Slack: the connection of ws_\w+ to Team T0001 is broken \(token_revoked\)/,
  );
  assert.match(textOf(await run("disconnect", ...of)), /Disconnected Team T0001/);
  assertRefused(await run("disconnect", ...of), /Slack is not connected/);
});

test("tokens that are refused are told why, and one that is missing is asked for", async () => {
  const { id: workspace } = await makeWorkspace(db, { name: "Acme" });
  const app = slack.createApp();
  const connect = ["connect", "--workspace", workspace];
  const swapped = await run(...connect, "--bot-token", app.appToken, "--app-token", app.botToken);
  assertRefused(swapped, /must be the Bot User OAuth Token/);
  assert.ok(!JSON.stringify(swapped).includes(app.appToken));
  assertRefused(await run(...connect, "--bot-token", app.botToken), /lacks the App-Level Token/);
  const unknown = ["--bot-token", app.botToken, "--app-token", app.appToken];
  assertRefused(
    await run("connect", "--workspace", "ws_404", ...unknown),
    /there is no workspace ws_404/,
  );
});

test("tokens come by standard input, where no list of processes shows them", async () => {
  const { id: workspace } = await makeWorkspace(db, { name: "Acme" });
  const app = slack.createApp();
  const program = join(import.meta.dirname, "..", "bin", "countersign.mjs");
  const child = spawn(
    process.execPath,
    [program, "slack", "connect", "--workspace", workspace, "--http"],
    {
      env: { ...process.env, ...environment() },
    },
  );
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => (printed += chunk));
  child.stdin.end(`${app.botToken}\n  ${app.signingSecret}\n`);
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 0, printed);
  assert.match(printed, /^Connected /);
  assert.ok(!printed.includes(app.botToken) && !printed.includes(app.signingSecret));
});
