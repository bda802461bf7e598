// Push messages on their way: from a request to the browsers of those who are asked. They say how many requests wait, and
// not a word about them.

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import { inOneStatement, inTransaction } from "../src/database/database.ts";
import { type Keyring, parseKeyring } from "../src/domain/access/keyring.ts";
import { loopbackCidrs, makeAddressPolicy } from "../src/domain/access/network-address.ts";
import { pushBrowsersMax } from "../src/domain/channels/push-limits.ts";
import { pushPublicKey } from "../src/operations/channels/push-identity.ts";
import { PushSender } from "../src/outbound/send-push.ts";
import * as channelMessages from "../src/storage/channels/channel-messages.ts";
import * as pushSubscriptions from "../src/storage/channels/push-subscriptions.ts";
import { pushChannel } from "../src/worker/push-messages.ts";
import { hangMs, until } from "./patience.ts";
import { messagesOf, tellNews } from "./test-channels.ts";
import { callDashboard, signIn } from "./test-dashboard.ts";
import { pushServiceCa, startPushService, type TestBrowser } from "./test-push-service.ts";
import { makeWorkspace, minimalBody, startService, testKeyring } from "./test-service.ts";
import { startWorker } from "./test-worker.ts";

const service = await startService();
const { db } = service;
const pushService = await startPushService();
const subject = "https://approvals.example";
after(async () => {
  await pushService.close();
  await service.stop();
});

type Work = { policy?: ReturnType<typeof makeAddressPolicy>; keyring?: Keyring };

/** A worker whose messages reach the push service of this test. */
async function working<Result>(
  work: () => Promise<Result>,
  { policy = makeAddressPolicy(loopbackCidrs), keyring = testKeyring }: Work = {},
): Promise<Result> {
  const sender = new PushSender({ policy, ca: pushServiceCa, timeoutMs: hangMs });
  const send = sender.send.bind(sender);
  const push = pushChannel({ db: service.servicePool, keyring, send, subject: () => subject });
  const worker = startWorker(service.database, { messageChannels: [push] });
  try {
    return await work();
  } finally {
    await worker.stop();
    sender.close();
  }
}

/** Somebody who was asked something and is signed in, with a browser that takes push messages. */
async function somebody(more: { browser?: Partial<TestBrowser> } = {}) {
  const email = `ann-${randomUUID().slice(0, 8)}@example.com`;
  const { id: workspaceId, key } = await makeWorkspace(db);
  await create(key, email);
  const browser = Object.assign(await subscribeAt(), more.browser);
  const cookie = await remember(email, browser);
  return { email, workspaceId, key, cookie, browser };
}

async function subscribeAt(): Promise<TestBrowser> {
  return pushService.subscribe(await pushPublicKey(db, testKeyring));
}

/** Signs the person in there, and turns messages on. Answers the cookie. */
async function remember(
  email: string,
  { endpoint, publicKey, auth }: Pick<TestBrowser, "endpoint" | "publicKey" | "auth">,
): Promise<string> {
  const cookie = await signIn(service, email);
  await turnOn(email, await newestSession(email), { endpoint, publicKey, auth });
  return cookie;
}

async function turnOn(
  email: string,
  sessionId: string,
  { endpoint, publicKey, auth }: Pick<TestBrowser, "endpoint" | "publicKey" | "auth">,
): Promise<void> {
  const subscription = { sessionId, email, endpoint, keys: { publicKey, auth } };
  await inTransaction(db, (tx) => pushSubscriptions.put(tx, subscription));
}

