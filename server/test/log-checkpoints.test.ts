import assert from "node:assert/strict";
import { after, test } from "node:test";
import { constructEvent } from "../../sdk/src/webhooks.ts";
import { inOneStatement } from "../src/database/database.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
import { tellDue } from "../src/storage/proof/log-tellings.ts";
import { until } from "./patience.ts";
import { startMailserver } from "./test-mailbox.ts";
import { makeWorkspace, startService } from "./test-service.ts";
import { makeEndpoint, startReceiver, startWorker, testPublicUrl } from "./test-worker.ts";

const service = await startService();
const { db, servicePool, keyring } = service;
const mailserver = await startMailserver();
const sender = new MailSender({
  smtpUrl: mailserver.url,
  from: { name: "Countersign", address: "approvals@example.com" },
});
const { worker, stop } = startWorker(service.database, {
  mail: {
    send: (mail) => sender.send(mail),
    origin: { keyring, publicUrl: testPublicUrl },
    onKept: () => {},
  },
});
after(async () => {
  await stop();
  sender.close();
  await mailserver.close();
  await service.stop();
});

async function setUp() {
  const { id: workspaceId } = await makeWorkspace(db);
  const owner = `owner.${workspaceId}@example.com`;
  await addMember(db, { workspaceId, email: owner, role: "owner" });
  await addMember(db, { workspaceId, email: `admin.${workspaceId}@example.com`, role: "admin" });
  const log = { workspaceId, treeId: 0, grow: () => grow(log) };
  return { workspaceId, owner, log };
}

type Log = { workspaceId: string; treeId: number };

/** Puts a fact into the real log of the workspace. Answers the checkpoint that covers everything. */
async function grow(log: Log): Promise<string> {
  await db.query(
    `insert into log_pending (workspace_id, source, subject, detail)
     values ($1, 'd', 'test', '{"kind":"test.told"}')`,
    [log.workspaceId],
  );
  return until(async () => {
    const { rows } = await db.query<{ id: number; note: string }>(
      `select t.id, c.note from log_trees t
       join log_checkpoints c on c.tree_id = t.id and c.size = t.size
       where t.workspace_id = $1 and t.closed_at is null
         and not exists (select from log_pending p where p.workspace_id = t.workspace_id)`,
      [log.workspaceId],
    );
    log.treeId = rows[0]?.id ?? 0;
    return rows[0]?.note;
  });
}

/** As if the log began, or its owners were told, so many hours earlier. */
async function passHours({ treeId }: Log, hours: number): Promise<void> {
  const earlier = `- interval '${hours} hours'`;
  await db.query(`update log_trees set created_at = created_at ${earlier} where id = $1`, [treeId]);
  await db.query(`update log_tellings set told_at = told_at ${earlier} where tree_id = $1`, [
    treeId,
  ]);
}

async function tell(): Promise<void> {
  // As many processes as may look at once.
  await Promise.all(Array.from({ length: 4 }, () => tellDue(inOneStatement(servicePool), 50)));
  worker.wake();
}

async function toldNotes(workspaceId: string): Promise<string[]> {
  const { rows } = await db.query<{ checkpoint: string }>(
    `select detail->>'checkpoint' as checkpoint from events
     where workspace_id = $1 and kind = 'log.checkpoint' order by id`,
    [workspaceId],
  );
  return rows.map(({ checkpoint }) => checkpoint);
}

test("owners are told once a day, only if the log grew, however many processes look", async () => {
  const { workspaceId, log } = await setUp();
  await log.grow();
  await tell();
  assert.deepEqual(await toldNotes(workspaceId), [], "not before a day has passed");
  await passHours(log, 25);
  const second = await log.grow();
  await tell();
  await tell();
  assert.deepEqual(await toldNotes(workspaceId), [second], "the newest one, once");
  const third = await log.grow();
  await tell();
  assert.deepEqual(await toldNotes(workspaceId), [second], "not twice a day");
  await passHours(log, 25);
  await tell();
  assert.deepEqual(await toldNotes(workspaceId), [second, third]);
  await passHours(log, 100);
  await tell();
  assert.deepEqual(
    await toldNotes(workspaceId),
    [second, third],
    "a log that stood still is no news",
  );
});

test("the mail goes to owners alone, and holds the checkpoint to the letter", async () => {
  const { workspaceId, owner, log } = await setUp();
  const note = await log.grow();
  await passHours(log, 24);
  await tell();
  const mail = await until(() =>
    mailserver.received.find(({ recipients }) => recipients.includes(owner)),
  );
  assert.ok(mail.text.replaceAll("\r\n", "\n").includes(`\n${note}`), mail.text);
  assert.ok(mail.html.replaceAll("\r\n", "\n").includes(`>${note.trimEnd()}</pre>`));
  assert.match(mail.headers.get("subject") ?? "", /^Log checkpoint/);
  assert.match(mail.text, /verify export/);
  const { rows } = await db.query<{ recipient: string }>(
    `select d.recipient from deliveries d join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
     where d.workspace_id = $1 and e.kind = 'log.checkpoint'`,
    [workspaceId],
  );
  assert.deepEqual(rows, [{ recipient: owner }]);
});

test("endpoints that name log.checkpoint get it, signed like every webhook, and no others do", async () => {
  const { workspaceId, log } = await setUp();
  const receiver = await startReceiver();
  const others = await startReceiver();
  const kinds = ["request.approved", "log.checkpoint"] as const;
  const { secret } = await makeEndpoint(db, workspaceId, receiver.url, kinds);
  await makeEndpoint(db, workspaceId, others.url);
  await makeEndpoint(db, workspaceId, others.url, ["request.approved"]);
  const note = await log.grow();
  await passHours(log, 24);
  await tell();
  const heard = await until(() => receiver.heard[0]);
  const { createdAt, ...rest } = heard.json;
  assert.deepEqual(rest, { event: "log.checkpoint", checkpoint: note });
  assert.match(createdAt, /^\d{4}-.*Z$/);
  assert.deepEqual(Object.keys(heard.json), ["event", "createdAt", "checkpoint"]);
  assert.equal(heard.headers["x-service-event"], "log.checkpoint");
  const options = { checkpoints: true } as const;
  const event = await constructEvent(heard.body, heard.headers, secret, options);
  assert.deepEqual(event, heard.json);
  await until(async () => {
    const { rowCount } = await db.query(
      "select from deliveries where workspace_id = $1 and state = 'due'",
      [workspaceId],
    );
    return rowCount === 0;
  });
  assert.equal(others.heard.length, 0);
  await receiver.close();
  await others.close();
});

function installationTree(): Promise<number> {
  return until(async () => {
    const { rows } = await db.query<{ id: number }>(
      "select id from log_trees where workspace_id is null and closed_at is null and size > 0",
    );
    return rows[0]?.id;
  });
}

test("a log that was closed is no longer told, and the installation's own is not told to a workspace", async () => {
  const { workspaceId, log } = await setUp();
  await log.grow();
  const whole = { workspaceId: "", treeId: await installationTree() };
  await passHours(log, 30);
  await passHours(whole, 30);
  await db.query("update log_trees set closed_at = now_ms() where id = $1", [log.treeId]);
  await tell();
  assert.deepEqual(await toldNotes(workspaceId), []);
  const { rowCount } = await db.query("select from log_tellings where tree_id = $1", [
    whole.treeId,
  ]);
  assert.equal(rowCount, 0);
});
