import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { listMissingMigrations, migrate } from "../src/database/migrations.ts";
import { dumpSchema } from "./schema-dump.ts";
import { makeTestDatabase, type TestDatabase } from "./test-database.ts";
import { startNode } from "./test-service.ts";
import { schemaFile } from "./write-schema.ts";

async function onDatabase(
  options: { isEmpty?: boolean },
  work: (database: TestDatabase, client: pg.Client) => Promise<void>,
): Promise<void> {
  const database = await makeTestDatabase(options);
  const client = new pg.Client(database.connection);
  await client.connect();
  try {
    await work(database, client);
  } finally {
    await client.end();
    await database.drop();
  }
}

test("the committed schema.sql is what the migrations make", async () => {
  await onDatabase({}, async (_database, client) => {
    assert.equal(
      await dumpSchema(client),
      await readFile(schemaFile, "utf8"),
      "run `npm run schema` and look at the difference",
    );
  });
});

test("nodes that start at once on an empty database migrate it once and all end well", async () => {
  await onDatabase({ isEmpty: true }, async ({ connection }, client) => {
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(connection)));
    const working = applied.filter((names) => names.length > 0);
    assert.equal(working.length, 1);
    const { rows } = await client.query("select name from migrations order by name");
    assert.deepEqual(
      rows.map(({ name }) => name),
      working[0],
    );
    assert.deepEqual(await migrate(connection), []);
  });
});

