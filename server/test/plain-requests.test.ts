// A request that uses no newer field is answered, sent, mailed and shown as it was before there were any, to the byte.
// The folder beside this file holds every such exchange: a folder for each kind of request, and in it one for each life.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { loopbackCidrs } from "../src/domain/access/network-address.ts";
import { formatReviewCode } from "../src/domain/access/review-code.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { shownText } from "../src/domain/shown/shown-text.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
import type { RequestDetail } from "../src/wire/dashboard-contract.ts";
import type { Review } from "../src/wire/review-contract.ts";
import { Sweeper } from "../src/worker/sweeper.ts";
import {
  httpText,
  type Known,
  type Message,
  openKept,
  withPlaceholders,
} from "./kept-exchanges.ts";
import { hangMs, until } from "./patience.ts";
import { fromOurPage, makeMember, signIn } from "./test-dashboard.ts";
import { startMailserver } from "./test-mailbox.ts";
import {
  type Choice,
  decisionBody,
  listReviewers,
  reviewDataOf,
  reviewOf,
  sameOriginHeaders,
  type TestReviewer,
} from "./test-review.ts";
import { makeWorkspace, startService } from "./test-service.ts";
import { makeEndpoint, startReceiver, startWorker, testPublicUrl } from "./test-worker.ts";

const writeAnew =
  "TEST_PLAIN_REQUESTS=write npm test -- server/test/plain-requests.test.ts writes the files anew";
const lives = [
  "pending",
  "reminded",
  "approved",
  "edited",
  "rejected",
  "expired",
  "cancelled",
] as const;
const kinds = ["address", "group", "full", "code"] as const;
type Life = (typeof lives)[number];
type Kind = (typeof kinds)[number];

let wake = () => {};
const service = await startService({ onDue: () => wake(), callbackAllowed: loopbackCidrs });
const { db, keyring } = service;
const port = Number(new URL(await service.app.listen({ port: 0, host: "127.0.0.1" })).port);
const mailserver = await startMailserver();
const sender = new MailSender({
  smtpUrl: mailserver.url,
  timeouts: { connectionMs: hangMs, greetingMs: hangMs, socketMs: hangMs, overallMs: hangMs },
  from: { name: "Countersign", address: "approvals@example.com" },
});
type Post = Message & { path: string; event: string; id: string; deliveryId: string };
const posts: Post[] = [];
const receiver = await startReceiver((response, { body: bytes, json, headers }, request) => {
  const { method, url: path = "", httpVersion, rawHeaders } = request;
  const fields = rawHeaders.map((text, at) => (at % 2 === 0 ? `\r\n${text}: ` : text));
  const head = `${method} ${path} HTTP/${httpVersion}${fields.join("")}`;
  const body = bytes.toString("latin1");
  const deliveryId = String(headers["webhook-id"]);
  posts.push({ head, body, path, event: json.event, id: json.data.id, deliveryId });
  response.end("ok");
});
const callbackUrl = `${receiver.url}/resume/77`;

/** As texts, because the table of fields grows, and a plain request doesn't. */
const bodies: Record<Kind, string> = {
  address: '{"summary":"Refund order 1042","notify":"ann@example.com"}',
  group: '{"summary":"Refund order 1042","payload":{"amount":49},"notify":"group:finance"}',
  full: `{
    "summary": "Pay invoice 77 over £120.50",
    "payload": {"amount": 120.50, "to": "ACME <Ltd>", "reference": 12345678901234567890},
    "notify": "ann@example.com",
    "agentName": "payer",
    "metadata": ["trace", 1],
    "agentState": {"step": 3},
    "reasoning": "It is due today.\\nNothing speaks against it.",
    "recentActions": ["read invoice", "checked budget"],
    "ttlMinutes": 30,
    "callbackUrl": "${callbackUrl}"
  }`,
  code: '{"summary":"Rotate the signing key","payload":["key-7"],"notify":"ann@example.com"}',
};

