// DBOS: a workflow that waits for a message, found again by its status, resolved by sending the message.

import { randomUUID } from "node:crypto";
import { DBOS, type WorkflowHandle } from "@dbos-inc/dbos-sdk";
import pg from "pg";
import { versionOf } from "./installed-version.ts";
import { type LibraryPeer, serveLibrary } from "./library-peer.ts";
import { connectionsMax, type Setup } from "./peer-process.ts";

const topic = "decision";
/** As long as the example may be decided. */
const timeoutSeconds = 1440 * 60;

const ask = DBOS.registerWorkflow(
  (_request: unknown) => DBOS.recv<unknown>(topic, { timeoutSeconds }),
  { name: "ask" },
);

serveLibrary(openDbos);

async function openDbos({ connection }: Setup): Promise<LibraryPeer> {
  const pool = new pg.Pool({ ...connection, max: connectionsMax });
  DBOS.setConfig({ name: "peer", systemDatabasePool: pool, logLevel: "warn" });
  await DBOS.launch();
  /** A handle that started its workflow learns the result within the process; any other polls the database. */
  const handles = new Map<string, WorkflowHandle<unknown>>();
  return {
    name: `DBOS ${versionOf("@dbos-inc/dbos-sdk")}`,
    ask: async (request) => {
      const workflowID = randomUUID();
      handles.set(workflowID, await DBOS.startWorkflow(ask, { workflowID })(request));
      return workflowID;
    },
    read: async (id) => {
      const status = await DBOS.getWorkflowStatus(id);
      if (status?.status !== "PENDING") throw new Error("the workflow is not pending");
      return status.input?.[0];
    },
    resolve: async (id, decision) => {
      await DBOS.send(id, decision, topic);
      const received = await handles.get(id)?.getResult();
      handles.delete(id);
      return received;
    },
    close: async () => {
      await DBOS.shutdown();
      if (!pool.ended) await pool.end();
    },
  };
}
