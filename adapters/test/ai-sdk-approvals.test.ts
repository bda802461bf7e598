import assert from "node:assert/strict";
import { after, test } from "node:test";
import { generateText, isStepCount, type ModelMessage, streamText, type Tool, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { AlreadyRedeemedError, Countersign } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import { ask, type DescribeCall, requireApproval, resume } from "../ai-sdk/src/approvals.ts";
import { all, expire, notify, withWebhooks } from "./reviewer.ts";

const served = await serve();
after(() => served.stop());

type Refund = { orderId: number; amount: number };
const one: Refund = { orderId: 1042, amount: 49 };
const prompt: ModelMessage[] = [{ role: "user", content: "Refund it" }];

const plain = z.object({ orderId: z.number(), amount: z.number().positive() });

const describe: DescribeCall = (toolName, input) => ({
  summary: `${toolName} order ${(input as Refund).orderId}`,
  notify,
});

type Given = {
  /** The model asks for these first. */
  calls?: Refund[];
  schema?: z.ZodType;
  inputSchema?: z.ZodType;
};

/** The agent as a process has it that starts with nothing but its code. */
function makeAgent(client: Countersign, { calls = [], schema, inputSchema }: Given = {}) {
  const paid: Refund[] = [];
  const prompts: unknown[] = [];
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
  const refund = requireApproval(
    client,
    tool({
      inputSchema: (inputSchema ?? plain) as typeof plain,
      execute: async (input) => {
        paid.push(input);
        return "paid";
      },
    }),
    schema === undefined ? {} : { schema },
  );
  const tools = { refund };
  const run = (messages: ModelMessage[]) =>
    generateText({ model, tools, messages, stopWhen: isStepCount(3) });
  /** All that the model was told. */
  const told = () => JSON.stringify(prompts);
  return { run, paid, tools, told, model };
}

/** Runs until the question, and asks it. */
async function askFor(client: Countersign, ...calls: Refund[]) {
  const { run, paid, tools } = makeAgent(client, { calls });
  const messages = [...prompt, ...(await run(prompt)).responseMessages];
  const requests = await ask(client, messages, describe, { tools });
  assert.equal(requests.length, calls.length);
  assert.deepEqual(paid, []);
  return { ids: requests.map(({ id }) => id), messages };
}

/** The messages to go on with, for a process that starts with nothing but its code. */
async function goOn(client: Countersign, id: string, given: Given = {}) {
  const agent = makeAgent(client, given);
  const messages = await resume(client, await client.requests.get(id), describe, agent);
  assert.ok(messages !== null);
  return { ...agent, messages };
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
    const { run, paid, tools } = makeAgent(client);
    const messages = await resume(client, await decided(id), describe, { tools });
    assert.ok(messages !== null);
    assert.match((await run(messages)).text, /paid/);
    assert.deepEqual(paid, [expected]);
  }
});

test("of many runs of the same messages one runs the tools; the others say who may, and tell the model nothing", async () => {
  const client = await served.client();
  const two = { orderId: 7, amount: 5 };
  const { ids } = await askFor(client, one, two);
  for (const id of ids) await served.approve(id);
  const agents = await Promise.all(Array.from({ length: 4 }, () => goOn(client, ids[1] ?? "")));
  const ended = await Promise.all(
    agents.map(({ run, messages }) => run(messages).catch((error: unknown) => error)),
  );
  const winner = ended.findIndex((each) => !(each instanceof AlreadyRedeemedError));
  for (const [index, { paid, model }] of agents.entries()) {
    assert.deepEqual(paid, index === winner ? [one, two] : []);
    assert.equal(model.doGenerateCalls.length, index === winner ? 1 : 0);
  }
});

test("messages that are run again, in this process or another, by a stream or not, run nothing again", async () => {
  const client = await served.client();
  const [id = ""] = (await askFor(client, one)).ids;
  await served.approve(id);
  const { run, paid, messages } = await goOn(client, id);
  await run(messages);
  await assert.rejects(run(messages), { code: "already_redeemed" });
  const another = makeAgent(client);
  const stored = JSON.parse(JSON.stringify(messages)) as ModelMessage[];
  await assert.rejects(another.run(stored), AlreadyRedeemedError);
  const faults: unknown[] = [];
  const { model, tools } = another;
  const stream = streamText({
    model,
    tools,
    messages: stored,
    onError: ({ error }) => void faults.push(error),
  });
  await stream.consumeStream();
  assert.match(String(faults), /AlreadyRedeemedError/);
  assert.equal(model.doGenerateCalls.length + model.doStreamCalls.length, 0);
  assert.deepEqual([...paid, ...another.paid], [one]);
});

