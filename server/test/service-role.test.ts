// Whoever gets hold of the service's own connection to the database can't change what is final, nor the rules about it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { migrate } from "../src/database/migrations.ts";
import { examineRole, flawOfRole, serviceRights } from "../src/storage/service-rights.ts";
import {
  asServiceUrl,
  makeTestDatabase,
  type TestDatabase,
  testServiceRole,
} from "./test-database.ts";
import {
  assertRefused,
  environmentOn,
  jsonOf,
  runCommand,
  startProgram,
  untilWritten,
} from "./test-program.ts";
import { decide, findReviewer } from "./test-review.ts";
import { makeWorkspace, minimalBody, startService, type TestService } from "./test-service.ts";
import { makeVoters } from "./test-votes.ts";

const skip = testServiceRole() === null ? "TEST_SERVICE_ROLE names no second role" : false;

/** Rows of these are only ever added. */
const finalTables = [
  "activity",
  "events",
  "evidence",
  "log_checkpoints",
  "log_contradictions",
  "log_cosignatures",
  "log_entries",
  "log_nodes",
  "log_openings",
  "receipts",
  "redemptions",
  "revisions",
  "votes",
];

describe("the service's role", { skip }, () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const columnsOf = async () => {
    const { rows } = await service.db.query<{ name: string; columns: string[] }>(
      `select c.relname as name, array_agg(a.attname::text) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
       group by c.relname`,
    );
    return new Map(rows.map(({ name, columns }) => [name, columns]));
  };

  async function refuses(sql: string, values: unknown[] = []): Promise<void> {
    await assert.rejects(service.servicePool.query(sql, values), (error: pg.DatabaseError) => {
      assert.equal(error.code, "42501", `${sql}: ${error.message}`);
      return true;
    });
  }

  /** Many statements in one call, each of which must be refused. */
  async function refusesAll(statements: readonly string[]): Promise<void> {
    const texts = statements.map((sql) => pg.escapeLiteral(sql)).join(", ");
    await service.servicePool.query(`do $do$
      declare
        statement text;
      begin
        foreach statement in array array[${texts}] loop
          begin
            execute statement;
            raise exception 'allowed: %', statement;
          exception when insufficient_privilege then null;
          end;
        end loop;
      end $do$`);
  }

  /** Decided by two votes, redeemed, with everything that a request can leave behind. */
  async function decided() {
    const voters = makeVoters(service);
    const { key } = await voters.workspaceWith();
    const { id } = await voters.ask(key, { quorum: 2 });
    for (const email of ["ann@example.com", "bob@example.com"]) {
      assert.equal((await voters.vote(id, email)).status, 200);
    }
    const redeemed = await service.call("POST", `/v1/requests/${id}/redeem`, { key });
    assert.equal(redeemed.status, 200, redeemed.text);
    return { id, key };
  }

  test("every table has its line, and every line its table and columns", async () => {
    const tables = await columnsOf();
    assert.deepEqual(
      Object.keys(serviceRights).toSorted(),
      [...tables.keys()].toSorted(),
      "say in service-rights.ts what the service may do to it",
    );
    for (const [name, { update }] of Object.entries(serviceRights)) {
      if (!Array.isArray(update)) continue;
      const unknown = update.filter((column) => !tables.get(name)?.includes(column));
      assert.deepEqual(unknown, [], name);
    }
    const added = Object.entries(serviceRights).filter(
      ([, rights]) => rights.insert && !rights.update && !rights.delete,
    );
    assert.deepEqual(added.map(([name]) => name).toSorted(), finalTables);
  });

  test("has exactly these rights, and none beside", async () => {
    const standing = await examineRole(service.servicePool);
    assert.deepEqual(standing, { role: testServiceRole()?.name, isOwner: false, excess: [] });
    assert.equal(flawOfRole(standing), null);
  });

  test("is told from an owner, and from a role that was given more", async () => {
    assert.match(flawOfRole(await examineRole(service.db)) ?? "", /owns its tables/);
    await service.db.query(`grant delete on events, votes to ${testServiceRole()?.name}`);
    try {
      const flaw = flawOfRole(await examineRole(service.servicePool));
      assert.match(flaw ?? "", /DELETE on events, DELETE on votes\. Take that from it/);
    } finally {
      await service.db.query(`revoke delete on events, votes from ${testServiceRole()?.name}`);
    }
  });

  test("changes, deletes and empties nothing in a table of final rows, nor the table", async () => {
    await decided();
    const columns = await columnsOf();
    for (const table of finalTables) {
      await refusesAll([
        ...(columns.get(table) ?? []).map(
          (column) => `update ${table} set "${column}" = "${column}"`,
        ),
        `delete from ${table}`,
        `select from ${table} for update`,
        `select from ${table} for key share`,
      ]);
    }
    for (const table of Object.keys(serviceRights)) {
      await refusesAll([
        `truncate ${table} cascade`,
        `alter table ${table} disable trigger all`,
        `alter table ${table} disable trigger user`,
        `alter table ${table} add column more integer`,
        `alter table ${table} disable row level security`,
        `drop table ${table} cascade`,
        `create trigger mine before insert on ${table} for each row execute function log_activity()`,
        `create rule mine as on insert to ${table} do instead nothing`,
        `create index mine on ${table} ((1))`,
        `copy ${table} to '/tmp/stolen'`,
        `copy ${table} from program 'true'`,
      ]);
    }
  });

  test("can't make itself more than it is", async () => {
    const { rows } = await service.db.query("select current_user as owner");
    const role = testServiceRole()?.name;
    for (const sql of [
      `set role ${rows[0].owner}`,
      `set session authorization ${rows[0].owner}`,
      "set session_replication_role = replica",
      `alter role ${role} superuser`,
      `grant ${rows[0].owner} to ${role}`,
      "create role another",
      "create database another",
      "create schema mine",
      "create table mine ()",
      "create temporary table votes (verdict text)",
      "create view mine as select 1",
      "create function mine() returns int language sql security definer return 1",
      "create or replace function now_ms() returns timestamptz language sql return now()",
      "alter function refuse_change_of_final_approval() rename to gone",
      "drop function refuse_change_of_final_approval() cascade",
      "drop trigger approvals_final_is_final on approvals",
      "create event trigger mine on sql_drop execute function log_activity()",
      "create extension file_fdw",
      "select pg_read_file('/etc/passwd')",
      "alter system set fsync = off",
      `alter database ${(await service.db.query("select current_database() as name")).rows[0].name} owner to ${role}`,
      "do $$ begin execute 'delete from events'; end $$",
      "explain analyze delete from events",
      "with gone as (delete from events returning 1) select * from gone",
      "prepare gone as delete from events; execute gone",
      "merge into events e using (select 1) x on true when matched then delete",
    ]) {
      await refuses(sql);
    }
    // Nobody is told no here: PostgreSQL says that there is nothing to take.
    await service.servicePool.query("grant delete on events to public").catch(() => {});
    await refuses("delete from events");
  });

  test("changes nothing of a decided request, by whatever statement", async () => {
    const { id } = await decided();
    const before = await service.db.query("select * from approvals where id = $1", [id]);
    const tried = service.servicePool;
    const open: unknown = serviceRights.approvals?.update;
    assert.ok(Array.isArray(open));
    for (const column of (await columnsOf()).get("approvals") ?? []) {
      const isOpen = open.includes(column);
      await assert.rejects(
        tried.query(`update approvals set ${column} = ${column} where id = $1`, [id]),
        (error: pg.DatabaseError) => {
          assert.equal(error.code, isOpen ? "23000" : "42501", column);
          return true;
        },
      );
    }
    await assert.rejects(
      tried.query("update approvals set status = 'PENDING', resolved_at = null where id = $1", [
        id,
      ]),
      /is final/,
    );
    await assert.rejects(
      tried.query(
        `insert into approvals (workspace_id, id, summary, approver_email, expires_at)
         select workspace_id, id, 'Another', 'eve@example.com', now() from approvals where id = $1
         on conflict (workspace_id, id) do update set status = 'REJECTED'`,
        [id],
      ),
      /is final/,
    );
    for (const table of ["reviewers", "seats", "stages", "votings", "deliveries"]) {
      await refuses(`delete from ${table}`);
    }
    await refuses("delete from approvals where id = $1", [id]);
    const now = await service.db.query("select * from approvals where id = $1", [id]);
    assert.deepEqual(now.rows, before.rows);
  });

  test("can't change what a pending request asks, nor of whom, and decides it as ever", async () => {
    const { key } = await makeWorkspace(service.db);
    const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    for (const column of [
      "summary",
      "payload",
      "approver_email",
      "expires_at",
      "needs_signature",
    ]) {
      await refuses(`update approvals set ${column} = ${column} where id = $1`, [json.id]);
    }
    await refuses("update reviewers set email = 'eve@example.com' where approval_id = $1", [
      json.id,
    ]);
    const { token } = await findReviewer(service.db, json.id);
    assert.equal((await decide(service.app, token, { verdict: "approve" })).status, 200);
    const read = await service.call("GET", `/v1/requests/${json.id}`, { key });
    assert.equal(read.json.status, "APPROVED");
  });
});

