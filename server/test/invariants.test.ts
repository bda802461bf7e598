// PostgreSQL itself holds these rules, whatever the program does.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";

const service = await startService();
after(() => service.stop());

async function refuses(
  constraint: string | RegExp,
  sql: string,
  values: unknown[] = [],
): Promise<void> {
  await assert.rejects(
    service.db.query(sql, values),
    (error: { constraint?: string; message: string }) => {
      assert.match(
        `${error.constraint} ${error.message}`,
        typeof constraint === "string" ? new RegExp(constraint) : constraint,
      );
      return true;
    },
  );
}

async function created() {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
  return { workspaceId, key, id: json.id as string };
}

test("a final state has its time, and a pending one has none", async () => {
  const { id } = await created();
  for (const status of ["APPROVED", "REJECTED", "EXPIRED", "CANCELLED"]) {
    await refuses("approvals_", "update approvals set status = $2 where id = $1", [id, status]);
  }
  await refuses(
    "approvals_final_has_time",
    "update approvals set resolved_at = now() where id = $1",
    [id],
  );
});

test("only a person approves or rejects, and nobody expires or cancels", async () => {
  const { id } = await created();
  await refuses(
    "approvals_person_decides",
    "update approvals set status = 'APPROVED', resolved_at = now() where id = $1",
    [id],
  );
  await refuses(
    "approvals_person_decides",
    "update approvals set status = 'CANCELLED', resolved_at = now(), resolved_by_email = 'a@b.co' where id = $1",
    [id],
  );
  await refuses("approvals_edit_of_approval", "update approvals set edit = '1' where id = $1", [
    id,
  ]);
  await refuses(
    "approvals_edit_of_approval",
    "update approvals set status = 'REJECTED', resolved_at = now(), resolved_by_email = 'a@b.co', edit = '1' where id = $1",
    [id],
  );
  await refuses(
    "approvals_expire_on_time",
    "update approvals set status = 'EXPIRED', resolved_at = now() where id = $1",
    [id],
  );
});

test("nothing about a final approval can change", async () => {
  const { key, id } = await created();
  await service.call("POST", `/v1/requests/${id}/cancel`, { key });
  for (const change of [
    "status = 'PENDING', resolved_at = null",
    "summary = 'other'",
    "payload = '1'",
  ]) {
    await refuses("is final", `update approvals set ${change} where id = $1`, [id]);
  }
});

test("an event kind happens once per approval", async () => {
  const { workspaceId, id } = await created();
  await refuses(
    "events_once_per_approval",
    "insert into events (workspace_id, approval_id, kind) values ($1, $2, 'request.created')",
    [workspaceId, id],
  );
  await refuses(
    "events_subject_of_kind",
    "insert into events (workspace_id, approval_id, kind) values ($1, $2, 'request.other')",
    [workspaceId, id],
  );
  // Votes repeat.
  for (const _ of [1, 2]) {
    await service.db.query(
      "insert into events (workspace_id, approval_id, kind) values ($1, $2, 'request.vote_recorded')",
      [workspaceId, id],
    );
  }
});

test("all events of an approval are found by one index, those that repeat as well", async () => {
  const { workspaceId, id } = await created();
  const { rows } = await inTransaction(service.db, async (tx) => {
    await tx.query("set local enable_seqscan = off");
    await tx.query("set local enable_bitmapscan = off");
    return tx.query<{ "QUERY PLAN": string }>(
      "explain select id from events where workspace_id = $1 and approval_id = $2",
      [workspaceId, id],
    );
  });
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  assert.match(plan, /events_once_per_approval/);
});

test("an event goes to each destination once", async () => {
  const { workspaceId } = await created();
  await refuses(
    "deliveries_destination_key",
    "insert into deliveries (workspace_id, event_id, reviewer_id) select workspace_id, event_id, reviewer_id from deliveries where workspace_id = $1",
    [workspaceId],
  );
  await refuses(
    "deliveries_channel_has_destination",
    "insert into deliveries (workspace_id, event_id) select workspace_id, event_id from deliveries where workspace_id = $1",
    [workspaceId],
  );
  await refuses(
    "deliveries_channel_has_destination",
    "update deliveries set channel = 'webhook' where workspace_id = $1 and reviewer_id is not null",
    [workspaceId],
  );
  await refuses(
    "deliveries_channel_has_destination",
    "update deliveries set channel = 'pigeon' where workspace_id = $1",
    [workspaceId],
  );
});

/** People belong to no workspace: one person may be a member of several. */
const ofPeople = [
  "passkeys",
  "people",
  "person_settings",
  "push_subscriptions",
  "sessions",
  "sign_in_challenges",
  "sign_in_secrets",
  "slack_accounts",
  "slack_link_codes",
];
/** Facts of the service itself, and the queue of news, which is in the order of arrival. */
const ofService = [
  "channel_news",
  "migrations",
  "plans",
  "push_identity",
  "search_queue",
  "signing_keys",
  "workspaces",
];
/** A tree belongs to a workspace or to the installation, and its rows to it. */
const ofTrees = [
  "log_checkpoints",
  "log_contradictions",
  "log_cosignatures",
  "log_entries",
  "log_nodes",
  "log_openings",
  "log_tellings",
  "log_trees",
];

