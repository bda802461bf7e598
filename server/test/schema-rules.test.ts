import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { indexEverything } from "./test-search.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

// Rules that hold for every table, so that a new one can't break them.

const service = await startService();
const { db } = service;
after(() => service.stop());

test("every table has a primary key", async () => {
  const { rows } = await db.query(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
  );
  assert.deepEqual(rows, []);
});

test("a publication of all tables refuses no statement: members leave groups, and words are indexed", async () => {
  const { id: workspaceId, key } = await makeWorkspace(db);
  const group = await createGroup(db, {
    ...{ workspaceId, key: "finance", name: "Finance" },
    members: ["ann@example.com", "Bob@example.com"],
  });
  if (isRefusal(group)) throw new Error(group.message);
  const { rows } = await db.query<{ tables: string }>(
    `select string_agg(quote_ident(relname), ', ') as tables from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  );
  // "For all tables" is a superuser's. PostgreSQL refuses to delete without a key whether anybody subscribes or not.
  await db.query(`create publication everything for table ${rows[0]?.tables}`);
  try {
    const body = { ...minimalBody, notify: "group:finance" };
    assert.equal((await service.call("POST", "/v1/requests", { key, body })).status, 201);
    await indexEverything(db);
    const left = await removeGroupMember(db, group.id, "bob@example.com");
    assert.ok(!isRefusal(left), isRefusal(left) ? left.message : "");
    assert.deepEqual(left.members, ["ann@example.com"]);
  } finally {
    await db.query("drop publication everything");
  }
});
