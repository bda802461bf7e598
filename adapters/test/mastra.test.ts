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
import { type RequireApprovalOptions, requireApproval, resume } from "../mastra/src/mastra.ts";
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

test("waiting: a rejection, an expiry and a cancel reach the model as what they are, and run nothing", async () => {
  for (const [end, expected] of [
    ["reject", /A person rejected.*refunded in May/],
    ["expire", /Nobody decided.*not a rejection/],
    ["cancel", /was cancelled/],
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

test("the model is told what ran after an edit, and the approver's note", async () => {
  for (const [edit, note, expected] of [
    ['{"orderId": 1042, "amount": 12.5}', "Half of it", /changed the input.*12\.5.*Half of it/],
    [undefined, "Only this once", /approved this call as it was.*Only this once/],
  ] as const) {
    const client = await served.client();
    const { agent, told } = makeAgent(client);
    const running = agent.generate("Refund it");
    await served.approve((await onlyPending(client)).id, edit, note);
    await running;
    assert.match(told.join(), expected);
    assert.match(told.join(), /isPaid/);
  }
});

test("an edit that would be rounded, or that a Standard Schema of your own refuses, does not run", async () => {
  const schema = z.object({ orderId: z.number(), amount: z.number().max(100) });
  for (const [options, edit, expected] of [
    [{}, '{"orderId": 1042, "amount": 9007199254740993}', /9007199254740993/],
    [{ schema }, '{"orderId": 1042, "amount": 500}', /cannot take: amount: /],
  ] as const) {
    const client = await served.client();
    const { agent, paid, told } = makeAgent(client, options);
    const running = agent.generate("Refund it");
    await served.approve((await onlyPending(client)).id, edit);
    await running;
    assert.match(told.join(), expected);
    assert.deepEqual(paid, []);
  }
});

test("suspended: resumed twice, the tool runs once, and the other run's model hears that it may have run", async () => {
  const client = await served.client();
  const asker = makeAgent(client, { whilePending: "suspend" });
  await asker.agent.generate("Refund it");
  const { id } = await onlyPending(client);
  await served.approve(id);
  // Another executor has redeemed it, and may have been killed since.
  await client.requests.redeem(id);
  const { agent, paid, told } = makeAgent(client, { whilePending: "suspend" }, asker.storage);
  await resume(agent, await client.requests.get(id));
  assert.match(told.join(), /handed out to run at .*not run it again.*Do not call this tool again/);
  assert.deepEqual([...asker.paid, ...paid], []);
});

test("an edit that the tool's schema refuses does not run, and neither does the unedited input", async () => {
  const client = await served.client();
  const { agent, paid, told } = makeAgent(client);
  const running = agent.generate("Refund it");
  await served.approve((await onlyPending(client)).id, '{"orderId": 1042, "amount": -1}');
  await running;
  assert.deepEqual(paid, []);
  assert.match(told.join(), /approved with changes .* that the tool cannot take/);
});

test("waiting: an aborted run cancels its request, and runs nothing", async () => {
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

test("suspended: a rejection that is resumed again is told once, and the second resume says so", async () => {
  const client = await served.client();
  const { agent, paid, told } = makeAgent(client, { whilePending: "suspend" });
  await agent.generate("Refund it");
  const { id } = await onlyPending(client);
  await served.reject(id, "no");
  const event = await client.requests.get(id);
  await resume(agent, event);
  await assert.rejects(resume(agent, event), { id: "AGENT_RESUME_NO_SNAPSHOT_FOUND" });
  assert.equal(told.length, 1);
  assert.deepEqual(paid, []);
});

test("suspended: an unedited input that is no longer taken, or is changed, is not called a change by the approver", async () => {
  for (const schema of [
    z.object({ orderId: z.number(), amount: z.number().max(10) }),
    z.object({ orderId: z.number(), amount: z.number().transform((amount) => amount * 100) }),
  ]) {
    const client = await served.client();
    const asker = makeAgent(client, { whilePending: "suspend" });
    await asker.agent.generate("Refund it");
    const { id } = await onlyPending(client);
    await served.approve(id);
    const options = { whilePending: "suspend", schema } as const;
    const { agent, paid, told } = makeAgent(client, options, asker.storage);
    await resume(agent, await client.requests.get(id));
    assert.match(told.join(), /approved as it was .*, but its input is one that the tool cannot/);
    assert.deepEqual([...asker.paid, ...paid], []);
    await client.requests.redeem(id);
  }
});

test("nobody is asked about an input that the Standard Schema refuses; the model is told why", async () => {
  const client = await served.client();
  const schema = z.object({ orderId: z.number(), amount: z.number().max(10) });
  const { agent, paid, told } = makeAgent(client, { schema });
  await agent.generate("Refund it");
  assert.match(told.join(), /cannot take: amount: Too big.*nobody is asked to approve it/s);
  assert.deepEqual([await all(client), paid], [[], []]);
});

test("suspended: a resume without a decision, or with the approval of another request, runs nothing", async () => {
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

test("suspended: a call that somebody named in the approval of something else does not run", async () => {
  const client = await served.client();
  const { agent, paid } = makeAgent(client, { whilePending: "suspend" });
  await agent.generate("Refund it");
  const { id: asked, agentState } = await onlyPending(client);
  const described = { summary: "Refund order 1042 (49 EUR)", notify: "mallory@example.com" };
  for (const state of [agentState, { ...(agentState as object), toolCallId: "call_2" }]) {
    const forged = { ...described, payload: one, agentState: state };
    const { id } = await client.requests.create(forged);
    await served.approve(id);
    await resume(agent, await client.requests.get(id)).catch(() => {});
  }
  assert.deepEqual(paid, []);
  await served.approve(asked);
  await resume(agent, await client.requests.get(asked));
  assert.deepEqual(paid, [one]);
});

/** A gated tool that takes down what it ran with. */
function makeTool(client: Countersign, inputSchema: z.ZodType, output: unknown = "done") {
  const ran: unknown[] = [];
  const plain = createTool({
    id: "pay",
    description: "Pays",
    inputSchema,
    execute: async (input: unknown) => {
      ran.push(input);
      return output;
    },
    toModelOutput: (all: unknown) => ({ type: "json", value: all }),
  } as never);
  const gated = requireApproval(client, plain, () => ({ summary: "Pay", notify }));
  const execute = async (input: unknown) => gated.execute?.(input as never, {} as never);
  return { gated, execute, ran };
}

test("a tool whose schema makes something else of what an approver sees is not asked about, and does not run", async () => {
  const client = await served.client();
  for (const [schema, input] of [
    [z.object({ amount: z.number().transform((euros) => euros * 100) }), { amount: 10 }],
    [z.object({ to: z.array(z.string()).transform((to) => new Set(to)) }), { to: ["everyone"] }],
    [z.object({ to: z.any().transform((to) => new Set([to])) }), { to: "everyone" }],
  ] as const) {
    const { execute, ran } = makeTool(client, schema);
    const paying = execute(input);
    await assert.rejects(paying, { name: "TypeError", message: /approver would not see/ });
    assert.deepEqual(ran, []);
  }
  assert.deepEqual(await all(client), []);
});

test("an edit runs only if the tool's schema leaves it as the approver wrote it", async () => {
  const client = await served.client();
  const schema = z.object({
    to: z.string().trim(),
    at: z.string().transform((text) => new Date(text)),
    copies: z.number().default(1),
  });
  const at = "2026-11-16T10:00:00.000Z";
  for (const [edit, expected] of [
    [undefined, { to: "ann", at: new Date(at), copies: 1 }],
    [
      { to: "bob", at, copies: 2 },
      { to: "bob", at: new Date(at), copies: 2 },
    ],
    [{ to: " bob", at, copies: 2 }, null],
    [{ to: "bob", at: "2026-11-16", copies: 2 }, null],
    [{ to: "bob", at }, null],
    [{ to: "bob", at, copies: "2" }, null],
    [{ to: "bob", at, copies: 2, isDraft: true }, null],
  ] as const) {
    const { execute, ran } = makeTool(client, schema);
    const running = execute({ to: " ann", at });
    const { id } = await onlyPending(client);
    await served.approve(id, edit === undefined ? undefined : JSON.stringify(edit));
    const output = JSON.stringify(await running);
    if (expected === null) assert.match(output, /changes .* that the tool cannot take/);
    assert.deepEqual(ran, expected === null ? [] : [expected], JSON.stringify(edit));
  }
});

test("an output of the tool's own is told as it is, though it has a key notRun", async () => {
  const client = await served.client();
  const output = { notRun: "2 of 7 tests" };
  const { gated, execute } = makeTool(client, z.object({ suite: z.string() }), output);
  for (const isApproved of [true, false]) {
    const running = execute({ suite: "all" });
    const { id } = await onlyPending(client);
    if (isApproved) await served.approve(id);
    else await served.reject(id, "no");
    // The messages may have been stored as JSON in between.
    const told = await gated.toModelOutput?.(JSON.parse(JSON.stringify(await running)));
    if (isApproved) assert.deepEqual(told, { type: "json", value: output });
    else assert.match(JSON.stringify(told), /"type":"text".*A person rejected/);
  }
});

test("a tool that fails after an edit leaves the model with the edit and the note, beside the failure", async () => {
  const client = await served.client();
  const refund = createTool({
    id: "refund",
    description: "Pays money back",
    inputSchema: z.object({ orderId: z.number(), amount: z.number() }),
    execute: async (): Promise<string> => {
      throw new Error("no answer from the bank");
    },
  });
  const gated = requireApproval(client, refund, () => ({ summary: "Refund", notify }));
  const running = Promise.resolve(gated.execute?.(one, {} as never));
  const failed = assert.rejects(
    running,
    /changed the input.*12\.5.*"Half of it".*The tool failed:\nno answer from the bank/s,
  );
  const { id } = await onlyPending(client);
  await served.approve(id, '{"orderId": 1042, "amount": 12.5}', "Half of it");
  await failed;
});