/** A new migration gets a line here when it is merged. No line ever changes. */
const merged = {
  "0001_first_schema.sql": "534c354bfab64d4cb35776940977312410bde47662d9d36be06ca27f50662e95",
  "0002_deliveries_at_work.sql": "5a285e6c656d2df97ed8ed286d9fffc15fb8737a153a9977b51a1523b9dd7d6a",
  "0003_review_codes.sql": "fe115a27b303ff14680df53de5383ddb505002b14877a96b294172ae5a4d9298",
  "0004_dashboard.sql": "a79554c8a82703d5a35bc79f8e67675c5a55668daebf1c79837ef833f2a7c8a8",
  "0005_passkey_mails.sql": "460bf9ac3ae1df5b910f9c3f315838ec5ec9b0a8e93b296ebf4bff1ad598c461",
  "0006_words_apart.sql": "92e68be6e04b976933d3288efc01dee77363e6ee53aa2fc9cec72ef0ed37eb9d",
  "0007_mail_digests.sql": "d203f81cf4dcaaf303e8593bae4db0c8a66b432af2a1e952a7a666c2ec5eaae8",
  "0008_delivery_channels.sql": "1ac326c32462ea289b8d7ca20d3f5884221465945eababad480a15b5a93f66d5",
  "0009_channels_of_finished_mails.sql":
    "413b61f1a998fc865c6d4eb56dd038ff746cb4a366d591151fcf9427413198d0",
  "0010_redemptions.sql": "79cb9e37cbade2987346dd48147723183e806ddc8ea29ea4b1963e0a9f865943",
  "0011_default_approvers.sql": "6f3850ec38ca74c86e4be34a29decf92509a9d1dfdaf7e1931a88b65e89871c1",
  "0012_told_in_time.sql": "a68179ec4f64e242a4b0f3798d26785b7941870a8fdaa4da97b2250968de75e7",
  "0013_found_by_everything.sql":
    "b98bd4f5a5e174cca74088d3f7de6e61cca17a8b6711d6075e3c7a655b6e4772",
  "0014_names_and_deletions.sql":
    "d1aa21eefee38d5ddcb8246b57abd27f236643ace7f46302b5c42518e652ae39",
  "0015_trials.sql": "ad3c716b3c0fe8efccb88980209053a3273168d9d474088136e478d5066b818e",
  "0016_statuses_and_watched_groups.sql":
    "2dfded55d2fd01c65a88bade022e55760e36c5199b412ae10c62434145d823d5",
  "0017_callbacks.sql": "1eed5d938226537fe2ad45750579c17530c5ef2cb19b58576b2963497357ec6f",
  "0018_connections.sql": "25cfd92d86686d20d88413655b07d4c102850640a78918e666df8046650e20a6",
  "0019_callback_turns.sql": "91801bc2bd13a6953818044d9159af680186f2636b377d1d6ea14e51f85b58f3",
  "0020_connections_end_with_the_role.sql":
    "ef3962cced55b35ad721dd78ab1423936f9f6076c3728160375ce0e133a313aa",
  "0021_votes.sql": "d7e4ba495744c8333f9848412858a32f393a31890496d0d3414fd7f5c5f13c17",
  "0022_channels.sql": "201f68630f74f5bfc61b21b55e1da0f2a56f37a513af4158de5091b0fcf3b992",
  "0023_proof.sql": "008a2b9d84e3e423fbf00d03489031d8bd7472358153c1dafe849e0d4e6348d0",
  "0024_retention.sql": "cced102bdf92918eafaeedca27940f1f75f1c9b6e51da332acbdb9cd5120f0ce",
  "0025_people_left.sql": "ad55354834c22f8b3bb7d231a2058db4dba75e42542fdf866f671dc82314b704",
  "0026_votes_in_time.sql": "919c59195a393c35e5c1c25bb1e3892b724c0616dafddcb862b9caa90beeedc3",
  "0027_slack_accounts_of_an_app.sql":
    "723d8b09fd967c4da7f1637f24b5e79cb2d501a473731e4eb9bd308599a52511",
  "0028_one_outcome.sql": "011f5a89a7d0fecca25ccb2ffa18dc6aa18bb18bad9b5496288c388e9be422b1",
  "0029_decided_for_good.sql": "62008a42496e2b5b374e6f531ab54773785e0c0fdbcc331c5060c90bb076bbfd",
  "0030_sealed_heads.sql": "7f5ee9e5b85134b9d05bf98de2a19c7ee58547cfb4e9a47d03a1a8ead012f1b8",
  "0031_a_key_for_every_row.sql":
    "dd30f5524bd13002afd1b2feed383eef7763316197accb35bac14ccf85848f81",
  "0032_deleting_beside_indexing.sql":
    "1eaf288b7e3b7f52a1f3f1d5b5b4272561ed6854c504876eb23c24dbc86f56a4",
  "0033_works_beside.sql": "c5d35de45e91c1b2672d93dd8717ec9fb82e5c5699dd348a29f9bcfc6d25e136",
  "0034_openings_of_deleted_requests.sql":
    "6c5fe61318e2d3374e1f34cd8e6bd7aad8126deb74ada242a342285eca062264",
};

const migrationsFolder = join(import.meta.dirname, "..", "migrations");
const formerFolder = join(import.meta.dirname, "former-migrations");
const checksumOf = (text: string) => createHash("sha256").update(text).digest("hex");

test("merged migrations never change", async () => {
  const names = (await readdir(migrationsFolder)).filter((name) => name.endsWith(".sql")).sort();
  const found: Record<string, string> = {};
  for (const name of names) {
    found[name] = checksumOf(await readFile(join(migrationsFolder, name), "utf8"));
  }
  assert.deepEqual(
    found,
    merged,
    "Databases exist that were made with the merged text. Put a change into a new migration, and add its checksum here.",
  );
});

/** Migrates as a version did before the migrations were frozen. */
async function migrateWithFormer(client: pg.Client, former: string): Promise<string> {
  const [name = "", , ending] = former.split(".");
  assert.equal(ending, "sql");
  await migrateUntil(client, `${name}.sql`);
  await apply(client, `${name}.sql`, await readFile(join(formerFolder, former), "utf8"));
  return `${name}.sql`;
}

