// Sockets to Slack: there is one for each connected app, it comes back whatever happens to it, and what was recorded stays.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import * as slackConnections from "../src/storage/channels/slack-connections.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import { hangMs, until } from "./patience.ts";
import { startService, type TestService } from "./test-service.ts";
import {
  answerOf,
  connect,
  isReachable,
  modalOf,
  patient,
  startSockets,
  textOf,
} from "./test-slack.ts";

let slack: FakeSlack;
let node: TestService;
let sockets: ReturnType<typeof startSockets>;
const lines: string[] = [];

before(async () => {
  slack = await FakeSlack.start({ messageEveryMs: 0, ackMs: hangMs, triggerMs: hangMs });
  node = await startService({ slackApiUrl: slack.apiUrl, slackPatience: patient });
  sockets = startSockets(node, slack, { logDestination: { write: (line) => lines.push(line) } });
});

after(async () => {
  await sockets.stop();
  await node.stop();
  await slack.stop();
});

async function connected() {
  const world = await connect({ slack, node, transport: "socket" });
  await isReachable(slack, world.app);
  return world;
}

test("a socket is open for each connected app, and closed once nobody uses it", async () => {
  const { app, workspace } = await connected();
  const other = await connect({ slack, node, transport: "socket" }, { app });
  await until(async () => (await slackConnections.list(node.db, { mode: "socket" })).length >= 2);
  assert.equal(slack.sockets.countOf(app.id), 1, "workspaces that share an app share its socket");
  await inTransaction(node.db, (tx) => slackConnections.remove(tx, workspace.id));
  await inTransaction(node.db, (tx) => slackConnections.remove(tx, other.workspace.id));
  await until(() => slack.sockets.countOf(app.id) === 0);
});

test("a socket that breaks between the click and the answer loses no vote, and none counts twice", async () => {
  const world = await connected();
  const ann = await world.linked("ann@example.com");
  const { id, card } = await world.ask();
  await slack.click(ann, card, "countersign_approve");
  const view = await modalOf(slack, ann);
  const held = Promise.withResolvers<void>();
  slack.plan("users.info", { until: held.promise });
  const submitting = slack.submit(ann, view);
  await until(() => slack.calls.filter(({ method }) => method === "users.info").length > 0);
  const before = slack.sockets.opened;
  slack.sockets.cut(world.app.id);
  held.resolve();
  // Slack sends it again by the next socket.
  const reaction = await submitting;
  assert.ok(slack.sockets.opened > before);
  assert.equal(reaction.kind, "updated");
  assert.match(textOf(view), /You approved this request|approved by ann@example\.com/);
  assert.equal((await world.read(id)).status, "APPROVED");
  const { rows } = await node.db.query(
    "select count(*)::int as n from events where approval_id = $1 and kind = 'request.approved'",
    [id],
  );
  assert.deepEqual(rows, [{ n: 1 }]);
  await slack.click(ann, card, "countersign_approve");
  assert.match(await answerOf(slack, ann), /was approved by ann@example\.com/);
});

test("where Slack doesn't send it again, a press and a submission that broke off lose nothing, and the next press tells", async () => {
  const world = await connected();
  const ann = await world.linked("ann@example.com");
  const { id, card } = await world.ask();
  const broken = async (act: () => Promise<{ kind: string }>) => {
    const held = Promise.withResolvers<void>();
    slack.plan("users.info", { until: held.promise });
    slack.sockets.sendsAgain = false;
    const acting = act();
    await until(() => slack.holding.has("users.info"));
    slack.sockets.cut(world.app.id);
    held.resolve();
    assert.equal((await acting).kind, "failed");
    slack.sockets.sendsAgain = true;
    await isReachable(slack, world.app);
  };
  await broken(() => slack.click(ann, card, "countersign_approve"));
  await slack.click(ann, card, "countersign_approve");
  const view = await modalOf(slack, ann);
  await broken(() => slack.submit(ann, view));
  await until(async () => (await world.read(id)).status === "APPROVED");
  await slack.click(ann, card, "countersign_approve");
  assert.match(await answerOf(slack, ann), /was approved by ann@example\.com/);
});

test("it comes back after Slack replaces it, cuts it, or sends what nobody can read", async () => {
  const { app, linked, ask } = await connected();
  const ann = await linked("ann@example.com");
  const { card } = await ask();
  for (const harm of [
    () => slack.sockets.disconnect(app.id, "refresh_requested"),
    () => slack.sockets.cut(app.id),
    () => slack.sockets.sendRaw(app.id, "null"),
    () => slack.sockets.sendRaw(app.id, '{"type":"events_api","payload":{}}'),
    () => slack.sockets.sendRaw(app.id, "{"),
    () => slack.sockets.sendRaw(app.id, '{"type":"interactive","envelope_id":"e1","payload":7}'),
  ]) {
    harm();
    const answers = slack.openViews(ann).length;
    const reaction = await slack.click(ann, card, "countersign_approve");
    assert.deepEqual(reaction, { kind: "acknowledged" });
    await until(() => slack.openViews(ann).length > answers);
  }
});

test("what Slack refuses is noted, and no token is in any log", async () => {
  const world = await connected();
  slack.revoke(world.app, "token_revoked");
  slack.sockets.cut(world.app.id);
  await until(async () => {
    const found = await slackConnections.find(node.db, world.workspace.id);
    return found?.brokenReason === "token_revoked";
  });
  const log = lines.join("");
  assert.match(log, /token_revoked/);
  for (const { app } of slack.state.tokens.values()) {
    for (const secret of [app.botToken, app.appToken, app.signingSecret]) {
      assert.equal(log.includes(secret), false);
    }
  }
});

test("Slack out of reach is tried again, and a stop doesn't wait for it", async () => {
  const world = await connect({ slack, node, transport: "socket" });
  slack.plan("apps.connections.open", { status: 500, error: "internal_error", times: 2 });
  await isReachable(slack, world.app);
  const asked = Promise.withResolvers<void>();
  const silent = createServer(() => asked.resolve());
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const others = startSockets(node, { apiUrl: `http://127.0.0.1:${port}/api/` });
  await asked.promise;
  await others.stop();
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});

test("a stop answers the clicks under way first, and leaves no socket behind", async () => {
  const other = await startService({ slackApiUrl: slack.apiUrl, slackPatience: patient });
  const stopping = startSockets(other, slack);
  const world = await connect({ slack, node: other, transport: "socket" });
  await isReachable(slack, world.app);
  const ann = await world.linked("ann@example.com");
  const { id, card } = await world.ask();
  await slack.click(ann, card, "countersign_approve");
  const view = await modalOf(slack, ann);
  const submitting = slack.submit(ann, view);
  await until(async () => (await world.read(id)).status === "APPROVED");
  await stopping.stop();
  assert.equal((await submitting).kind, "updated");
  assert.match(textOf(view), /You approved this request/);
  await until(() => slack.sockets.countOf(world.app.id) === 0);
  await other.stop();
});
