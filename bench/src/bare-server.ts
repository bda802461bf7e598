// The ceiling of reading: a bare `node:http` server in a process of its own that runs the same single query for each
// call, on as many pooled connections as the service has, and then sends the bytes that the service would send.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openDatabase } from "../../server/src/database/database.ts";
import type { BareServerPlan } from "./bare-server-process.ts";

/** As many as the service has by default. */
const connectionsMax = 10;

process.once("message", ({ connection, calls }: BareServerPlan) => {
  const db = openDatabase({ connection, connectionsMax, onIdleFault: () => {} });
  const byUrl = new Map(
    calls.map(({ url, statement, answer }) => [url, { statement, answer: Buffer.from(answer) }]),
  );
  const server = createServer(async (request, response) => {
    const call = byUrl.get(request.url ?? "");
    if (call === undefined) return void response.writeHead(404).end();
    const { name, text, values } = call.statement;
    await db.query({ name, text, values });
    response
      .writeHead(200, {
        "content-type": "application/json; charset=utf-8",
        "content-length": call.answer.length,
      })
      .end(call.answer);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
});
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
