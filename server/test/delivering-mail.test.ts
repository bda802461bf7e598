import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, test } from "node:test";
import { mailNoticesPerDayMax } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { WorkspaceSettings } from "../src/domain/workspace/workspace-settings.ts";
import { resendDelivery } from "../src/operations/deliveries/resend-delivery.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
import { until } from "./patience.ts";
import { startMailserver } from "./test-mailbox.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { startWorker, testPublicUrl } from "./test-worker.ts";

let wake = () => {};
const service = await startService({ onDue: () => wake() });
const { db } = service;
/** Recipients say by their name what the server does with them. */
const temporaryRefusals = new Map<string, number>();
const mailserver = await startMailserver((recipient) => {
  if (recipient.startsWith("unknown")) return { code: 550, text: "5.1.1 no such mailbox" };
  const left = temporaryRefusals.get(recipient) ?? 0;
  if (left === 0) return null;
  temporaryRefusals.set(recipient, left - 1);
  return { code: 451, text: "4.7.1 come back later" };
});
const sender = new MailSender({
  smtpUrl: mailserver.url,
  from: { name: "Countersign", address: "approvals@example.com" },
});
const { keyring } = service;
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
  await service.stop();
});

let count = 0;
/** A mailbox of its own for each test. */
function newAddress(name = "ann"): string {
  count += 1;
  return `${name}.${count}@example.com`;
}

async function setUp(settings: Partial<WorkspaceSettings> = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db, settings);
  const owner = newAddress("owner");
  await addMember(db, { workspaceId, email: owner, role: "owner" });
  await addMember(db, { workspaceId, email: newAddress("viewer"), role: "viewer" });
  const create = async (body: object) => {
    const { status, json } = await service.call("POST", "/v1/requests", {
      key,
      body: { ...minimalBody, ...body },
    });
    assert.equal(status, 201);
    return json.id as string;
  };
  return { workspaceId, key, owner, create };
}

function mailsTo(address: string) {
  return mailserver.received.filter(({ recipients }) => recipients.includes(address));
}

async function mailTo(address: string, nth = 1) {
  return until(() => mailsTo(address)[nth - 1], `mail ${nth} to ${address}`);
}

async function deliveriesTo(address: string) {
  const { rows } = await db.query(
    `select d.id, d.state, d.attempts, ev.kind, d.leased_until is not null as is_leased,
       extract(epoch from d.due_at - coalesce((
         select max(t.finished_at) from attempts t
         where t.workspace_id = d.workspace_id and t.delivery_id = d.id
       ), now())) as wait_seconds
     from deliveries d
     join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
     left join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
     where coalesce(r.email, d.recipient) = $1 order by d.id`,
    [address],
  );
  return rows;
}

async function untilState(address: string, state: string) {
  return until(async () => {
    const found = await deliveriesTo(address);
    return found.at(-1)?.state === state && found.at(-1);
  }, `the mail to ${address} to be ${state}`);
}

/** Retries wait at least 8 seconds; the row is moved, not the clock. */
async function makeDueNow(address: string): Promise<void> {
  await db.query(
    `update deliveries set due_at = now_ms()
     where state = 'due' and reviewer_id in (select id from reviewers where email = $1)`,
    [address],
  );
  worker.wake();
}

test("an approver gets one mail with their own link, which is the only way into the request", async () => {
  const { workspaceId, create } = await setUp({ name: "Acme Payments" });
  const to = newAddress();
  const id = await create({
    notify: to,
    summary: "Pay invoice 17",
    agentName: "payer",
    payload: { iban: "SECRET-PAYLOAD" },
    agentState: { memory: "SECRET-STATE" },
    reasoning: "SECRET-REASON",
  });
  const mail = await mailTo(to);
  assert.deepEqual(mail.recipients, [to]);
  assert.equal(mail.headers.get("to"), to);
  assert.equal(mail.headers.get("from"), "Countersign <approvals@example.com>");
  assert.equal(mail.headers.get("subject"), "Review requested: Pay invoice 17");
  assert.equal(mail.headers.get("auto-submitted"), "auto-generated");
  for (const part of [mail.text, mail.html]) {
    for (const fact of ["Pay invoice 17", "payer", "Acme Payments", "Review request"]) {
      assert.ok(part.includes(fact) || fact === "Review request", `${fact} is missing`);
    }
    assert.ok(!part.includes("SECRET"), "only what the mail is meant to tell");
    assert.ok(!/approve=|reject=|\/approve|\/reject/i.test(part));
  }
  const links = new Set(mail.html.match(/https?:\/\/[^\s"<>]+\/review\/[^\s"<>]+/g));
  assert.equal(links.size, 1);
  const [link = ""] = links;
  assert.ok(mail.text.includes(link));
  const token = link.slice(`${testPublicUrl}/review/`.length);
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  const { rows } = await db.query(
    "select email from reviewers where workspace_id = $1 and approval_id = $2 and token_digest = $3",
    [workspaceId, id, hash("sha256", token, "buffer")],
  );
  assert.deepEqual(rows, [{ email: to }]);
  const { rows: inDatabase } = await db.query(
    "select 1 from reviewers where encode(token_nonce, 'base64') = $1 or token_digest::text like $1",
    [`%${token}%`],
  );
  assert.equal(inDatabase.length, 0);
  assert.equal((await untilState(to, "delivered")).attempts, 1);
});

