// A process that is told to stop: load balancers hear of it before it takes no more calls, and every call that has
// arrived is answered.

import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openDatabase } from "../src/database/database.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import { environmentOn, type Program, startProgram } from "./test-program.ts";
import { makeWorkspace, minimalBody } from "./test-service.ts";

const database = await makeTestDatabase();
const db = openDatabase({
  connection: { connectionString: database.url },
  connectionsMax: 4,
  onIdleFault: () => {},
});
const { id: workspaceId, key } = await makeWorkspace(db, { included: 1_000_000, cap: 1_000_000 });
after(async () => {
  await db.end();
  await database.drop();
});

const environment = { ...environmentOn(database.url), ROLE: "api", RATE_LIMIT: "0" };

async function startNode(drainSeconds: number): Promise<{ program: Program; port: number }> {
  const program = startProgram({ ...environment, DRAIN_SECONDS: String(drainSeconds) });
  const port = await until(() => {
    const [, found] = /"address":"http:\/\/[^"]+:(\d+)"/.exec(program.output) ?? [];
    return found === undefined ? null : Number(found);
  }, "an address");
  await until(async () => (await get(port, "/readyz")).status === 200, "a node that is ready");
  return { program, port };
}

type Answer = { status: number; headers: IncomingMessage["headers"]; text: string };

