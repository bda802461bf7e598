// A channel that shares people with mail, as an inbox or a chat would. The check on channels is taken away here, so that
// one can be written.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inOneStatement } from "../src/database/database.ts";
import { putBack } from "../src/storage/deliveries/attempts.ts";
import { resendReviewMails } from "../src/storage/deliveries/resending.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { db } = service;
await db.query("alter table deliveries drop constraint deliveries_channel_has_destination");
after(() => service.stop());

async function askThroughInbox() {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  const { rows } = await db.query(
    `insert into deliveries (workspace_id, event_id, channel, reviewer_id)
     select workspace_id, event_id, 'inbox', reviewer_id from deliveries
     where workspace_id = $1 and channel = 'mail'
     returning id`,
    [workspaceId],
  );
  assert.equal(rows.length, 1);
  return { workspaceId, approvalId: json.id as string };
}

test("an event goes to a person through each channel once", async () => {
  await askThroughInbox();
  await assert.rejects(
    db.query(
      `insert into deliveries (workspace_id, event_id, channel, reviewer_id)
       select workspace_id, event_id, channel, reviewer_id from deliveries where channel = 'inbox'`,
    ),
    /deliveries_destination_key/,
  );
});

test("sending the mails again sends nothing through other channels", async () => {
  const { workspaceId, approvalId } = await askThroughInbox();
  const { sent } = await resendReviewMails(inOneStatement(db), { workspaceId, approvalId });
  assert.equal(sent, 1);
  const { rows } = await db.query(
    "select channel, round from deliveries where workspace_id = $1 and reviewer_id is not null order by 1",
    [workspaceId],
  );
  assert.deepEqual(rows, [
    { channel: "inbox", round: 1 },
    { channel: "mail", round: 2 },
  ]);
});

test("a delivery of another channel that is put back gives no mail's turn back", async () => {
  const { workspaceId } = await askThroughInbox();
  const busyUntil = async () => {
    const { rows } = await db.query("select busy_until from mailboxes where workspace_id = $1", [
      workspaceId,
    ]);
    return rows[0]?.busy_until as Date;
  };
  await db.query(
    `insert into mailboxes (workspace_id, address, busy_until)
     select workspace_id, lower(email), now_ms() + interval '1 hour' from reviewers where workspace_id = $1`,
    [workspaceId],
  );
  const before = await busyUntil();
  for (const channel of ["inbox", "mail"]) {
    const { rows } = await db.query(
      `update deliveries set attempts = 1, lease_token = gen_random_uuid(), leased_until = now() + interval '1 minute'
       where workspace_id = $1 and channel = $2 returning id, lease_token`,
      [workspaceId, channel],
    );
    const { id, lease_token: leaseToken } = rows[0];
    const lease = { workspaceId, deliveryId: id, leaseToken, number: 1 };
    await putBack(inOneStatement(db), [lease], 0);
    const isSame = (await busyUntil()).getTime() === before.getTime();
    assert.equal(isSame, channel === "inbox", channel);
  }
});