/** Without signing in, which is limited: a quick machine would be over it. */
async function makeSession(email: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into sessions (person_id, token_digest, method, expires_at)
     select id, sha256(gen_random_uuid()::text::bytea), 'code', now() + interval '1 day' from people where email = $1
     returning id`,
    [email],
  );
  return rows[0]?.id ?? "";
}

async function newestSession(email: string): Promise<string> {
  const { rows } = await db.query(
    `select s.id from sessions s join people p on p.id = s.person_id where p.email = $1
     order by s.id desc limit 1`,
    [email],
  );
  return rows[0].id;
}

async function create(key: string, email: string): Promise<string> {
  const body = { ...minimalBody, summary: "Pay the watermelon", notify: email, ttlMinutes: 30 };
  const { status, json, text } = await service.call("POST", "/v1/requests", { key, body });
  assert.equal(status, 201, text);
  return json.id;
}

/** A request, and the news of it. */
async function ask(where: { workspaceId: string; key: string }, email: string): Promise<string> {
  const approvalId = await create(where.key, email);
  const { rowCount } = await db.query("select from channel_news where approval_id = $1", [
    approvalId,
  ]);
  if (rowCount === 0) await tellNews(db, { workspaceId: where.workspaceId, approvalId }, true);
  return approvalId;
}

async function stateOf(approvalId: string) {
  return (await messagesOf(db, approvalId)).find(({ channel }) => channel === "push");
}

function settled(approvalId: string) {
  return until(async () => {
    const message = await stateOf(approvalId);
    return message !== undefined && message.state !== "due" && message;
  }, "the message to end");
}

/** Where nobody has a browser any more, there may be no message at all. */
function toldOrNot(approvalId: string) {
  return until(async () => {
    const news = await db.query("select from channel_news where approval_id = $1", [approvalId]);
    return news.rowCount === 0 && (await stateOf(approvalId))?.state !== "due";
  }, "the news to be spread");
}

async function browsersOf(email: string): Promise<number> {
  const { rowCount } = await db.query("select from push_subscriptions where email = $1", [email]);
  return rowCount ?? 0;
}

const answerWith =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end();

test("each browser of a person is told how many requests wait, and no word of them leaves", async () => {
  const { email, browser, ...where } = await somebody();
  const second = await subscribeAt();
  await remember(email, second);
  const approvalId = await ask(where, email);
  assert.equal((await working(() => settled(approvalId))).state, "sent");
  assert.deepEqual(pushService.flaws, []);
  for (const { received, endpoint } of [browser, second]) {
    const [message, ...more] = received;
    assert.ok(message && more.length === 0);
    assert.equal(message.text, '{"waiting":2}');
    assert.equal(message.claims.sub, subject);
    assert.ok(message.bytes < 256);
    const { ttl, urgency, topic } = message.headers;
    assert.deepEqual([urgency, topic], ["high", "waiting"]);
    assert.ok(Number(ttl) > 0 && Number(ttl) <= 30 * 60);
    const said = JSON.stringify(message.headers) + endpoint + message.text;
    for (const secret of ["watermelon", email, approvalId, where.workspaceId, "req_", "rev_"]) {
      assert.ok(!said.includes(secret), secret);
    }
  }
});

test("requests that come together are told together", async () => {
  const { email, browser, ...where } = await somebody();
  const ids = [await ask(where, email), await ask(where, email), await ask(where, email)];
  await working(() => Promise.all(ids.map(settled)));
  assert.deepEqual(
    browser.received.map(({ text }) => text),
    ['{"waiting":4}'],
  );
});

test("a request that was decided before anybody was told is told to nobody", async () => {
  const { email, browser, ...where } = await somebody();
  const approvalId = await ask(where, email);
  await db.query(
    `insert into channel_messages (workspace_id, approval_id, channel, target) values ($1, $2, 'push', $3)
     on conflict do nothing`,
    [where.workspaceId, approvalId, email],
  );
  await service.call("POST", `/v1/requests/${approvalId}/cancel`, { key: where.key });
  assert.equal((await working(() => settled(approvalId))).state, "skipped");
  assert.equal(browser.received.length, 0);
});

test("a browser that is gone is forgotten, and one that is left still gets the message", async () => {
  for (const status of [404, 410]) {
    const { email, browser, ...where } = await somebody();
    const gone = await subscribeAt();
    gone.answer = answerWith(status);
    await remember(email, gone);
    const approvalId = await ask(where, email);
    assert.equal((await working(() => settled(approvalId))).state, "sent");
    assert.equal(browser.received.length, 1);
    assert.equal(await browsersOf(email), 1);
  }
});

test("when no browser is left the message fails, and the mail that waited for it hurries", async () => {
  const { email, browser, ...where } = await somebody();
  browser.answer = answerWith(410);
  const approvalId = await ask(where, email);
  const mailOfIt =
    "event_id in (select id from events where approval_id = $1) and channel = 'mail'";
  await db.query(`update deliveries set due_at = now() + interval '10 minutes' where ${mailOfIt}`, [
    approvalId,
  ]);
  const message = await working(() => settled(approvalId));
  assert.deepEqual(
    [message.state, message.failure],
    ["failed", "no browser takes push messages any more"],
  );
  assert.equal(await browsersOf(email), 0);
  const { rows } = await db.query(
    `select due_at <= now() as is_due from deliveries where ${mailOfIt}`,
    [approvalId],
  );
  assert.deepEqual(rows, [{ is_due: true }]);
});

test("a push service that takes no more is asked again when it said", async () => {
  const { email, browser, ...where } = await somebody();
  browser.answer = answerWith(429, { "retry-after": "600" });
  const approvalId = await ask(where, email);
  const message = await working(() =>
    until(async () => {
      const found = await stateOf(approvalId);
      return found?.failure !== null && found;
    }, "the first try"),
  );
  assert.equal(message.state, "due");
  assert.ok(message.due_in > 500, String(message.due_in));
  browser.answer = null;
  await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [
    approvalId,
  ]);
  assert.equal((await working(() => settled(approvalId))).state, "sent");
  assert.equal(browser.received.length, 1);
});

test("a refusal for good is not tried again, and the browser stays", async () => {
  const { email, browser, ...where } = await somebody();
  browser.answer = answerWith(403);
  const approvalId = await ask(where, email);
  const message = await working(() => settled(approvalId));
  assert.deepEqual(
    [message.state, message.failure],
    ["failed", "the push service refuses the message"],
  );
  assert.equal(await browsersOf(email), 1);
});

test("an address inside our network is never called, whoever names it", async () => {
  const { port } = new URL(pushService.url);
  let asked = 0;
  pushService.answer = (response) => {
    asked += 1;
    response.writeHead(201).end();
  };
  const hosts = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "169.254.169.254"];
  for (const host of hosts) {
    const endpoint = `https://${host}/raw/${randomUUID()}`;
    const { email, ...where } = await somebody({ browser: { endpoint } });
    const approvalId = await ask(where, email);
    const message = await working(() => settled(approvalId), { policy: makeAddressPolicy([]) });
    assert.equal(message.state, "failed", host);
  }
  assert.equal(asked, 0);
});

