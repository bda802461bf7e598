// The mails where several people decide: who gets which, that each stands in its reader's thread, and that owners hear of
// requests that reach nobody.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import type { VotingDetail } from "../src/domain/approval/event.ts";
import { requestNoticesPerDayMax } from "../src/domain/approval/voting-limits.ts";
import { reviewMailBurstMax, reviewMailIntervalSeconds } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { composeMail } from "../src/operations/deliveries/compose-mail.ts";
import { mailAgain } from "../src/operations/deliveries/mail-again.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { checkRemoved } from "../src/operations/votings/check-people.ts";
import { buildRawMail, MailSender } from "../src/outbound/send-mail.ts";
import * as sentMails from "../src/storage/deliveries/sent-mails.ts";
import * as votingEvents from "../src/storage/votings/voting-events.ts";
import { until } from "./patience.ts";
import { type ReceivedMail, startMailserver } from "./test-mailbox.ts";
import { decide, findReviewer } from "./test-review.ts";
import { makeWorkspace, startService, testKeyring } from "./test-service.ts";
import { makeEndpoint, startWorker, testPublicUrl } from "./test-worker.ts";

const from = { name: "", address: "approvals@countersign.example" };
const origin = { keyring: testKeyring, publicUrl: testPublicUrl };
const { hostname } = new URL(testPublicUrl);

let wake = () => {};
let nowMs = 0;
const service = await startService({ onDue: () => wake(), clock: () => (nowMs += 1_000) });
const { db, app } = service;
/** The mailboxes of these names are refused for good. */
const refused = new Set<string>();
const mailserver = await startMailserver((recipient) =>
  refused.has(recipient) ? { code: 550, text: "5.1.1 no such mailbox" } : null,
);
const sender = new MailSender({ smtpUrl: mailserver.url, from });
const { worker, stop } = startWorker(service.database, {
  mail: { send: (message) => sender.send(message), origin, onKept: () => {} },
});
wake = () => worker.wake();
after(async () => {
  await stop();
  sender.close();
  await mailserver.close();
  await service.stop();
});

let count = 0;
/** People of their own for each test. */
async function setUp() {
  count += 1;
  const addressOf = (name: string) => `${name}.${count}@example.com`;
  const [ann, bob, cy] = [addressOf("ann"), addressOf("bob"), addressOf("cy")];
  const [cfo, owner] = [addressOf("cfo"), addressOf("owner")];
  const { id: workspaceId, key } = await makeWorkspace(db, { name: "Acme" });
  await addMember(db, { workspaceId, email: owner, role: "owner" });
  const finance = { workspaceId, key: "finance", name: "Finance", members: [ann, bob, cy] };
  const group = await createGroup(db, finance);
  assert.ok(!isRefusal(group));
  const ask = async (body: object = {}) => {
    const payment = { summary: "Pay 40,000", notify: "group:finance", payload: { amount: 40000 } };
    const reply = await service.call("POST", "/v1/requests", {
      key,
      body: { ...payment, ...body },
    });
    assert.equal(reply.status, 201, reply.text);
    return reply.json.id as string;
  };
  return { workspaceId, key, ask, ann, bob, cy, cfo, owner, groupId: group.id };
}

async function vote(id: string, email: string, choice: Partial<Parameters<typeof decide>[2]> = {}) {
  const { token } = await findReviewer(db, id, { email });
  const reply = await decide(app, token, { verdict: "approve", ...choice });
  assert.equal(reply.status, 200, reply.text);
}

function mailsTo(address: string): ReceivedMail[] {
  return mailserver.received.filter(({ recipients }) => recipients.includes(address));
}

async function mailTo(address: string, subject: RegExp): Promise<ReceivedMail> {
  return until(
    () => mailsTo(address).find((mail) => subject.test(mail.headers.get("subject") ?? "")),
    `a mail ${subject} to ${address}`,
  );
}

function subjectsTo(address: string): string[] {
  return mailsTo(address).map(({ headers }) => headers.get("subject") ?? "");
}

/** On one line, as a reader takes it in. */
function flat({ text }: ReceivedMail): string {
  return text.replaceAll(/\r?\n(?:> )? */g, " ");
}

