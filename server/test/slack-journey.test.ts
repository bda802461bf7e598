// The whole way through Slack: a request is created, its message arrives in a channel, two people decide there by button
// and modal, and the message tells the outcome. Real service, worker and sockets; only Slack isn't.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { setGroupSlackChannel } from "../src/operations/channels/group-channels.ts";
import * as slackAccounts from "../src/storage/channels/slack-accounts.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import { seenIn } from "./fake-slack/what-is-seen.ts";
import { hangMs, until } from "./patience.ts";
import { startService, type TestService } from "./test-service.ts";
import { isReachable, modalOf, patient, startSockets, textOf } from "./test-slack.ts";
import { connectTo, startSlackWorker } from "./test-slack-sending.ts";
import { makeVoters } from "./test-votes.ts";
import type { TestWorker } from "./test-worker.ts";

let slack: FakeSlack;
let node: TestService;
let worker: TestWorker;
let sockets: ReturnType<typeof startSockets>;

before(async () => {
  slack = await FakeSlack.start({
    ...{ messageEveryMs: 0, tier3PerMinute: 10_000, ackMs: hangMs, triggerMs: hangMs },
  });
  node = await startService({ slackApiUrl: slack.apiUrl, slackPatience: patient });
  worker = startSlackWorker(node.database, slack, { db: node.servicePool });
  sockets = startSockets(node, slack);
});

after(async () => {
  await sockets.stop();
  await worker.stop();
  await node.stop();
  await slack.stop();
});

test("two people of a group approve in Slack, and the message tells it", async () => {
  const { db } = node;
  const voters = makeVoters(node);
  const app = slack.createApp();
  const { id: workspaceId, groupId, key } = await voters.workspaceWith();
  await connectTo(slack, { db, workspaceId }, app);
  const channel = slack.addChannel("finance", { members: [app.botUserId] });
  const place = { id: channel.id, name: "finance" };
  await setGroupSlackChannel(db, { workspaceId, groupId, channel: place });
  await isReachable(slack, app);
  const member = async (email: string) => {
    const user = slack.addUser();
    channel.members.add(user.id);
    const account = { teamId: app.teamId, appId: app.id, slackUserId: user.id, email };
    await inTransaction(db, (tx) => slackAccounts.link(tx, account));
    return user;
  };
  const [ann, bob] = [await member("ann@example.com"), await member("bob@example.com")];

  const { id } = await voters.ask(key, { quorum: 2 });
  worker.worker.wake();
  const seen = () => slack.messagesIn(channel.id).map(({ blocks }) => seenIn(blocks).text);
  await until(() => seen().length === 1);
  const [card] = slack.messagesIn(channel.id);
  assert.ok(card);
  assert.doesNotMatch(JSON.stringify(card), /\/review\//, "no magic link");

  for (const [user, outcome] of [
    [ann, /^You approved this on .* 1 more person of “Finance” must approve\.$/m],
    [bob, /You approved this request/],
  ] as const) {
    await slack.click(user, card, "countersign_approve");
    const view = await modalOf(slack, user);
    await slack.submit(user, view);
    assert.match(textOf(view), outcome);
    worker.worker.wake();
    const said = user === ann ? /1 of 2 approved/ : /This request was approved by bob@example\.com/;
    await until(() => said.test(seen()[0] ?? ""));
  }
  assert.deepEqual(seen().length, 1, "it is one message, updated in place");
  assert.deepEqual(seenIn(card.blocks).buttons, [], "and nothing is left to press");
  const request = await voters.read(key, id);
  assert.equal(request.status, "APPROVED");
  const votes: { email: string; via: string }[] = request.approvals.stages[0].votes;
  assert.deepEqual(
    votes.map(({ email, via }) => [email, via]),
    [
      ["ann@example.com", "slack"],
      ["bob@example.com", "slack"],
    ],
  );
});
