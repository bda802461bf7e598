// A person who is asked very often gets digests: which mails leave alone, which are held, and that none is lost.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, test } from "node:test";
import { inOneStatement, inTransaction, openDatabase } from "../src/database/database.ts";
import { formatReviewCode } from "../src/domain/access/review-code.ts";
import {
  crashDelaysSeconds,
  digestRequestsMax,
  heldTimeShareMax,
  leaseSeconds,
  retryJitter,
  reviewMailBurstMax,
  reviewMailIntervalSeconds,
} from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { WorkspaceSettings } from "../src/domain/workspace/workspace-settings.ts";
import type { DevMail } from "../src/http/dev-mail/dev-mail.ts";
import { composeMail } from "../src/operations/deliveries/compose-mail.ts";
import { resendDelivery } from "../src/operations/deliveries/resend-delivery.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { mailSignInCode } from "../src/operations/people/sign-in.ts";
import { buildRawMail, MailSender } from "../src/outbound/send-mail.ts";
import * as dueMails from "../src/storage/deliveries/due-mails.ts";
import { insertEndpointNotice } from "../src/storage/deliveries/new-deliveries.ts";
import * as sentMails from "../src/storage/deliveries/sent-mails.ts";
import { type CrashPoint, startCrashingWorker } from "./crashing-worker.ts";
import { until } from "./patience.ts";
import { type ReceivedMail, startMailserver } from "./test-mailbox.ts";
import { environmentOn, runCommand, textOf } from "./test-program.ts";
import { findReviewer, getReview, openReview, reviewDataOf } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService, testKeyring } from "./test-service.ts";
import { makeEndpoint, startWorker, testPublicUrl } from "./test-worker.ts";

// As in the process that is killed: the same mail must have the same bytes.
const from = { name: "", address: "approvals@countersign.example" };
const origin = { keyring: { ...testKeyring, lost: ["gone"] }, publicUrl: testPublicUrl };
const startingPoint = `${testPublicUrl}/review/`;

let wake = () => {};
const devMail: DevMail = {
  compose: (kept) => composeMail(kept, origin),
  toRaw: (kept) => buildRawMail(kept, from),
};
const service = await startService({ devMail, onDue: () => wake() });
const { db, app } = service;
const refusals = new Map<string, number>();
const mailserver = await startMailserver((recipient) => {
  const code = refusals.get(recipient.toLowerCase());
  return code === undefined ? null : { code, text: "5.7.1 not now" };
});
const sender = new MailSender({ smtpUrl: mailserver.url, from });
const mail = {
  send: (message: Parameters<MailSender["send"]>[0]) => sender.send(message),
  origin,
  onKept: () => {},
};
const { worker, stop } = startWorker(service.database, { mail });
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

type Asked = { notify: string; count: number; of?: Partial<typeof on>; body?: object };
const on = { db, call: service.call };

async function setUp(settings: Partial<WorkspaceSettings> = {}) {
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "Acme Shop", ...settings });
  return { workspaceId, key, ask: (asked: Asked) => askMany(key, asked) };
}

/** Requests with summaries of their own, in the order in which they were created. */
async function askMany(key: string, { notify, count: many, of = on, body = {} }: Asked) {
  const ids: string[] = [];
  for (let n = 1; n <= many; n += 1) {
    const asked = { ...minimalBody, summary: `Refund order ${n}`, notify, ...body };
    const { status, json } = await (of.call ?? service.call)("POST", "/v1/requests", {
      key,
      body: asked,
    });
    assert.equal(status, 201);
    ids.push(json.id);
  }
  return ids;
}

function mailsTo(address: string): ReceivedMail[] {
  return mailserver.received.filter(({ recipients }) =>
    recipients.some((each) => each.toLowerCase() === address.toLowerCase()),
  );
}

async function untilMails(address: string, many: number): Promise<ReceivedMail[]> {
  return until(() => {
    const mails = mailsTo(address);
    return mails.length >= many && mails;
  }, `${many} mails to ${address}`);
}

function subjectsOf(mails: readonly ReceivedMail[]): string[] {
  return mails.map(({ headers }) => headers.get("subject") ?? "");
}

/** The tokens of the links in one part of a mail. */
function tokensIn(part: string): string[] {
  return [...part.matchAll(/\/review\/([A-Za-z0-9_-]{43})/g)].map(([, token = ""]) => token);
}

type Row = {
  id: string;
  approval_id: string;
  kind: string;
  state: string;
  attempts: number;
  round: number;
  is_held: boolean;
  is_leased: boolean;
  digest_id: string | null;
  wait_seconds: number;
  outcomes: string[];
};

async function rowsTo(address: string, through = db): Promise<Row[]> {
  const { rows } = await through.query<Row>(
    `select d.id, ev.approval_id, ev.kind, d.state, d.attempts, d.round, d.digest_id,
       d.state = 'due' and d.mailbox is not null and d.digest_id is null as is_held,
       d.leased_until is not null as is_leased,
       extract(epoch from d.due_at - coalesce((
         select max(t.finished_at) from attempts t
         where t.workspace_id = d.workspace_id and t.delivery_id = d.id
       ), now()))::float8 as wait_seconds,
       array(select coalesce(t.outcome, 'under way') from attempts t
         where t.workspace_id = d.workspace_id and t.delivery_id = d.id order by t.number) as outcomes
     from deliveries d
     join events ev on ev.workspace_id = d.workspace_id and ev.id = d.event_id
     join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
     where lower(r.email) = lower($1)
     order by d.id`,
    [address],
  );
  return rows;
}