test("messages that reach a service that is away run nothing, and can be run again", async () => {
  const client = await served.client();
  const [id = ""] = (await askFor(client, one)).ids;
  await served.approve(id);
  const { messages } = await goOn(client, id);
  const options = { apiKey: "cs_x", baseUrl: "http://127.0.0.1:1", retriesMax: 0 };
  const away = makeAgent(new Countersign(options));
  await assert.rejects(away.run(messages), { code: "connection_failed" });
  assert.equal(away.model.doGenerateCalls.length, 0);
  const { run, paid } = makeAgent(client);
  await run(messages);
  assert.deepEqual([...away.paid, ...paid], [one]);
});

test("a rejection that is resumed again is told again, and runs nothing", async () => {
  const client = await served.client();
  const [id = ""] = (await askFor(client, one)).ids;
  await served.reject(id, "no");
  for (const _ of [1, 2]) {
    const { run, messages, paid } = await goOn(client, id);
    assert.match((await run(messages)).text, /A person rejected/);
    assert.deepEqual(paid, []);
  }
});

test("nobody is asked about an input that the tool or the Standard Schema refuses, or would change; the model is told why", async () => {
  const schema = z.object({ orderId: z.number(), amount: z.number().max(100) });
  const doubling = plain.transform((input) => ({ ...input, amount: input.amount * 2 }));
  for (const [given, expected] of [
    [{ calls: [{ ...one, amount: -1 }] }, /Too small/],
    [{ calls: [{ ...one, amount: 500 }], schema }, /cannot take: amount: Too big/],
    [{ calls: [one], inputSchema: doubling }, /approver would not see what this tool runs with/],
  ] satisfies [Given, RegExp][]) {
    const client = await served.client();
    const { run, paid, told, tools } = makeAgent(client, given);
    const { responseMessages } = await run(prompt);
    assert.match(told(), expected);
    assert.deepEqual(await ask(client, [...prompt, ...responseMessages], describe, { tools }), []);
    assert.deepEqual([await all(client), paid], [[], []]);
  }
});

test("a question that the run asked past the tool's own check is not handed to a person", async () => {
  const client = await served.client();
  const schema = plain.extend({ amount: z.number().max(100) });
  const { model, tools } = makeAgent(client, { calls: [{ ...one, amount: 500 }], schema });
  const toolApproval = { refund: "user-approval" } as const;
  const { responseMessages } = await generateText({ model, tools, toolApproval, messages: prompt });
  const asking = ask(client, [...prompt, ...responseMessages], describe, { tools });
  await assert.rejects(asking, /refund cannot take this input: amount: Too big/);
  assert.deepEqual(await all(client), []);
});

test("a tool that is not wrapped is noticed before anybody is asked, and a wrapped one runs with an approval only", async () => {
  const client = await served.client();
  const { messages } = await askFor(client, one);
  const bare = { refund: tool({ inputSchema: plain, execute: async () => "paid" }) as Tool };
  for (const tools of [bare, {}]) {
    await assert.rejects(ask(client, messages, describe, { tools }), TypeError);
  }
  const elsewhere = tool({ inputSchema: plain }) as Tool;
  assert.throws(() => requireApproval(client, elsewhere), /runs elsewhere/);
  const { model, tools, paid, told } = makeAgent(client, { calls: [one] });
  const toolApproval = { refund: "approved" } as const;
  await generateText({ model, tools, toolApproval, messages: prompt, stopWhen: isStepCount(2) });
  assert.match(told(), /holds no approval of this action/);
  assert.deepEqual(paid, []);
});

test("the model is told what ran after an edit, and the approver's note", async () => {
  for (const [edit, note, expected] of [
    ['{"orderId": 1042, "amount": 12.5}', "Half of it", /changed the input.*12\.5.*Half of it/s],
    [undefined, "Only this once", /approved this call as it was.*Only this once/s],
  ] as const) {
    const client = await served.client();
    const [id = ""] = (await askFor(client, one)).ids;
    await served.approve(id, edit, note);
    const { run, paid, messages, told } = await goOn(client, id);
    await run(messages);
    assert.match(told(), expected);
    assert.equal(paid.length, 1);
  }
});

test("an edit that would be rounded, or that the Standard Schema refuses, does not run, and the model is told why", async () => {
  const schema = z.object({ orderId: z.number(), amount: z.number().max(100) });
  for (const [edit, expected] of [
    ['{"orderId": 1042, "amount": 9007199254740993}', /9007199254740993/],
    ['{"orderId": 1042, "amount": 500}', /cannot take: amount: /],
  ] as const) {
    const client = await served.client();
    const [id = ""] = (await askFor(client, one)).ids;
    await served.approve(id, edit);
    const { run, paid, messages } = await goOn(client, id, edit.includes("9007") ? {} : { schema });
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
    const { run, paid, messages } = await goOn(client, id);
    assert.match((await run(messages)).text, expected);
    assert.deepEqual(paid, []);
  }
});

