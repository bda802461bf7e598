// Review codes: on whose mails it is printed, that it stays the same, and that it is nowhere else.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deriveReviewCode, formatReviewCode } from "../src/domain/access/review-code.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import type { WorkspaceSettings } from "../src/domain/workspace/workspace-settings.ts";
import { composeMail } from "../src/operations/deliveries/compose-mail.ts";
import type { ComposedMail } from "../src/operations/deliveries/composed-mail.ts";
import { resendDelivery } from "../src/operations/deliveries/resend-delivery.ts";
import { createGroup } from "../src/operations/people/manage-group.ts";
import { updateWorkspace } from "../src/operations/workspaces/manage-workspace.ts";
import { findSent } from "../src/storage/deliveries/sent-mails.ts";
import { until } from "./patience.ts";
import { makeWorkspace, minimalBody, startService, testKeyring } from "./test-service.ts";
import { startWorker, testPublicUrl } from "./test-worker.ts";

let wake = () => {};
const log: string[] = [];
const kept: ComposedMail[] = [];
const logDestination = { write: (line: string) => void log.push(line) };
const service = await startService({ onDue: () => wake(), logDestination });
const { db } = service;
const origin = { keyring: testKeyring, publicUrl: testPublicUrl };
const { worker, stop } = startWorker(service.database, {
  mail: { send: null, origin, onKept: (mail) => void kept.push(mail) },
  logDestination,
});
wake = () => worker.wake();
after(async () => {
  await stop();
  await service.stop();
});

async function setUp(settings: Partial<WorkspaceSettings>) {
  const { id: workspaceId, key } = await makeWorkspace(db, settings);
  const create = async (notify: string) => {
    const body = { ...minimalBody, notify, ttlMinutes: 1_000 };
    const { status, json } = await service.call("POST", "/v1/requests", { key, body });
    assert.equal(status, 201);
    return json.id as string;
  };
  return { workspaceId, create };
}

async function mailTo(address: string, nth = 1): Promise<ComposedMail> {
  const look = () => kept.filter(({ to }) => to === address)[nth - 1];
  return until(look, `mail ${nth} to ${address}`);
}

async function codeOf(approvalId: string, email: string): Promise<string> {
  const { rows } = await db.query(
    "select token_nonce, needs_code from reviewers where approval_id = $1 and email = $2",
    [approvalId, email],
  );
  assert.equal(rows[0].needs_code, true);
  return deriveReviewCode(testKeyring.current, rows[0].token_nonce);
}

async function deliveryTo(email: string): Promise<string> {
  return until(async () => {
    const { rows } = await db.query<{ id: string }>(
      `select d.id from deliveries d
       join reviewers r on r.workspace_id = d.workspace_id and r.id = d.reviewer_id
       where r.email = $1 and d.state = 'delivered' order by d.id limit 1`,
      [email],
    );
    return rows[0]?.id;
  }, `the mail to ${email} to be delivered`);
}

test("each member of a group gets a code of their own, in both parts of the mail", async () => {
  const { workspaceId, create } = await setUp({ reviewCode: true });
  const members = ["ann.1@example.com", "bob.1@example.com"];
  const group = await createGroup(db, { workspaceId, key: "finance", name: "Finance", members });
  assert.ok(!isRefusal(group));
  const id = await create("group:finance");
  const mails = await Promise.all(members.map((member) => mailTo(member)));
  const codes = await Promise.all(members.map((member) => codeOf(id, member)));
  assert.equal(new Set(codes).size, 2);
  mails.forEach(({ text, html, subject, reviewCode }, at) => {
    const printed = formatReviewCode(codes[at] ?? "");
    assert.equal(reviewCode, codes[at]);
    assert.ok(text.includes(`\nYour code: ${printed}\n`));
    assert.ok(html.includes(`>${printed}</p>`));
    assert.ok(!subject.includes(printed));
    const others = formatReviewCode(codes[1 - at] ?? "");
    for (const part of [text, html]) assert.ok(!part.includes(others));
  });
});

test("a mail without the setting knows no code", async () => {
  const { create } = await setUp({});
  await create("cid.1@example.com");
  const { text, html, reviewCode } = await mailTo("cid.1@example.com");
  assert.equal(reviewCode, null);
  for (const part of [text, html]) assert.doesNotMatch(part, /\bcode\b/i);
});

test("the reminder and a mail sent again print the same code, even after the setting is off", async () => {
  const { workspaceId, create } = await setUp({ reviewCode: true });
  const to = "dan.1@example.com";
  const id = await create(to);
  const first = await mailTo(to);
  const deliveryId = await deliveryTo(to);
  const changed = await updateWorkspace(db, workspaceId, { reviewCode: false });
  assert.ok(!isRefusal(changed), "links that ask for a code go on asking");

  const shown = await findSent(db, deliveryId);
  assert.ok(shown !== null);
  assert.deepEqual(composeMail(shown, origin), first, "the same to the byte");
  assert.ok(!isRefusal(await resendDelivery(db, deliveryId)));
  const again = await mailTo(to, 2);
  assert.deepEqual([again.text, again.html], [first.text, first.html]);

  await deliveryTo(to);
  await db.query("update approvals set remind_at = now_ms() where id = $1", [id]);
  const reminder = await mailTo(to, 3);
  assert.match(reminder.subject, /^Reminder: /);
  assert.equal(reminder.reviewCode, first.reviewCode);
  const line = `Your code: ${formatReviewCode(first.reviewCode ?? "")}\n`;
  for (const { text } of [first, reminder]) assert.ok(text.includes(line));
});

test("a link made before the setting is on asks for no code, and its reminder prints none", async () => {
  const { workspaceId, create } = await setUp({});
  const to = "eve.1@example.com";
  const id = await create(to);
  await mailTo(to);
  assert.ok(!isRefusal(await updateWorkspace(db, workspaceId, { reviewCode: true })));
  await db.query("update approvals set remind_at = now_ms() where id = $1", [id]);
  const reminder = await mailTo(to, 2);
  assert.match(reminder.subject, /^Reminder: /);
  assert.equal(reminder.reviewCode, null);
  assert.doesNotMatch(reminder.text, /\bcode\b/i);
});

test("the code is in the mail alone: no row of the database holds it, and no line of the log", async () => {
  const { create } = await setUp({ reviewCode: true });
  const to = "fay.1@example.com";
  await create(to);
  const { reviewCode } = await mailTo(to);
  await deliveryTo(to);
  const code = reviewCode ?? "";
  assert.match(code, /^\S{6}$/);
  const { rows: tables } = await db.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  for (const { name } of tables) {
    const { rows } = await db.query(
      `select 1 from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0`,
      [code, formatReviewCode(code)],
    );
    assert.equal(rows.length, 0, name);
  }
  const written = log.join("");
  assert.match(written, /"msg":"mail"/);
  assert.ok(!written.includes(code) && !written.includes(formatReviewCode(code)));
});
