import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { openDatabase } from "../../database/database.ts";
import { isUnavailable } from "../../database/faults.ts";
import { type Keyring, parseKeyring } from "../../domain/access/keyring.ts";
import { parseNewApproval } from "../../domain/approval/new-approval.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { makeCreateApproval } from "./create-approval.ts";
import { resolveSurely } from "./resolve-surely.ts";

test("a database that is away is not asked again for what was certainly not done", async () => {
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.on("error", () => {});
    socket.resetAndDestroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const db = openDatabase({
    connection: { host: "127.0.0.1", port, user: "u", database: "d" },
    connectionsMax: 5,
    onIdleFault: () => {},
  });
  try {
    const where = { workspaceId: "ws_1", id: "req_1" };
    await assert.rejects(resolveSurely(db, where, { status: "CANCELLED" }), isUnavailable);
    assert.equal(asked, 1);
    const keyring = parseKeyring(randomBytes(32).toString("base64")) as Keyring;
    const create = makeCreateApproval({ db, keyring, onDue: () => {} });
    const body = Buffer.from(JSON.stringify({ summary: "Refund", notify: "ann@example.com" }));
    const approval = parseNewApproval(body);
    assert.ok(!isRefusal(approval));
    const input = { keyDigest: randomBytes(32), approval, body, idempotencyKey: "once" };
    await assert.rejects(create(input), isUnavailable);
    assert.equal(asked, 2);
  } finally {
    await db.end();
    server.close();
  }
});
