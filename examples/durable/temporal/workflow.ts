// A Temporal workflow that waits for a person. It is woken by a signal, and looks by itself once an hour.

import {
  condition,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import type * as steps from "../refund.ts";

export const decided = defineSignal("decided");

const { ask, statusOf, pay } = proxyActivities<typeof steps>({
  startToCloseTimeout: "30 seconds",
});

export async function refund(order: steps.Refund, lookAfter: "1 hour"): Promise<string> {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  let isTold = false;
  setHandler(decided, () => {
    isTold = true;
  });
  const id = await ask(order, workflowId);
  let status = "PENDING";
  while (status === "PENDING") {
    // False when the time is over. Then the callback may be lost: look anyway.
    await condition(() => isTold, lookAfter);
    isTold = false;
    status = await statusOf(id);
  }
  return status === "APPROVED" ? pay(id, firstExecutionRunId) : status;
}