async function untilSent(id: string): Promise<void> {
  await until(async () => {
    const { rows } = await db.query<{ due: number }>(
      `select count(*)::int as due from deliveries d join events ev on ev.id = d.event_id
       where ev.approval_id = $1 and d.channel = 'mail' and d.state = 'due'`,
      [id],
    );
    return rows[0]?.due === 0;
  }, "all mails to have left");
}

/** An event of this kind with mails to these people, as the operations write it. */
async function tell(
  where: { workspaceId: string; approvalId: string },
  kind: Parameters<typeof votingEvents.insert>[2]["kind"],
  { to, ...detail }: VotingDetail & { to: string[] },
): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    "select id from reviewers where approval_id = $1 and email = any ($2)",
    [where.approvalId, to],
  );
  const reviewerIds = rows.map(({ id }) => id);
  await inTransaction(db, (tx) =>
    votingEvents.insert(tx, where, { kind, at: new Date(), detail, reviewerIds }),
  );
  wake();
}

test("each of the people gets one mail for each event, in one thread, until all know how it ended", async () => {
  const { ask, ann, bob, cy, cfo } = await setUp();
  const id = await ask({ quorum: 2, then: [{ notify: cfo }] });
  const first = await mailTo(bob, /^Review requested/);
  assert.match(first.text, /^Approvals: 0 of 2 so far in this stage$/m);
  assert.match(flat(first), new RegExp(`Stage: 1 of 2, then ${cfo}`));
  await untilSent(id);
  await vote(id, bob);
  await vote(id, ann, { edit: `{"amount":12000.50}`, note: "less" });
  const changed = await mailTo(bob, /^Changed, review again: Pay 40,000$/);
  assert.match(flat(changed), new RegExp(`${ann} changed the payload on`));
  assert.match(flat(changed), /Changed: amount before: 40000 after: 12000\.50/);
  assert.match(changed.text, /^Approvals: 1 of 2 so far in this stage$/m);
  await untilSent(id);
  await vote(id, bob);
  const later = await mailTo(cfo, /^Review requested: Pay 40,000$/);
  assert.match(later.text, /^Stage: 2 of 2, after “Finance”$/m);
  assert.match(flat(later), /because you are named as the approver in the workspace/);
  await untilSent(id);
  await vote(id, cfo, { note: "go" });
  for (const person of [ann, bob, cy]) {
    const told = await mailTo(person, /^Approved: Pay 40,000$/);
    assert.match(flat(told), new RegExp(`Outcome: Approved by ${cfo}`));
    assert.match(flat(told), new RegExp(`Approvals: ${ann}, ${bob}, ${cfo}`));
    assert.match(flat(told), /Note with the decision: go/);
    assert.match(flat(told), /Payload: Changed by an approver/);
  }
  await untilSent(id);
  assert.deepEqual(subjectsTo(ann), ["Review requested: Pay 40,000", "Approved: Pay 40,000"]);
  assert.deepEqual(subjectsTo(cy), ["Review requested: Pay 40,000", "Approved: Pay 40,000"]);
  assert.deepEqual(subjectsTo(cfo), ["Review requested: Pay 40,000"], "they have decided");
  assert.equal(mailsTo(bob).length, 3);
  const ids = new Set<string>();
  for (const person of [ann, bob, cy, cfo]) {
    const { rows } = await db.query<{ id: string }>(
      "select id from reviewers where approval_id = $1 and email = $2",
      [id, person],
    );
    const thread = `<${rows[0]?.id}.review@${hostname}>`;
    const [start, ...others] = mailsTo(person);
    assert.equal(start?.headers.get("message-id"), thread);
    assert.equal(start?.headers.get("references"), undefined);
    for (const { headers } of others) {
      assert.equal(headers.get("references"), thread);
      assert.equal(headers.get("in-reply-to"), thread);
    }
    for (const { headers } of mailsTo(person)) ids.add(headers.get("message-id") ?? "");
  }
  assert.equal(ids.size, 8, "no two messages have the same id");
});

