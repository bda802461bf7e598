// What a caller learns of each way in which a connection can't be had: that it may repeat the call later, never that we
// are broken.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type pg from "pg";
import { type Database, openDatabase } from "./database.ts";
import { isOutOfReach, isTurnedAway, isUnavailable } from "./faults.ts";

async function listen(server: Server, path?: string): Promise<number> {
  server.listen(path ?? { port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  return path === undefined ? (server.address() as AddressInfo).port : 0;
}

/** What a statement meets. */
async function faultOf(connection: pg.ClientConfig): Promise<unknown> {
  const db: Database = openDatabase({ connection, connectionsMax: 1, onIdleFault: () => {} });
  try {
    return await db.query("select 1").then(
      () => null,
      (fault: unknown) => fault,
    );
  } finally {
    await db.end();
  }
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? `${fault.message} ${"code" in fault ? fault.code : ""}` : "";
}

/** PostgreSQL's side of a connection, as far as it comes. */
async function faultAt(answer: (socket: Socket) => void, more: pg.ClientConfig = {}) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    answer(socket);
  });
  const port = await listen(server);
  try {
    return await faultOf({ host: "127.0.0.1", port, user: "u", database: "d", ...more });
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

test("several hosts that are all silent are an outage", async () => {
  const servers = [createServer(), createServer()];
  const sockets: Socket[] = [];
  const ports: number[] = [];
  for (const server of servers) {
    server.on("connection", (socket) => sockets.push(socket));
    ports.push(await listen(server));
  }
  try {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
    const fault = await faultOf({ connectionString: `postgres://u@${hosts}/d` });
    assert.ok(isUnavailable(fault), messageOf(fault));
  } finally {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  }
});

test("a server that hangs up at any point of the connecting is an outage that may be short", async () => {
  const ssl = { rejectUnauthorized: false };
  for (const fault of [
    await faultAt((socket) => socket.destroy()),
    await faultAt((socket) => socket.resetAndDestroy()),
    await faultAt((socket) => socket.once("data", () => socket.resetAndDestroy())),
    await faultAt((socket) => socket.once("data", () => socket.end()), { ssl }),
    await faultAt((socket) => socket.once("data", () => socket.end("S")), { ssl }),
    await faultAt(
      (socket) => socket.once("data", () => socket.write("S", () => socket.resetAndDestroy())),
      { ssl },
    ),
  ]) {
    assert.ok(isUnavailable(fault) && isTurnedAway(fault), messageOf(fault));
  }
});

test("a server with which no TLS can be had is an outage", async () => {
  const ssl = { rejectUnauthorized: true };
  for (const fault of [
    // As PostgreSQL answers when it can start no process, and as one without a certificate.
    await faultAt((socket) => socket.once("data", () => socket.end("E")), { ssl }),
    await faultAt((socket) => socket.once("data", () => socket.end("N")), { ssl }),
    await faultAt((socket) => socket.once("data", () => socket.write("Sno handshake\r\n\r\n")), {
      ssl,
    }),
  ]) {
    assert.ok(isUnavailable(fault), messageOf(fault));
  }
});

test("a server whose certificate isn't the right one is an outage", () => {
  for (const code of [
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "CERT_HAS_EXPIRED",
    "ERR_TLS_CERT_ALTNAME_INVALID",
  ]) {
    const fault = Object.assign(new Error("certificate"), { code });
    assert.ok(isUnavailable(fault) && !isOutOfReach(fault), code);
  }
});

test("a socket that isn't there is an outage that may be short", async () => {
  const folder = await mkdtemp(join(tmpdir(), "cs-socket-"));
  const fault = await faultOf({ host: folder, port: 5432, user: "u", database: "d" });
  assert.ok(isUnavailable(fault) && isTurnedAway(fault), messageOf(fault));
  await rm(folder, { recursive: true });
});

test("each way in which the network refuses a connection is an outage that may be short", () => {
  const codes =
    "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENETRESET ENOTFOUND EAI_AGAIN EAI_FAIL EAI_NODATA EAGAIN";
  for (const code of codes.split(" ")) {
    const fault = Object.assign(new Error("connect"), { code });
    assert.ok(isUnavailable(fault) && isTurnedAway(fault), code);
    assert.ok(isUnavailable(new AggregateError([fault])), `${code}, of several addresses`);
  }
});

test("what may also mean too many callers, or our own trouble, is an outage that nobody waits for", () => {
  const ofPostgres = ["53300", "25P03"].map((code) => ({ code }));
  const ofNetwork = ["ETIMEDOUT", "EMFILE", "EADDRNOTAVAIL", "EPERM", "EACCES"];
  for (const fields of [
    ...ofPostgres,
    ...ofNetwork.map((code) => ({ code, syscall: "connect" })),
  ]) {
    const fault = Object.assign(new Error("connect"), fields);
    assert.ok(isUnavailable(fault) && !isTurnedAway(fault), fields.code);
  }
});