test("every member of a group gets a mail of their own, and no member sees another's link or address", async () => {
  const { workspaceId, create } = await setUp({ plan: "pro" });
  const members = [newAddress(), newAddress(), newAddress()];
  const group = await createGroup(db, { workspaceId, key: "finance", name: "Finance", members });
  assert.ok(!isRefusal(group));
  await create({ notify: "group:finance" });
  const mails = await Promise.all(members.map((member) => mailTo(member)));
  const links = mails.map(({ text }) => /\/review\/(\S+)/.exec(text)?.[1]);
  assert.equal(new Set(links).size, 3);
  mails.forEach(({ recipients, raw, text }, at) => {
    assert.deepEqual(recipients, [members[at]]);
    for (const other of members.filter((each) => each !== members[at]))
      assert.ok(!raw.includes(other));
    assert.ok(text.includes("Finance"));
  });
});

test("the agent's words inject no header, no recipient, no HTML, no link, nothing invisible", async () => {
  const { create } = await setUp();
  const to = newAddress();
  await create({
    notify: to,
    summary:
      "Pay\r\nBcc: evil@example.com\r\n\r\n<script>x</script> https://evil.example/x \u202Egnp.exe",
    agentName: "a\u200Bb <img src=x> evil.example",
  });
  const mail = await mailTo(to);
  assert.deepEqual(mail.recipients, [to]);
  assert.ok(!mail.headers.has("bcc"));
  assert.ok(!/<script|<img/.test(mail.html));
  for (const part of [mail.text, mail.html, mail.headers.get("subject") ?? ""]) {
    assert.ok(!/[\u200B\u202E]/.test(part));
    assert.ok(!part.includes("https://evil.example"));
    assert.ok(!/\bevil\.example\b/.test(part));
  }
  const hrefs = [...mail.html.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href);
  assert.ok(
    hrefs.every((href) => href.startsWith(`${testPublicUrl}/review/`)),
    hrefs.join(),
  );
});

test("a mail that the server wants later is tried again with backoff, the same Message-ID and the same bytes", async () => {
  const { create } = await setUp();
  const to = newAddress("greylisted");
  temporaryRefusals.set(to, 2);
  await create({ notify: to });
  for (const attempts of [1, 2]) {
    const due = await until(async () => {
      const [delivery] = await deliveriesTo(to);
      return delivery?.attempts === attempts && !delivery.is_leased && delivery;
    }, "the refusal to be recorded");
    assert.ok(Number(due.wait_seconds) > (attempts === 1 ? 5 : 20), `${due.wait_seconds} s`);
    await makeDueNow(to);
  }
  const mail = await mailTo(to);
  const delivery = await untilState(to, "delivered");
  assert.equal(delivery.attempts, 3);
  const { rows } = await db.query(
    "select outcome, response_start from attempts where delivery_id = $1 order by number",
    [delivery.id],
  );
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ["deferred", "deferred", "delivered"],
  );
  assert.match(rows[0].response_start, /451.*come back later/);
  assert.match(
    mail.headers.get("message-id") ?? "",
    /^<rev_[0-9a-z]+\.review@approvals\.example>$/,
  );
});