async function untilHeld(address: string, many: number, through = db): Promise<Row[]> {
  return until(async () => {
    const rows = await rowsTo(address, through);
    const held = rows.filter((row) => row.is_held);
    const isSettled = rows.every((row) => row.is_held || row.state !== "due");
    return isSettled && held.length === many && held;
  }, `${many} mails to ${address} to be held`);
}

async function untilNoneDue(address: string, through = db): Promise<Row[]> {
  return until(async () => {
    const rows = await rowsTo(address, through);
    return rows.every(({ state }) => state !== "due") && rows;
  }, `all mails to ${address} to be settled`);
}

/** Makes waiting mails due now; the rows are moved, not the clock. */
async function letTimePass(address: string, through = db): Promise<void> {
  await through.query(
    `update deliveries set due_at = now_ms()
     where state = 'due' and leased_until is null
       and reviewer_id in (select id from reviewers where lower(email) = lower($1))`,
    [address],
  );
  worker.wake();
}

/** As many as leave alone, so that whatever comes next is held. */
async function useUpBurst(ask: (asked: Asked) => Promise<string[]>, notify: string) {
  await ask({ notify, count: reviewMailBurstMax });
  await untilMails(notify, reviewMailBurstMax);
  await untilNoneDue(notify);
}

test("fifty requests in a minute make six mails, every request is in exactly one of them, and every link works", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  const ids = await ask({ notify: to, count: 50 });
  const held = await untilHeld(to, 50 - reviewMailBurstMax);
  for (const { wait_seconds, attempts } of held) {
    assert.ok(wait_seconds > 60 && wait_seconds <= reviewMailIntervalSeconds, `${wait_seconds} s`);
    assert.equal(attempts, 0);
  }
  assert.equal(mailsTo(to).length, reviewMailBurstMax);
  await letTimePass(to);
  const rows = await untilNoneDue(to);
  const mails = mailsTo(to);
  assert.equal(mails.length, reviewMailBurstMax + 1);
  assert.equal(new Set(subjectsOf(mails)).size, mails.length);
  const digest = mails.at(-1);
  assert.equal(
    digest?.headers.get("subject"),
    "45 requests are waiting for your decision in Acme Shop",
  );
  assert.ok(digest?.text.startsWith("45 requests are waiting for your decision.\r\n"));
  const tokens = mails.flatMap(({ text }) => tokensIn(text));
  assert.equal(new Set(tokens).size, 50);
  assert.equal(tokens.length, 50);
  assert.deepEqual(tokensIn(digest?.html ?? ""), tokensIn(digest?.text ?? ""));
  const opened = await Promise.all(tokens.map((token) => openReview(app, token)));
  assert.deepEqual(opened.map(({ id }) => id).toSorted(), ids.toSorted());
  for (const { summary, othersWaiting } of opened) {
    assert.ok(mails.some(({ text }) => text.includes(`> ${summary}\r\n`)));
    assert.equal(othersWaiting, 49);
  }
  for (const row of rows) assert.deepEqual([row.state, row.outcomes], ["delivered", ["delivered"]]);
});

test("a person who is asked a few times gets each mail at once and alone, and again after a while", async () => {
  const { ask, workspaceId } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  await db.query(
    `update mailboxes set busy_until = busy_until - interval '10 minutes'
     where workspace_id = $1 and address = $2`,
    [workspaceId, to],
  );
  await useUpBurst(ask, to);
  const mails = await untilMails(to, 2 * reviewMailBurstMax);
  for (const { headers, text } of mails) {
    assert.match(headers.get("subject") ?? "", /^Review requested: Refund order /);
    assert.match(headers.get("message-id") ?? "", /^<rev_[0-9a-f]+\.review@approvals\.example>$/);
    assert.ok(text.startsWith("An automated agent asks for your decision.\r\n"));
  }
  for (const { digest_id } of await rowsTo(to)) assert.equal(digest_id, null);
});

test("one that was held alone leaves as the mail that it would have been", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 1, body: { summary: "The only one" } });
  await untilHeld(to, 1);
  await letTimePass(to);
  const last = (await untilMails(to, reviewMailBurstMax + 1)).at(-1);
  assert.equal(last?.headers.get("subject"), "Review requested: The only one");
  assert.match(last?.headers.get("message-id") ?? "", /^<rev_\w+\.review@/);
});