test("a key that no browser has gets nothing and is forgotten", async () => {
  const { email, browser, ...where } = await somebody({
    browser: { publicKey: Buffer.alloc(65, 4) },
  });
  const approvalId = await ask(where, email);
  assert.equal((await working(() => settled(approvalId))).state, "failed");
  assert.equal(browser.received.length, 0);
  assert.equal(await browsersOf(email), 0);
});

test("somebody who has signed out gets nothing any more", async () => {
  const { email, browser, cookie, ...where } = await somebody();
  const approvalId = await ask(where, email);
  const { status } = await callDashboard(service, "POST /sign-out", { cookie });
  assert.equal(status, 200);
  assert.equal(await browsersOf(email), 0);
  await working(() => toldOrNot(approvalId));
  assert.equal(browser.received.length, 0);
});

test("a session that ended by itself gets nothing either", async () => {
  const { email, browser, ...where } = await somebody();
  const approvalId = await ask(where, email);
  await db.query(
    `update sessions set expires_at = now_ms() where person_id = (select id from people where email = $1)`,
    [email],
  );
  await working(() => toldOrNot(approvalId));
  assert.equal(browser.received.length, 0);
});

test("quiet hours hold a message until they end", async () => {
  const { email, browser, ...where } = await somebody();
  await db.query(
    `insert into person_settings (email, quiet_from, quiet_until, time_zone)
     values ($1, (now() at time zone 'UTC' - interval '1 hour')::time,
       (now() at time zone 'UTC' + interval '1 hour')::time, 'UTC')`,
    [email],
  );
  const approvalId = await ask(where, email);
  const held = await working(() => until(() => stateOf(approvalId), "the message"));
  assert.equal(held.state, "due");
  assert.ok(held.due_in > 3_000 && held.due_in <= 3_600, String(held.due_in));
  assert.equal(browser.received.length, 0);
  await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [
    approvalId,
  ]);
  await working(() => settled(approvalId));
  assert.equal(browser.received.length, 1);
});