test("a mail that is made again later is the same to the byte", async () => {
  const { ask, ann, bob, cy, cfo } = await setUp();
  const id = await ask({ quorum: 2, then: [{ notify: cfo }] });
  await untilSent(id);
  await vote(id, bob);
  await vote(id, ann, { edit: `{"amount":1}` });
  await vote(id, cy);
  await mailTo(cfo, /^Review requested/);
  await vote(id, cfo, { verdict: "reject" });
  await mailTo(cy, /^Rejected/);
  await untilSent(id);
  const { rows } = await db.query<{ id: string }>(
    `select d.id from deliveries d join events ev on ev.id = d.event_id
     where ev.approval_id = $1 and d.channel = 'mail' and d.state = 'delivered'`,
    [id],
  );
  const sent = new Set(mailserver.received.map(({ raw }) => raw));
  assert.ok(rows.length >= 7);
  for (const row of rows) {
    const mail = await sentMails.findSent(db, row.id);
    const made = mail === null ? null : composeMail(mail, origin);
    assert.ok(made !== null);
    assert.ok(sent.has((await buildRawMail(made, from)).toString("latin1")), made.subject);
  }
});

test("escalated, handed over, standing in, reminded: a mail says why it comes now", async () => {
  const { ask, workspaceId, ann, bob, cy, cfo } = await setUp();
  const id = await ask({ quorum: 2 });
  const where = { workspaceId, approvalId: id };
  await untilSent(id);
  const [dee, eli] = [ann.replace("ann", "dee"), ann.replace("ann", "eli")];
  // Only colleagues stand in for others.
  await createGroup(db, { workspaceId, key: "helpers", name: "Helpers", members: [dee, eli] });
  // A later helper of the request: a link, and the seat that it stands for.
  const seat = async (voter: string, person: string, reason: string) => {
    await db.query(
      `with link as (
         insert into reviewers (workspace_id, approval_id, email, secret_key_id, token_nonce, token_digest)
         select workspace_id, approval_id, $2, secret_key_id, token_nonce, sha256(convert_to($2, 'UTF8'))
         from reviewers where approval_id = $1 and email = $5
         returning workspace_id, approval_id, id
       )
       insert into seats (workspace_id, approval_id, stage, person, voter, person_email, reviewer_id, reason)
       select workspace_id, approval_id, 1, person_of($3), person_of($2), $3, id, $4 from link`,
      [id, voter, person, reason, ann],
    );
  };
  await seat(cfo, cfo, "escalated");
  await tell(where, "request.escalated", { to: [cfo], stage: 1, afterMinutes: 30 });
  const escalated = await mailTo(cfo, /^Escalated to you: Pay 40,000$/);
  assert.match(flat(escalated), /It has waited for 30 minutes without a decision/);
  assert.match(escalated.headers.get("message-id") ?? "", /^<rev_\w+\.review@/);
  await seat(dee, bob, "handed_over");
  await tell(where, "request.reassigned", {
    ...{ to: [dee], stage: 1, byEmail: bob, toEmail: dee, forEmail: bob, reason: "handed_over" },
  });
  const handed = await mailTo(dee, /^Handed over to you: Pay 40,000$/);
  assert.match(flat(handed), new RegExp(`${bob} handed their vote on this request over to you`));
  await seat(eli, cy, "away");
  await db.query(
    `insert into absences (workspace_id, person, email, delegate_email, starts_at, ends_at)
     values ($1, person_of($2), $2, $3, now() - interval '1 hour', '2099-01-02T10:00Z')`,
    [workspaceId, cy, eli],
  );
  await tell(where, "request.reassigned", {
    ...{ to: [eli], stage: 1, toEmail: eli, forEmail: cy, reason: "away" },
  });
  const instead = await mailTo(eli, /^In place of a colleague: Pay 40,000$/);
  assert.match(
    flat(instead),
    new RegExp(`in place of ${cy}, who is away until Friday, 2 January 2099, 10:00 UTC`),
  );
  await tell(where, "request.reminded", { to: [ann, dee] });
  const reminder = await mailTo(dee, /^Reminder: Pay 40,000$/);
  assert.match(flat(reminder), /whose vote was handed over to you/);
  assert.equal(reminder.headers.get("references"), handed.headers.get("message-id"));
  await mailTo(ann, /^Reminder: Pay 40,000$/);
});