test("neither workspaces nor people are mixed, and the case of an address does not matter", async () => {
  const one = await setUp({ name: "Acme Shop" });
  const two = await setUp({ name: "Other Bank" });
  const ann = newAddress("ann");
  const bob = newAddress("bob");
  const shouted = ann.replace("ann", "ANN").replace("example", "Example");
  for (const { ask } of [one, two]) await useUpBurst(ask, ann);
  await useUpBurst(one.ask, bob);
  await one.ask({ notify: ann, count: 2 });
  await one.ask({ notify: shouted, count: 2 });
  await two.ask({ notify: ann, count: 3, body: { summary: "Wire to the other bank" } });
  await one.ask({ notify: bob, count: 2 });
  await Promise.all([untilHeld(ann, 7), untilHeld(bob, 2)]);
  await Promise.all([letTimePass(ann), letTimePass(bob)]);
  await Promise.all([untilNoneDue(ann), untilNoneDue(bob)]);
  const digests = mailsTo(ann).slice(2 * reviewMailBurstMax);
  assert.deepEqual(subjectsOf(digests).toSorted(), [
    "3 requests are waiting for your decision in Other Bank",
    "4 requests are waiting for your decision in Acme Shop",
  ]);
  for (const { text, html, headers } of digests) {
    const isOther = headers.get("subject")?.endsWith("Other Bank");
    for (const part of [text, html]) {
      assert.equal(part.includes("Wire to the other bank"), isOther);
      assert.equal(part.includes("Acme Shop"), !isOther);
      assert.ok(!part.includes(bob));
    }
  }
  const [toBob] = mailsTo(bob).slice(reviewMailBurstMax);
  assert.equal(
    toBob?.headers.get("subject"),
    "2 requests are waiting for your decision in Acme Shop",
  );
  assert.deepEqual(toBob?.recipients, [bob]);
  assert.ok(!toBob?.raw.toLowerCase().includes(ann));
});

test("where codes are on, each request of a digest has its own, and only the link with it opens", async () => {
  const { ask } = await setUp({ reviewCode: true });
  const to = newAddress();
  await useUpBurst(ask, to);
  const ids = await ask({ notify: to, count: 3 });
  await untilHeld(to, 3);
  await letTimePass(to);
  const digest = (await untilMails(to, reviewMailBurstMax + 1)).at(-1);
  const text = digest?.text.replaceAll("\r\n", "\n") ?? "";
  for (const id of ids) {
    const { token, code } = await findReviewer(db, id);
    const printed = formatReviewCode(code);
    assert.ok(
      text.includes(`Your code: ${printed}\nReview request:\n${startingPoint}${token}\n`),
      text,
    );
    assert.ok(digest?.html.includes(`>${printed}</b>`));
    const before = (await getReview(app, token)).text;
    assert.equal(reviewDataOf(before).kind, "code");
    assert.ok(!before.includes("othersWaiting"));
    const review = await openReview(app, token, code);
    assert.deepEqual([review.id, review.othersWaiting], [id, reviewMailBurstMax + 2]);
  }
});

test("a digest that the server wants later is tried again as a whole, and is the same message", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 12 });
  await untilHeld(to, 12);
  refusals.set(to, 451);
  await letTimePass(to);
  const deferred = await until(async () => {
    const rows = (await rowsTo(to)).slice(reviewMailBurstMax);
    return rows.every(({ attempts, is_leased }) => attempts === 1 && !is_leased) && rows;
  }, "the refusal to be recorded");
  assert.equal(new Set(deferred.map(({ digest_id }) => digest_id)).size, 1);
  for (const { outcomes, wait_seconds } of deferred) {
    assert.deepEqual(outcomes, ["deferred"]);
    assert.ok(wait_seconds > 5, `${wait_seconds} s`);
  }
  // Later requests don't join it: the message must stay the same.
  await ask({ notify: to, count: 2 });
  await untilHeldBeside(to, 2);
  refusals.delete(to);
  await letTimePass(to);
  const rows = (await untilNoneDue(to)).slice(reviewMailBurstMax);
  const mails = mailsTo(to).slice(reviewMailBurstMax);
  assert.deepEqual(subjectsOf(mails).toSorted(), [
    "12 requests are waiting for your decision in Acme Shop",
    "2 requests are waiting for your decision in Acme Shop",
  ]);
  const retried = mails.find(({ headers }) => headers.get("subject")?.startsWith("12 "));
  for (const { id, outcomes } of rows.slice(0, 12)) {
    assert.deepEqual(outcomes, ["deferred", "delivered"]);
    const sent = await sentMails.findSent(db, id);
    const made = sent === null ? null : composeMail(sent, origin);
    assert.ok(made !== null);
    assert.equal((await buildRawMail(made, from)).toString("latin1"), retried?.raw);
  }
});

async function untilHeldBeside(address: string, many: number): Promise<void> {
  await until(
    async () => (await rowsTo(address)).filter((row) => row.is_held).length === many,
    `${many} more to be held`,
  );
}

test("a request that is resolved between two attempts is skipped, and the others leave as another message", async () => {
  const { ask, key } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  const ids = await ask({ notify: to, count: 3 });
  await untilHeld(to, 3);
  refusals.set(to, 451);
  await letTimePass(to);
  await until(async () => {
    const rows = (await rowsTo(to)).slice(reviewMailBurstMax);
    return rows.every(({ attempts, is_leased }) => attempts === 1 && !is_leased);
  }, "the refusal to be recorded");
  const first = await until(async () => (await rowsTo(to)).at(-1), "the digest");
  await service.call("POST", `/v1/requests/${ids[0]}/cancel`, { key });
  refusals.delete(to);
  await letTimePass(to);
  const rows = (await untilNoneDue(to)).slice(reviewMailBurstMax);
  assert.deepEqual(
    rows.map(({ state }) => state),
    ["skipped", "delivered", "delivered"],
  );
  assert.notEqual(rows[1]?.digest_id, first.digest_id, "the digest is named after its first");
  const digest = mailsTo(to).at(-1);
  assert.match(digest?.headers.get("subject") ?? "", /^2 requests are waiting/);
  assert.equal(tokensIn(digest?.text ?? "").length, 2);
});

