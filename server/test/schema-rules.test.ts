import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Queryable } from "../src/database/database.ts";
import { isRefusal } from "../src/domain/refusal.ts";
import { createGroup, removeGroupMember } from "../src/operations/people/manage-group.ts";
import { serviceRights } from "../src/storage/service-rights.ts";
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

/** Nobody deletes these: they end by a date in their row, or never. */
const neverDeleted = [
  ...[
    "api_keys",
    "connections",
    "endpoints",
    "groups",
    "people",
    "plans",
    "signing_keys",
    "workspaces",
  ],
];

/** The votes of a request are looked at to delete one of its seats: at most some dozens. */
const ofOneRequest = ["votes_workspace_id_approval_id_stage_person_voter_fkey"];

test("deleting a row finds what points to it by an index: every foreign key has one, but to rows that are never deleted", async () => {
  const slow = (await keysWithoutIndex(db)).filter(({ name }) => !ofOneRequest.includes(name));
  assert.deepEqual([...new Set(slow.map(({ parent }) => parent))].sort(), neverDeleted);
  const client = await db.connect();
  try {
    await client.query("begin; drop index deliveries_of_reviewer");
    const found = (await keysWithoutIndex(client)).map(({ name }) => name);
    assert.ok(found.includes("deliveries_workspace_id_reviewer_id_fkey"), found.join());
  } finally {
    await client.query("rollback");
    client.release();
  }
});

/** An index has to begin with the key's columns. The workspace may come later or be missing: of an id there is one. */
async function keysWithoutIndex(at: Queryable) {
  const { rows } = await at.query<{ name: string; parent: string }>(
    `select c.conname as name, c.confrelid::regclass::text as parent
     from pg_constraint c
     where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (
       select from pg_index i
       where i.indrelid = c.conrelid and i.indisvalid
         and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$')
         and (
           select array_agg(a.attnum) from pg_attribute a
           where a.attrelid = c.conrelid and a.attnum = any (c.conkey)
             and (a.attname <> 'workspace_id' or cardinality(c.conkey) = 1)
         ) <@ (
           select coalesce(array_agg(attnum) filter (where is_led), '{}') from (
             select attnum, bool_and(attnum = any (c.conkey)) over (order by place) as is_led
             from unnest(i.indkey::int2[]) with ordinality as key (attnum, place)
           ) as key
         )
     )
     order by name`,
  );
  return rows;
}

test("what is never deleted is deleted by nobody: not by the service, nor by the owner's function", async () => {
  const { rows } = await db.query<{ deleting: string }>(
    "select string_agg(prosrc, ' ') as deleting from pg_proc where prosrc ~ 'delete from' and proname = 'delete_old_requests'",
  );
  const text = rows[0]?.deleting ?? "";
  assert.match(text, /delete from approvals /);
  for (const name of neverDeleted) {
    assert.equal(serviceRights[name]?.delete, undefined, name);
    assert.doesNotMatch(text, new RegExp(`delete from ${name} `));
  }
});
