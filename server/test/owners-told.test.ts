import assert from "node:assert/strict";
import { after, test } from "node:test";
import { endpointNoticePauseMinutes } from "../src/domain/limits.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { changeEndpoint } from "../src/operations/deliveries/manage-endpoint.ts";
import { resendDelivery, sendTestEvent } from "../src/operations/deliveries/resend-delivery.ts";
import { addMember } from "../src/operations/people/add-member.ts";
import { MailSender } from "../src/outbound/send-mail.ts";
import { until } from "./patience.ts";
import { startMailserver } from "./test-mailbox.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import {
  makeEndpoint,
  type Receiver,
  startReceiver,
  startWorker,
  testPublicUrl,
} from "./test-worker.ts";

let wake = () => {};
const service = await startService({ onDue: () => wake() });
const { db, keyring } = service;
const mailserver = await startMailserver();
const sender = new MailSender({
  smtpUrl: mailserver.url,
  from: { name: "Countersign", address: "approvals@example.com" },
});
const { worker, stop } = startWorker(service.database, {
  webhookRetryDelaysMs: [20, 20],
  mail: {
    send: (mail) => sender.send(mail),
    origin: { keyring, publicUrl: testPublicUrl },
    onKept: () => {},
  },
});
wake = () => worker.wake();
const receivers: Receiver[] = [];
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await stop();
  sender.close();
  await mailserver.close();
  await service.stop();
});

let workspaces = 0;

async function setUp(status = { code: 503 }) {
  const { id: workspaceId, key } = await makeWorkspace(db);
  workspaces += 1;
  const people = {
    owner: `owner.${workspaces}@example.com`,
    other: `other.${workspaces}@example.com`,
    admin: `admin.${workspaces}@example.com`,
  };
  await addMember(db, { workspaceId, email: people.owner, role: "owner" });
  await addMember(db, { workspaceId, email: people.other, role: "owner" });
  await addMember(db, { workspaceId, email: people.admin, role: "admin" });
  const receiver = await startReceiver((response) => response.writeHead(status.code).end("answer"));
  receivers.push(receiver);
  const endpoint = await makeEndpoint(db, workspaceId, receiver.url);
  const create = async () => {
    const reply = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    return reply.json.id as string;
  };
  /** Asks, and waits until the webhook has come to its end. */
  const createAndSettle = async () => {
    const id = await create();
    await untilSettled(endpoint.id);
    return id;
  };
  return { workspaceId, ...people, receiver, endpoint, create, createAndSettle, status };
}

/** Lets a delivery arrive, and waits until this is noted; the next one fails again. */
async function workOnce({ endpoint, createAndSettle, status }: Awaited<ReturnType<typeof setUp>>) {
  status.code = 200;
  await createAndSettle();
  await until(async () => {
    const { rows } = await db.query("select is_told from endpoints where id = $1", [endpoint.id]);
    return rows[0].is_told === false;
  }, "the success to be noted");
  status.code = 503;
}

async function untilSettled(endpointId: string): Promise<void> {
  await until(async () => {
    const { rows } = await db.query(
      "select from deliveries where endpoint_id = $1 and state = 'due'",
      [endpointId],
    );
    return rows.length === 0;
  }, "every delivery to come to its end");
}

/** Written in the transaction that gives a delivery up, so nothing is to be waited for. */
async function noticesAbout(endpointId: string): Promise<{ kind: string }[]> {
  const { rows } = await db.query<{ kind: string }>(
    "select kind from events where endpoint_id = $1 and kind like 'endpoint.%' order by id",
    [endpointId],
  );
  return rows;
}

function mailsTo(address: string) {
  return mailserver.received.filter(({ recipients }) => recipients.includes(address));
}

/** As if the owners had been told so long ago. */
async function moveTelling(endpointId: string, minutes: number): Promise<void> {
  await db.query(
    "update endpoints set told_at = told_at - $2 * interval '1 minute' where id = $1",
    [endpointId, minutes],
  );
}

