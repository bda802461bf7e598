import assert from "node:assert/strict";
import { after, test } from "node:test";
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { AlreadyRedeemedError } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import { ask, type DescribeCall, resume } from "../ai-sdk/src/approvals.ts";
import { all, expire, notify, withWebhooks } from "./reviewer.ts";

const served = await serve();
after(() => served.stop());

type Refund = { orderId: number; amount: number };
const one: Refund = { orderId: 1042, amount: 49 };
const prompt: ModelMessage[] = [{ role: "user", content: "Refund it" }];

const describe: DescribeCall = (toolName, input) => ({
  summary: `${toolName} order ${(input as Refund).orderId}`,
  notify,
});

/** The agent as a process has it that starts with nothing but its code; its model asks for the given refunds first. */
function makeAgent(calls: Refund[] = [], prompts: unknown[] = []) {
  const paid: Refund[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt: heard }) => {
      prompts.push(heard);
      const last = heard.at(-1);
      const isAnswered = last?.role === "tool";
      return {
        content: isAnswered
          ? [{ type: "text", text: JSON.stringify(last.content) }]
          : calls.map((input, index) => ({
              type: "tool-call",
              toolCallId: `call_${index}`,
              toolName: "refund",
              input: JSON.stringify(input),
            })),
        finishReason: { unified: isAnswered ? "stop" : "tool-calls", raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
  const refund = tool({
    inputSchema: z.object({ orderId: z.number(), amount: z.number().positive() }),
    execute: async (input) => {
      paid.push(input);
      return "paid";
    },
  });
  const run = (messages: ModelMessage[]) =>
    generateText({
      model,
      tools: { refund },
      toolApproval: { refund: "user-approval" },
      messages,
      stopWhen: isStepCount(3),
    });
  return { run, paid, tools: { refund } };
}

const { tools } = makeAgent();

/** Runs until the question, and asks it. */
async function askFor(client: Parameters<typeof ask>[0], ...calls: Refund[]) {
  const { run, paid } = makeAgent(calls);
  const messages = [...prompt, ...(await run(prompt)).responseMessages];
  const requests = await ask(client, messages, describe);
  assert.equal(requests.length, calls.length);
  assert.deepEqual(paid, []);
  return { ids: requests.map(({ id }) => id), messages };
}

test("from the webhook, a process that knows nothing runs the tool once, with the effective payload", async (t) => {
  const { client, decided, stop } = await withWebhooks(served);
  t.after(stop);
  for (const [edit, expected] of [
    [undefined, one],
    ['{"orderId": 1042, "amount": 12.5}', { orderId: 1042, amount: 12.5 }],
  ] as const) {
    const [id = ""] = (await askFor(client, one)).ids;
    await served.approve(id, edit);
    const messages = await resume(client, await decided(id), describe, { tools });
    assert.ok(messages !== null);
    const { run, paid } = makeAgent();
    assert.match((await run(messages)).text, /paid/);
    assert.deepEqual(paid, [expected]);
  }
});

test("of two resumes one runs the tools, and the other says who may", async () => {
  const client = await served.client();
  const two = { orderId: 7, amount: 5 };
  const { ids } = await askFor(client, one, two);
  for (const id of ids) await served.approve(id);
  const last = await client.requests.get(ids[1] ?? "");
  const resumes = Array.from({ length: 4 }, () =>
    resume(client, last, describe, { tools }).catch((error) => error),
  );
  const ended = await Promise.all(resumes);
  const won = ended.filter((each) => Array.isArray(each));
  assert.equal(won.length, 1);
  const { run, paid } = makeAgent();
  await run(won[0] ?? []);
  assert.deepEqual(paid, [one, two]);
  for (const each of ended)
    if (!won.includes(each)) assert.ok(each instanceof AlreadyRedeemedError);
});

test("the model is told what ran after an edit, and the approver's note", async () => {
  for (const [edit, note, expected] of [
    ['{"orderId": 1042, "amount": 12.5}', "Half of it", /changed the input.*12\.5.*Half of it/s],
    [undefined, "Only this once", /approved this call as it was.*Only this once/s],
  ] as const) {
    const client = await served.client();
    const [id = ""] = (await askFor(client, one)).ids;
    await served.approve(id, edit, note);
    const messages = await resume(client, await client.requests.get(id), describe, { tools });
    assert.ok(messages !== null);
    const heard: unknown[] = [];
    const { run, paid } = makeAgent([], heard);
    await run(messages);
    assert.match(JSON.stringify(heard), expected);
    assert.equal(paid.length, 1);
  }
});

test("an edit that would be rounded, or that the Standard Schema refuses, does not run, and the model is told why", async () => {
  const schemas = { refund: z.object({ orderId: z.number(), amount: z.number().max(100) }) };
  for (const [edit, expected] of [
    ['{"orderId": 1042, "amount": 9007199254740993}', /9007199254740993/],
    ['{"orderId": 1042, "amount": 500}', /cannot take: amount: /],
  ] as const) {
    const client = await served.client();
    const [id = ""] = (await askFor(client, one)).ids;
    await served.approve(id, edit);
    const options = edit.includes("9007") ? {} : { schemas };
    const messages = await resume(client, await client.requests.get(id), describe, {
      tools,
      ...options,
    });
    assert.ok(messages !== null);
    const { run, paid } = makeAgent();
    assert.match((await run(messages)).text, expected);
    assert.deepEqual(paid, []);
  }
});

test("a rejection, an expiry and a cancel reach the model as what they are, and run nothing", async () => {
  for (const [end, expected] of [
    ["reject", /A person rejected.*refunded in May/],
    ["expire", /Nobody decided.*not a rejection/],
    ["cancel", /was cancelled/],
  ] as const) {
    const client = await served.client();
    const [id = ""] = (await askFor(client, one)).ids;
    if (end === "reject") await served.reject(id, "They were refunded in May");
    else if (end === "expire") await expire(served, client, id);
    else await client.requests.cancel(id);
    const messages = await resume(client, await client.requests.get(id), describe, { tools });
    assert.ok(messages !== null);
    const { run, paid } = makeAgent();
    assert.match((await run(messages)).text, expected);
    assert.deepEqual(paid, []);
  }
});

test("an edit that the tool's schema refuses does not run, and neither does the unedited input", async () => {
  const client = await served.client();
  const [id = ""] = (await askFor(client, one)).ids;
  await served.approve(id, '{"orderId": 1042, "amount": -1}');
  const messages = await resume(client, await client.requests.get(id), describe, { tools });
  assert.ok(messages !== null);
  const { run, paid } = makeAgent();
  assert.match((await run(messages)).text, /Too small/);
  assert.deepEqual(paid, []);
});

test("of two calls, the decision that comes last goes on, once, with both", async () => {
  const client = await served.client();
  const { ids, messages: asked } = await askFor(client, one, { orderId: 7, amount: 5 });
  const [first = "", second = ""] = ids;
  await served.approve(first, '{"orderId": 1042, "amount": 12.5}');
  assert.equal(await resume(client, await client.requests.get(first), describe, { tools }), null);
  await served.reject(second, "no");
  assert.equal(await resume(client, await client.requests.get(first), describe, { tools }), null);
  const messages = await resume(client, await client.requests.get(second), describe, { tools });
  assert.ok(messages !== null);
  const { run, paid } = makeAgent();
  await run(messages);
  assert.deepEqual(paid, [{ orderId: 1042, amount: 12.5 }]);
  assert.deepEqual(
    (await ask(client, asked, describe)).map(({ id }) => id),
    ids,
  );
  assert.equal((await all(client)).length, 2);
});

test("a pending request, one about something else, and messages without a question lead to nothing", async () => {
  const client = await served.client();
  const [id = ""] = (await askFor(client, one)).ids;
  const request = await client.requests.get(id);
  assert.equal(await resume(client, request, describe, { tools }), null);
  const other = { ...request, status: "APPROVED", agentState: null } as const;
  assert.equal(await resume(client, other, describe, { tools }), null);
  assert.deepEqual(await ask(client, prompt, describe), []);
  const long: ModelMessage[] = [{ role: "user", content: "x".repeat(262_144) }];
  await assert.rejects(ask(client, long, describe), /agentState takes 262144/);
});

test("a question about a call whose id, or whose own id, is there twice is not asked", async () => {
  const client = await served.client();
  const call = (amount: number, toolCallId = "c") =>
    ({ type: "tool-call", toolCallId, toolName: "refund", input: { ...one, amount } }) as const;
  const question = (approvalId: string, toolCallId = "c") =>
    ({ type: "tool-approval-request", approvalId, toolCallId }) as const;
  const says = (...content: (ReturnType<typeof call> | ReturnType<typeof question>)[]) =>
    ({ role: "assistant", content }) as ModelMessage;
  for (const messages of [
    [says(call(1), call(1_000_000), question("ap1"))],
    [says(call(1)), says(call(1_000_000), question("ap2"))],
    [says(call(1), question("ap3"), question("ap4"))],
    [says(call(1, "d"), question("ap5", "d")), says(call(1_000_000), question("ap5"))],
    [says(call(1), call(1_000_000, "d"), question("ap6"), question("ap6", "d"))],
  ]) {
    await assert.rejects(ask(client, [...prompt, ...messages], describe), /more than once/);
    const agentState = { adapter: "ai-sdk", messages: [...prompt, ...messages] };
    const asked = { ...describe("refund", one), payload: { ...one, amount: 1 }, agentState };
    const { id } = await client.requests.create(asked);
    await served.approve(id);
    const request = await client.requests.get(id);
    await assert.rejects(resume(client, request, describe, { tools }), /more than once/);
  }
});

test("messages that somebody hid in the approval of something else do not go on", async () => {
  const client = await served.client();
  const { messages } = await askFor(client, one);
  const agentState = { adapter: "ai-sdk", messages };
  const { id } = await client.requests.create({ summary: "Newsletter", notify, agentState });
  await served.approve(id);
  assert.equal(await resume(client, await client.requests.get(id), describe, { tools }), null);
});

test("an edit that the tool cannot take, or would change, is not redeemed, and the model is told", async () => {
  const rounding = z.object({ orderId: z.number(), amount: z.number().transform(Math.round) });
  for (const [edit, changing] of [
    ['{"orderId": 1042, "amount": -5}', tools],
    ['{"orderId": 1042, "amount": 49, "isTest": true}', tools],
    ['{"orderId": 1042, "amount": 12.5}', { refund: tool({ inputSchema: rounding }) }],
  ] as const) {
    const client = await served.client();
    const { ids } = await askFor(client, one);
    const id = ids[0] ?? "";
    await served.approve(id, edit);
    const request = await client.requests.get(id);
    const messages = await resume(client, request, describe, { tools: changing as typeof tools });
    const prompts: unknown[] = [];
    const { run, paid } = makeAgent([], prompts);
    await run(messages ?? []);
    assert.match(
      JSON.stringify(prompts.at(-1)),
      /approved with changes .* that the tool cannot take/,
    );
    assert.deepEqual(paid, []);
    await client.requests.redeem(id);
  }
});

test("a check that fails for one call leaves every approval of the turn to a later resume", async () => {
  const client = await served.client();
  const { ids } = await askFor(client, one, { orderId: 7, amount: 5 });
  for (const id of ids) await served.approve(id);
  const last = await client.requests.get(ids[1] ?? "");
  const refund = z.object({ orderId: z.number(), amount: z.number() }).refine(({ orderId }) => {
    if (orderId === 7) throw new Error("the database is away");
    return true;
  });
  await assert.rejects(resume(client, last, describe, { tools, schemas: { refund } }), /away/);
  const { run, paid } = makeAgent();
  await run((await resume(client, last, describe, { tools })) ?? []);
  assert.equal(paid.length, 2);
});