test("a digest that is refused for good fails for each of its requests, and the owners hear of it once", async () => {
  const { ask, workspaceId } = await setUp();
  const owner = newAddress("owner");
  await addMember(db, { workspaceId, email: owner, role: "owner" });
  const to = newAddress();
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 3 });
  await untilHeld(to, 3);
  refusals.set(to, 550);
  await letTimePass(to);
  const rows = (await untilNoneDue(to)).slice(reviewMailBurstMax);
  for (const row of rows) assert.deepEqual([row.state, row.outcomes], ["failed", ["refused"]]);
  const [notice] = await untilMails(owner, 1);
  assert.match(notice?.headers.get("subject") ?? "", /^Approver not reached: /);
  const { rows: notices } = await db.query("select 1 from deliveries where recipient = $1", [
    owner,
  ]);
  assert.equal(notices.length, 1);
  refusals.delete(to);
  assert.ok(!isRefusal(await resendDelivery(db, rows[0]?.id ?? "")));
  const again = (await untilMails(to, reviewMailBurstMax + 1)).at(-1);
  assert.match(again?.headers.get("subject") ?? "", /^Review requested: /, "sent again, alone");
});

test("requests that are resolved while held are not mailed, nor are those of a member who was removed", async () => {
  const { ask, key, workspaceId } = await setUp({ plan: "pro" });
  const to = newAddress();
  const members = [to, newAddress()];
  const group = await createGroup(db, { workspaceId, key: "ops", name: "Ops", members });
  assert.ok(!isRefusal(group));
  await useUpBurst(ask, to);
  const ids = await ask({ notify: to, count: 4 });
  await ask({ notify: "group:ops", count: 2 });
  await untilHeld(to, 6);
  for (const id of ids.slice(0, 2)) {
    await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  }
  await removeGroupMember(db, group.id, to);
  await letTimePass(to);
  const rows = (await untilNoneDue(to)).slice(reviewMailBurstMax);
  assert.deepEqual(
    rows.map(({ state }) => state),
    ["skipped", "skipped", "delivered", "delivered", "skipped", "skipped"],
  );
  assert.match(mailsTo(to).at(-1)?.headers.get("subject") ?? "", /^2 requests are waiting/);
  assert.equal(mailsTo(to).length, reviewMailBurstMax + 1);

  const late = newAddress();
  await useUpBurst(ask, late);
  const gone = await ask({ notify: late, count: 8 });
  await untilHeld(late, 8);
  for (const id of gone) await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  await letTimePass(late);
  const skipped = (await untilNoneDue(late)).slice(reviewMailBurstMax);
  assert.deepEqual(new Set(skipped.map(({ state }) => state)), new Set(["skipped"]));
  assert.equal(mailsTo(late).length, reviewMailBurstMax);
});

test("a request with little time waits a tenth of it at most, and takes all that is held along", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 1 });
  const [patient] = await untilHeld(to, 1);
  assert.ok((patient?.wait_seconds ?? 0) > 60);
  const [hasty] = await ask({ notify: to, count: 1, body: { ttlMinutes: 5 } });
  const held = await untilHeld(to, 2);
  const quick = held.find(({ approval_id }) => approval_id === hasty);
  const secondsMax = 5 * 60 * heldTimeShareMax;
  assert.ok((quick?.wait_seconds ?? 0) <= secondsMax, `${quick?.wait_seconds} s`);
  await db.query("update deliveries set due_at = now_ms() where id = $1", [quick?.id]);
  wake();
  await untilNoneDue(to);
  const digest = mailsTo(to).at(-1);
  assert.match(digest?.headers.get("subject") ?? "", /^2 requests are waiting/);
  const { token } = await findReviewer(db, hasty ?? "");
  assert.equal(tokensIn(digest?.text ?? "")[0], token, "the earliest deadline stands first");
});

test("the worker itself sends a digest when its time has come", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 2 });
  await untilHeld(to, 2);
  await db.query(
    `update deliveries set due_at = now_ms() + interval '1 second'
     where state = 'due' and mailbox = $1`,
    [to],
  );
  const digest = (await untilMails(to, reviewMailBurstMax + 1)).at(-1);
  assert.match(digest?.headers.get("subject") ?? "", /^2 requests are waiting/);
});

