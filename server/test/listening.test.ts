// Connections that listen and hear nothing: they are noticed, told, and replaced.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { openDatabase } from "../src/database/database.ts";
import { Listener } from "../src/database/listener.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";

const database = await makeTestDatabase();
const { connection, url } = database;
const db = openDatabase({ connection, connectionsMax: 2, onIdleFault: () => {} });
after(async () => {
  await db.end();
  await database.drop();
});

/**
 * Stands between a listener and PostgreSQL, and can swallow all that comes, without a word to either. Held
 * notifications arrive when the listener says something again, dropped ones never.
 */
async function startProxy({ notifications = "passed" } = {}) {
  const target = new URL(url);
  const folder = target.searchParams.get("host");
  const port = Number(target.searchParams.get("port") ?? (target.port || 5432));
  const pairs: { near: Socket; far: Socket }[] = [];
  const server = createServer((near) => {
    const far =
      folder === null ? connect(port, target.hostname) : connect(join(folder, `.s.PGSQL.${port}`));
    pairs.push({ near, far });
    near.pipe(far);
    if (notifications === "passed") far.pipe(near);
    else keepBack(near, far, { isDropped: notifications === "dropped" });
    for (const socket of [near, far]) {
      socket.on("error", () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(url);
  for (const name of ["host", "port"]) through.searchParams.delete(name);
  through.hostname = "127.0.0.1";
  through.port = String((server.address() as AddressInfo).port);
  const swallow = () => {
    for (const { near, far } of pairs) {
      near.unpipe(far);
      far.unpipe(near);
      near.resume();
      far.resume();
    }
  };
  const close = () => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
    server.close();
  };
  return { connection: { connectionString: through.href }, swallow, close };
}

function keepBack(near: Socket, far: Socket, { isDropped }: { isDropped: boolean }): void {
  let held: Buffer[] = [];
  far.on("data", (piece) => {
    const isNotification = piece[0] === "A".charCodeAt(0);
    if (isNotification && isDropped) return;
    if (isNotification || held.length > 0) held.push(piece);
    else near.write(piece);
  });
  near.on("data", () => {
    for (const piece of held) near.write(piece);
    held = [];
  });
  far.on("end", () => near.end());
}

test("a connection into nowhere is noticed and replaced, and announcements arrive again", async () => {
  const proxy = await startProxy();
  const listener = new Listener(proxy.connection, { patienceMs: 2_000 });
  const heard: string[] = [];
  let changes = 0;
  listener.on("told", (payload) => heard.push(payload));
  listener.onChange(() => {
    changes += 1;
  });
  listener.start();
  try {
    await until(() => listener.isListening, "it to listen");
    await db.query("select pg_notify('told', 'first')");
    await until(() => heard.includes("first"), "the first announcement");
    const before = changes;
    proxy.swallow();
    await until(() => changes > before, "the loss to be noticed");
    await until(() => listener.isListening, "it to listen again");
    await db.query("select pg_notify('told', 'second')");
    await until(() => heard.includes("second"), "the second announcement");
    assert.deepEqual(heard, ["first", "second"]);
    proxy.swallow();
  } finally {
    // Also while its connection leads nowhere.
    await listener.stop();
    proxy.close();
  }
});

/** Whether a listener behind this proxy finds out that it hears nothing. */
async function isFoundDeaf(notifications: string): Promise<boolean> {
  const proxy = await startProxy({ notifications });
  let isDeaf = false;
  const onDeaf = () => {
    isDeaf = true;
  };
  const listener = new Listener(proxy.connection, { patienceMs: 2_000, onDeaf });
  listener.start();
  try {
    await until(() => listener.isListening || isDeaf, "the connection to be judged");
    return isDeaf;
  } finally {
    await listener.stop();
    proxy.close();
  }
}

test("a connection on which no notification arrives is deaf", async () => {
  assert.equal(await isFoundDeaf("dropped"), true);
});

test("one on which it is read late, as by a process that stood still, isn't", async () => {
  assert.equal(await isFoundDeaf("held"), false);
});