type Story = {
  kind: Kind;
  life: Life;
  workspaceId: string;
  key: string;
  id: string;
  reviewers: TestReviewer[];
  known: Known;
  names: Set<string>;
};

const kept = await openKept(join(import.meta.dirname, "plain-requests"));
const admin = "admin@example.com";
/** When requests were asked, as the mails say it, and as everything later says it. */
const mailedAs = "2099-03-14T09:26:53.589Z";
const askedAt = "2020-01-05T09:30:00.000Z";

/** One name per exchange of a story: what happens a second time gets a name that no file has. */
function keep({ kind, names }: Story, name: string, text: string): void {
  const isAgain = names.has(name);
  names.add(name);
  kept.add(`${kind}/${isAgain ? name.replace(/(?=\.\w+$)/, " again") : name}`, text);
}

/** A delivery may arrive twice, which its receiver knows by its id. Then it is the same to the byte. */
function keepOnce(story: Story, name: string, { id, text }: { id: string; text: string }): void {
  const before = arrived.get(id);
  if (before === undefined) keep(story, name, text);
  else assert.equal(text, before);
  arrived.set(id, text);
}
const arrived = new Map<string, string>();

async function begin(kind: Kind, life: Life): Promise<Story> {
  const { id: workspaceId, key } = await makeWorkspace(db, {
    name: "Acme Payments",
    reviewCode: kind === "code",
  });
  await makeMember(db, { workspaceId, email: admin, role: "admin" });
  await makeEndpoint(db, workspaceId, receiver.url);
  if (kind === "group") {
    const members = ["ann@example.com", "ben@example.com"];
    const group = { workspaceId, key: "finance", name: "Finance", members };
    assert.ok(!isRefusal(await createGroup(db, group)));
  }
  const created = await askApi(key, "POST /v1/requests", bodies[kind]);
  const { id, createdAt, expiresAt } = JSON.parse(created.body);
  const ttlMs = Date.parse(expiresAt) - Date.parse(createdAt);
  assert.equal(ttlMs, (kind === "full" ? 30 : 1440) * 60_000);
  const reviewers = await listReviewers(db, id);
  const secrets = reviewers.flatMap(({ email, token, code }) => [
    { value: token, name: `token of ${email}` },
    { value: formatReviewCode(code), name: `code of ${email}` },
  ]);
  const known = [{ value: id, name: "request id" }, ...secrets];
  const story = { kind, life, workspaceId, key, id, reviewers, known, names: new Set<string>() };
  keep(story, "pending/create.http", httpText(created, known));
  return story;
}

function nameOf({ email }: { email: string }): string {
  return email.replace(/@.*/, "");
}

/** Asks again while the service says that it is too busy, as callers do. */
async function exchange(...asked: Parameters<typeof exchangeOnce>): Promise<Message> {
  return until(async () => {
    const answer = await exchangeOnce(...asked);
    return answer.head.startsWith("HTTP/1.1 503 ") ? null : answer;
  });
}

/** The bytes of an answer, over a connection of its own. */
async function exchangeOnce(
  call: string,
  headers: Record<string, string>,
  { sent = null, version = "1.1" }: { sent?: string | null; version?: string } = {},
): Promise<Message> {
  const length = sent === null ? {} : { "content-length": String(Buffer.byteLength(sent)) };
  const all = { host: `127.0.0.1:${port}`, connection: "close", ...headers, ...length };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = net.connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`${call} HTTP/${version}\r\n${fields.join("")}\r\n${sent ?? ""}`);
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  assert.ok(end > 0, `${call} was answered: ${text}`);
  return { head: text.slice(0, end), body: text.slice(end + 4) };
}

function askApi(key: string, call: string, sent: string | null = null): Promise<Message> {
  const type = sent === null ? {} : { "content-type": "application/json" };
  return exchange(call, { authorization: `Bearer ${key}`, ...type }, { sent });
}

