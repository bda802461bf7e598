// What is due when a database was restored is held until the operator releases it: by `countersign restore`, and for an
// external database by a command.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { inTransaction } from "../src/database/database.ts";
import * as dueWebhooks from "../src/storage/deliveries/due-webhooks.ts";
import { environmentOn, jsonOf, runCommand, textOf } from "./test-program.ts";
import { makeWorkspace, minimalBody, startService } from "./test-service.ts";
import { makeEndpoint } from "./test-worker.ts";

// No worker runs.
const service = await startService();
after(() => service.stop());
const { db } = service;
const run = (...words: string[]) => runCommand(environmentOn(service.database.url), words);

type Row = { id: string; state: string; outcomes: string[] };

async function rowsOf(workspace: string, channel = "webhook"): Promise<Row[]> {
  const { rows } = await db.query<Row>(
    `select d.id, d.state, array(
       select coalesce(a.outcome, 'open') from attempts a
       where a.workspace_id = d.workspace_id and a.delivery_id = d.id order by a.number
     ) as outcomes
     from deliveries d where d.workspace_id = $1 and d.channel = $2 order by d.id`,
    [workspace, channel],
  );
  return rows;
}

const claim = () =>
  inTransaction(db, (tx) => dueWebhooks.claim(tx, { limit: 100, quickEndpointIds: [] }));

describe("after a restore", () => {
  test("what was due is held, under way or not, is shown as such, and is due again when it is released", async () => {
    const { id, key } = await makeWorkspace(db);
    await makeEndpoint(db, id, "https://receiver.example/hook");
    for (const summary of ["first", "second"]) {
      await service.call("POST", "/v1/requests", { key, body: { ...minimalBody, summary } });
    }
    // A worker had taken one, and the backup was made.
    const [taken] = (
      await inTransaction(db, (tx) => dueWebhooks.claim(tx, { limit: 1, quickEndpointIds: [] }))
    ).webhooks;
    const held = jsonOf(await run("delivery", "hold", "--json"));
    assert.deepEqual(held, { deliveries: 4, messages: 0 });
    const shape = (rows: Row[]) => rows.map(({ state, outcomes }) => [state, ...outcomes]).sort();
    assert.deepEqual(shape(await rowsOf(id)), [
      ["skipped", "held_by_restore"],
      ["skipped", "interrupted", "held_by_restore"],
    ]);
    assert.deepEqual(
      shape(await rowsOf(id, "mail")),
      Array(2).fill(["skipped", "held_by_restore"]),
    );
    assert.deepEqual((await claim()).webhooks, [], "no worker takes any");
    const list = textOf(await run("delivery", "list", "--workspace", id, "--failed"));
    assert.equal(list.match(/held by restore/g)?.length, 4, list);
    assert.deepEqual(jsonOf(await run("delivery", "hold", "--json")), {
      deliveries: 0,
      messages: 0,
    });

    assert.equal(textOf(await run("delivery", "release")), "4 deliveries are due again.");
    const claimed = (await claim()).webhooks;
    assert.equal(claimed.length, 2);
    assert.ok(claimed.some(({ deliveryId }) => deliveryId === taken?.deliveryId));
    for (const { numberInRound } of claimed)
      assert.equal(numberInRound, 1, "with all its attempts");
    assert.match(textOf(await run("delivery", "release")), /^Nothing is held/);
  });

  test("what failed or was skipped for another reason stays, and a disabled endpoint keeps what is held", async () => {
    const { id, key } = await makeWorkspace(db);
    const endpoint = await makeEndpoint(db, id, "https://receiver.example/hook");
    await service.call("POST", "/v1/requests", { key, body: minimalBody });
    await db.query("update deliveries set state = 'skipped' where workspace_id = $1", [id]);
    await service.call("POST", "/v1/requests", { key, body: minimalBody });
    await run("delivery", "hold");
    textOf(await run("webhook", "disable", endpoint.id));
    await run("delivery", "release");
    const states = async () => (await rowsOf(id)).map(({ state }) => state);
    assert.deepEqual(await states(), ["skipped", "skipped"]);
    textOf(await run("webhook", "enable", endpoint.id));
    await run("delivery", "release");
    assert.deepEqual(await states(), ["skipped", "due"]);
  });

  test("messages of chats and browsers that had not arrived are not sent, and no news draws any", async () => {
    const { id, key } = await makeWorkspace(db);
    const { json } = await service.call("POST", "/v1/requests", { key, body: minimalBody });
    await db.query(
      `insert into channel_messages (workspace_id, approval_id, channel, target, sent_at) values
         ($1, $2, 'push', 'new@example.com', null), ($1, $2, 'push', 'ann@example.com', now_ms())`,
      [id, json.id],
    );
    await db.query("insert into channel_news (workspace_id, approval_id) values ($1, $2)", [
      id,
      json.id,
    ]);
    const said = textOf(await run("delivery", "hold"));
    assert.match(said, /1 messages? to Slack, Teams or browsers/);
    const { rows } = await db.query(
      `select target, state, (select count(*)::int from channel_news) as news from channel_messages
       where workspace_id = $1 order by target`,
      [id],
    );
    assert.deepEqual(rows, [
      { target: "ann@example.com", state: "sent", news: 0 },
      { target: "new@example.com", state: "skipped", news: 0 },
    ]);
  });
});
