// Runs the workflow's activities, and turns each verified callback into a signal.

import { fileURLToPath } from "node:url";
import { Client, Connection, WorkflowNotFoundError } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { receive } from "../receiver.ts";
import { ask, pay, statusOf } from "../refund.ts";

const address = process.env.TEMPORAL_ADDRESS ?? "localhost:7233";
const client = new Client({ connection: await Connection.connect({ address }) });

receive(async (workflowId) => {
  try {
    await client.workflow.getHandle(workflowId).signal("decided");
  } catch (error) {
    // It has ended, because it was told before, or it looked by itself.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
});

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue: "refunds",
  workflowsPath: fileURLToPath(import.meta.resolve("./workflow.ts")),
  activities: { ask, statusOf, pay },
});
await worker.run();