describe("two roles on an external database", { skip }, () => {
  let database: TestDatabase;
  before(async () => {
    database = await makeTestDatabase({ isEmpty: true });
  });
  after(() => database.drop());

  const asService = () => environmentOn(database.url);
  const asBoth = () => ({ ...asService(), DATABASE_OWNER_URL: database.url });

  test("before the owner has migrated, the service's role is told what to do", async () => {
    assertRefused(await runCommand(asService(), ["workspace", "list"]), /countersign migrate/);
    assertRefused(await runCommand(asService(), ["migrate"]), /DATABASE_OWNER_URL/);
  });

  test("one migration as the owner grants the service what it needs, and the next changes nothing", async () => {
    const applied = jsonOf(await runCommand(asBoth(), ["migrate", "--json"]));
    assert.ok(applied.applied.length > 20);
    const rights = () => query(database.url, "select relname, relacl::text from pg_class");
    const before = await rights();
    assert.deepEqual(jsonOf(await runCommand(asBoth(), ["migrate", "--json"])), { applied: [] });
    assert.deepEqual(await rights(), before);
    const standing = await onClient(asServiceUrl(database.url), examineRole);
    assert.deepEqual([standing.isOwner, standing.excess], [false, []]);
  });

  test("rights that somebody added or took are put right at the next migration", async () => {
    const role = testServiceRole()?.name;
    await query(database.url, `grant all on events, votes to ${role}`);
    await query(database.url, `revoke insert on approvals from ${role}`);
    await query(
      database.url,
      `grant temporary on database ${new URL(database.url).pathname.slice(1)} to public`,
    );
    await runCommand(asBoth(), ["migrate"]);
    const standing = await onClient(asServiceUrl(database.url), examineRole);
    assert.deepEqual(standing.excess, []);
    const held = await query(
      asServiceUrl(database.url),
      "select has_table_privilege('approvals', 'insert') as insert",
    );
    assert.deepEqual(held, [{ insert: true }]);
  });

  test("the service starts without the owner's address, and says so when the schema is too old for it", async () => {
    const started = startProgram({ ...asService(), LOG_FORMAT: "json" });
    await untilWritten(started, /"msg":"serving"/);
    assert.doesNotMatch(started.output, /owns its tables/);
    started.child.kill("SIGTERM");
    await started.ended;
    const hide = "update migrations set name = 'x' || name where name like '0023%'";
    await query(database.url, hide);
    const refused = await runCommand(asService(), ["migrate"]);
    await query(database.url, "update migrations set name = ltrim(name, 'x')");
    assertRefused(refused, /The database lacks 0023[^\n]*DATABASE_OWNER_URL/);
  });

  test("with one address alone it works as ever, and one line says what that means", async () => {
    const own = await makeTestDatabase({ isEmpty: true });
    const started = startProgram({
      ...asService(),
      ...{ DATABASE_URL: own.url, DATABASE_DIRECT_URL: "" },
      LOG_FORMAT: "json",
    });
    try {
      await untilWritten(started, /"msg":"serving"/);
      assert.match(started.output, /which owns its tables: [^\n]*DATABASE_OWNER_URL/);
    } finally {
      started.child.kill("SIGTERM");
      await started.ended;
      await own.drop();
    }
  });

  test("an owner's address of another database is refused", async () => {
    const other = await makeTestDatabase({ isEmpty: true });
    try {
      await migrate(other.connection);
      const mixed = {
        ...asService(),
        ...{ DATABASE_URL: asServiceUrl(other.url), DATABASE_DIRECT_URL: "" },
        DATABASE_OWNER_URL: database.url,
      };
      assertRefused(await runCommand(mixed, ["migrate"]), /DATABASE_OWNER_URL/);
    } finally {
      await other.drop();
    }
  });
});

async function onClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function query(url: string, sql: string): Promise<unknown[]> {
  return onClient(url, async (client) => (await client.query(sql)).rows);
}