test("nobody is asked in vain, and the end is told to all but those who were removed", async () => {
  const { ask, workspaceId, ann, bob, cy, groupId, key } = await setUp();
  const id = await ask({ quorum: 2 });
  await untilSent(id);
  await vote(id, ann);
  await tell({ workspaceId, approvalId: id }, "request.reminded", { to: [ann, bob, cy] });
  await mailTo(bob, /^Reminder/);
  await untilSent(id);
  assert.deepEqual(subjectsTo(ann), ["Review requested: Pay 40,000"], "they have voted");
  const removed = await removeGroupMember(db, groupId, cy);
  assert.ok(!isRefusal(removed), JSON.stringify(removed));
  const { status } = await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  assert.equal(status, 200);
  wake();
  const told = await mailTo(bob, /^Cancelled/);
  assert.match(flat(told), /Outcome: Cancelled/);
  await mailTo(ann, /^Cancelled/);
  await untilSent(id);
  assert.ok(!subjectsTo(cy).some((subject) => subject.startsWith("Cancelled")));
});

test("a digest lists every request once, with its newest news, and those that have ended last", async () => {
  const { ask, workspaceId, ann, bob, cy } = await setUp();
  for (let n = 0; n < reviewMailBurstMax; n += 1) await untilSent(await ask({ notify: ann }));
  const [asked, changed, over] = [
    await ask({ notify: "group:finance", quorum: 2, summary: "First" }),
    await ask({ notify: "group:finance", quorum: 2, summary: "Second" }),
    await ask({ notify: "group:finance", quorum: 2, summary: "Third" }),
  ];
  const held = (many: number) =>
    until(async () => {
      const { rows } = await db.query<{ held: number }>(
        `select count(*)::int as held from deliveries
         where workspace_id = $1 and mailbox = $2 and state = 'due' and digest_id is null`,
        [workspaceId, ann],
      );
      return rows[0]?.held === many;
    }, `${many} mails to be held`);
  await held(3);
  await tell({ workspaceId, approvalId: asked }, "request.reminded", { to: [ann] });
  await vote(changed, ann);
  await vote(changed, bob, { edit: `{"amount":1}` });
  await vote(over, bob);
  await vote(over, cy);
  await held(6);
  await db.query(
    `update mailboxes set busy_until = now() where workspace_id = $1 and address = $2`,
    [workspaceId, ann],
  );
  await db.query(
    `update deliveries set due_at = now_ms() - interval '${reviewMailIntervalSeconds} seconds'
     where workspace_id = $1 and mailbox = $2`,
    [workspaceId, ann],
  );
  wake();
  const digest = await mailTo(ann, /^2 requests are waiting for your decision in Acme$/);
  const titles = [...digest.text.matchAll(/^Request \d of \d.*$/gm)].map(([line]) => line.trim());
  assert.deepEqual(titles, [
    "Request 1 of 3: reminder",
    "Request 2 of 3: changed, your earlier approval no longer counts",
    "Request 3 of 3: approved",
  ]);
  assert.match(flat(digest), /1 request has ended: listed last\./);
  assert.match(flat(digest), new RegExp(`The agent wrote: Third .* Outcome: Approved by ${cy}`));
  assert.equal(digest.text.match(/\/review\/[\w-]{43}/g)?.length, 3);
});

async function unreachableAt(id: string): Promise<Date | null> {
  const { rows } = await db.query<{ unreachable_at: Date | null }>(
    "select unreachable_at from votings where approval_id = $1",
    [id],
  );
  return rows[0]?.unreachable_at ?? null;
}

async function countEvents(id: string, kind: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from events where approval_id = $1 and kind = $2",
    [id, kind],
  );
  return rows[0]?.count ?? 0;
}

