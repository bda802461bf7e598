import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loopbackCidrs, makeAddressPolicy } from "../src/domain/access/network-address.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  removeGroupTeams,
  setGroupMailDelay,
  setGroupTeams,
} from "../src/operations/channels/group-channels.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { TeamsSender } from "../src/outbound/send-teams.ts";
import { teamsChannel } from "../src/worker/teams-messages.ts";
import { hangMs, until } from "./patience.ts";
import { mailWaitsOf, messagesOf } from "./test-channels.ts";
import { startService, testKeyring } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";
import { startWorker, testPublicUrl } from "./test-worker.ts";
import { startWorkflows, wordsOf, workflowsCa } from "./test-workflows.ts";

const service = await startService();
const { db } = service;
const voters = makeVoters(service);
const workflows = await startWorkflows();
const sender = new TeamsSender({
  policy: makeAddressPolicy(loopbackCidrs),
  ca: workflowsCa,
  timeoutMs: hangMs,
});
const teams = teamsChannel({
  db: service.servicePool,
  keyring: testKeyring,
  origin: { publicUrl: testPublicUrl },
  sender,
});
const lines: string[] = [];
const worker = startWorker(service.database, {
  messageChannels: [teams],
  logDestination: { write: (line) => void lines.push(line) },
});
after(async () => {
  await worker.stop();
  sender.close();
  await workflows.close();
  await service.stop();
});

async function teamsGroup(url = workflows.url) {
  const workspace = await voters.workspaceWith();
  const place = { workspaceId: workspace.id, groupId: workspace.groupId };
  const set = await setGroupTeams(db, testKeyring, {
    ...place,
    url,
    examineAddress: async () => null,
  });
  assert.ok(!isRefusal(set));
  await setGroupMailDelay(db, { ...place, minutes: 10 });
  return { ...workspace, place };
}

async function ask(key: string, body: object = {}): Promise<string> {
  const { id } = await voters.ask(key, body);
  worker.worker.wake();
  return id;
}

const cardsOf = (id: string) =>
  workflows.cards.filter(({ actions }) => actions[0].url.endsWith(`/${id}`));

async function stateOf(id: string): Promise<string | undefined> {
  return (await messagesOf(db, id))[0]?.state;
}

test("a group is told by a card that says what is asked and leads to the inbox, and nothing that gives a right", async () => {
  const { key } = await teamsGroup();
  const summary = "Pay **40,000** to [Acme](https://evil.example)\u202E";
  const id = await ask(key, { summary, agentName: "payer", payload: { iban: "DE00-SECRET" } });
  const card = await until(() => cardsOf(id)[0]);
  const words = wordsOf(card);
  assert.deepEqual(words.slice(0, 3), [
    "Approval needed",
    "The agent wrote",
    "Pay **40,000** to [Acme](https[:]//evil[.]example)[U+202E RLO]",
  ]);
  assert.ok(words.includes("Agent: payer") && words.includes("Workspace: Acme"), words.join("\n"));
  assert.ok(words.some((line) => line.startsWith("Expires: ")));
  assert.deepEqual(card.actions, [
    {
      type: "Action.OpenUrl",
      title: "Open in inbox",
      url: `${testPublicUrl}/inbox/requests/${id}`,
    },
  ]);
  const whole = JSON.stringify(card);
  assert.ok(!whole.includes("SECRET") && !whole.includes("/review/"), whole);
});

test("votes change no card, and the end is a second one", async () => {
  const { key } = await teamsGroup();
  const id = await ask(key, { quorum: 2 });
  await until(() => cardsOf(id).length === 1);
  await voters.vote(id, "ann@example.com");
  await until(async () => {
    const [message] = await messagesOf(db, id);
    return message?.state === "sent" && message.drawn === message.wanted && message.wanted > 1;
  });
  assert.equal(cardsOf(id).length, 1);
  await voters.vote(id, "bob@example.com");
  await until(() => cardsOf(id).length === 2);
  const words = wordsOf(cardsOf(id)[1]);
  assert.equal(words[0], "Approved");
  assert.ok(
    words.some((line) => line.startsWith("Decided by: bob")),
    words.join("\n"),
  );
});

