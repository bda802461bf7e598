// Holds the fake Slack to Slack's own client libraries, so that it can't drift from what they expect, and shows that it
// refuses what Slack refuses.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { LogLevel, SocketModeClient } from "@slack/socket-mode";
import { WebClient } from "@slack/web-api";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import { signatureOf } from "./fake-slack/interactions.ts";
import type { Json, SlackApp } from "./fake-slack/slack-state.ts";
import { seenIn, seenInText } from "./fake-slack/what-is-seen.ts";
import { until } from "./patience.ts";

let slack: FakeSlack;
before(async () => {
  slack = await FakeSlack.start({ messageEveryMs: 0 });
});
after(() => slack.stop());

const silent = { logLevel: LogLevel.ERROR };
const quiet = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};

function clientOf(app: SlackApp, { apiUrl } = slack): WebClient {
  return new WebClient(app.botToken, {
    slackApiUrl: apiUrl,
    logger: quiet,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  });
}

async function refusalOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error) => error.data?.error ?? error.code,
  );
}

const section = (text: string): Json => ({
  type: "section",
  text: { type: "plain_text", text },
});
const button = (over: object = {}): Json => ({
  type: "actions",
  block_id: "decide",
  elements: [
    {
      type: "button",
      action_id: "go",
      value: "msg_1",
      text: { type: "plain_text", text: "Go" },
      ...over,
    },
  ],
});
const modal = (over: object = {}): Json => ({
  type: "modal",
  title: { type: "plain_text", text: "Approve" },
  submit: { type: "plain_text", text: "Approve" },
  private_metadata: "kept",
  blocks: [
    section("Really?"),
    {
      type: "input",
      block_id: "note",
      optional: true,
      label: { type: "plain_text", text: "Note" },
      element: { type: "plain_text_input", action_id: "text", max_length: 10 },
    },
  ],
  ...over,
});

test("Slack's web client finds out who it is, posts, updates, and reads people", async () => {
  const app = slack.createApp();
  const ann = slack.addUser({ name: "ann", email: "Ann@example.com" });
  const client = clientOf(app);
  const who = await client.auth.test();
  assert.deepEqual([who.team_id, who.user_id, who.bot_id], [app.teamId, app.botUserId, app.botId]);
  assert.equal((await client.bots.info({ bot: app.botId })).bot?.app_id, app.id);
  const found = await client.users.lookupByEmail({ email: "ann@EXAMPLE.com" });
  assert.equal(found.user?.id, ann.id);
  const { user } = await client.users.info({ user: ann.id });
  assert.deepEqual([user?.profile?.email, user?.is_email_confirmed], ["Ann@example.com", true]);
  const opened = await client.conversations.open({ users: ann.id });
  const channel = opened.channel?.id ?? "";
  const blocks = [section("A < B"), button()];
  const posted = await client.chat.postMessage({
    channel,
    text: "Hello",
    blocks,
    unfurl_links: false,
    unfurl_media: false,
  });
  const [message] = slack.directMessages(app, ann);
  assert.equal(message?.ts, posted.ts);
  assert.deepEqual([message?.unfurlsLinks, message?.unfurlsMedia], [false, false]);
  await client.chat.update({
    channel,
    ts: posted.ts ?? "",
    text: "Done",
    blocks: [section("Done")],
  });
  assert.deepEqual(
    slack.directMessages(app, ann).map((each) => [each.text, each.versions.length]),
    [["Done", 2]],
  );
});

