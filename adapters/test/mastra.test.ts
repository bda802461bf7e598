import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import type { Countersign } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import { type RequireApprovalOptions, requireApproval, resume } from "../src/mastra.ts";
import { all, expire, notify, onlyPending, withWebhooks } from "./reviewer.ts";

const served = await serve();
after(() => served.stop());

type Refund = { orderId: number; amount: number };
const one: Refund = { orderId: 1042, amount: 49 };

/** A process with the agent; its model calls the tool unless it was told a result. */
function makeAgent(
  client: Countersign,
  options: RequireApprovalOptions = {},
  storage = new InMemoryStore(),
) {
  const paid: Refund[] = [];
  const told: string[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      const isAnswered = last?.role === "tool";
      if (isAnswered) told.push(JSON.stringify(last.content));
      return {
        content: isAnswered
          ? [{ type: "text", text: "done" }]
          : [
              {
                type: "tool-call",
                toolCallId: "call_1",
                toolName: "refund",
                input: JSON.stringify(one),
              },
            ],
        finishReason: { unified: isAnswered ? "stop" : "tool-calls", raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
  const refund = createTool({
    id: "refund",
    description: "Pays money back",
    inputSchema: z.object({ orderId: z.number(), amount: z.number().positive() }),
    outputSchema: z.object({ isPaid: z.boolean() }),
    execute: async (input) => {
      paid.push(input);
      return { isPaid: true };
    },
  });
  const describe = ({ orderId, amount }: Refund) => ({
    summary: `Refund order ${orderId} (${amount} EUR)`,
    notify,
  });
  const refunds = new Agent({
    id: "refunds",
    name: "Refunds",
    instructions: "Refund what is asked for",
    // Its types want less of a model than it has.
    model: model as never,
    tools: { refund: requireApproval(client, refund, describe, options) },
  });
  const mastra = new Mastra({ agents: { refunds }, storage, logger: false });
  return { agent: mastra.getAgent("refunds"), paid, told, storage };
}

test("waiting: the tool runs once, after the approval, as it was asked for or as it was edited", async () => {
  for (const [edit, expected] of [
    [undefined, one],
    ['{"orderId": 1042, "amount": 12.5}', { orderId: 1042, amount: 12.5 }],
  ] as const) {
    const client = await served.client();
    const { agent, paid, told } = makeAgent(client);
    const running = agent.generate("Refund it");
    const { id, summary, payload } = await onlyPending(client);
    assert.equal(summary, "Refund order 1042 (49 EUR)");
    assert.deepEqual(payload, one);
    assert.deepEqual(paid, []);
    await served.approve(id, edit);
    assert.equal((await running).text, "done");
    assert.deepEqual(paid, [expected]);
    assert.match(told.join(), /"isPaid":true/);
  }
});

test("waiting: a rejection, an expiry and a withdrawal reach the model as what they are, and run nothing", async () => {
  for (const [end, expected] of [
    ["reject", /A person rejected.*refunded in May/],
    ["expire", /Nobody decided.*not a rejection/],
    ["cancel", /was withdrawn/],
  ] as const) {
    const client = await served.client();
    const { agent, paid, told } = makeAgent(client);
    const running = agent.generate("Refund it");
    const { id } = await onlyPending(client);
    if (end === "reject") await served.reject(id, "They were refunded in May");
    else if (end === "expire") await expire(served, client, id);
    else await client.requests.cancel(id);
    assert.equal((await running).text, "done");
    assert.match(told.join(), expected);
    assert.deepEqual(paid, []);
  }
});

test("an edit that the tool's schema refuses does not run, and neither does the unedited input", async () => {
  const client = await served.client();
  const { agent, paid, told } = makeAgent(client);
  const running = agent.generate("Refund it");
  await served.approve((await onlyPending(client)).id, '{"orderId": 1042, "amount": -1}');
  await running;
  assert.deepEqual(paid, []);
  assert.match(told.join(), /validation failed/);
});

test("waiting: an aborted run withdraws what it asked, and runs nothing", async () => {
  const client = await served.client();
  const { agent, paid } = makeAgent(client);
  const abort = new AbortController();
  const running = agent.generate("Refund it", { abortSignal: abort.signal });
  const { id } = await onlyPending(client);
  abort.abort();
  await running.catch(() => {});
  assert.equal((await client.requests.waitForDecision(id)).status, "CANCELLED");
  assert.deepEqual(paid, []);
});

test("suspended: from the webhook, a process with the same storage runs the tool once, with the effective payload", async (t) => {
  const { client, decided, stop } = await withWebhooks(served);
  t.after(stop);
  const asker = makeAgent(client, { whilePending: "suspend" });
  const suspended = await asker.agent.generate("Refund it");
  assert.equal(suspended.finishReason, "suspended");
  const { id } = await onlyPending(client);
  await served.approve(id, '{"orderId": 1042, "amount": 12.5}');
  const event = await decided(id);
  const { agent, paid } = makeAgent(client, { whilePending: "suspend" }, asker.storage);
  assert.equal((await resume(agent, event))?.text, "done");
  assert.deepEqual(paid, [{ orderId: 1042, amount: 12.5 }]);
  assert.deepEqual(asker.paid, []);
  assert.equal((await all(client)).length, 1);
});

test("suspended: a rejection reaches the model when the run is resumed", async () => {
  const client = await served.client();
  const { agent, paid, told } = makeAgent(client, { whilePending: "suspend" });
  await agent.generate("Refund it");
  const { id } = await onlyPending(client);
  await served.reject(id, "They were refunded in May");
  await resume(agent, await client.requests.get(id));
  assert.match(told.join(), /A person rejected.*refunded in May/);
  assert.deepEqual(paid, []);
});

test("suspended: whoever resumes without a decision, or with the approval of another, runs nothing", async () => {
  const client = await served.client();
  const { agent, paid } = makeAgent(client, { whilePending: "suspend" });
  const { runId } = await agent.generate("Refund it");
  assert.ok(runId !== undefined);
  const { id } = await onlyPending(client);
  const other = await client.requests.create({ summary: "Another", notify, payload: one });
  await served.approve(other.id);
  assert.equal(await resume(agent, await client.requests.get(id)), null);
  const again = await agent.resumeGenerate({ requestId: other.id }, { runId });
  assert.equal(again.finishReason, "suspended");
  assert.deepEqual(paid, []);
  await served.approve(id);
  await resume(agent, await client.requests.get(id));
  assert.deepEqual(paid, [one]);
});