test("each owner is mailed when the first delivery is given up, with what, why and where to mend it", async () => {
  const { workspaceId, owner, other, admin, endpoint, createAndSettle } = await setUp();
  const id = await createAndSettle();
  const [mail] = await until(() => mailsTo(owner).length > 0 && mailsTo(owner), "the mail");
  await until(() => mailsTo(other).length > 0, "the other owner's mail");
  assert.match(mail?.headers.get("subject") ?? "", /^Webhook delivery failed: /);
  const words = mail?.text.replaceAll(/\s+(?:> )?/g, " ") ?? "";
  assert.match(words, /Answered with HTTP 503: your server is not available just now\./);
  assert.match(words, /Event: request\.created/);
  assert.ok(words.includes(`Request: ${id}`));
  const page = `${testPublicUrl}/app/w/${workspaceId}/endpoints/${endpoint.id}`;
  assert.ok(mail?.text.includes(page) && mail.html.includes(`href="${page}"`));
  assert.deepEqual(mailsTo(admin), []);
});

test("many deliveries that are given up together are one mail to each owner", async () => {
  const { owner, other, endpoint, create } = await setUp();
  await Promise.all(Array.from({ length: 24 }, create));
  await untilSettled(endpoint.id);
  assert.deepEqual(await noticesAbout(endpoint.id), [{ kind: "endpoint.delivery_failed" }]);
  await until(() => mailsTo(owner).length > 0 && mailsTo(other).length > 0, "the mails");
  assert.deepEqual([mailsTo(owner).length, mailsTo(other).length], [1, 1]);
});

test("the mail tells how many more wait", async () => {
  const { owner, workspaceId, endpoint, create } = await setUp();
  await db.query(
    `with event as (
       insert into events (workspace_id, endpoint_id, kind)
       select $1, $2, 'webhook.test' from generate_series(1, 7) returning id
     )
     insert into deliveries (workspace_id, event_id, channel, endpoint_id, due_at)
     select $1, id, 'webhook', $2, now_ms() + interval '1 hour' from event`,
    [workspaceId, endpoint.id],
  );
  await create();
  const [mail] = await until(() => mailsTo(owner).length > 0 && mailsTo(owner), "the mail");
  assert.match(mail?.text ?? "", /^Still waiting: 7 deliveries$/m);
});

test("owners hear again only after it has worked and failed anew, and once an hour at most", async () => {
  const setting = await setUp();
  const { endpoint, createAndSettle } = setting;
  await createAndSettle();
  await moveTelling(endpoint.id, endpointNoticePauseMinutes + 1);
  await createAndSettle();
  assert.equal((await noticesAbout(endpoint.id)).length, 1, "it has not worked since");
  await workOnce(setting);
  await createAndSettle();
  assert.equal((await noticesAbout(endpoint.id)).length, 2, "it failed anew");
  await workOnce(setting);
  await createAndSettle();
  assert.equal((await noticesAbout(endpoint.id)).length, 2, "within the hour");
  await moveTelling(endpoint.id, endpointNoticePauseMinutes + 1);
  await createAndSettle();
  assert.equal((await noticesAbout(endpoint.id)).length, 3, "after it");
});

test("a new address starts anew: its first delivery that is given up is told", async () => {
  const { endpoint, createAndSettle } = await setUp();
  await createAndSettle();
  const moved = await startReceiver((response) => response.writeHead(404).end());
  receivers.push(moved);
  const change = { id: endpoint.id, url: moved.url, examineAddress: async () => null };
  assert.ok(!isRefusal(await changeEndpoint(db, change)));
  await createAndSettle();
  assert.equal((await noticesAbout(endpoint.id)).length, 2);
});

test("a resend that fails again tells nobody twice", async () => {
  const { endpoint, receiver, createAndSettle } = await setUp();
  await createAndSettle();
  const id = String(receiver.heard[0]?.headers["x-service-delivery-id"]);
  assert.ok(!isRefusal(await resendDelivery(db, id)));
  worker.wake();
  await until(() => receiver.heard.length === 6, "the resend");
  await untilSettled(endpoint.id);
  assert.equal((await noticesAbout(endpoint.id)).length, 1);
});

test("a failed test event tells nobody, and one that is gone is told as disabled alone", async () => {
  const { endpoint, status, create } = await setUp();
  assert.ok(!isRefusal(await sendTestEvent(db, endpoint.id)));
  worker.wake();
  await untilSettled(endpoint.id);
  assert.deepEqual(await noticesAbout(endpoint.id), []);
  status.code = 410;
  await create();
  await untilSettled(endpoint.id);
  assert.deepEqual(await noticesAbout(endpoint.id), [{ kind: "endpoint.disabled" }]);
});