test("Slack's web client looks a channel up, tells one person alone, and changes an open window", async () => {
  const app = slack.createApp();
  const ann = slack.addUser({ name: "ann" });
  const channel = slack.addChannel("finance", { members: [app.botUserId, ann.id] }).id;
  const client = clientOf(app);
  const { channel: found } = await client.conversations.info({ channel });
  assert.deepEqual([found?.id, found?.name, found?.is_member], [channel, "finance", true]);
  const told = await client.chat.postEphemeral({ channel, user: ann.id, text: "Only you" });
  assert.deepEqual(
    slack.privateAnswers(ann).map(({ ts, text }) => [ts, text]),
    [[told.message_ts, "Only you"]],
  );
  const stranger = slack.addUser().id;
  assert.equal(
    await refusalOf(client.chat.postEphemeral({ channel, user: stranger, text: "x" })),
    "user_not_in_channel",
  );
  const trigger_id = slack.state.newTrigger(ann.id, app.id);
  const { view } = await client.views.open({ trigger_id, view: modal() });
  const changed = modal({ title: { type: "plain_text", text: "Changed" } });
  const update = await client.views.update({ view_id: view?.id ?? "", view: changed });
  assert.equal(update.view?.title?.text, "Changed");
  assert.equal(slack.openViews(ann)[0]?.view.title.text, "Changed");
  assert.equal(
    await refusalOf(client.views.update({ view_id: "V404", view: modal() })),
    "not_found",
  );
});

test("tokens, scopes and conversations are refused as Slack refuses them", async () => {
  const app = slack.createApp();
  const other = slack.createApp();
  const [open, closed] = [
    slack.addChannel("open"),
    slack.addChannel("closed", { kind: "private" }),
  ];
  const joined = slack.addChannel("joined", { members: [app.botUserId, other.botUserId] });
  const client = clientOf(app);
  const post = (channel: string) => client.chat.postMessage({ channel, text: "x" });
  assert.equal(await refusalOf(post("C404")), "channel_not_found");
  assert.equal(await refusalOf(post(closed.id)), "channel_not_found");
  assert.equal(await refusalOf(post(open.id)), "not_in_channel");
  const { ts = "" } = await post(joined.id);
  const update = (by: WebClient, at: string) =>
    by.chat.update({ channel: joined.id, ts: at, text: "y" });
  assert.equal(await refusalOf(update(clientOf(other), ts)), "cant_update_message");
  assert.equal(await refusalOf(update(client, "1.1")), "message_not_found");
  joined.isArchived = true;
  assert.equal(await refusalOf(post(joined.id)), "is_archived");
  assert.equal(
    await refusalOf(client.users.lookupByEmail({ email: "nobody@example.com" })),
    "users_not_found",
  );
  assert.equal(await refusalOf(client.apps.connections.open({})), "not_allowed_token_type");
  const poor = slack.createApp({ scopes: ["chat:write", "users:read"] });
  assert.equal(
    await refusalOf(clientOf(poor).conversations.open({ users: "U1" })),
    "missing_scope",
  );
  assert.equal(
    await refusalOf(clientOf(poor).users.lookupByEmail({ email: "a@b.example" })),
    "missing_scope",
  );
  assert.equal(
    await refusalOf(clientOf({ ...app, botToken: "xoxb-other" }).auth.test()),
    "invalid_auth",
  );
  for (const code of ["token_revoked", "account_inactive"]) {
    slack.revoke(app, code);
    assert.equal(await refusalOf(client.auth.test()), code);
  }
});

