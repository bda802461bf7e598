// `channels` of a create: kept, answered where it was given, and told to nobody who decides.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as approvals from "../src/storage/approvals/approvals.ts";
import { findReviewer, openReview } from "./test-review.ts";
import { channelFields, makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
const { id: workspaceId, key } = await makeWorkspace(service.db);
after(() => service.stop());

const post = (body: object, headers = {}) =>
  service.call("POST", "/v1/requests", { key, body: { ...minimalBody, ...body }, headers });

test("channels come back as they were named, in every answer, and only where they were given", async () => {
  const headers = { "idempotency-key": "channels-1" };
  const { json, status } = await post(channelFields, headers);
  assert.deepEqual([status, json.channels], [201, ["slack_link", "mail"]]);
  const again = await post(channelFields, headers);
  assert.deepEqual(again.json, json);
  const plain = await post({ channels: null });
  assert.equal("channels" in plain.json, false);
  const read = await service.call("GET", `/v1/requests/${json.id}`, { key });
  assert.deepEqual(read.json, json);
  const { json: list } = await service.call("GET", "/v1/requests", { key });
  assert.deepEqual(
    list.data.map((each: object) => "channels" in each),
    [false, true],
  );
  const found = await approvals.find(service.db, workspaceId, json.id);
  assert.deepEqual(found?.approval.channels, ["slack_link", "mail"]);
  const cancelled = await service.call("POST", `/v1/requests/${json.id}/cancel`, { key });
  assert.deepEqual(cancelled.json.channels, ["slack_link", "mail"]);
});

test("many creates at once keep each its own channels", async () => {
  const given = [["mail"], null, ["mail", "push"], ["teams", "mail"], null];
  const replies = await Promise.all(given.map((channels) => post({ channels })));
  assert.deepEqual(
    replies.map(({ json }) => json.channels ?? null),
    given,
  );
});

test("unknown and doubled channels, both of Slack and a list without mail are refused, and nothing is created", async () => {
  const count = async () =>
    (await service.db.query("select count(*)::int as n from approvals")).rows[0]?.n;
  const before = await count();
  for (const [channels, message] of [
    [["mail", "sms"], /^channels\[1\]: is an unknown channel; known are mail, push, slack/],
    [["mail", "mail"], /^channels\[1\]: names mail a second time\.$/],
    [["slack"], /^channels: must have mail in it/],
    [[], /^channels: must have mail in it/],
    ["mail", /^channels: must be an array/],
    [["mail", "slack", "slack_link"], /^channels: must not have both/],
  ] as const) {
    const { status, json } = await post({ channels });
    assert.deepEqual([status, json.error.code], [400, "validation_error"]);
    assert.match(json.error.message, message);
  }
  assert.equal(await count(), before);
});

test("approvers neither see the channels nor are they part of what a decision is bound to", async () => {
  const { json } = await post(channelFields);
  const { token } = await findReviewer(service.db, json.id);
  const review = await openReview(service.app, token);
  assert.doesNotMatch(JSON.stringify(review), /slack_link|channels/);
});