function askReview(path: string, sent: object | string): Promise<Message> {
  const text = typeof sent === "string" ? sent : JSON.stringify(sent);
  return exchange(`POST /review/${path}`, sameOriginHeaders(), { sent: text });
}

/** The page behind a link and the calls of its script, while the request is in a state. */
async function openPage(story: Story, state: Life, reviewer: TestReviewer): Promise<Review> {
  const { kind, known } = story;
  const { token, code } = reviewer;
  const typed = kind === "code" ? { code } : {};
  const keepAs = (name: string, message: Message) => {
    keep(story, `${state}/${name}-${nameOf(reviewer)}.http`, httpText(message, known));
    return Buffer.from(message.body, "latin1").toString();
  };
  const html = keepAs("page", await exchange(`GET /review/${token}`, {}));
  keepAs("status", await askReview(`${token}/status`, typed));
  if (kind !== "code") return reviewOf(reviewDataOf(html));
  keepAs("open-without-code", await askReview(`${token}/open`, {}));
  return reviewOf(JSON.parse(keepAs("open", await askReview(`${token}/open`, typed))));
}

type Decision = { state: Life; reviewer: TestReviewer; choice: Choice };

async function decide(story: Story, { state, reviewer, choice }: Decision): Promise<Message> {
  const { token, code } = reviewer;
  const review = await openPage(story, state, reviewer);
  const whole = { ...choice, ...(story.kind === "code" ? { code } : {}) };
  return askReview(`${token}/decision`, decisionBody(review, whole));
}

const choices: Partial<Record<Life, Choice>> = {
  approved: { verdict: "approve", note: "Checked." },
  edited: { verdict: "approve", edit: '{"amount": 100.00}' },
  rejected: { verdict: "reject", note: "Not this month.\nAsk again in May." },
};

/** Brings a pending request into the state that its life ends in. */
async function live(story: Story): Promise<void> {
  const { id, key, life, known } = story;
  const [reviewer] = story.reviewers as [TestReviewer];
  const choice = choices[life];
  if (choice !== undefined) {
    const decided = await decide(story, { state: "pending", reviewer, choice });
    keep(story, `${life}/decide.http`, httpText(decided, known));
  }
  if (life === "expired") {
    const over = "update approvals set expires_at = now_ms() - interval '1 minute' where id = $1";
    await db.query(over, [id]);
  }
  if (life === "cancelled") {
    const cancelled = await askApi(key, `POST /v1/requests/${id}/cancel`, "");
    keep(story, `${life}/cancel.http`, httpText(cancelled, known));
  }
  const redeemed = await askApi(key, `POST /v1/requests/${id}/redeem`, "");
  keep(story, `${life}/redeem.http`, httpText(redeemed, known));
}

/** Everything that tells of the request as it stands now. */
async function look(story: Story): Promise<void> {
  const { id, key, kind, life, known, reviewers, workspaceId } = story;
  const keepAs = (name: string, message: Message) =>
    keep(story, `${life}/${name}.http`, httpText(message, known));
  keepAs("read", await askApi(key, `GET /v1/requests/${id}`));
  keepAs("list", await askApi(key, "GET /v1/requests"));
  const isPending = life === "pending" || life === "reminded";
  for (const reviewer of isPending ? reviewers : reviewers.slice(0, -1)) {
    const review = await openPage(story, life, reviewer);
    const bound = Buffer.from(shownText(review)).toString("latin1");
    const name = `${life}/bound-${nameOf(reviewer)}.txt`;
    if (life === "pending") keep(story, name, withPlaceholders(bound, known));
  }
  const [reviewer] = reviewers.slice(-1) as [TestReviewer];
  const choice: Choice = { verdict: "reject", note: "Too late." };
  if (!isPending) keepAs("decide-late", await decide(story, { state: life, reviewer, choice }));
  await settleAttempts(workspaceId);
  const path = `/app/api/workspaces/${workspaceId}/requests`;
  const headers = { cookie, ...fromOurPage };
  keepAs("dashboard-list", await exchange(`GET ${path}`, headers));
  keepAs("dashboard-detail", inOrder(await exchange(`GET ${path}/${id}`, headers)));
  if (kind === "full" && choices[life] !== undefined) await keepExports(story, headers);
}

