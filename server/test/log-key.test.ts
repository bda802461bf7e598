// `countersign log key`: the key by which others know a log. A witness needs it before it has cosigned anything.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openNote, parseVerifierKey } from "../src/domain/proof/note.ts";
import { sequenceAll } from "./log-audit.ts";
import { environmentOn, runCommand } from "./test-program.ts";
import { makeWorkspace, startService, testPublicUrl } from "./test-service.ts";

test("the operator prints the key by which a witness and an auditor know the log", async () => {
  const service = await startService();
  after(() => service.stop());
  const { db, database } = service;
  const { id } = await makeWorkspace(db);
  const environment = { ...environmentOn(database.url), PUBLIC_URL: testPublicUrl };
  const run = (...words: string[]) => runCommand(environment, ["log", "key", ...words]);
  const early = await run();
  assert.deepEqual([early.code, early.stdout], [1, ""]);
  assert.match(early.stderr, /has no log with a key yet/);
  await sequenceAll(db);
  for (const [words, path] of [
    [[], "log"],
    [["--workspace", id], `log/${id}`],
  ] as const) {
    const { code, stdout, stderr } = await run(...words);
    assert.equal(code, 0, stderr);
    const key = parseVerifierKey(stdout.trim());
    assert.ok(key, stdout);
    assert.ok(key.name.endsWith(path), stdout);
    const { rows } = await db.query<{ note: string }>(
      `select c.note from log_checkpoints c join log_trees t on t.id = c.tree_id
       where t.origin = $1 order by c.size desc limit 1`,
      [key.name],
    );
    assert.notEqual(openNote(rows[0]?.note ?? "", [key]), null, "it opens the log's checkpoints");
    const said = JSON.parse((await run(...words, "--json")).stdout);
    assert.deepEqual(said, { origin: key.name, verifierKey: stdout.trim() });
  }
  assert.match((await run("--workspace", "ws_none")).stderr, /ws_none has no log/);
});
