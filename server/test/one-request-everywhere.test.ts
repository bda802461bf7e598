// One request that is open behind a mail's link, in an inbox and in Slack: a vote on any of them shows on all of them,
// and those who come too late are told who decided.

import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { setGroupSlackChannel } from "../src/operations/channels/group-channels.ts";
import * as slackAccounts from "../src/storage/channels/slack-accounts.ts";
import { FakeSlack } from "./fake-slack/fake-slack.ts";
import type { SlackUser } from "./fake-slack/slack-state.ts";
import { seenIn } from "./fake-slack/what-is-seen.ts";
import { hangMs, until } from "./patience.ts";
import { signIn } from "./test-dashboard.ts";
import { callInbox, decideInInbox, openPlace } from "./test-inbox.ts";
import { decide, findReviewer, postReview } from "./test-review.ts";
import { startService } from "./test-service.ts";
import { modalOf, patient, startSockets } from "./test-slack.ts";
import { connectTo, startSlackWorker } from "./test-slack-sending.ts";
import { makeVoters } from "./test-votes.ts";
import type { TestWorker } from "./test-worker.ts";

const slack = await FakeSlack.start({ messageEveryMs: 0, ackMs: hangMs, triggerMs: hangMs });
let worker: TestWorker;
const service = await startService({
  slackApiUrl: slack.apiUrl,
  slackPatience: patient,
  onDue: () => worker.worker.wake(),
});
const { db, app } = service;
const voters = makeVoters(service);
const sockets = startSockets(service, slack);

before(() => {
  worker = startSlackWorker(service.database, slack, { db: service.servicePool });
});
after(async () => {
  await sockets.stop();
  await worker.stop();
  await service.stop();
  await slack.stop();
});

const [ann, bob, cy] = ["ann@example.com", "bob@example.com", "cy@example.com"];

/** Ann reads by her link, Bob in his inbox, Cy in Slack. */
async function openEverywhere(body: object = {}) {
  const app_ = slack.createApp();
  const { id: workspaceId, key, groupId } = await voters.workspaceWith();
  await connectTo(slack, { db, workspaceId }, app_);
  const channel = slack.addChannel("finance", { members: [app_.botUserId] });
  const place = { id: channel.id, name: "finance" };
  await setGroupSlackChannel(db, { workspaceId, groupId, channel: place });
  const user = slack.addUser({ teamId: app_.teamId });
  channel.members.add(user.id);
  const account = { teamId: app_.teamId, appId: app_.id, slackUserId: user.id, email: cy };
  await inTransaction(db, (tx) => slackAccounts.link(tx, account));
  await until(() => slack.sockets.countOf(app_.id) > 0, "the socket");
  const { id } = await voters.ask(key, body);
  await until(() => slack.messagesIn(channel.id).length === 1, "the message in Slack");
  const [card] = slack.messagesIn(channel.id);
  assert.ok(card);
  const { token } = await findReviewer(db, id, { email: ann });
  const cookie = await signIn(service, bob);
  const { json } = await callInbox(service, `GET /find/${id}`, { cookie });
  const byLink = async () => (await postReview(app, `${token}/status`, {})).json;
  const inInbox = async () =>
    (await callInbox(service, `POST /reviews/${json.id}/status`, { cookie, body: {} })).json;
  const inSlack = () => seenIn(card.blocks).text;
  const inbox = { cookie, id: json.id as string };
  return { id, key, token, inbox, user, card, byLink, inInbox, inSlack };
}

type Everywhere = Awaited<ReturnType<typeof openEverywhere>>;

async function voteInSlack(user: SlackUser, card: Everywhere["card"]) {
  await slack.click(user, card, "countersign_approve");
  const view = await modalOf(slack, user);
  await slack.submit(user, view, {});
  return view;
}

/** Until all three show it. Says how long that took. */
async function shownEverywhere(
  t: TestContext,
  { byLink, inInbox, inSlack }: Everywhere,
  who: string,
) {
  const began = performance.now();
  const took: Record<string, number> = {};
  const wait = async (where: string, shows: () => Promise<boolean> | boolean) => {
    await until(shows, `${who} in the ${where}`);
    took[where] = Math.round(performance.now() - began);
  };
  await Promise.all([
    wait("link", async () => JSON.stringify(await byLink()).includes(who)),
    wait("inbox", async () => JSON.stringify(await inInbox()).includes(who)),
    wait("Slack", () => inSlack().includes(who)),
  ]);
  t.diagnostic(`${who}: ${JSON.stringify(took)} ms`);
}

test("a vote by link, one in the inbox and one in Slack show on all three", async (t) => {
  const everywhere = await openEverywhere({ quorum: 3 });
  const { id, key, token, inbox, user, card } = everywhere;
  const vote = await decide(app, token, { verdict: "approve" });
  assert.equal(vote.status, 200);
  await shownEverywhere(t, everywhere, ann);
  const second = await decideInInbox(service, inbox.cookie, { id: inbox.id, verdict: "approve" });
  assert.equal(second.status, 200, second.text);
  await shownEverywhere(t, everywhere, bob);
  await voteInSlack(user, card);
  await shownEverywhere(t, everywhere, cy);
  const request = await voters.read(key, id);
  assert.equal(request.status, "APPROVED");
  const via = request.approvals.stages[0].votes.map((each: { via: string }) => each.via);
  assert.deepEqual(via.toSorted(), ["inbox", "link", "slack"]);
});

test("who decides in Slack wins, and the other two are told who did", async (t) => {
  const everywhere = await openEverywhere();
  const { token, inbox, user, card } = everywhere;
  const review = await openPlace(service, inbox.cookie, inbox.id);
  await voteInSlack(user, card);
  await shownEverywhere(t, everywhere, cy);
  const late = await decide(app, token, { verdict: "reject" });
  assert.deepEqual([late.status, late.json.error.code], [409, "already_resolved"]);
  assert.match(late.json.error.message, /approved by cy@example\.com/);
  const body = { verdict: "approve", digest: "0".repeat(64), ticket: review.ticket };
  const lost = await callInbox(service, `POST /reviews/${inbox.id}/decision`, {
    cookie: inbox.cookie,
    body,
  });
  assert.deepEqual([lost.status, lost.json.status.outcome.byEmail], [409, cy]);
});

test("who is late in Slack is told who won, in the modal that was open", async (t) => {
  const everywhere = await openEverywhere();
  const { token, user, card } = everywhere;
  await slack.click(user, card, "countersign_approve");
  const view = await modalOf(slack, user);
  await decide(app, token, { verdict: "reject" });
  await shownEverywhere(t, everywhere, ann);
  await slack.submit(user, view, {});
  assert.match(seenIn(view.view.blocks).text, /rejected by ann@example\.com/);
  assert.deepEqual(
    seenIn(card.blocks).buttons.map(({ label }) => label),
    [],
  );
});
