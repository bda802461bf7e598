import assert from "node:assert/strict";
import { after, test } from "node:test";
import { findSecretKey } from "../src/domain/access/keyring.ts";
import { unseal } from "../src/domain/access/sealed-secret.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import {
  removeGroupSlackChannel,
  removeGroupTeams,
  setGroupMailDelay,
  setGroupSlackChannel,
  setGroupTeams,
  teamsRecordOf,
} from "../src/operations/channels/group-channels.ts";
import { deleteGroup } from "../src/operations/people/delete-group.ts";
import { connectSlack } from "./test-channels.ts";
import { startService, testKeyring } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db } = service;
const voters = makeVoters(service);
after(() => service.stop());

const url = "https://prod-1.westeurope.logic.azure.com/workflows/abc/triggers/manual?sig=s3cret";
const examineAddress = async () => null;

async function placeOf() {
  const { id: workspaceId, groupId } = await voters.workspaceWith();
  return { workspaceId, groupId };
}

async function hasChannels(workspaceId: string): Promise<boolean> {
  const { rows } = await db.query("select has_channels from workspaces where id = $1", [
    workspaceId,
  ]);
  return rows[0].has_channels;
}

async function activityOf(workspaceId: string) {
  const { rows } = await db.query<{ action: string; detail: object; subject: string }>(
    "select action, subject, detail from activity where workspace_id = $1 and action like 'group.%' order by id",
    [workspaceId],
  );
  return rows.filter(({ action }) => action !== "group.created");
}

test("a group's webhook is sealed, noted without its secret, and opens for this group alone", async () => {
  const place = await placeOf();
  const set = await setGroupTeams(db, testKeyring, { ...place, url, examineAddress });
  assert.ok(!isRefusal(set));
  assert.equal(set.teamsHost, "prod-1.westeurope.logic.azure.com");
  const { rows } = await db.query(
    "select teams_secret_key_id, teams_sealed, group_channels::text as row from group_channels where group_id = $1",
    [place.groupId],
  );
  const key = findSecretKey(testKeyring, rows[0].teams_secret_key_id);
  assert.ok(key !== null);
  assert.equal(unseal(key, teamsRecordOf(place), rows[0].teams_sealed), url);
  const other = teamsRecordOf({ ...place, groupId: "grp_other" });
  assert.throws(() => unseal(key, other, rows[0].teams_sealed));
  const noted = JSON.stringify(await activityOf(place.workspaceId));
  assert.ok(!`${noted}${rows[0].row}`.includes("s3cret"), noted);
  assert.match(noted, /group.teams_set/);
});

test("a workspace looks for channels while Slack is connected or a group is asked in Teams", async () => {
  const place = await placeOf();
  assert.equal(await hasChannels(place.workspaceId), false);
  await setGroupMailDelay(db, { ...place, minutes: 10 });
  assert.equal(await hasChannels(place.workspaceId), false);
  await setGroupTeams(db, testKeyring, { ...place, url, examineAddress });
  assert.equal(await hasChannels(place.workspaceId), true);
  await setGroupSlackChannel(db, { ...place, channel: { id: "C1", name: "finance" } });
  await removeGroupTeams(db, place);
  assert.equal(await hasChannels(place.workspaceId), false, "a channel of nothing connected");
  await removeGroupSlackChannel(db, place);
  await connectSlack(db, place.workspaceId);
  await setGroupTeams(db, testKeyring, { ...place, url, examineAddress });
  await removeGroupTeams(db, place);
  assert.equal(await hasChannels(place.workspaceId), true);
});

test("what changes nothing is noted nowhere", async () => {
  const place = await placeOf();
  const channel = { id: "C1", name: "finance" };
  await setGroupSlackChannel(db, { ...place, channel });
  await setGroupSlackChannel(db, { ...place, channel });
  await removeGroupTeams(db, place);
  await setGroupMailDelay(db, { ...place, minutes: null });
  assert.deepEqual(
    (await activityOf(place.workspaceId)).map(({ action, detail }) => ({ action, detail })),
    [{ action: "group.slack_channel_set", detail: { channel: "finance" } }],
  );
});

test("an address that isn't encrypted, is retired, or leads inside is refused", async () => {
  const place = await placeOf();
  for (const bad of [
    "http://prod-1.westeurope.logic.azure.com/workflows/abc",
    "https://acme.webhook.office.com/webhookb2/abc",
    "https://outlook.office.com/webhook/abc",
    "https://user:word@teams.example/",
    "teams",
  ]) {
    const refused = await setGroupTeams(db, testKeyring, { ...place, url: bad, examineAddress });
    assert.ok(isRefusal(refused), bad);
  }
  const inside = { ...place, url, examineAddress: async () => "is private" };
  assert.ok(isRefusal(await setGroupTeams(db, testKeyring, inside)));
  const { rows } = await db.query("select from group_channels where group_id = $1", [
    place.groupId,
  ]);
  assert.equal(rows.length, 0);
});

test("a delay is a whole number of minutes, a day at most", async () => {
  const place = await placeOf();
  for (const minutes of [0, -1, 1.5, 1_441, Number.NaN]) {
    assert.ok(isRefusal(await setGroupMailDelay(db, { ...place, minutes })), String(minutes));
  }
  const set = await setGroupMailDelay(db, { ...place, minutes: 1_440 });
  assert.ok(!isRefusal(set) && set.mailAfterMinutes === 1_440);
});

test("a stranger to the workspace, and a deleted group, are refused", async () => {
  const place = await placeOf();
  const { workspaceId: elsewhere } = await placeOf();
  const by = { actor: "eve@example.com", workspaceId: elsewhere };
  const channel = { id: "C1", name: "finance" };
  assert.ok(isRefusal(await setGroupSlackChannel(db, { ...place, channel }, by)));
  await setGroupTeams(db, testKeyring, { ...place, url, examineAddress });
  assert.ok(!isRefusal(await deleteGroup(db, place.groupId)));
  const { rows } = await db.query("select from group_channels where group_id = $1", [
    place.groupId,
  ]);
  assert.equal(rows.length, 0, "its webhook is gone with it");
  assert.ok(isRefusal(await setGroupSlackChannel(db, { ...place, channel })));
});