test("of two calls, the decision that comes last goes on, once, with both", async () => {
  const client = await served.client();
  const { ids, messages: asked } = await askFor(client, one, { orderId: 7, amount: 5 });
  const [first = "", second = ""] = ids;
  const { tools } = makeAgent(client);
  await served.approve(first, '{"orderId": 1042, "amount": 12.5}');
  assert.equal(await resume(client, await client.requests.get(first), describe, { tools }), null);
  await served.reject(second, "no");
  assert.equal(await resume(client, await client.requests.get(first), describe, { tools }), null);
  const { run, paid, messages } = await goOn(client, second);
  await run(messages);
  assert.deepEqual(paid, [{ orderId: 1042, amount: 12.5 }]);
  const again = await ask(client, asked, describe, { tools });
  assert.deepEqual(
    again.map(({ id }) => id),
    ids,
  );
  assert.equal((await all(client)).length, 2);
});

test("a pending request, one about something else, and messages without a question lead to nothing", async () => {
  const client = await served.client();
  const { tools } = makeAgent(client);
  const [id = ""] = (await askFor(client, one)).ids;
  const request = await client.requests.get(id);
  assert.equal(await resume(client, request, describe, { tools }), null);
  const other = { ...request, status: "APPROVED", agentState: null } as const;
  assert.equal(await resume(client, other, describe, { tools }), null);
  assert.deepEqual(await ask(client, prompt, describe, { tools }), []);
  const long: ModelMessage[] = [{ role: "user", content: "x".repeat(262_144) }];
  await assert.rejects(ask(client, long, describe, { tools }), /agentState takes 262144/);
});

test("a question about a call whose id, or whose own id, is there twice is not asked", async () => {
  const client = await served.client();
  const { tools } = makeAgent(client);
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
    const asking = ask(client, [...prompt, ...messages], describe, { tools });
    await assert.rejects(asking, /more than once/);
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
  const { tools, run, paid } = makeAgent(client);
  const request = await client.requests.get(id);
  assert.equal(await resume(client, request, describe, { tools }), null);
  const [, approvalId = ""] = /"approvalId":"([^"]+)"/.exec(JSON.stringify(messages)) ?? [];
  const answer = { type: "tool-approval-response", approvalId, approved: true } as const;
  const content = [{ ...answer, countersignRequestId: id }];
  await assert.rejects(run([...messages, { role: "tool", content }]), /did not approve this call/);
  assert.deepEqual(paid, []);
});

test("an edit that the tool cannot take, or would change, is not redeemed, and the model is told", async () => {
  const rounding = z.object({ orderId: z.number(), amount: z.number().transform(Math.round) });
  for (const [edit, inputSchema] of [
    ['{"orderId": 1042, "amount": -5}', plain],
    ['{"orderId": 1042, "amount": 49, "isTest": true}', plain],
    ['{"orderId": 1042, "amount": 12.5}', rounding],
  ] as const) {
    const client = await served.client();
    const [id = ""] = (await askFor(client, one)).ids;
    await served.approve(id, edit);
    const { run, paid, messages, told } = await goOn(client, id, { inputSchema });
    await run(messages);
    assert.match(told(), /approved with changes .* that the tool cannot take/);
    assert.deepEqual(paid, []);
    await client.requests.redeem(id);
  }
});

test("an unedited input that the tool no longer takes, or changes, is not called a change by the approver", async () => {
  for (const inputSchema of [
    plain.extend({ amount: z.number().max(10) }),
    plain.extend({ amount: z.number().transform((amount) => amount * 100) }),
    plain.extend({ memo: z.string().default("none") }),
  ]) {
    const client = await served.client();
    const [id = ""] = (await askFor(client, one)).ids;
    await served.approve(id);
    const { run, paid, messages, told } = await goOn(client, id, { inputSchema });
    await run(messages);
    assert.match(told(), /approved as it was .*, but its input is one that the tool cannot take/);
    assert.doesNotMatch(told(), /with changes|changed the input/);
    assert.deepEqual(paid, []);
    await client.requests.redeem(id);
  }
});

test("a check that fails for one call leaves every approval of the turn to a later resume", async () => {
  const client = await served.client();
  const { ids } = await askFor(client, one, { orderId: 7, amount: 5 });
  for (const id of ids) await served.approve(id);
  const schema = plain.refine(({ orderId }) => {
    if (orderId === 7) throw new Error("the database is away");
    return true;
  });
  await assert.rejects(goOn(client, ids[1] ?? "", { schema }), /away/);
  const { run, paid, messages } = await goOn(client, ids[1] ?? "");
  await run(messages);
  assert.equal(paid.length, 2);
});
