import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inTransaction, openDatabase, type Queryable } from "../src/database/database.ts";
import { isOutOfReach, isUnavailable } from "../src/database/faults.ts";
import { UnfitConnection } from "../src/database/session-settings.ts";
import { makeTestDatabase } from "./test-database.ts";

const database = await makeTestDatabase();
after(() => database.drop());

async function settingsWith(url: string) {
  const db = openDatabase({
    connection: { connectionString: url },
    connectionsMax: 1,
    walksIndexes: true,
    onIdleFault: () => {},
  });
  try {
    const { rows } = await db.query(
      `select current_setting('enable_seqscan') as scan, current_setting('plan_cache_mode') as plans,
         current_setting('timezone') as zone, current_setting('geqo') as theirs`,
    );
    return rows[0];
  } finally {
    await db.end();
  }
}

test("options in DATABASE_URL stand beside the settings that our statements count on", async () => {
  const needed = { scan: "off", plans: "force_generic_plan", zone: "UTC" };
  assert.deepEqual(await settingsWith(database.url), { ...needed, theirs: "on" });
  const url = new URL(database.url);
  url.searchParams.set("options", "-c geqo=off -c timezone=Asia/Tokyo");
  assert.deepEqual(await settingsWith(url.href), { ...needed, theirs: "off" });
});

test("a refused statement keeps its connection and its plans, alone and in a transaction", async () => {
  const db = openDatabase({
    connection: { connectionString: database.url },
    connectionsMax: 1,
    onIdleFault: () => {},
  });
  const plans = { name: "plans", text: "select pg_backend_pid() as pid" };
  const refusals: [string, (db: Queryable) => Promise<unknown>][] = [
    ["22012", (each) => each.query("select 1 / 0")],
    ["23502", (each) => each.query("insert into workspaces (name) values (null)")],
    ["P0001", (each) => each.query("do $$ begin raise exception 'no'; end $$")],
  ];
  try {
    const { rows: before } = await db.query(plans);
    for (const [code, ask] of refusals) {
      await assert.rejects(ask(db), { code });
      await assert.rejects(
        inTransaction(db, (tx) => ask(tx)),
        { code },
      );
    }
    assert.deepEqual((await db.query(plans)).rows, before);
    // A statement that no longer fits its table would be refused on this connection for ever.
    await db.query("create table shapes (a int)");
    const shapes = { name: "shapes", text: "select * from shapes" };
    await db.query(shapes);
    await db.query("alter table shapes add b int");
    await assert.rejects(db.query(shapes), { code: "0A000" });
    assert.deepEqual((await db.query(shapes)).rows, []);
  } finally {
    await db.end();
  }
});

test("a time limit in DATABASE_URL may be shorter than ours, and a longer one is refused with what to do", async () => {
  const url = new URL(database.url);
  url.searchParams.set("statement_timeout", "5000");
  assert.equal((await settingsWith(url.href)).scan, "off");
  url.searchParams.set("statement_timeout", "60000");
  await assert.rejects(settingsWith(url.href), (fault) => {
    assert.ok(fault instanceof UnfitConnection);
    assert.match(
      fault.message,
      /statement_timeout is 1min, not 15s\. Take these out of its address/,
    );
    return isUnavailable(fault) && !isOutOfReach(fault);
  });
});