test("a group that is asked in a later stage gets its card then", async () => {
  const { key, id: workspaceId } = await teamsGroup();
  const board = await createGroup(db, {
    ...{ workspaceId, key: "board", name: "Board", members: ["eve@example.com"] },
  });
  assert.ok(!isRefusal(board));
  const id = await ask(key, {
    notify: "group:board",
    quorum: 1,
    then: [{ notify: "group:finance" }],
  });
  await until(async () => (await db.query("select from channel_news")).rowCount === 0);
  assert.deepEqual(await messagesOf(db, id), []);
  await voters.vote(id, "eve@example.com");
  const card = await until(() => cardsOf(id)[0]);
  assert.ok(wordsOf(card).includes("Asked: Finance"));
});

test("a request that ended before anybody was told needs no card", async () => {
  const { key, place } = await teamsGroup();
  const { id: approvalId } = await voters.ask(key);
  const { status } = await service.call("POST", `/v1/requests/${approvalId}/cancel`, { key });
  assert.equal(status, 200);
  const calls = workflows.calls;
  const outcome = await teams.send({
    ...{
      ...place,
      approvalId,
      id: "msg_1",
      leaseToken: "",
      wanted: 1,
      attempts: 1,
      channel: "teams",
    },
    ...{ target: place.groupId, slack: null, digest: null, wasSent: false, createdAt: new Date() },
  });
  assert.deepEqual(outcome, { kind: "needless" });
  assert.equal(workflows.calls, calls);
});

test("a webhook that is gone is given up at once, and mail goes instead", async () => {
  const { key } = await teamsGroup();
  workflows.answers.push({ status: 404 });
  const id = await ask(key);
  await until(async () => (await stateOf(id)) === "failed");
  assert.equal((await messagesOf(db, id))[0]?.failure, "404");
  assert.deepEqual(new Set(Object.values(await mailWaitsOf(db, id))), new Set([0]));
  assert.equal(cardsOf(id).length, 0);
});

test("too many cards, and a service that is down, are tried again later", async () => {
  const { key } = await teamsGroup();
  workflows.answers.push({ status: 429, headers: { "retry-after": "600" } });
  const id = await ask(key);
  const message = await until(async () => {
    const [found] = await messagesOf(db, id);
    return found?.failure === "429" && found;
  });
  assert.equal(message.state, "due");
  assert.ok(message.due_in > 300, `${message.due_in} seconds`);
  assert.deepEqual(new Set(Object.values(await mailWaitsOf(db, id))), new Set([10]));
  await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [id]);
  worker.worker.wake();
  await until(() => cardsOf(id).length === 1);
  await until(async () => (await messagesOf(db, id))[0]?.failure === null);
});

test("what isn't Workflows fails: another status, a redirect, an address inside, plain http", async () => {
  const message = { type: "message" } as never;
  workflows.answers.push({ status: 200 }, { status: 302, headers: { location: workflows.url } });
  assert.deepEqual(await sender.send(workflows.url, message), { kind: "refused", failure: "200" });
  assert.deepEqual(await sender.send(workflows.url, message), {
    kind: "refused",
    failure: "redirected",
  });
  assert.deepEqual(await sender.send(workflows.url.replace("https", "http"), message), {
    ...{ kind: "refused", failure: "not_encrypted" },
  });
  const strict = new TeamsSender({ policy: makeAddressPolicy([]), ca: workflowsCa });
  const calls = workflows.calls;
  const refused = await strict.send(workflows.url, message);
  strict.close();
  assert.equal(refused.kind, "later");
  assert.equal("failure" in refused && refused.failure, "address_not_allowed");
  assert.equal(workflows.calls, calls, "nothing was sent");
});

test("a group whose webhook was removed, or whose key is lost, falls back to mail", async () => {
  const { key, place } = await teamsGroup();
  const { id } = await voters.ask(key);
  await removeGroupTeams(db, place);
  worker.worker.wake();
  await until(async () => {
    const waits = Object.values(await mailWaitsOf(db, id));
    return waits.every((minutes) => minutes === 0);
  });
  assert.equal(cardsOf(id).length, 0);
});

test("neither the webhook's secret nor words nor addresses are logged", async () => {
  const { key } = await teamsGroup();
  const id = await ask(key, { summary: "Say nothing of this" });
  await until(async () => (await stateOf(id)) === "sent");
  await until(() => lines.some((line) => line.includes(id)));
  const all = lines.join("");
  assert.ok(!/s3cret|Say nothing|@example\.com/.test(all), all);
});

test("every message fits, and was taken as it is", () => {
  assert.deepEqual(workflows.flaws, []);
});
