// The job on a library, done from outside through the bare HTTP server of library-peer.ts.

import { HttpConnections } from "./http-connection.ts";
import { type Contender, decision, readsPerJob, type Setup, serveOrders } from "./peer-process.ts";

serveOrders(openCallers);

async function openCallers({ service, body }: Setup): Promise<Contender> {
  const connections = new HttpConnections({ host: "127.0.0.1", port: service.port });
  const decisionText = JSON.stringify(decision);

  async function runJob(client: number): Promise<void> {
    const connection = connections.of(client);
    const { body: created } = await connection.call("POST", "/", 200, body);
    const id: string = JSON.parse(created);
    for (let read = 0; read < readsPerJob; read += 1) {
      const { body: kept } = await connection.call("GET", `/${id}`, 200);
      if (kept !== body) throw new Error(`it was not kept: ${kept}`);
    }
    const { body: received } = await connection.call("POST", `/${id}`, 200, decisionText);
    if (received !== decisionText) throw new Error("who waited got no decision");
  }

  return { name: "callers", port: null, runJob, close: async () => connections.close() };
}