test("retries of mail go on for an hour and then end, and the owners are told", async () => {
  const { owner, create } = await setUp();
  const to = newAddress("greylisted");
  temporaryRefusals.set(to, 1_000);
  await create({ notify: to });
  let waited = 0;
  for (;;) {
    const delivery = await until(async () => {
      const [found] = await deliveriesTo(to);
      return found !== undefined && found.attempts > 0 && !found.is_leased && found;
    }, "an attempt to end");
    if (delivery.state !== "due") break;
    waited += Number(delivery.wait_seconds);
    await makeDueNow(to);
    await until(async () => (await deliveriesTo(to))[0]?.attempts > delivery.attempts, "the next");
  }
  assert.ok(waited > 3_600 * 0.8 && waited < 3_600 * 1.25, `${waited} s`);
  assert.equal((await deliveriesTo(to))[0]?.state, "failed");
  const notice = await mailTo(owner);
  assert.match(notice.text, /come back later/);
});

test("a permanent refusal is recorded once and told to the owners, and the request stays readable", async () => {
  const { key, owner, create } = await setUp();
  const to = newAddress("unknown");
  const id = await create({ notify: to, summary: "Delete the archive" });
  const delivery = await untilState(to, "failed");
  assert.equal(delivery.attempts, 1);
  const notice = await mailTo(owner);
  assert.match(notice.text, /no such mailbox/);
  assert.match(notice.text, /Delete the archive/);
  assert.ok(notice.text.includes(id));
  assert.ok(!notice.text.includes("/review/"), "an owner is not given somebody else's link");
  const { json } = await service.call("GET", `/v1/requests/${id}`, { key });
  assert.equal(json.status, "PENDING");
  // An agent that asks the same address again and again does not fill the owners' mailboxes.
  await create({ notify: to });
  await until(
    async () => (await deliveriesTo(to)).filter(({ state }) => state === "failed").length === 2,
    "the second refusal",
  );
  const { rows } = await db.query(
    "select count(*)::int as notices from deliveries where recipient = $1",
    [owner],
  );
  assert.equal(rows[0].notices, 1);
});

test("however many mails fail, the owners hear of so many a day and no more", async () => {
  const { owner, create } = await setUp();
  const asked = Array.from({ length: mailNoticesPerDayMax + 5 }, () => newAddress("unknown"));
  await Promise.all(asked.map((notify) => create({ notify })));
  for (const address of asked) await untilState(address, "failed");
  const { rows } = await db.query(
    "select count(*)::int as notices from deliveries where recipient = $1",
    [owner],
  );
  assert.ok(rows[0].notices >= mailNoticesPerDayMax && rows[0].notices <= mailNoticesPerDayMax + 3);
});

test("a mail about a request that is no longer pending is skipped, and so is one to a removed member", async () => {
  const { workspaceId, key, create } = await setUp({ plan: "pro" });
  const late = newAddress("greylisted");
  temporaryRefusals.set(late, 1);
  const id = await create({ notify: late });
  await until(async () => (await deliveriesTo(late))[0]?.attempts === 1, "the first attempt");
  await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  await until(async () => {
    await makeDueNow(late);
    return (await deliveriesTo(late))[0]?.state === "skipped";
  }, "the mail to be skipped");
  assert.equal(mailsTo(late).length, 0);

  const removed = newAddress("greylisted");
  temporaryRefusals.set(removed, 1);
  const members = [removed, newAddress()];
  const group = await createGroup(db, { workspaceId, key: "ops", name: "Ops", members });
  assert.ok(!isRefusal(group));
  await create({ notify: "group:ops" });
  await until(async () => (await deliveriesTo(removed))[0]?.attempts === 1, "the first attempt");
  await removeGroupMember(db, group.id, removed);
  await until(async () => {
    await makeDueNow(removed);
    return (await deliveriesTo(removed))[0]?.state === "skipped";
  }, "the mail to be skipped");
  assert.equal(mailsTo(removed).length, 0);
});

async function makeReminderDue(id: string, minutesLeft: number): Promise<void> {
  await db.query(
    `update approvals set remind_at = now_ms(), expires_at = now_ms() + $2 * interval '1 minute'
     where id = $1 and remind_at is not null`,
    [id, minutesLeft],
  );
}