/** Of a few requests, because nobody may export often. */
async function keepExports(story: Story, headers: Record<string, string>): Promise<void> {
  const { life, known, workspaceId } = story;
  for (const format of ["csv", "jsonl"]) {
    // A file is streamed. To HTTP/1.0 it comes in one piece.
    const call = `GET /app/api/workspaces/${workspaceId}/requests/export?format=${format}`;
    const answer = await exchange(call, headers, { version: "1.0" });
    keep(story, `${life}/export-${format}.http`, httpText(answer, known));
  }
}

/**
 * Mails and webhooks of one event arrive at the same time. Here they have arrived one after the other, each at the first
 * attempt, which on a starved machine is cut short.
 */
async function settleAttempts(workspaceId: string): Promise<void> {
  await db.query(
    `with first as (update deliveries set attempts = 1 where workspace_id = $1)
     delete from attempts t using attempts later
     where t.workspace_id = $1 and later.workspace_id = $1 and later.delivery_id = t.delivery_id
       and later.number > t.number`,
    [workspaceId],
  );
  await db.query(
    `with arrived as (
       select d.id, row_number() over (order by ev.kind, d.channel, r.email) as n,
         case when ev.kind in ('request.created', 'request.expiring') then $2::timestamptz else now_ms() end as at
       from deliveries d
       join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
       left join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where d.workspace_id = $1
     )
     update attempts t
     set started_at = at, finished_at = at + n * interval '1 second', duration_ms = 1000 * n
     from arrived where t.workspace_id = $1 and t.delivery_id = arrived.id`,
    [workspaceId, askedAt],
  );
}

/** Deliveries of one event get ids of the same millisecond, so their order is left to chance. */
function inOrder({ head, body }: Message): Message {
  const detail: RequestDetail = JSON.parse(body);
  assert.equal(JSON.stringify(detail), body, "the text can be written anew");
  const placeOf = ({ event, destination }: RequestDetail["deliveries"][number]) =>
    `${event} ${JSON.stringify(destination)}`;
  detail.deliveries.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  return { head, body: JSON.stringify(detail) };
}

async function untilAllSent(): Promise<void> {
  await until(async () => {
    const { rows } = await db.query("select 1 from deliveries where state <> 'delivered' limit 1");
    return rows.length === 0;
  }, "all deliveries");
}

/** Mails say times in words of different length, which would move their line breaks. */
async function fixTimes(): Promise<void> {
  await db.query(
    "update approvals set created_at = $1, expires_at = $1::timestamptz + (expires_at - created_at)",
    [mailedAs],
  );
}

async function remind(stories: readonly Story[]): Promise<void> {
  const ids = stories.filter(({ life }) => life === "reminded").map(({ id }) => id);
  await db.query("update approvals set remind_at = now_ms() where id = any ($1)", [ids]);
  const faults: unknown[] = [];
  const sweeper = new Sweeper({
    db,
    keyring,
    onDue: wake,
    onFault: (fault) => faults.push(fault),
  });
  sweeper.sweep();
  await sweeper.stop();
  assert.deepEqual(faults, []);
}

function keepMails(stories: readonly Story[]): void {
  for (const { raw, recipients, headers } of mailserver.received) {
    const id = headers.get("message-id") ?? "";
    const [, name = ""] = /^<rev_[0-9a-f]{32}\.(\w+)@/.exec(id) ?? [];
    const text = raw.replaceAll("=\r\n", "");
    const story = stories.find(({ reviewers }) =>
      reviewers.some(({ token }) => text.includes(token)),
    );
    assert.ok(story !== undefined, `a mail of no request was sent: ${raw}`);
    const state = name === "review" ? "pending" : story.life;
    const to = recipients.map((email) => nameOf({ email })).join("-");
    const mail = { id, text: withPlaceholders(raw, story.known) };
    keepOnce(story, `${state}/mail-${name}-${to}.eml`, mail);
  }
}