test("a method that only reads overlooks a JSON body, as Slack does", async () => {
  const app = slack.createApp();
  const ann = slack.addUser();
  const headers = { authorization: `Bearer ${app.botToken}`, "content-type": "application/json" };
  const call = async (method: string, body: object) => {
    const response = await fetch(slack.apiUrl + method, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as Json;
  };
  assert.equal((await call("users.info", { user: ann.id })).error, "invalid_arguments");
  assert.equal((await call("conversations.open", { users: ann.id })).ok, true);
});

test("a message that breaks a published bound is refused, and one at the bound is taken", async () => {
  const app = slack.createApp();
  const channel = slack.addChannel("sizes", { members: [app.botUserId] }).id;
  const post = (blocks: Json[], text = "x") =>
    refusalOf(clientOf(app).chat.postMessage({ channel, text, blocks }));
  const of = (length: number) => "x".repeat(length);
  const header = (text: string): Json => ({
    type: "header",
    text: { type: "plain_text", text },
  });
  const rich = (elements: Json[]): Json => ({
    type: "rich_text",
    elements: [{ type: "rich_text_section", elements }],
  });
  for (const [name, fine, flawed] of [
    ["blocks", Array(50).fill({ type: "divider" }), Array(51).fill({ type: "divider" })],
    ["section", [section(of(3_000))], [section(of(3_001))]],
    ["header", [header(of(150))], [header(of(151))]],
    [
      "label",
      [button({ text: { type: "plain_text", text: of(75) } })],
      [button({ text: { type: "plain_text", text: of(76) } })],
    ],
    ["value", [button({ value: of(2_000) })], [button({ value: of(2_001) })]],
    ["action_id", [button({ action_id: of(255) })], [button({ action_id: of(256) })]],
    ["block_id", [{ ...button(), block_id: of(255) }], [{ ...button(), block_id: of(256) }]],
    ["empty text", [section("x")], [section("")]],
    [
      "rich text",
      [rich([{ type: "text", text: of(3_000) }])],
      [rich([{ type: "text", text: of(3_001) }])],
    ],
    ["unknown block", [{ type: "divider" }], [{ type: "input_box" }]],
    ["unknown field", [section("x")], [{ ...section("x"), colour: "red" }]],
    [
      "unknown element",
      [rich([{ type: "text", text: "x" }])],
      [rich([{ type: "blink", text: "x" }])],
    ],
    [
      "mrkdwn in a header",
      [header("x")],
      [{ type: "header", text: { type: "mrkdwn", text: "x" } }],
    ],
    ["repeated ids", [button()], [button(), button()]],
    ["an input in a message", [section("x")], [modal().blocks[1]]],
  ] as [string, Json[], Json[]][]) {
    assert.equal(await post(fine), "none", name);
    assert.equal(await post(flawed), "invalid_blocks", name);
  }
  assert.equal(await post(Array(5).fill(section(of(3_000)))), "msg_blocks_too_long");
  assert.equal(await post([], of(40_000)), "none");
  assert.equal(await post([], of(40_001)), "msg_too_long");
  assert.equal(await post([], ""), "no_text");
});

test("rates are enforced, and say how long to wait", async () => {
  const strict = await FakeSlack.start({ messageEveryMs: 60_000, tier3PerMinute: 2 });
  try {
    const app = strict.createApp();
    const [a, b] = ["a", "b"].map(
      (name) => strict.addChannel(name, { members: [app.botUserId] }).id,
    );
    const client = clientOf(app, strict);
    const { ts = "" } = await client.chat.postMessage({ channel: a ?? "", text: "1" });
    const limited = await client.chat
      .postMessage({ channel: a ?? "", text: "2" })
      .catch((error) => error);
    assert.equal(limited.code, "slack_webapi_rate_limited_error");
    assert.ok(limited.retryAfter > 30 && limited.retryAfter <= 60, String(limited.retryAfter));
    await client.chat.postMessage({ channel: b ?? "", text: "another channel" });
    const update = () => client.chat.update({ channel: a ?? "", ts, text: "3" });
    await update();
    await update();
    assert.equal(await refusalOf(update()), "slack_webapi_rate_limited_error");
  } finally {
    await strict.stop();
  }
});

test("Slack's socket client gets a click, opens a modal once, and its submit updates the modal", async () => {
  const app = slack.createApp();
  const ann = slack.addUser({ name: "ann" });
  const channel = slack.addChannel("clicks", { members: [app.botUserId, ann.id] }).id;
  const web = clientOf(app);
  await web.chat.postMessage({ channel, text: "x", blocks: [section("Go?"), button()] });
  const socket = socketOf(app);
  const refusals: string[] = [];
  socket.on("interactive", async ({ ack, body, accepts_response_payload: accepts }) => {
    if (body.type === "view_submission") {
      assert.equal(accepts, true);
      assert.deepEqual(body.view.state.values.note.text, {
        type: "plain_text_input",
        value: "fine",
      });
      assert.equal(body.view.private_metadata, "kept");
      return ack({
        response_action: "update",
        view: { type: "modal", title: { type: "plain_text", text: "Done" }, blocks: [] },
      });
    }
    assert.equal(accepts, false);
    await ack();
    const trigger_id = body.trigger_id;
    await web.views.open({ trigger_id, view: modal() });
    refusals.push(await refusalOf(web.views.open({ trigger_id, view: modal() })));
    assert.deepEqual(
      body.actions.map((each: Json) => [each.action_id, each.value, each.block_id]),
      [["go", "msg_1", "decide"]],
    );
    assert.deepEqual([body.user.id, body.team.id, body.api_app_id], [ann.id, app.teamId, app.id]);
    await fetch(body.response_url, { method: "POST", body: JSON.stringify({ text: "Only you" }) });
  });
  await socket.start();
  const [message] = slack.messagesIn(channel);
  assert.ok(message);
  assert.deepEqual(await slack.click(ann, message, "go"), { kind: "acknowledged" });
  await until(async () => slack.privateAnswers(ann).length === 1);
  assert.deepEqual(refusals, ["exchanged_trigger_id"]);
  const [view] = slack.openViews(ann);
  assert.ok(view);
  assert.throws(() => slack.submitPayload(ann, view, { note: "x".repeat(11) }), /10 characters/);
  assert.equal((await slack.submit(ann, view, { note: "fine" })).kind, "updated");
  assert.equal(view.view.title.text, "Done");
  assert.equal(slack.messagesIn(channel).length, 1);
  await socket.disconnect();
});

test("a click that is not acknowledged in time fails before the person's eyes", async () => {
  const impatient = await FakeSlack.start({ messageEveryMs: 0, ackMs: 50, triggerMs: 0 });
  try {
    const app = impatient.createApp();
    const ann = impatient.addUser();
    const channel = impatient.addChannel("late", { members: [app.botUserId] }).id;
    const web = clientOf(app, impatient);
    await web.chat.postMessage({ channel, text: "x", blocks: [button()] });
    const socket = socketOf(app, impatient);
    const triggers: string[] = [];
    socket.on("interactive", ({ body }) => triggers.push(body.trigger_id));
    await socket.start();
    const [message] = impatient.messagesIn(channel);
    assert.ok(message);
    assert.equal((await impatient.click(ann, message, "go")).kind, "failed");
    const [trigger_id = ""] = triggers;
    assert.equal(
      await refusalOf(web.views.open({ trigger_id, view: modal() })),
      "expired_trigger_id",
    );
    await socket.disconnect();
  } finally {
    await impatient.stop();
  }
});

test("a refreshed or cut socket is replaced by Slack's client, and a click under way reaches the new one", async () => {
  const app = slack.createApp();
  const ann = slack.addUser();
  const channel = slack.addChannel("refresh", { members: [app.botUserId] }).id;
  await clientOf(app).chat.postMessage({ channel, text: "x", blocks: [button()] });
  const [message] = slack.messagesIn(channel);
  assert.ok(message);
  const socket = socketOf(app);
  const heard: string[] = [];
  socket.on("interactive", ({ ack, envelope_id: id }) => {
    heard.push(id);
    return heard.length === 1 ? slack.sockets.cut(app.id) : ack();
  });
  await socket.start();
  const { opened } = slack.sockets;
  slack.sockets.disconnect(app.id, "refresh_requested");
  await until(() => slack.sockets.opened > opened);
  assert.equal((await slack.click(ann, message, "go")).kind, "acknowledged");
  assert.equal(new Set(heard).size, 1);
  assert.equal(heard.length, 2);
  await socket.disconnect();
});

test("a view that breaks a published bound is refused", async () => {
  const app = slack.createApp();
  const ann = slack.addUser();
  const web = clientOf(app);
  const open = (view: Json) =>
    refusalOf(web.views.open({ trigger_id: slack.state.newTrigger(ann.id, app.id), view }));
  const title = (length: number) => ({ title: { type: "plain_text", text: "x".repeat(length) } });
  const { submit: _, ...withoutSubmit } = modal();
  for (const [name, fine, flawed] of [
    ["title", modal(title(24)), modal(title(25))],
    [
      "blocks",
      modal({ blocks: Array(100).fill({ type: "divider" }) }),
      modal({ blocks: Array(101).fill({ type: "divider" }) }),
    ],
    [
      "metadata",
      modal({ private_metadata: "x".repeat(3_000) }),
      modal({ private_metadata: "x".repeat(3_001) }),
    ],
    ["an input without submit", modal(), withoutSubmit],
    ["unknown field", modal(), modal({ colour: "red" })],
    ["home", modal(), modal({ type: "home" })],
  ] as [string, Json, Json][]) {
    assert.equal(await open(fine), "none", name);
    assert.equal(await open(flawed), "invalid_arguments", name);
  }
  assert.equal(
    await open(modal({ blocks: Array(90).fill(section("x".repeat(2_990))) })),
    "view_too_large",
  );
  assert.equal(
    await refusalOf(web.views.open({ trigger_id: "1.2", view: modal() })),
    "invalid_trigger_id",
  );
});

test("a click over HTTP is signed over its time and its exact bytes", async () => {
  const seen: Json[] = [];
  let secret = "";
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { "x-slack-signature": signature, "x-slack-request-timestamp": at = "" } =
      request.headers;
    seen.push(JSON.parse(new URLSearchParams(body).get("payload") ?? ""));
    response.writeHead(signature === signatureOf(secret, String(at), body) ? 200 : 401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const interactionsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const app = slack.createApp({ interactionsUrl });
    secret = app.signingSecret;
    const ann = slack.addUser();
    const channel = slack.addChannel("http", { members: [app.botUserId] }).id;
    await clientOf(app).chat.postMessage({ channel, text: "x", blocks: [button()] });
    const [message] = slack.messagesIn(channel);
    assert.ok(message);
    assert.equal((await slack.click(ann, message, "go")).kind, "acknowledged");
    assert.equal(seen[0].container.message_ts, message.ts);
    const payload = slack.clickPayload(ann, message, "go");
    assert.equal(await slack.deliver(app, payload, { signingSecret: "another" }), null);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("what a person sees tells text from markup, mentions, links and emoji", () => {
  const hostile = "<!channel> <@U1> *bold* :bomb: https://evil.example";
  const markup = seenIn([{ type: "section", text: { type: "mrkdwn", text: hostile } }]);
  assert.deepEqual(markup.mentions, ["channel", "U1"]);
  assert.deepEqual(
    [markup.emoji, markup.links, markup.formatted.length],
    [["bomb"], ["https://evil.example"], 1],
  );
  const plain = seenIn([
    { type: "section", text: { type: "plain_text", text: hostile, emoji: false } },
    {
      type: "rich_text",
      elements: [{ type: "rich_text_quote", elements: [{ type: "text", text: hostile }] }],
    },
  ]);
  assert.deepEqual(
    [plain.mentions, plain.emoji, plain.links, plain.formatted, plain.text],
    [[], [], [], [], `${hostile}\n${hostile}`],
  );
  assert.deepEqual(seenInText({ text: "a &lt;!channel&gt; b" }).mentions, []);
  assert.deepEqual(seenInText({ text: "<!here>" }).mentions, ["here"]);
});

function socketOf(app: SlackApp, { apiUrl } = slack): SocketModeClient {
  return new SocketModeClient({
    appToken: app.appToken,
    ...silent,
    logger: quiet,
    clientPingTimeout: 100,
    clientOptions: { slackApiUrl: apiUrl, retryConfig: { retries: 0 } },
  });
}