test("a reminder goes out once, when a tenth of the time is left, and continues the first mail", async () => {
  const { create } = await setUp();
  const to = newAddress();
  const id = await create({ notify: to, ttlMinutes: 1_000, summary: "Still waiting" });
  const first = await mailTo(to);
  const { rows } = await db.query(
    "select extract(epoch from expires_at - remind_at) / 60 as minutes from approvals where id = $1",
    [id],
  );
  assert.equal(Number(rows[0].minutes), 100);
  await makeReminderDue(id, 100);
  const reminder = await mailTo(to, 2);
  assert.match(reminder.headers.get("subject") ?? "", /^Reminder: /);
  assert.equal(reminder.headers.get("references"), first.headers.get("message-id"));
  const linkOf = (text: string) => /\/review\/(\S+)/.exec(text)?.[1];
  assert.equal(linkOf(reminder.text), linkOf(first.text));
  const { rows: later } = await db.query("select remind_at from approvals where id = $1", [id]);
  assert.equal(later[0].remind_at, null);
  assert.deepEqual(
    (await deliveriesTo(to)).map(({ kind }) => kind),
    ["request.created", "request.expiring"],
  );
});

test("no reminder leaves ten minutes or less, and none is sent where they are off or the request is resolved", async () => {
  const { key, create } = await setUp();
  const quick = newAddress();
  const short = await create({ notify: quick, ttlMinutes: 100 });
  const long = await create({ notify: quick, ttlMinutes: 101 });
  const { rows } = await db.query(
    "select id, remind_at is not null as reminds from approvals where id = any($1)",
    [[short, long]],
  );
  assert.deepEqual(
    new Map(rows.map(({ id, reminds }) => [id, reminds])),
    new Map([
      [short, false],
      [long, true],
    ]),
  );
  // The worker was away when the time came, and now almost none is left.
  await makeReminderDue(long, 9);
  await until(async () => {
    const found = await db.query("select remind_at from approvals where id = $1", [long]);
    return found.rows[0].remind_at === null;
  }, "the reminder to be dropped");
  const resolved = await create({ notify: quick, ttlMinutes: 1_000 });
  await service.call("POST", `/v1/requests/${resolved}/cancel`, { key });
  const off = await setUp({ reminderPercent: null });
  const silent = newAddress();
  const never = await off.create({ notify: silent, ttlMinutes: 1_000 });
  const { rows: none } = await db.query("select remind_at from approvals where id = $1", [never]);
  assert.equal(none[0].remind_at, null);
  const own = await setUp({ reminderPercent: 50 });
  const half = await own.create({ notify: newAddress(), ttlMinutes: 1_000 });
  const { rows: halves } = await db.query(
    "select extract(epoch from expires_at - remind_at) / 60 as minutes from approvals where id = $1",
    [half],
  );
  assert.equal(Number(halves[0].minutes), 500);
  const { rows: events } = await db.query(
    "select 1 from events where kind = 'request.expiring' and approval_id = any($1)",
    [[short, long, resolved, never]],
  );
  assert.equal(events.length, 0);
});

test("a mail that is sent again on request is a new message with the same link", async () => {
  const { key, create } = await setUp();
  const to = newAddress();
  const id = await create({ notify: to });
  const first = await mailTo(to);
  const { id: deliveryId } = await untilState(to, "delivered");
  assert.ok(!isRefusal(await resendDelivery(db, deliveryId)));
  const second = await mailTo(to, 2);
  assert.notEqual(second.headers.get("message-id"), first.headers.get("message-id"));
  assert.equal(second.text, first.text);
  await untilState(to, "delivered");
  await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  const refused = await resendDelivery(db, deliveryId);
  assert.ok(isRefusal(refused));
  assert.match(refused.message, /no longer pending/);
});

test("a mail server that is away delays mails and nothing else", async () => {
  const away = await startService({ onDue: () => lost.worker.wake() });
  const nowhere = new MailSender({
    smtpUrl: "smtp://127.0.0.1:9",
    from: { name: "", address: "approvals@example.com" },
  });
  const lost = startWorker(away.database, {
    mail: {
      send: (mail) => nowhere.send(mail),
      origin: { keyring, publicUrl: testPublicUrl },
      onKept: () => {},
    },
  });
  try {
    const { key } = await makeWorkspace(away.db);
    const { status } = await away.call("POST", "/v1/requests", { key, body: minimalBody });
    assert.equal(status, 201);
    const attempt = await until(async () => {
      const { rows } = await away.db.query(
        "select outcome from attempts where outcome is not null",
      );
      return rows[0];
    }, "the attempt to fail");
    assert.equal(attempt.outcome, "connection_failed");
    const { rows } = await away.db.query("select state, attempts from deliveries");
    assert.deepEqual(rows, [{ state: "due", attempts: 1 }]);
  } finally {
    await lost.stop();
    nowhere.close();
    await away.stop();
  }
});
