// Connections at work: when one ends, how often its tokens may be used, and how many there may be.

import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { isRefusal } from "../../server/src/domain/refusal.ts";
import { addMember, removeMemberByEmail } from "../../server/src/operations/people/add-member.ts";
import {
  changeMemberRole,
  leaveWorkspace,
  removeMember,
} from "../../server/src/operations/people/manage-members.ts";
import { endTrial, firstOwnerEmail } from "../../server/src/operations/workspaces/first-run.ts";
import { makeMember } from "../../server/test/test-dashboard.ts";
import { startService } from "../../server/test/test-service.ts";
import { openBrowser, openHand } from "./connecting.ts";

const service = await startService();
after(() => service.stop());
const { db } = service;

/** An app that its person has just connected, and a code that waits for it. */
async function connect(context: TestContext, email?: string) {
  const hand = await openHand(context, service);
  const browser = await openBrowser(hand.place, "admin", email);
  const { json } = await hand.exchange(await hand.codeOf(browser));
  const code = await hand.codeOf(browser);
  const { workspaceId } = browser;
  const { rows } = await db.query<{ id: string }>(
    "select id from members where workspace_id = $1",
    [workspaceId],
  );
  const boss = `boss@${workspaceId.replace("_", "-")}.example`;
  await makeMember(db, { workspaceId, email: boss, role: "owner" });
  return { hand, browser, json, code, workspaceId, id: rows[0]?.id ?? "", boss };
}

type Connected = Awaited<ReturnType<typeof connect>>;

const waysToLoseTheRole: [name: string, lose: (who: Connected) => Promise<object>][] = [
  [
    "an owner makes them a viewer",
    ({ workspaceId, id, boss: actor }) =>
      changeMemberRole(db, { id, role: "viewer" }, { actor, workspaceId }),
  ],
  [
    "an owner removes them",
    ({ workspaceId, id, boss: actor }) =>
      removeMember(db, { id, groups: false }, { actor, workspaceId }),
  ],
  [
    "they leave",
    ({ workspaceId, browser: { email } }) => leaveWorkspace(db, { workspaceId, email }),
  ],
  [
    "the operator makes them a viewer",
    ({ workspaceId, browser: { email } }) => addMember(db, { workspaceId, email, role: "viewer" }),
  ],
  [
    "the operator removes them",
    ({ workspaceId, browser: { email } }) => removeMemberByEmail(db, { workspaceId, email }),
  ],
  ["a trial ends", () => endTrial(db)],
];

for (const [name, lose] of waysToLoseTheRole) {
  test(`an app is revoked with its person's right to connect it, and doesn't come back with them: ${name}`, async (context) => {
    const isTrial = name === "a trial ends";
    const connected = await connect(context, isTrial ? firstOwnerEmail : undefined);
    const { hand, browser, json, code, workspaceId } = connected;
    const { email } = browser;
    assert.equal(await hand.statusOf(json.access_token), 200);
    const lost = await lose(connected);
    assert.ok(!isRefusal(lost), JSON.stringify(lost));
    assert.equal(await hand.statusOf(json.access_token), 401);
    await addMember(db, { workspaceId, email, role: "owner" });
    assert.equal(await hand.statusOf(json.access_token), 401);
    assert.equal((await hand.refresh(json.refresh_token)).json.error, "invalid_grant");
    assert.equal((await hand.exchange(code)).json.error, "invalid_grant");
    const { rows } = await db.query<{ subject: string; detail: { reason: string } }>(
      "select subject, detail from activity where workspace_id = $1 and action = 'key.revoked'",
      [workspaceId],
    );
    assert.deepEqual(rows, [
      { subject: "A client", detail: { reason: `${email} is no admin or owner any more` } },
    ]);
  });
}

test("an app stays connected while its person goes from admin to owner, and others lose their roles", async (context) => {
  const { hand, json, workspaceId, id, boss: actor } = await connect(context);
  await changeMemberRole(db, { id, role: "owner" }, { actor, workspaceId });
  await removeMemberByEmail(db, { workspaceId, email: actor });
  assert.equal(await hand.statusOf(json.access_token), 200);
});

test("rights are looked up at each call: a role that went without a word opens nothing", async (context) => {
  const { hand, json, id } = await connect(context);
  await db.query("update members set role = 'viewer' where id = $1", [id]);
  assert.equal(await hand.statusOf(json.access_token), 401);
  assert.equal((await hand.refresh(json.refresh_token)).json.error, "invalid_grant");
});