test("reminders are gathered as well, and say that they are reminders", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  const ids = await ask({ notify: to, count: 4, body: { ttlMinutes: 1_000 } });
  await untilMails(to, 4);
  await ask({ notify: to, count: 1 });
  await untilMails(to, 5);
  await untilNoneDue(to);
  await db.query(
    `update approvals set remind_at = now_ms(), expires_at = now_ms() + interval '100 minutes'
     where id = any($1)`,
    [ids],
  );
  const held = await untilHeld(to, 4);
  assert.deepEqual(new Set(held.map(({ kind }) => kind)), new Set(["request.expiring"]));
  await letTimePass(to);
  await untilNoneDue(to);
  const digest = mailsTo(to).at(-1);
  assert.match(digest?.headers.get("subject") ?? "", /^4 requests are waiting/);
  assert.equal(
    digest?.text.match(/^Request \d of 4: reminder, time is running out\r$/gm)?.length,
    4,
  );
});

test("of a group each member gets a digest with links of their own", async () => {
  const { ask, workspaceId } = await setUp({ plan: "pro" });
  const members = [newAddress("a"), newAddress("b"), newAddress("c")];
  const group = await createGroup(db, { workspaceId, key: "finance", name: "Finance", members });
  assert.ok(!isRefusal(group));
  await ask({ notify: "group:finance", count: reviewMailBurstMax + 4 });
  for (const member of members) await untilHeld(member, 4);
  for (const member of members) await letTimePass(member);
  for (const member of members) await untilNoneDue(member);
  const digests = members.map((member) => mailsTo(member).at(-1));
  const tokens = digests.flatMap((digest) => tokensIn(digest?.text ?? ""));
  assert.equal(new Set(tokens).size, 12);
  digests.forEach((digest, at) => {
    assert.match(digest?.headers.get("subject") ?? "", /^4 requests are waiting/);
    assert.deepEqual(digest?.recipients, [members[at]]);
    assert.ok(digest?.text.includes("Approver group: Finance"));
    for (const other of members.filter((each) => each !== members[at])) {
      assert.ok(!digest?.raw.includes(other));
    }
  });
  const review = await openReview(app, tokens[0] ?? "");
  assert.equal(review.othersWaiting, reviewMailBurstMax + 3);
});

test("a mail that somebody asks to send again leaves at once and alone, held or in a digest", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 4 });
  const held = await untilHeld(to, 4);
  assert.ok(!isRefusal(await resendDelivery(db, held[0]?.id ?? "")));
  wake();
  const [alone] = (await untilMails(to, reviewMailBurstMax + 1)).slice(-1);
  assert.match(alone?.headers.get("subject") ?? "", /^Review requested: /);
  await letTimePass(to);
  await untilNoneDue(to);
  const [digest] = (await untilMails(to, reviewMailBurstMax + 2)).slice(-1);
  assert.match(digest?.headers.get("subject") ?? "", /^3 requests are waiting/);

  assert.ok(!isRefusal(await resendDelivery(db, held[1]?.id ?? "")));
  wake();
  const [again] = (await untilMails(to, reviewMailBurstMax + 3)).slice(-1);
  assert.match(again?.headers.get("subject") ?? "", /^Review requested: /);
  await untilNoneDue(to);
  const shown = await Promise.all(
    held.slice(1).map(async ({ id }) => {
      const sent = await sentMails.findSent(db, id);
      return sent === null ? null : composeMail(sent, origin)?.subject;
    }),
  );
  const asDigest = "3 requests are waiting for your decision in Acme Shop";
  assert.deepEqual(shown, [again?.headers.get("subject"), asDigest, asDigest]);
});

test("codes to sign in and notices are never held, however busy the mailbox is", async () => {
  const { ask, workspaceId } = await setUp();
  const to = newAddress();
  await addMember(db, { workspaceId, email: to, role: "owner" });
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 20 });
  const held = await untilHeld(to, 20);
  const endpoint = await makeEndpoint(db, workspaceId, "https://hook.example");
  const detail = { failingSince: "2026-11-13T09:00:00.000Z", reason: "timed out" };
  await inTransaction(db, (tx) => insertEndpointNotice(tx, endpoint, "endpoint.failing", detail));
  await mailSignInCode(db, testKeyring, to);
  wake();
  const mails = await untilMails(to, reviewMailBurstMax + 2);
  const subjects = subjectsOf(mails).slice(reviewMailBurstMax).toSorted();
  assert.match(subjects[0] ?? "", /^Webhook endpoint failing: /);
  assert.match(subjects[1] ?? "", /^Your sign-in code is /);
  assert.deepEqual(
    (await untilHeld(to, 20)).map(({ id }) => id),
    held.map(({ id }) => id),
  );
});