function send(
  port: number,
  { method, path, body, agent }: { method: string; path: string; body?: string; agent?: Agent },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const call = request({ host: "127.0.0.1", port, method, path, headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (more) => {
        text += more;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    call.on("error", reject);
    call.end(body);
  });
}

const get = (port: number, path: string) => send(port, { method: "GET", path });
const create = (port: number, agent?: Agent) =>
  send(port, {
    ...{ method: "POST", path: "/v1/requests", body: JSON.stringify(minimalBody) },
    ...(agent === undefined ? {} : { agent }),
  });

/** Statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  const { rows } = await db.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}

async function ended({ program }: { program: Program }): Promise<void> {
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.errors);
}

test("readiness turns false first, and calls are served until the drain is over, each with a goodbye", async () => {
  const node = await startNode(3);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  assert.equal((await create(node.port, agent)).headers.connection, "keep-alive");
  node.program.child.kill("SIGTERM");
  const told = await until(async () => {
    const ready = await get(node.port, "/readyz");
    return ready.status === 503 ? ready : null;
  }, "readiness to turn false");
  assert.match(told.text, /about to stop/);
  assert.equal((await get(node.port, "/healthz")).status, 200, "it lives");
  const served = await create(node.port, agent);
  assert.deepEqual([served.status, served.headers.connection], [201, "close"]);
  await ended(node);
  agent.destroy();
});

test("a call that has arrived is carried out, however long its statement waits", async () => {
  const node = await startNode(0);
  const holder = await db.connect();
  await holder.query("begin");
  // Creates of this workspace wait for it, as they would for a migration.
  await holder.query("lock table approvals in access exclusive mode");
  const slow = create(node.port);
  await until(async () => (await countWaiting()) > 0, "a create that waits");
  node.program.child.kill("SIGTERM");
  // Longer than connections have to end by themselves.
  await pause(4_500);
  await holder.query("rollback");
  holder.release();
  assert.equal((await slow).status, 201);
  await ended(node);
});

/** Whoever looks up a key waits for it. */
async function holdKeys() {
  const holder = await db.connect();
  await holder.query("begin");
  await holder.query("lock table api_keys in access exclusive mode");
  return async () => {
    await holder.query("rollback");
    holder.release();
  };
}

test("a large body whose sender is still being looked up is carried out, too", async () => {
  const node = await startNode(0);
  const release = await holdKeys();
  const body = JSON.stringify({ ...minimalBody, payload: { text: "x".repeat(150_000) } });
  const large = send(node.port, { method: "POST", path: "/v1/requests", body });
  await until(async () => (await countWaiting()) > 0, "a call that waits");
  node.program.child.kill("SIGTERM");
  await pause(4_500);
  await release();
  assert.equal((await large).status, 201);
  await ended(node);
});

test("calls behind each other on one connection are all answered while it drains", async () => {
  const node = await startNode(3);
  const body = JSON.stringify(minimalBody);
  const one = `POST /v1/requests HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  node.program.child.kill("SIGTERM");
  await until(async () => (await get(node.port, "/readyz")).status === 503, "the drain");
  const socket = connect(node.port, "127.0.0.1");
  let text = "";
  socket.on("data", (more) => {
    text += more;
  });
  socket.write(one.repeat(5));
  await once(socket, "close");
  assert.equal(text.match(/HTTP\/1.1 201/g)?.length, 5, text);
  await ended(node);
});

/** Sends each call to the next node that is ready, as it was told at its last look, over kept connections. */
function startBalancer(nodes: readonly { port: number }[]) {
  const lookEveryMs = 200;
  const targets = nodes.map(({ port }) => ({
    port,
    isReady: true,
    agent: new Agent({ keepAlive: true }),
  }));
  const looking = setInterval(() => {
    for (const target of targets) {
      get(target.port, "/readyz").then(
        ({ status }) => {
          target.isReady = status === 200;
        },
        () => {
          target.isReady = false;
        },
      );
    }
  }, lookEveryMs);
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const ready = targets.filter(({ isReady }) => isReady);
    const { port, agent } = ready[turn++ % ready.length] ?? { port: 0, agent: undefined };
    const { method, url: path, headers } = incoming;
    const call = request({ host: "127.0.0.1", port, method, path, headers, agent }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, { "content-type": "application/json" });
      response.pipe(outgoing);
    });
    // No second try: what fails behind it fails in front of it.
    call.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(call);
  });
  const listening = new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
  const replace = (at: number, port: number) => {
    targets[at] = { port, isReady: true, agent: new Agent({ keepAlive: true }) };
  };
  const close = () => {
    clearInterval(looking);
    for (const { agent } of targets) agent.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { listening, replace, close };
}

test("two nodes behind a balancer are restarted one after the other, and no call fails", async () => {
  const nodes = await Promise.all([startNode(2), startNode(2)]);
  const balancer = startBalancer(nodes);
  const port = await balancer.listening;
  const statuses = new Map<number, number>();
  let isOver = false;
  const agent = new Agent({ keepAlive: true });
  const clients = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const { status } = await create(port, agent).catch(() => ({ status: 0 }));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await pause(5);
    }
  });
  for (const at of [0, 1]) {
    const old = nodes[at] ?? assert.fail();
    const next = await startNode(2);
    old.program.child.kill("SIGTERM");
    await ended(old);
    balancer.replace(at, next.port);
    nodes[at] = next;
  }
  isOver = true;
  await Promise.all(clients);
  agent.destroy();
  balancer.close();
  assert.deepEqual([...statuses.keys()], [201], JSON.stringify([...statuses]));
  const { rows } = await db.query(
    "select count(*)::int as count from approvals where workspace_id = $1",
    [workspaceId],
  );
  assert.ok(rows[0].count >= (statuses.get(201) ?? 0), "each that was acknowledged is there");
  for (const { program } of nodes) program.child.kill("SIGINT");
  await Promise.all(nodes.map(ended));
});

test("a node on a database that takes no writes is not ready, and is again when it does", async () => {
  const node = await startNode(0);
  const name = new URL(database.url).pathname.slice(1);
  const setReadOnly = async (value: "on" | "off") => {
    await db.query(`alter database "${name}" set default_transaction_read_only = ${value}`);
    // It holds for new connections.
    await db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and application_name like 'countersign%'`,
    );
  };
  await setReadOnly("on");
  const told = await until(async () => {
    const ready = await get(node.port, "/readyz");
    return ready.status === 503 && /takes no writes/.test(ready.text) ? ready : null;
  }, "readiness to turn false");
  assert.equal(told.status, 503);
  const writer = await db.connect();
  await writer.query("set default_transaction_read_only = off");
  await writer.query(`alter database "${name}" set default_transaction_read_only = off`);
  writer.release();
  await setReadOnly("off");
  await until(async () => (await get(node.port, "/readyz")).status === 200, "it to be ready");
  node.program.child.kill("SIGTERM");
  await ended(node);
});
