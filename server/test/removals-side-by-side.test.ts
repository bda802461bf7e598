// People who are removed at the same time: the removals look at the same requests, and none waits for the other in a ring.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inTransaction, type Transaction } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { endMembership } from "../src/operations/people/manage-members.ts";
import * as members from "../src/storage/people/members.ts";
import { until } from "./patience.ts";
import { makeMember } from "./test-dashboard.ts";
import { startService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const service = await startService();
const { db } = service;
after(() => service.stop());
const { workspaceWith, ask } = makeVoters(service);

const [ann, bob, cy, dee] = ["ann", "bob", "cy", "dee"].map((name) => `${name}@example.com`) as [
  string,
  string,
  string,
  string,
];

/** Somebody else's turn comes after the first statement that removes somebody. */
function interrupted(tx: Transaction, turn: () => Promise<unknown>): Transaction {
  let isFirst = true;
  const query = async (statement: string | { text: string }, values?: unknown[]) => {
    const result = await tx.query(statement as string, values);
    const text = typeof statement === "string" ? statement : statement.text;
    const removes = /delete from (group_)?members/.test(text);
    if (removes && isFirst) {
      isFirst = false;
      await turn();
    }
    return result;
  };
  return { query } as unknown as Transaction;
}

test("a removal from the workspace and all its groups, and one from another group, both go through", async () => {
  const { key, id: workspaceId } = await workspaceWith([ann, cy]);
  await createGroup(db, { workspaceId, key: "two", name: "Two", members: [cy] });
  const three = await createGroup(db, {
    ...{ workspaceId, key: "three", name: "Three" },
    members: [bob, dee],
  });
  assert.ok(!isRefusal(three));
  await makeMember(db, { workspaceId, email: cy, role: "viewer" });
  const asked = (notify: string, then: string[]) =>
    ask(key, { notify, quorum: 1, then: then.map((each) => ({ notify: each })) });
  const first = await asked(dee, ["group:three", "group:two"]);
  const second = await asked(cy, ["group:three", "group:finance"]);
  assert.ok(first.id < second.id);
  await db.query("delete from voting_checks where workspace_id = $1", [workspaceId]);

  let other: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    const member = (await members.list(tx, workspaceId)).find(({ email }) => email === cy);
    assert.ok(member !== undefined);
    const turn = () => {
      other = removeGroupMember(db, three.id, bob).catch((error: unknown) => error);
      return until(async () => {
        const { rows } = await db.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and query like 'delete from group_members%'`,
        );
        return rows.length > 0;
      });
    };
    const ending = { actor: null, how: "be removed", groups: true } as const;
    assert.ok(!isRefusal(await endMembership(interrupted(tx, turn), member, ending)));
  });
  const removed = await other;
  assert.ok(!(removed instanceof Error), String(removed));
});
