// PgBouncer in front of PostgreSQL: with PostgreSQL's own address beside it the service works, else it says what to do.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { inTransaction, openDatabase } from "../src/database/database.ts";
import { UnfitConnection } from "../src/database/session-settings.ts";
import { until } from "./patience.ts";
import { asServiceUrl, isPooled, makeTestDatabase, type TestDatabase } from "./test-database.ts";
import { type PgBouncer, pgbouncerProgram, startPgbouncer } from "./test-pgbouncer.ts";
import { environmentOn, runCommand, startProgram, untilWritten } from "./test-program.ts";
import { makeWorkspace, minimalBody } from "./test-service.ts";

const skip =
  pgbouncerProgram === null
    ? "no PgBouncer is installed on this machine"
    : isPooled && "a pooled run has given the role the settings that these tests find missing";
const transactions = ["pool_mode = transaction"];
const ignoring = "ignore_startup_parameters = options,statement_timeout,extra_float_digits";

let database: TestDatabase;
let serviceUrl: string;

describe("behind PgBouncer", { skip }, () => {
  before(async () => {
    database = await makeTestDatabase();
    serviceUrl = asServiceUrl(database.url);
  });
  after(() => database.drop());

  async function withBouncer(
    settings: string[],
    work: (bouncer: PgBouncer) => Promise<void>,
  ): Promise<void> {
    const bouncer = await startPgbouncer(serviceUrl, settings);
    try {
      await work(bouncer);
    } finally {
      await bouncer.stop();
    }
  }

  /** As the remedy says: the role itself may. */
  async function runRemedy(message: string): Promise<void> {
    const statements = message.match(/alter role [^;]+;/g) ?? [];
    assert.ok(statements.length > 0, message);
    const client = new pg.Client({ connectionString: serviceUrl });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  for (const mode of ["session", "transaction"]) {
    test(`in ${mode} mode and without PostgreSQL's own address, a start ends and says what to do`, async () => {
      await withBouncer([`pool_mode = ${mode}`], async (bouncer) => {
        const program = startProgram(environmentOn(bouncer.through(serviceUrl)));
        assert.equal((await program.ended).code, 1);
        assert.match(program.errors, /pooler .* DATABASE_DIRECT_URL/);
      });
      // Told to ignore them, it drops the settings in silence.
      await withBouncer([`pool_mode = ${mode}`, ignoring], async (bouncer) => {
        const program = startProgram(environmentOn(bouncer.through(serviceUrl)));
        assert.equal((await program.ended).code, 1);
        assert.match(program.errors, /lacks settings .* enable_seqscan .* DATABASE_DIRECT_URL/);
      });
    });
  }

  test("a PgBouncer that finds no server is a fault that passes", async () => {
    const nowhere = new URL(serviceUrl);
    nowhere.searchParams.delete("host");
    nowhere.searchParams.set("port", "1");
    nowhere.hostname = "127.0.0.1";
    const impatient = [...transactions, "query_wait_timeout = 1"];
    const bouncer = await startPgbouncer(nowhere.href, impatient);
    const program = startProgram({
      ...environmentOn(bouncer.through(nowhere.href)),
      DATABASE_DIRECT_URL: serviceUrl,
    });
    try {
      await untilWritten(program, /waiting for the database/);
      assert.equal(program.child.exitCode, null);
    } finally {
      program.child.kill("SIGTERM");
      await program.ended;
      await bouncer.stop();
    }
  });

  test("in transaction mode with PostgreSQL's own address, it says which settings the role lacks, and then works", async () => {
    await withBouncer(transactions, async (bouncer) => {
      const environment = {
        ...environmentOn(bouncer.through(serviceUrl)),
        DATABASE_DIRECT_URL: serviceUrl,
        LOG_FORMAT: "json",
        RATE_LIMIT: "0",
      };
      const refused = startProgram(environment);
      assert.equal((await refused.ended).code, 1);
      assert.match(refused.errors, /alter role "\w+" in database "\w+" set enable_seqscan = 'off'/);
      await runRemedy(refused.errors);
      await bouncer.reconnect();

      const { key } = await makeWorkspaceAs(database);
      const program = startProgram(environment);
      try {
        const [, port] = await untilWritten(program, /"address":"http:\/\/[^:"]+:(\d+)"/);
        const address = `http://127.0.0.1:${port}`;
        await until(async () => (await fetch(`${address}/readyz`)).status === 200, "readiness");
        const headers = { authorization: `Bearer ${key}` };
        const create = () =>
          fetch(`${address}/v1/requests`, {
            ...{ method: "POST", headers },
            body: JSON.stringify(minimalBody),
          });
        // Many more clients than the four sessions behind it.
        const replies = await Promise.all(Array.from({ length: 60 }, create));
        assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201]);
        const [first] = replies;
        assert.ok(first);
        const { id } = (await first.json()) as { id: string };
        const waiting = fetch(`${address}/v1/requests/${id}?wait=60`, { headers });
        const cancelled = await fetch(`${address}/v1/requests/${id}/cancel`, {
          ...{ method: "POST", headers },
        });
        assert.equal(cancelled.status, 200);
        assert.equal(((await (await waiting).json()) as { status: string }).status, "CANCELLED");
        const list = await fetch(`${address}/v1/requests?limit=100`, { headers });
        assert.equal(((await list.json()) as { data: unknown[] }).data.length, 60);
        assert.doesNotMatch(program.output, /"level":"error"|do not arrive/);
        const doctor = await runCommand(environment, ["doctor"]);
        assert.match(doctor.stdout, /ok +schema: up to date/);
      } finally {
        program.child.kill("SIGTERM");
        assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
      }
    });
  });

  test("sessions that take turns keep their settings, and transactions their session", async () => {
    await withBouncer(transactions, async (bouncer) => {
      const open = (url: string) =>
        openDatabase({
          ...{ connection: { connectionString: url }, connectionsMax: 12 },
          ...{ isThroughPooler: true, onIdleFault: () => {} },
        });
      const db = open(bouncer.through(serviceUrl));
      const direct = open(serviceUrl);
      const settingsSql = {
        name: "settings",
        text: `select current_setting('enable_seqscan') || current_setting('timezone')
          || current_setting('statement_timeout') as all, pg_backend_pid() as pid`,
      };
      try {
        await db.query("select 1").catch(async (fault: unknown) => {
          assert.ok(fault instanceof UnfitConnection);
          await runRemedy(fault.message);
          await bouncer.reconnect();
        });
        const rows = await Promise.all(
          Array.from({ length: 200 }, () =>
            inTransaction(db, async (tx) => {
              const { rows: first } = await tx.query(settingsSql);
              const { rows: second } = await tx.query(settingsSql);
              assert.deepEqual(first, second);
              return first[0];
            }),
          ),
        );
        assert.deepEqual([...new Set(rows.map(({ all }) => all))], ["offUTC15s"]);
        assert.ok(new Set(rows.map(({ pid }) => pid)).size <= 4);
        // Under one name two processes of different versions may mean different statements.
        const { rows: prepared } = await db.query("select name from pg_prepared_statements");
        assert.deepEqual(
          prepared.filter(({ name }) => !/^PGBOUNCER_/.test(name)),
          [],
        );
        // An address that leads to PostgreSQL itself after all works as well.
        assert.equal((await direct.query(settingsSql)).rows[0]?.all, "offUTC15s");
      } finally {
        await db.end();
        await direct.end();
      }
    });
  });

  test("an own address of another database ends the start", async () => {
    const other = await makeTestDatabase();
    const program = startProgram({
      ...environmentOn(serviceUrl),
      DATABASE_DIRECT_URL: asServiceUrl(other.url),
    });
    assert.equal((await program.ended).code, 1);
    assert.match(program.errors, /DATABASE_DIRECT_URL leads to .* Both must lead to the same/);
    await other.drop();
  });
});

async function makeWorkspaceAs({ connection }: TestDatabase): Promise<{ key: string }> {
  const db = openDatabase({ connection, connectionsMax: 1, onIdleFault: () => {} });
  const made = await makeWorkspace(db);
  await db.end();
  return made;
}
