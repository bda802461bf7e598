// Clicks in Slack when we are slow or broken: none is silent, and none is told what isn't so.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import { hangMs, until } from "./patience.ts";
import { startService, type TestService } from "./test-service.ts";
import { answerOf, answersOf, connect, modalOf, textOf } from "./test-slack.ts";

let slack: FakeSlack;
let node: TestService;

before(async () => {
  slack = await FakeSlack.start({ messageEveryMs: 0, ackMs: hangMs, triggerMs: hangMs });
  node = await startService({
    slackApiUrl: slack.apiUrl,
    slackPatience: { callMs: hangMs, acknowledgeMs: 20 },
  });
});

after(async () => {
  await node.stop();
  await slack.stop();
});

test("a submission that takes too long is acknowledged in time, and its modal shows the result later", async () => {
  const world = await connect({ slack, node, transport: "http" });
  const ann = await world.linked("ann@example.com");
  const { id, card } = await world.ask();
  await slack.click(ann, card, "countersign_approve");
  const view = await modalOf(slack, ann);
  const held = Promise.withResolvers<void>();
  slack.plan("users.info", { until: held.promise });
  const reaction = await slack.submit(ann, view);
  assert.equal(reaction.kind, "updated");
  assert.match(textOf(view), /has arrived and is being recorded/);
  assert.equal((await world.read(id)).status, "PENDING");
  held.resolve();
  await until(() => textOf(view).includes("You approved this request"));
  assert.equal((await world.read(id)).status, "APPROVED");
});

test("a late result is shown by a connection that works, though another of the app is broken", async () => {
  const broken = await connect({ slack, node, transport: "http" });
  const world = await connect({ slack, node, transport: "http" }, { app: broken.app });
  const ann = await world.linked("ann@example.com");
  const { card } = await world.ask();
  await slack.click(ann, card, "countersign_approve");
  const view = await modalOf(slack, ann);
  // Whichever comes first in the order of their ids.
  await node.db.query(
    `update slack_connections set broken_at = now_ms(), broken_reason = 'token_revoked' where workspace_id = $1`,
    [broken.workspace.id],
  );
  const held = Promise.withResolvers<void>();
  slack.plan("users.info", { until: held.promise });
  await slack.submit(ann, view);
  assert.match(textOf(view), /has arrived and is being recorded/);
  held.resolve();
  await until(() => textOf(view).includes("You approved this request"));
});

test("a click that takes too long is acknowledged in time, and answered later", async () => {
  const world = await connect({ slack, node, transport: "http" });
  const stranger = world.person();
  const { card } = await world.ask();
  const held = Promise.withResolvers<void>();
  slack.plan("users.info", { until: held.promise });
  const reaction = await slack.click(stranger, card, "countersign_approve");
  assert.deepEqual(reaction, { kind: "acknowledged" });
  assert.deepEqual(answersOf(slack, stranger), []);
  held.resolve();
  assert.match(await answerOf(slack, stranger), /We don’t know whose Slack account/);
});

test("a fault of ours is told, by click and by submission, and the next try works", async () => {
  const world = await connect({ slack, node, transport: "http" });
  const ann = await world.linked("ann@example.com");
  const { id, card } = await world.ask();
  await slack.click(ann, card, "countersign_approve");
  const view = await modalOf(slack, ann);
  const payload = slack.submitPayload(ann, view);
  await node.db.query("alter table slack_accounts rename to slack_accounts_gone");
  await slack.click(ann, card, "countersign_approve");
  assert.match(await answerOf(slack, ann), /Something went wrong on our side/);
  await slack.submit(ann, view);
  await until(() => textOf(view).includes("Something went wrong on our side"));
  assert.equal((await world.read(id)).status, "PENDING");
  await node.db.query("alter table slack_accounts_gone rename to slack_accounts");
  await slack.deliver(world.app, payload);
  await until(async () => (await world.read(id)).status === "APPROVED");
});

test("where Slack takes no answer at the click's address, an ephemeral message tells it", async () => {
  const world = await connect({ slack, node, transport: "http" });
  const stranger = world.person();
  const { card } = await world.ask();
  for (const response_url of ["http://169.254.169.254/latest", "nonsense", null]) {
    const before = answersOf(slack, stranger).length;
    const payload = slack.clickPayload(stranger, card, "countersign_approve");
    await slack.deliver(world.app, { ...payload, response_url });
    await until(() => answersOf(slack, stranger).length > before);
  }
  const methods = slack.calls.map(({ method }) => method);
  assert.equal(methods.filter((method) => method === "chat.postEphemeral").length, 3);
});
