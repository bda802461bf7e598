// A process that may open no more files and sockets: its callers are told to come back, and it recovers.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { after, test } from "node:test";
import { openDatabase } from "../src/database/database.ts";
import { until } from "./patience.ts";
import { makeTestDatabase } from "./test-database.ts";
import { environmentOn, startProgram, untilWritten } from "./test-program.ts";
import { makeWorkspace } from "./test-service.ts";

const database = await makeTestDatabase();
const { connection } = database;
const db = openDatabase({ connection, connectionsMax: 2, onIdleFault: () => {} });
after(async () => {
  await db.end();
  await database.drop();
});

/** Null where there is no `prlimit`, or no /proc. */
function limitOf(pid: number): string | null {
  try {
    const words = ["--pid", String(pid), "--nofile", "--output=SOFT", "--noheadings", "--raw"];
    return execFileSync("prlimit", words, { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return null;
  }
}

const setLimit = (pid: number, soft: string | number) =>
  execFileSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);

/** The lowest number that the next file or socket would get. */
function nextDescriptor(pid: number): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let next = 0;
  while (open.has(next)) next += 1;
  return next;
}

const skip = limitOf(process.pid) === null ? "there is no prlimit here" : false;

test("callers for whom no connection can be opened get 503 and when to come back, never 500", {
  skip,
}, async () => {
  const callsAtOnce = 6;
  const { key } = await makeWorkspace(db);
  const environment = { ...environmentOn(database.url), ROLE: "api", RATE_LIMIT: "0" };
  const program = startProgram(environment);
  const [, port] = await untilWritten(program, /"address":"http:\/\/[^:"]+:(\d+)"/);
  const pid = program.child.pid ?? assert.fail();
  const limit = limitOf(pid) ?? assert.fail();
  const agents = Array.from(
    { length: callsAtOnce },
    () => new Agent({ keepAlive: true, maxSockets: 1 }),
  );
  const get = (agent: Agent, path: string) =>
    new Promise<{ status: number; text: string; retryAfter: number }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      request({ port, path, agent, headers, host: "127.0.0.1" }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (more) => {
          text += more;
        });
        response.on("end", () => {
          const retryAfter = Number(response.headers["retry-after"]);
          resolve({ status: response.statusCode ?? 0, text, retryAfter });
        });
      })
        .on("error", reject)
        .end();
    });
  const probe = agents[0] ?? assert.fail();
  await until(async () => (await get(probe, "/readyz")).status === 200, "it to be ready");
  // Each has its connection to the service before there are no more.
  await Promise.all(agents.map((agent) => get(agent, "/healthz")));
  const holder = await db.connect();
  try {
    await holder.query("begin");
    await holder.query("lock table approvals in access exclusive mode");
    setLimit(pid, nextDescriptor(pid));
    // Lists wait for the lock on the connections that are there; the others need new ones.
    const calls = agents.map((agent) => get(agent, "/v1/requests"));
    const first = await Promise.race(calls);
    assert.deepEqual([first.status, first.retryAfter > 0], [503, true], first.text);
    await holder.query("rollback");
    for (const { status, text } of await Promise.all(calls)) {
      assert.ok(status === 200 || status === 503, `${status} ${text}`);
    }
    setLimit(pid, limit);
    const again = await Promise.all(agents.map((agent) => get(agent, "/v1/requests")));
    assert.deepEqual(new Set(again.map(({ status }) => status)), new Set([200]));
    assert.match(program.output, /has no file descriptor left/);
    assert.equal(program.child.exitCode, null);
  } finally {
    holder.release();
    for (const agent of agents) agent.destroy();
    program.child.kill("SIGTERM");
    await program.ended;
  }
});
