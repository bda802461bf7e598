// A Cloudflare Workflow that waits for a person, and the Worker that wakes it. Nothing runs while it waits.

import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { constructEvent, WebhookVerificationError } from "@countersign/sdk";
import { ask, lookAfter, pay, type Refund, statusOf } from "../refund.ts";

type Env = { REFUNDS: Workflow<Refund>; CALLBACK_SECRET: string };

export class Refunds extends WorkflowEntrypoint<Env, Refund> {
  override async run(event: WorkflowEvent<Refund>, step: WorkflowStep) {
    const { payload, instanceId, timestamp } = event;
    // An id can be used again once Cloudflare has forgotten its instance.
    const execution = `${instanceId} ${timestamp.getTime()}`;
    const id = await step.do("ask", () => ask(payload, instanceId));
    let status = "PENDING";
    for (let turn = 1; status === "PENDING"; turn += 1) {
      // It throws when the time is over. Then the callback may be lost: look anyway.
      const decided = step.waitForEvent(`wait ${turn}`, { type: "decided", timeout: lookAfter });
      await decided.catch(() => null);
      status = await step.do(`read ${turn}`, () => statusOf(id));
    }
    return status === "APPROVED" ? step.do("pay", () => pay(id, execution)) : status;
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    try {
      const { data } = await constructEvent(
        await request.arrayBuffer(),
        request.headers,
        env.CALLBACK_SECRET,
      );
      const { run } = data.metadata as { run: string };
      const workflow = await env.REFUNDS.get(run);
      // Says only that it should look.
      await workflow.sendEvent({ type: "decided", payload: data.id });
      return new Response(null, { status: 204 });
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      return new Response(error.code, { status: 400 });
    }
  },
};