test("more than fit into one digest leave in further ones, and all of them are listed", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  const many = await ask({ notify: to, count: digestRequestsMax + 10 });
  await untilHeld(to, many.length);
  await letTimePass(to);
  await untilNoneDue(to);
  const byCount = mailsTo(to).slice(reviewMailBurstMax);
  assert.deepEqual(
    byCount.map(({ text }) => tokensIn(text).length),
    [digestRequestsMax, 10],
  );
  assert.equal(new Set(byCount.flatMap(({ text }) => tokensIn(text))).size, many.length);

  const other = newAddress();
  await useUpBurst(ask, other);
  // Each hidden character is shown as a chip, which takes a few hundred bytes.
  const large = "a\u200bb\u200d".repeat(50);
  const few = await ask({ notify: other, count: 8, body: { summary: large } });
  const held = await untilHeld(other, few.length);
  await letTimePass(other);
  const rows = (await untilNoneDue(other)).slice(reviewMailBurstMax);
  const bySize = mailsTo(other).slice(reviewMailBurstMax);
  assert.ok(bySize.length > 1 && bySize.length < few.length, `${bySize.length} mails`);
  for (const { html } of bySize) assert.ok(Buffer.byteLength(html) < 102_000);
  assert.equal(new Set(bySize.flatMap(({ text }) => tokensIn(text))).size, few.length);
  assert.equal(bySize.flatMap(({ text }) => tokensIn(text)).length, few.length);
  for (const { outcomes } of rows) assert.deepEqual(outcomes, ["delivered"]);
  for (const { id } of held) {
    const sent = await sentMails.findSent(db, id);
    const made = sent === null ? null : composeMail(sent, origin);
    assert.ok(made !== null);
    const raw = (await buildRawMail(made, from)).toString("latin1");
    assert.equal(bySize.filter((each) => each.raw === raw).length, 1, "shown as it was sent");
  }
});

test("a request whose key is gone keeps none of the others back", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  const ids = await ask({ notify: to, count: 3 });
  await untilHeld(to, 3);
  await db.query("update reviewers set secret_key_id = 'gone' where approval_id = $1", [ids[0]]);
  await letTimePass(to);
  const digest = (await untilMails(to, reviewMailBurstMax + 1)).at(-1);
  assert.match(digest?.headers.get("subject") ?? "", /^2 requests are waiting/);
  const unreadable = await until(async () => {
    const row = (await rowsTo(to)).find(({ approval_id }) => approval_id === ids[0]);
    return row?.outcomes[0] === "secret_unreadable" && row;
  }, "the one without a key to be tried");
  assert.equal(unreadable.state, "due");
});

test("a request whose key may still come keeps none of the others back, and uses up no attempt", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  const ids = await ask({ notify: to, count: 3 });
  await untilHeld(to, 3);
  await db.query("update reviewers set secret_key_id = 'awaited' where approval_id = $1", [ids[0]]);
  await letTimePass(to);
  const digest = (await untilMails(to, reviewMailBurstMax + 1)).at(-1);
  assert.match(digest?.headers.get("subject") ?? "", /^2 requests are waiting/);
  const waiting = await until(async () => {
    const { rows } = await db.query(
      `select d.state, d.attempts, d.due_at > now() as is_back, d.lease_token from deliveries d
       join reviewers r on r.id = d.reviewer_id where r.approval_id = $1`,
      [ids[0]],
    );
    return rows[0].is_back && rows[0];
  }, "the one without a key to be put back");
  assert.deepEqual(waiting, { state: "due", attempts: 0, is_back: true, lease_token: null });
});

test("two workers together send no more than one", async () => {
  const busy = await startService({ onDue: () => wakeBoth() });
  const both = [startWorker(busy.database, { mail }), startWorker(busy.database, { mail })];
  const wakeBoth = () => {
    for (const each of both) each.worker.wake();
  };
  try {
    const { key } = await makeWorkspace(busy.db, { name: "Acme Shop" });
    const to = newAddress();
    await Promise.all(
      Array.from({ length: 5 }, () => askMany(key, { notify: to, count: 8, of: busy })),
    );
    await untilHeld(to, 40 - reviewMailBurstMax, busy.db);
    await letTimePass(to, busy.db);
    wakeBoth();
    await untilNoneDue(to, busy.db);
    const mails = mailsTo(to);
    assert.equal(mails.length, reviewMailBurstMax + 1);
    assert.equal(new Set(mails.flatMap(({ text }) => tokensIn(text))).size, 40);
  } finally {
    for (const each of both) await each.stop();
    await busy.stop();
  }
});