function keepPosts(stories: readonly Story[]): void {
  for (const { head, body, path, event, id, deliveryId } of posts) {
    const story = stories.find((each) => each.id === id);
    assert.ok(story !== undefined, `a webhook of no request was sent: ${body}`);
    const state = event === "request.created" ? "pending" : story.life;
    const name = path === "/hook" ? "webhook" : "callback";
    const post = { id: deliveryId, text: httpText({ head, body }, story.known) };
    keepOnce(story, `${state}/${name}-${event}.http`, post);
  }
}

const stories: Story[] = [];
for (const kind of kinds) {
  for (const life of lives) stories.push(await begin(kind, life));
}
await fixTimes();
const { worker, stop } = startWorker(service.database, {
  mail: {
    send: (mail) => sender.send(mail),
    origin: { keyring, publicUrl: testPublicUrl },
    onKept: () => {},
  },
});
wake = () => worker.wake();
after(async () => {
  await stop();
  sender.close();
  await mailserver.close();
  await receiver.close();
  await service.stop();
});
await untilAllSent();
await remind(stories);
await untilAllSent();
await db.query("update approvals set created_at = $1", [askedAt]);
for (const story of stories) await live(story);
await untilAllSent();
const cookie = await signIn(service, admin);
for (const story of stories) await look(story);
keepMails(stories);
keepPosts(stories);
const isWriting = process.env.TEST_PLAIN_REQUESTS === "write";

if (isWriting) {
  test("the files are written anew because somebody asked for it", async () => {
    const count = await kept.writeAll();
    assert.fail(`wrote ${count} files: look at what changed, then run the test as usual`);
  });
} else {
  for (const story of stories) testBytes(story);
}

function testBytes({ kind, life, names, reviewers }: Story): void {
  test(`a plain request keeps its bytes: ${kind}, ${life}`, () => {
    const differences = kept.differencesIn(`${kind}/${life}`);
    assert.ok(differences.length === 0, [...differences, writeAnew].join("\n\n"));
    // All lives of a kind begin alike and share these files, so that one alone could lack them unnoticed.
    assert.ok(names.has("pending/webhook-request.created.http"));
    for (const reviewer of reviewers) {
      assert.ok(names.has(`pending/mail-review-${nameOf(reviewer)}.eml`));
    }
  });
}

test("a placeholder hides no new key, no other order and no other form", () => {
  const id = `req_${"0".repeat(31)}1`;
  const told = (text: string) => withPlaceholders(text, [{ value: "s3cret", name: "token" }]);
  const now = new Date().toISOString();
  const plain = told(`{"id":"${id}","at":"${now}","ticket":null,"link":"s3cret"}`);
  assert.equal(plain, '{"id":"req_<id 1>","at":"<time>","ticket":null,"link":"<token>"}');
  const others = [
    `{"id":"${id}","at":"${now}","ticket":null,"link":"s3cret","stage":null}`,
    `{"at":"${now}","id":"${id}","ticket":null,"link":"s3cret"}`,
    `{"id":"${id}0","at":"${now}","ticket":null,"link":"s3cret"}`,
    `{"id":"${id}","at":"${now.replace("Z", "000Z")}","ticket":null,"link":"s3cret"}`,
    `{"id":"${id}","at":"${askedAt}","ticket":null,"link":"s3cret"}`,
    `{"id":"${id}","at":"${now}","ticket":null,"link":"s3cre=\r\nt"}`,
    `{"id":"${id}","at":"${now}","ticket":null, "link":"s3cret"}`,
  ];
  for (const other of others) assert.notEqual(told(other), plain, other);
  const twice = told(`${id} req_${"0".repeat(32)} ${id}`);
  assert.equal(twice, "req_<id 1> req_<id 2> req_<id 1>");
});
