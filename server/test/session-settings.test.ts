import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openDatabase } from "../src/database/database.ts";
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