test("no row can point to another workspace's rows", async () => {
  const [mine, theirs] = [await created(), await created()];
  const { rows: tables } = await service.db.query(
    `select conrelid::regclass::text as child, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  assert.ok(tables.length >= 12);
  for (const { child, definition } of tables) {
    const crosses =
      !/^FOREIGN KEY \(workspace_id(, \w+)*\) REFERENCES \w+\((workspace_id(, \w+)+|id)\)/.test(
        definition,
      );
    const isCommon = /REFERENCES (plans|signing_keys)\(/.test(definition);
    assert.equal(
      crosses && !isCommon && !ofPeople.includes(child) && !ofTrees.includes(child),
      false,
      `${child}: ${definition}`,
    );
  }
  // No row of people points to a workspace, and no workspace's row points to people.
  for (const { child, definition } of tables) {
    assert.equal(
      ofPeople.includes(child),
      /REFERENCES (people|sessions)\(/.test(definition),
      `${child}: ${definition}`,
    );
  }
  await refuses(
    "events_workspace_id_approval_id_fkey",
    "insert into events (workspace_id, approval_id, kind) values ($1, $2, 'request.cancelled')",
    [mine.workspaceId, theirs.id],
  );
  await refuses(
    "deliveries_workspace_id_event_id_fkey",
    "insert into deliveries (workspace_id, event_id, reviewer_id) select $1, d.event_id, r.id from deliveries d, reviewers r where d.workspace_id = $2 and r.workspace_id = $1",
    [mine.workspaceId, theirs.workspaceId],
  );
});

test("every table but those of people, of trees and of the service itself begins its key with the workspace", async () => {
  const { rows } = await service.db.query(
    `select c.conrelid::regclass::text as name, a.attname as first
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'p' and c.connamespace = 'public'::regnamespace`,
  );
  const exceptions = rows.filter(({ first }) => first !== "workspace_id").map(({ name }) => name);
  assert.deepEqual(exceptions.sort(), [...ofPeople, ...ofService, ...ofTrees].sort());
});

test("of the tables that grow, only the primary key begins with the workspace", async () => {
  // Otherwise a plan made for an almost empty table may look rows up among all rows of their workspace.
  const { rows } = await service.db.query(
    `select i.indexrelid::regclass::text as name
     from pg_index i
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where i.indrelid = any (array['approvals', 'reviewers', 'events', 'deliveries', 'attempts']::regclass[])
       and a.attname = 'workspace_id' and not i.indisprimary and i.indpred is null`,
  );
  assert.deepEqual(rows, []);
});

// The statement by which versions before votes resolve, without what they write after it: during an upgrade they still
// run, and know nothing of seats.
const resolveBeforeVotes = `
  with member as (
    select m.group_id
    from group_members m
    where m.workspace_id = $1 and lower(m.email) = lower($4)
      and m.group_id = (select asked.group_id from approvals asked where asked.workspace_id = $1 and asked.id = $2)
    for key share of m
  ), resolved as (
    update approvals a
    set status = $3, resolved_at = now_ms(), resolved_by_email = $4, resolution_note = $5, edit = $6
    where workspace_id = $1 and id = $2 and status = 'PENDING' and expires_at > now()
      and (a.group_id is null or $4 is null or exists (select from member))
    returning a.workspace_id, a.id, a.resolved_at
  )
  select resolved_at from resolved`;

test("an older process can't decide alone where several people do, but it cancels", async () => {
  const { id: workspaceId, key } = await makeWorkspace(service.db);
  const body = {
    ...minimalBody,
    payload: { amount: 1 },
    quorum: 1,
    then: [{ notify: "bob@example.com" }],
  };
  const { json } = await service.call("POST", "/v1/requests", { key, body });
  const decide = (status: string, edit: string | null = null) => [
    ...[workspaceId, json.id, status, "ann@example.com", null, edit],
  ];
  await refuses("has not the votes for APPROVED", resolveBeforeVotes, decide("APPROVED"));
  await refuses("has not the votes for APPROVED", resolveBeforeVotes, decide("APPROVED", "2"));
  await refuses("has not the votes for REJECTED", resolveBeforeVotes, decide("REJECTED"));
  const { rows } = await service.db.query(
    "select from events where approval_id = $1 and kind <> 'request.created'",
    [json.id],
  );
  assert.equal(rows.length, 0);
  const cancel = [workspaceId, json.id, "CANCELLED", null, null, null];
  assert.equal((await service.db.query(resolveBeforeVotes, cancel)).rows.length, 1);
});