test("a message of a worker that died is sent by another", async () => {
  const { email, browser, ...where } = await somebody();
  const approvalId = await ask(where, email);
  await working(() => settled(approvalId));
  browser.received.length = 0;
  const next = await ask(where, email);
  await db.query("update push_subscriptions set sent_at = null where email = $1", [email]);
  await db.query(
    "insert into channel_messages (workspace_id, approval_id, channel, target) values ($1, $2, 'push', $3)",
    [where.workspaceId, next, email],
  );
  const [claimed] = await channelMessages.claim(inOneStatement(db), "push", 1);
  assert.equal(claimed?.approvalId, next);
  await db.query("update channel_messages set leased_until = now_ms() where approval_id = $1", [
    next,
  ]);
  assert.equal((await working(() => settled(next))).state, "sent");
  assert.ok(browser.received.length >= 1);
});

test("a worker that lacks the key pair's key sends nothing, and one that has it does", async () => {
  const { email, browser, ...where } = await somebody();
  const approvalId = await ask(where, email);
  const keyring = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
  const untold = () =>
    until(async () => {
      const found = await stateOf(approvalId);
      return found?.failure !== null && found;
    }, "the first try");
  const message = await working(untold, { keyring });
  assert.match(message.failure ?? "", /SECRET_KEY/);
  assert.equal(browser.received.length, 0);
  await db.query("update channel_messages set due_at = now_ms() where approval_id = $1", [
    approvalId,
  ]);
  await working(() => settled(approvalId));
  assert.equal(browser.received.length, 1);
});

test("one browser shows the messages of the person who turned them on last", async () => {
  const first = await somebody();
  const second = await somebody();
  await remember(second.email, first.browser);
  assert.equal(await browsersOf(first.email), 0);
  assert.equal(await browsersOf(second.email), 2);
});

test("a browser whose address has changed has one place", async () => {
  const { email } = await somebody();
  const renewed = await subscribeAt();
  await turnOn(email, await newestSession(email), renewed);
  const { subscriptions } = await pushSubscriptions.findAudience(db, email);
  assert.deepEqual(
    subscriptions.map(({ endpoint }) => endpoint),
    [renewed.endpoint],
  );
});

test("the oldest of very many browsers make room", async () => {
  const { email } = await somebody();
  const browsers = [];
  for (let n = 0; n < pushBrowsersMax + 2; n += 1) {
    const browser = await subscribeAt();
    browsers.push(browser);
    await turnOn(email, await makeSession(email), browser);
  }
  const { subscriptions } = await pushSubscriptions.findAudience(db, email);
  assert.deepEqual(
    subscriptions.map(({ endpoint }) => endpoint).sort(),
    browsers
      .slice(2)
      .map(({ endpoint }) => endpoint)
      .sort(),
  );
});