/** Applies all migrations before the named one. */
async function migrateUntil(client: pg.Client, name: string): Promise<void> {
  await client.query(
    "create table migrations (name text primary key, checksum text not null, applied_at timestamptz not null default now())",
  );
  for (const file of Object.keys(merged)) {
    if (file === name) break;
    await apply(client, file, await readFile(join(migrationsFolder, file), "utf8"));
  }
}

async function apply(client: pg.Client, file: string, sql: string): Promise<void> {
  await client.query(sql);
  await client.query("insert into migrations values ($1, $2)", [file, checksumOf(sql)]);
}

test("deliveries from before channels get theirs, and so does what an older process still writes", async () => {
  await onDatabase({ isEmpty: true }, async ({ connection }, client) => {
    await migrateUntil(client, "0008_delivery_channels.sql");
    await client.query(`
      insert into workspaces (id, name, plan) values ('ws_1', 'One', 'unlimited');
      insert into endpoints (workspace_id, id, url) values ('ws_1', 'ep_1', 'https://example.com/hook');
      insert into events (workspace_id, id, endpoint_id, kind)
        select 'ws_1', id, 'ep_1', 'webhook.test' from unnest(array['evt_1', 'evt_2', 'evt_3']) as id`);
    const write = (state: string, eventId: string) =>
      client.query(
        `insert into deliveries (workspace_id, event_id, endpoint_id, recipient, state, finished_at)
         values ('ws_1', $1, 'ep_1', null, $2, $3), ('ws_1', $1, null, 'ann@example.com', $2, $3)`,
        [eventId, state, state === "due" ? null : new Date()],
      );
    await write("due", "evt_1");
    await write("delivered", "evt_2");
    await migrate(connection);
    await write("due", "evt_3");
    const { rows } = await client.query(
      `select count(*)::int as count, channel, recipient is not null as is_mail
       from deliveries group by 2, 3 order by 2`,
    );
    assert.deepEqual(rows, [
      { count: 3, channel: "mail", is_mail: true },
      { count: 3, channel: "webhook", is_mail: false },
    ]);
  });
});

test("an app whose person had lost the right to connect it is revoked, and no other key", async () => {
  await onDatabase({ isEmpty: true }, async ({ connection }, client) => {
    const migration = "0020_connections_end_with_the_role.sql";
    await migrateUntil(client, migration);
    await client.query(`
      insert into workspaces (id, name, plan) values ('ws_1', 'One', 'unlimited'), ('ws_2', 'Two', 'unlimited');
      insert into members (workspace_id, email, role, joined_at) values
        ('ws_1', 'Admin@example.com', 'admin', now()), ('ws_1', 'viewer@example.com', 'viewer', now()),
        ('ws_1', 'invited@example.com', 'owner', null), ('ws_2', 'gone@example.com', 'owner', now());
      insert into api_keys (workspace_id, id, name, digest, last_four)
        select 'ws_1', id, id, sha256(id::bytea), 'abcd'
        from unnest(array['admin', 'viewer', 'invited', 'gone', 'key']) as id;
      insert into connections (workspace_id, api_key_id, email, client_digest, client_name, redirect_host)
        select 'ws_1', id, id || '@example.com', sha256('x'), 'App', 'localhost'
        from unnest(array['admin', 'viewer', 'invited', 'gone']) as id`);
    await migrate(connection);
    const { rows } = await client.query(
      "select id from api_keys where revoked_at is null order by id",
    );
    assert.deepEqual(
      rows.map(({ id }) => id),
      ["admin", "key"],
    );
    const { rows: told } = await client.query(
      "select subject, detail->>'reason' as reason from activity order by subject",
    );
    assert.deepEqual(
      told.map(({ subject, reason }) => `${subject}: ${reason}`),
      ["gone", "invited", "viewer"].map(
        (name) => `${name}: ${name}@example.com is no admin or owner any more`,
      ),
    );
  });
});