test("a request that reaches nobody is told once, and no longer once a mail has arrived", async () => {
  const { ask, workspaceId, ann, bob, cy, owner } = await setUp();
  const endpoint = await makeEndpoint(db, workspaceId, "https://hooks.example/x", [
    "request.unreachable",
  ]);
  for (const person of [ann, bob, cy]) refused.add(person);
  const id = await ask({ quorum: 2 });
  const told = await mailTo(owner, /^Nobody reached: Pay 40,000$/);
  assert.match(flat(told), new RegExp(`Asked: ${ann}, ${bob}, ${cy}`));
  assert.match(flat(told), /5\.1\.1 no such mailbox/);
  assert.notEqual(await unreachableAt(id), null);
  const { rows } = await db.query(
    `select ev.voting is not null as has_voting from deliveries d join events ev on ev.id = d.event_id
     where d.endpoint_id = $1 and ev.kind = 'request.unreachable'`,
    [endpoint.id],
  );
  assert.deepEqual(rows, [{ has_voting: true }]);
  await untilSent(id);
  assert.equal(subjectsTo(owner).filter((subject) => subject.startsWith("Nobody")).length, 1);
  assert.equal(
    subjectsTo(owner).filter((subject) => subject.startsWith("Approver not reached")).length,
    2,
    "the last of three is told by the other mail",
  );
  refused.delete(ann);
  const by = { workspaceId, actor: owner, email: owner } as Parameters<typeof mailAgain>[2];
  await mailAgain(db, id, by).then((again) => assert.ok(!isRefusal(again), JSON.stringify(again)));
  wake();
  await until(async () => (await unreachableAt(id)) === null, "somebody to be reached");
  await untilSent(id);
  assert.equal(await countEvents(id, "request.unreachable"), 1);
  assert.equal(mailsTo(ann).length, 1);
});

test("a plain request that reaches nobody is an event as well; of one person the owners hear as before", async () => {
  const { ask, ann, bob, cy, owner } = await setUp();
  for (const person of [ann, bob, cy]) refused.add(person);
  const alone = await ask({ notify: ann });
  await mailTo(owner, /^Approver not reached/);
  assert.equal(await countEvents(alone, "request.unreachable"), 1);
  const group = await ask();
  await mailTo(owner, /^Nobody reached/);
  assert.equal(await countEvents(group, "request.unreachable"), 1);
  await untilSent(alone);
  assert.equal(subjectsTo(owner).filter((subject) => subject.startsWith("Nobody")).length, 1);
});

test("however many mails fail at once, each request is told once, and the owners hear of few a day", async () => {
  const { ask, owner, cfo } = await setUp();
  const many = requestNoticesPerDayMax + 5;
  const ids = await Promise.all(
    Array.from({ length: many }, (_, n) => {
      const address = owner.replace("owner", `unknown${n}`);
      refused.add(address);
      return ask({ notify: address, then: [{ notify: cfo }] });
    }),
  );
  for (const id of ids) await untilSent(id);
  for (const id of ids) assert.equal(await countEvents(id, "request.unreachable"), 1);
  await until(
    () => mailsTo(owner).length >= requestNoticesPerDayMax,
    "the owners' mails of the day to arrive",
  );
  const told = subjectsTo(owner).filter((subject) => subject.startsWith("Nobody reached"));
  assert.ok(told.length <= requestNoticesPerDayMax + 3, `${told.length}`);
});

test("as long as one mail is on its way or has arrived, a request counts as reached", async () => {
  const { ask, ann, bob, cfo } = await setUp();
  refused.add(ann);
  refused.add(bob);
  const id = await ask({ quorum: 2, then: [{ notify: cfo }] });
  await untilSent(id);
  assert.equal(await countEvents(id, "request.unreachable"), 0, "one of three was reached");
});

test("owners hear of a request that can't be approved any more, with who is left in each stage", async () => {
  const { ask, ann, bob, cy, cfo, owner, groupId } = await setUp();
  const id = await ask({ quorum: 2, then: [{ notify: cfo }] });
  await untilSent(id);
  await vote(id, ann);
  for (const person of [bob, cy]) await removeGroupMember(db, groupId, person);
  await checkRemoved(db, 10);
  wake();
  const told = await mailTo(owner, /^Too few approvers left: Pay 40,000$/);
  assert.match(flat(told), /Stage 1: “Finance”: 1 of 2 approved; nobody is left who could/);
  assert.match(flat(told), new RegExp(`Stage 2: ${cfo}: 0 of 1 approved`));
  assert.equal(await countEvents(id, "request.stuck"), 1);
});
