// A Restate workflow that waits for a person. The callback itself resolves the awakeable: no receiver, and no process is
// held while it waits.

import { randomUUID } from "node:crypto";
import * as restate from "@restatedev/restate-sdk";
import { ask, pay, type Refund, statusOf } from "../refund.ts";

const { RESTATE_INGRESS = "http://localhost:8080" } = process.env;

type Asked = Refund & { lookAfter?: restate.Duration };

const refunds = restate.workflow({
  name: "refunds",
  handlers: {
    run: async (ctx: restate.WorkflowContext, asked: Asked): Promise<string> => {
      const { orderId, amount, lookAfter = { hours: 1 } } = asked;
      // Restate's own ids come again when a key is used again after its retention.
      const execution = await ctx.run("name", () => randomUUID());
      // Bytes: nothing is taken from the body, and one that isn't JSON must wake the run, too.
      const awakeable = ctx.awakeable(restate.serde.binary);
      const callbackUrl = `${RESTATE_INGRESS}/restate/awakeables/${awakeable.id}/resolve`;
      const id = await ctx.run("ask", () => ask({ orderId, amount }, ctx.key, callbackUrl));
      // Also when it is rejected: everybody who knows the address can do either, once.
      const told = awakeable.promise.map(() => true);
      let isTold = false;
      let status = "PENDING";
      while (status === "PENDING") {
        // The callback may be lost, or come after somebody else has used the address: look anyway.
        const time = ctx.sleep(lookAfter).map(() => isTold);
        isTold = await restate.RestatePromise.race(isTold ? [time] : [told, time]);
        status = await ctx.run("read", () => statusOf(id));
      }
      return status === "APPROVED" ? ctx.run("pay", () => pay(id, execution)) : status;
    },
  },
});

await restate.serve({ services: [refunds] });
