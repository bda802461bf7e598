// An Inngest function that waits for a person. No process is held while it waits.

import { Inngest } from "inngest";
import { ask, lookAfter, pay, type Refund, statusOf } from "../refund.ts";

export const inngest = new Inngest({ id: "refunds" });

type Asked = Refund & { run: string };

export const refunds = inngest.createFunction(
  { id: "refund", triggers: [{ event: "refund/asked" }] },
  async ({ event, step, runId }) => {
    const { run, orderId, amount } = event.data as Asked;
    const id = await step.run("ask", () => ask({ orderId, amount }, run));
    let status: string = "PENDING";
    for (let turn = 1; status === "PENDING"; turn += 1) {
      await step.waitForEvent(`wait ${turn}`, {
        event: "refund/decided",
        match: "data.run",
        // Null when the time is over. An event that comes before this step waits may be missed: look soon at first.
        timeout: turn === 1 ? "10 seconds" : lookAfter,
      });
      status = await step.run(`read ${turn}`, () => statusOf(id));
    }
    return status === "APPROVED" ? step.run("pay", () => pay(id, runId)) : status;
  },
);