test("a stand-in from before 0026 goes by the absence that runs, not by one to come", async () => {
  await onDatabase({ isEmpty: true }, async ({ connection }, client) => {
    await migrateUntil(client, "0026_votes_in_time.sql");
    // Without the rows that these belong to.
    await client.query(`
      alter table absences drop constraint absences_workspace_id_fkey;
      alter table seats drop constraint seats_workspace_id_approval_id_stage_fkey,
        drop constraint seats_workspace_id_reviewer_id_fkey;
      insert into absences (workspace_id, id, person, email, delegate_email, starts_at, ends_at)
        select 'ws_1', id, 'ann@x.example', 'ann@x.example', 'dee@x.example', now() + starts * interval '1 day',
          now() + ends * interval '1 day'
        from (values ('abs_over', -9, -8), ('abs_runs', -1, 1), ('abs_comes', 10, 12)) as each (id, starts, ends);
      insert into seats (workspace_id, approval_id, stage, person, person_email, voter, reviewer_id, reason)
        select 'ws_1', 'req_1', 1, 'ann@x.example', 'ann@x.example', voter, 'rev_1', reason
        from (values ('ann@x.example', 'asked'), ('dee@x.example', 'away')) as each (voter, reason)`);
    await migrate(connection);
    const { rows } = await client.query("select absence_ids from seats order by voter");
    assert.deepEqual(
      rows.map(({ absence_ids }) => absence_ids),
      [null, ["abs_runs"]],
    );
  });
});

test("a database that was made with a former text of a migration is upgraded to the same schema", async () => {
  const formers = (await readdir(formerFolder)).sort();
  assert.equal(formers.length, 8);
  for (const former of formers) {
    await onDatabase({ isEmpty: true }, async ({ connection }, client) => {
      const name = await migrateWithFormer(client, former);
      const applied = await migrate(connection);
      assert.equal(applied[0], `${name} (amended)`, former);
      assert.equal(await dumpSchema(client), await readFile(schemaFile, "utf8"), former);
      const { rows: plans } = await client.query("select has_overage from plans order by name");
      assert.deepEqual(
        plans.map(({ has_overage }) => has_overage),
        [false, true, true, false],
      );
      const { rows } = await client.query("select name, checksum from migrations order by name");
      assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.checksum])), merged);
      assert.deepEqual(await migrate(connection), []);
    });
  }
});

test("a migration that was changed after it had been applied is refused, by name, and nothing is changed", async () => {
  await onDatabase({}, async ({ connection }, client) => {
    await client.query("update migrations set checksum = 'other'");
    await assert.rejects(
      migrate(connection),
      /0001_first_schema\.sql was changed after .* checksum other, and is 534c354bfab6 here\. Run the version/,
    );
    // A former text, but with later migrations on top: no version ever made such a database.
    await client.query(`update migrations set checksum = $1 where name = '0001_first_schema.sql'`, [
      "5175c85e5349b4ec230ecc43cf37c8189019e08b0b7076376ba131a457c10a2d",
    ]);
    await assert.rejects(migrate(connection), /0001_first_schema\.sql was changed after/);
    assert.equal(await dumpSchema(client), await readFile(schemaFile, "utf8"));
  });
});

test("until it is migrated a node is alive but not ready, and answers 503", async () => {
  await onDatabase({ isEmpty: true }, async (database, client) => {
    const node = await startNode(database);
    try {
      assert.equal((await node.call("GET", "/healthz")).status, 200);
      const early = await node.call("GET", "/readyz");
      assert.deepEqual([early.status, early.json.error.code], [503, "unavailable"]);
      const key = "cs_0000000000000000000000000000000000000000000000000";
      assert.equal(
        (await node.call("GET", "/v1/requests", { key })).status,
        401,
        "no key passes by its form alone",
      );
      assert.ok((await listMissingMigrations(client)).length > 0);
      await migrate(database.connection);
      assert.deepEqual((await node.call("GET", "/readyz")).json, { status: "ready" });
    } finally {
      await node.stop();
    }
  });
});