test("two claims that meet a new mailbox at the same moment both count for it", async () => {
  const scene = await startService();
  const gate = 4_711;
  const paused = openDatabase({
    connection: { ...scene.database.connection, application_name: "paused" },
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  try {
    const { key } = await makeWorkspace(scene.db, { name: "Acme Shop" });
    const to = newAddress();
    await askMany(key, { notify: to, count: 2, of: scene });
    // Holds up the second claim when it has taken its snapshot, and before it decides about the mailbox.
    await scene.db.query(`
      alter table reviewers rename to all_reviewers;
      create function passes_gate() returns boolean language plpgsql volatile as $$ begin
        if current_setting('application_name') = 'paused' then
          perform pg_advisory_lock_shared(${gate});
          perform pg_advisory_unlock_shared(${gate});
        end if;
        return true;
      end $$;
      create view reviewers as select * from all_reviewers where passes_gate()`);
    const keeper = await scene.db.connect();
    await keeper.query(`select pg_advisory_lock(${gate})`);
    const second = dueMails.claim(inOneStatement(paused), 2);
    await until(async () => {
      const { rows } = await scene.db.query(
        "select from pg_stat_activity where application_name = 'paused' and wait_event = 'advisory'",
      );
      return rows.length === 1;
    }, "the second claim to stand at the gate");
    const first = await dueMails.claim(inOneStatement(scene.db), 1);
    await keeper.query(`select pg_advisory_unlock(${gate})`);
    keeper.release();
    assert.equal(first.mails.length + (await second).mails.length, 2);
    const { rows } = await scene.db.query(
      "select extract(epoch from busy_until - now())::float8 as seconds from mailboxes",
    );
    assert.ok(rows[0].seconds > reviewMailIntervalSeconds, `busy for ${rows[0].seconds} s`);
  } finally {
    await paused.end();
    await scene.stop();
  }
});

for (const [at, times] of [
  ["claimed", 1],
  ["before_sending", 1],
  ["answered", 2],
] as [CrashPoint, number][]) {
  test(`a worker killed at the point "${at}" loses no request of a digest, which arrives ${times === 1 ? "once" : "again with the same bytes"}`, async () => {
    const scene = await startService();
    const first = startWorker(scene.database, { mail });
    const to = newAddress();
    try {
      const { key } = await makeWorkspace(scene.db, { name: "Acme Shop" });
      await askMany(key, { notify: to, count: reviewMailBurstMax + 6, of: scene });
      first.worker.wake();
      await untilHeld(to, 6, scene.db);
      await first.stop();
      await letTimePass(to, scene.db);
      const doomed = await startCrashingWorker({
        databaseUrl: scene.database.url,
        keyring: testKeyring,
        publicUrl: testPublicUrl,
        smtpUrl: mailserver.url,
        crash: { of: "mail", at, signal: "SIGKILL" },
      });
      assert.equal(await doomed.ended, "SIGKILL");
      const left = (await rowsTo(to, scene.db)).slice(reviewMailBurstMax);
      for (const { outcomes } of left) assert.deepEqual(outcomes, ["under way"]);
      for (const { wait_seconds } of left) assert.ok(wait_seconds <= leaseSeconds);
      await scene.db.query(
        `update deliveries set leased_until = now() - interval '1 second', due_at = now_ms()
         where leased_until is not null`,
      );
      const next = startWorker(scene.database, { mail });
      const rows = await untilNoneDue(to, scene.db);
      await next.stop();
      for (const { outcomes } of rows.slice(reviewMailBurstMax)) {
        assert.deepEqual(outcomes, ["interrupted", "delivered"]);
      }
      const digests = mailsTo(to).slice(reviewMailBurstMax);
      assert.equal(digests.length, times);
      assert.equal(new Set(digests.map(({ raw }) => raw)).size, 1);
      assert.equal(new Set(tokensIn(digests[0]?.text ?? "")).size, 6);
      assert.match(
        digests[0]?.headers.get("message-id") ?? "",
        /^<[0-9a-f]{32}\.digest@approvals\.example>$/,
      );
    } finally {
      await scene.stop();
    }
  });
}

test("a digest that crashes cut short waits as one mail, and one that is given back stays one", async () => {
  const scene = await startService();
  const first = startWorker(scene.database, { mail });
  const to = newAddress();
  try {
    const { key } = await makeWorkspace(scene.db, { name: "Acme Shop" });
    await askMany(key, { notify: to, count: reviewMailBurstMax + 6, of: scene });
    first.worker.wake();
    await untilHeld(to, 6, scene.db);
    await first.stop();
    await letTimePass(to, scene.db);
    const tx = inOneStatement(scene.db);
    for (let crashes = 1; crashes <= 2; crashes += 1) {
      const { mails } = await dueMails.claim(tx, 6);
      assert.deepEqual(
        mails.map(({ leases }) => leases.length),
        [6],
      );
      await scene.db.query(
        `update deliveries set leased_until = now() - interval '1 second', due_at = now_ms()
         where leased_until is not null`,
      );
    }
    const { mails, waitMs } = await dueMails.claim(tx, 6);
    assert.deepEqual([mails.length, waitMs.length], [0, 6]);
    const waiting = (await rowsTo(to, scene.db)).slice(reviewMailBurstMax);
    for (const { outcomes, is_leased } of waiting) {
      assert.deepEqual(outcomes, ["interrupted", "interrupted"]);
      assert.equal(is_leased, false);
    }
    const together = async () => {
      const { rows } = await scene.db.query(
        `select count(*)::int as many, count(distinct due_at)::int as times, count(distinct xmin::text)::int as commits
         from deliveries where state = 'due' and digest_id is not null and leased_until is null`,
      );
      return rows;
    };
    assert.deepEqual(await together(), [{ many: 6, times: 1, commits: 1 }]);
    const { rows } = await scene.db.query<{ seconds: number }>(
      `select distinct extract(epoch from d.due_at - a.finished_at)::float8 as seconds
       from deliveries d
       join attempts a on a.workspace_id = d.workspace_id and a.delivery_id = d.id and a.number = d.attempts
       where d.state = 'due'`,
    );
    const [wait, ...others] = rows.map(({ seconds }) => seconds);
    const expected = crashDelaysSeconds[1] as number;
    assert.deepEqual(others, []);
    assert.ok(Math.abs((wait ?? 0) - expected) <= expected * retryJitter + 0.001, `${wait} s`);

    let isHanging = false;
    const hang = () => {
      isHanging = true;
      return new Promise<never>(() => {});
    };
    await letTimePass(to, scene.db);
    const stopped = startWorker(scene.database, { mail: { ...mail, send: hang } });
    await until(() => isHanging, "the digest to hang");
    await stopped.stop();
    assert.deepEqual(await together(), [{ many: 6, times: 1, commits: 1 }]);

    const next = startWorker(scene.database, { mail });
    const settled = await untilNoneDue(to, scene.db);
    await next.stop();
    for (const { outcomes } of settled.slice(reviewMailBurstMax)) {
      assert.deepEqual(outcomes, ["interrupted", "interrupted", "interrupted", "delivered"]);
    }
    const [digest, ...more] = mailsTo(to).slice(reviewMailBurstMax);
    assert.deepEqual(more, []);
    assert.equal(new Set(tokensIn(digest?.text ?? "")).size, 6);
  } finally {
    await scene.stop();
  }
});

test("one workspace's burst delays no other's mail, nor a mail of its own to somebody else", async () => {
  const scene = await startService();
  const workerDb = openDatabase({
    connection: scene.database.connection,
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  try {
    const busy = await makeWorkspace(scene.db);
    const quiet = await makeWorkspace(scene.db);
    await askMany(busy.key, { notify: "ann@example.com", count: 40, of: scene });
    await askMany(busy.key, { notify: "bob@example.com", count: 1, of: scene });
    await askMany(quiet.key, { notify: "cid@example.com", count: 1, of: scene });
    const tx = inOneStatement(workerDb);
    const first = await dueMails.claim(tx, 6);
    assert.ok(first.mails.some(({ to }) => to === "cid@example.com"));
    await finishAll();
    // Once five have left, the others for ann are held, a few rows at a time, and nothing is sent for them.
    let claims = 0;
    for (let mails = first.mails; !mails.some(({ to }) => to === "bob@example.com"); claims += 1) {
      assert.ok(claims < 20, "bob waits behind ann");
      ({ mails } = await dueMails.claim(tx, 6));
      await finishAll();
    }
    const { rows } = await scene.db.query("select 1 from attempts");
    assert.equal(rows.length, reviewMailBurstMax + 2);
  } finally {
    await workerDb.end();
    await scene.stop();
  }

  async function finishAll(): Promise<void> {
    await scene.db.query(
      `update deliveries set state = 'delivered', finished_at = now_ms(), lease_token = null, leased_until = null
       where leased_until is not null`,
    );
  }
});

test("a delivery shows that it is held, and that it left in a digest", async () => {
  const { ask } = await setUp();
  const to = newAddress();
  await useUpBurst(ask, to);
  await ask({ notify: to, count: 2 });
  const [held] = await untilHeld(to, 2);
  const show = async () =>
    textOf(
      await runCommand(environmentOn(service.database.url), ["delivery", "show", held?.id ?? ""]),
    );
  assert.match(await show(), /due\n.*held for the next digest.*No attempt yet\./s);
  const inbox = await app.inject({ url: "/dev/mail" });
  assert.match(inbox.body, /\d+ more are held, .* at <time datetime="[^"]+">[0-9:]{8} UTC/);
  await letTimePass(to);
  await untilNoneDue(to);
  assert.match(await show(), /delivered\n.*a digest of 2 requests.*delivered/s);
  const page = await app.inject({ url: `/dev/mail/${held?.id}` });
  assert.match(page.body, /<span class="ours">2 requests are waiting [^<]+<\/span>/);
  const raw = await app.inject({ url: `/dev/mail/${held?.id}/raw` });
  assert.equal(raw.body, mailsTo(to).at(-1)?.raw, "kept, it is the digest");
  const listed = await sentMails.listSent(db, { limit: 100, beforeId: null });
  const shown = listed.filter((each) => each.to === to);
  assert.equal(shown.length, reviewMailBurstMax + 1, "a digest is one mail");
  assert.equal(shown[0]?.deliveryId, held?.id);
});

test("the words of agents are as inert in a digest as in a mail of their own", async () => {
  const { ask } = await setUp({ name: "Shop <b>x</b> https://evil.example" });
  const to = newAddress();
  await useUpBurst(ask, to);
  const summary =
    "Pay\r\nBcc: evil@example.com\r\n\r\n<script>x</script> https://evil.example/x \u202Egnp.exe";
  const agentName = "a\u200Bb <img src=x> evil.example";
  await ask({ notify: to, count: 2, body: { summary, agentName } });
  await untilHeld(to, 2);
  await letTimePass(to);
  const digest = (await untilMails(to, reviewMailBurstMax + 1)).at(-1);
  assert.ok(digest !== undefined && !digest.headers.has("bcc"));
  assert.ok(!/<script|<img|<b>x/.test(digest.html));
  for (const part of [digest.text, digest.html, digest.headers.get("subject") ?? ""]) {
    assert.ok(!/[\u200B\u202E]/.test(part));
    assert.ok(!/\bevil\.example\b/.test(part));
  }
  const hrefs = [...digest.html.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href);
  assert.equal(hrefs.length, 2);
  assert.ok(hrefs.every((href) => href.startsWith(startingPoint)));
  const digests = hrefs.map((href) => hash("sha256", href.slice(startingPoint.length), "buffer"));
  const { rowCount } = await db.query("select from reviewers where token_digest = any($1)", [
    digests,
  ]);
  assert.equal(rowCount, 2);
});
