import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Agent, Runner, RunState, tool } from "@openai/agents-core";
import {
  assistantMessage,
  functionCall,
  modelResponse,
  ScriptedModel,
} from "@openai/agents-core/testing";
import { z } from "zod";
import { AlreadyRedeemedError } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import {
  ask,
  type DescribeCall,
  requireApproval,
  resume,
} from "../openai-agents/src/openai-agents.ts";
import { all, expire, notify, withWebhooks } from "./reviewer.ts";

const served = await serve();
after(() => served.stop());

type Refund = { orderId: number; amount: number };
const one: Refund = { orderId: 1042, amount: 49 };
const plain = z.object({ orderId: z.number(), amount: z.number().positive() });
const runner = new Runner({ tracingDisabled: true });

const describe: DescribeCall = (toolName, input) => ({
  summary: `${toolName} order ${(input as Refund).orderId}`,
  notify,
});

/** The agent in a process that starts with nothing but its code. */
function makeAgent(
  script: ConstructorParameters<typeof ScriptedModel>[0],
  {
    parameters = plain as z.ZodObject,
    schema,
  }: { parameters?: z.ZodObject; schema?: z.ZodType } = {},
) {
  const paid: Refund[] = [];
  const forgiven: Refund[] = [];
  const model = new ScriptedModel(script);
  const refund = requireApproval(
    {
      name: "refund",
      description: "Pays money back",
      parameters: parameters as typeof plain,
      execute: async (input) => {
        paid.push(input);
        return "paid";
      },
    },
    schema === undefined ? {} : { schema },
  );
  const forgive = requireApproval({
    name: "forgive",
    description: "Forgives a debt",
    parameters: z.object({ orderId: z.number(), amount: z.number() }),
    execute: async (input) => {
      forgiven.push(input);
      return "forgiven";
    },
  });
  const tools = [refund, forgive];
  const agent = new Agent({ name: "Refunds", model, tools });
  /** The last input of the model. */
  const told = () => JSON.stringify(model.lastCall?.request.input);
  return { agent, paid, forgiven, told };
}

const calls = (...inputs: Refund[]) =>
  modelResponse(
    inputs.map((input, index) => functionCall("refund", input, { callId: `call_${index}` })),
  );
const done = modelResponse([assistantMessage("done")]);

async function askFor(client: Parameters<typeof ask>[0], ...inputs: Refund[]) {
  const asker = makeAgent([calls(...inputs)]);
  const result = await runner.run(asker.agent, "Refund it");
  const request = await ask(client, result.state, describe);
  assert.ok(request !== null);
  assert.deepEqual(asker.paid, []);
  return { request, state: result.state };
}

test("from the webhook, a process that knows nothing runs the tool once, with the effective payload", async (t) => {
  const { client, decided, stop } = await withWebhooks(served);
  t.after(stop);
  for (const [edit, expected] of [
    [undefined, one],
    ['{"orderId": 1042, "amount": 12.5}', { orderId: 1042, amount: 12.5 }],
  ] as const) {
    const { request } = await askFor(client, one);
    assert.equal(request.summary, "refund order 1042");
    assert.deepEqual(request.payload, one);
    await served.approve(request.id, edit);
    const { agent, paid, told } = makeAgent([done]);
    const state = await resume(client, agent, await decided(request.id), describe);
    assert.ok(state !== null);
    assert.equal((await runner.run(agent, state)).finalOutput, "done");
    assert.deepEqual(paid, [expected]);
    assert.match(told(), /paid/);
  }
});

test("a rejection, an expiry and a cancel reach the model as what they are, and run nothing", async () => {
  for (const [end, expected] of [
    ["reject", /A person rejected.*refunded in May/],
    ["expire", /Nobody decided.*not a rejection/],
    ["cancel", /was cancelled/],
  ] as const) {
    const client = await served.client();
    const { id } = (await askFor(client, one)).request;
    if (end === "reject") await served.reject(id, "They were refunded in May");
    else if (end === "expire") await expire(served, client, id);
    else await client.requests.cancel(id);
    const { agent, paid, told } = makeAgent([done]);
    const state = await resume(client, agent, await client.requests.get(id), describe);
    assert.ok(state !== null);
    await runner.run(agent, state);
    assert.match(told(), expected);
    assert.deepEqual(paid, []);
  }
});

test("an edit that the tool's schema refuses does not run, and neither does the unedited input", async () => {
  const client = await served.client();
  const { id } = (await askFor(client, one)).request;
  await served.approve(id, '{"orderId": 1042, "amount": -1}');
  const { agent, paid, told } = makeAgent([done]);
  const state = await resume(client, agent, await client.requests.get(id), describe);
  assert.ok(state !== null);
  await runner.run(agent, state);
  assert.deepEqual(paid, []);
  assert.match(told(), /function_call_result/);
  assert.doesNotMatch(told(), /"paid"/);
});

test("of two resumes one runs the tool, and the other says who may; a killed one leaves nothing that runs twice", async () => {
  const client = await served.client();
  const { id } = (await askFor(client, one)).request;
  await served.approve(id);
  const { agent, paid } = makeAgent([done]);
  const request = await client.requests.get(id);
  const resumes = [1, 2].map(() =>
    resume(client, agent, request, describe).catch((error) => error),
  );
  const states = await Promise.all(resumes);
  const [loser] = states.filter((each) => each instanceof AlreadyRedeemedError);
  const [state] = states.filter((each) => !(each instanceof Error));
  assert.match(loser?.message ?? "", /redeemed at .* with the API key "Test key"/);
  await runner.run(agent, state);
  assert.deepEqual(paid, [one]);
  await assert.rejects(resume(client, agent, request, describe), { code: "already_redeemed" });
});

test("the model is told what ran after an edit, and the approver's note", async () => {
  for (const [edit, note, expected] of [
    [
      '{"orderId": 1042, "amount": 12.5}',
      "Half of it",
      /changed the input.*12\.5.*Half of it.*paid/,
    ],
    [undefined, "Only this once", /approved this call as it was.*Only this once.*paid/],
  ] as const) {
    const client = await served.client();
    const { id } = (await askFor(client, one)).request;
    await served.approve(id, edit, note);
    const { agent, told } = makeAgent([done]);
    const state = await resume(client, agent, await client.requests.get(id), describe);
    assert.ok(state !== null);
    await runner.run(agent, state);
    assert.match(told(), expected);
  }
});

test("an edit that would be rounded, or that the Standard Schema refuses, does not run, and the model is told why", async () => {
  const schema = z.object({ orderId: z.literal(1042), amount: z.number().max(100) });
  for (const [edit, expected] of [
    ['{"orderId": 1042, "amount": 9007199254740993}', /9007199254740993/],
    ['{"orderId": 1042, "amount": 500}', /cannot take: amount: /],
    ['{"orderId": 1042, "amount": 5, "to": "mallory"}', /makes something else of it/],
  ] as const) {
    const client = await served.client();
    const { id } = (await askFor(client, one)).request;
    await served.approve(id, edit);
    const given = edit.includes("9007") ? {} : { schema };
    const { agent, paid, told } = makeAgent([done], given);
    const state = await resume(client, agent, await client.requests.get(id), describe);
    assert.ok(state !== null);
    await runner.run(agent, state);
    assert.match(told(), expected);
    assert.deepEqual(paid, []);
  }
});

test("a call whose numbers were rounded on the way is not asked about", async () => {
  const client = await served.client();
  for (const amount of ["9007199254740993", "0.1000000000000000055511151231257827"]) {
    const call = functionCall("refund", one, { callId: "c" });
    const rounded = { ...call, arguments: `{"orderId":1042,"amount":${amount}}` };
    const { state } = await runner.run(makeAgent([modelResponse([rounded])]).agent, "Refund it");
    await assert.rejects(ask(client, state, describe), { code: "inexact_payload" });
  }
  assert.deepEqual(await all(client), []);
});

test("calls of one turn are asked about one after the other, and each runs once", async () => {
  const client = await served.client();
  const two = { orderId: 7, amount: 5 };
  const { request: first } = await askFor(client, one, two);
  await served.approve(first.id, '{"orderId": 1042, "amount": 12.5}');
  const worker = makeAgent([]);
  const state = await resume(client, worker.agent, await client.requests.get(first.id), describe);
  assert.ok(state !== null);
  const result = await runner.run(worker.agent, state);
  const second = await ask(client, result.state, describe);
  assert.ok(second !== null);
  assert.equal(second.summary, "refund order 7");
  assert.deepEqual(worker.paid, [{ orderId: 1042, amount: 12.5 }]);
  await served.approve(second.id);
  const another = makeAgent([done]);
  const rest = await resume(client, another.agent, await client.requests.get(second.id), describe);
  assert.ok(rest !== null);
  await runner.run(another.agent, rest);
  assert.deepEqual(another.paid, [two]);
});

test("an approval serves one call, though the model gives the next one the same id and input", async () => {
  const client = await served.client();
  const { id } = (await askFor(client, one)).request;
  await served.approve(id);
  const { agent, paid } = makeAgent([calls(one), done]);
  const state = await resume(client, agent, await client.requests.get(id), describe);
  assert.ok(state !== null);
  await runner.run(agent, state);
  assert.deepEqual(paid, [one]);
});

test("a call that was approved past Countersign does not run", async () => {
  const client = await served.client();
  const { request } = await askFor(client, one);
  const { agent, paid, told } = makeAgent([done]);
  await served.reject(request.id, "no");
  const rejected = await resume(client, agent, await client.requests.get(request.id), describe);
  assert.ok(rejected !== null);
  const [call] = rejected.getInterruptions();
  assert.ok(call !== undefined);
  rejected.approve(call);
  await runner.run(agent, rejected);
  assert.deepEqual(paid, []);
  assert.match(told(), /holds no approval of this action/);
});

test("a run that somebody hid in the approval of something else does not go on", async () => {
  const client = await served.client();
  const { agentState } = (await askFor(client, one)).request;
  const asked = { ...describe("refund", one), payload: one, agentState };
  for (const change of [
    { summary: "Send the May newsletter", payload: { newsletter: "May" } },
    { summary: "Send the May newsletter" },
    { payload: { ...one, amount: 1 } },
    { notify: "mallory@example.com" },
    { agentName: "Newsletters" },
  ]) {
    for (const isApproved of [true, false]) {
      const { id } = await client.requests.create<unknown>({ ...asked, ...change });
      if (isApproved) await served.approve(id);
      else await served.reject(id, "no");
      const { agent, paid } = makeAgent([done]);
      const resuming = resume(client, agent, await client.requests.get(id), describe);
      await assert.rejects(resuming, /was not asked for this call/, JSON.stringify(change));
      assert.deepEqual(paid, []);
    }
  }
});

test("a call that the state gives the name of another tool does not run", async () => {
  const client = await served.client();
  const script = [modelResponse([functionCall("forgive", one, { callId: "c" })])];
  const { state } = await runner.run(makeAgent(script).agent, "Refund it");
  const runState = state.toString().replaceAll('"toolName":"forgive"', '"toolName":"refund"');
  assert.notEqual(runState, state.toString());
  const agentState = { adapter: "openai-agents", runState, callId: "c" };
  const asked = { ...describe("refund", one), payload: one, agentState };
  const { id } = await client.requests.create(asked);
  await served.approve(id);
  const { agent, forgiven } = makeAgent([done]);
  const resuming = resume(client, agent, await client.requests.get(id), describe);
  await assert.rejects(
    resuming.then((resumed) => resumed && runner.run(agent, resumed)),
    /was not asked for this call/,
  );
  assert.deepEqual(forgiven, []);
});

test("a state of a named run is asked about once, and never by the approval of another run like it", async () => {
  const client = await served.client();
  const { state } = await askFor(client, one);
  const ids = [];
  for (const options of [{ runId: "run-1" }, { runId: "run-1" }, { runId: "run-2" }, {}]) {
    ids.push((await ask(client, state, describe, options))?.id);
  }
  assert.equal(ids[0], ids[1]);
  assert.equal(new Set(ids).size, 3);
});

test("a request that is pending, and one about something else, resume nothing", async () => {
  const client = await served.client();
  const { request } = await askFor(client, one);
  const { agent } = makeAgent([]);
  assert.equal(await resume(client, agent, request, describe), null);
  const other = { ...request, status: "APPROVED", agentState: 5 } as const;
  assert.equal(await resume(client, agent, other, describe), null);
});

test("a state that is larger than agentState may be is refused with what to do about it", async () => {
  const client = await served.client();
  const { agent } = makeAgent([calls(one)]);
  const { state } = await runner.run(agent, "x".repeat(262_144));
  await assert.rejects(ask(client, state, describe), /bytes, and agentState takes 262144: give/);
  assert.deepEqual(await all(client), []);
});

test("an edit that the tool cannot take, or would change, is not redeemed, and the model is told", async () => {
  const filling = plain.extend({ memo: z.string().default("none") });
  for (const [edit, parameters] of [
    ['{"orderId": 1042, "amount": -5}', plain],
    ['{"orderId": 1042, "amount": 49, "isTest": true}', plain],
    ['{"orderId": 1042, "amount": 12.5}', filling],
  ] as const) {
    const client = await served.client();
    const { id } = (await askFor(client, one)).request;
    await served.approve(id, edit);
    const { agent, paid, told } = makeAgent([done], { parameters });
    const state = await resume(client, agent, await client.requests.get(id), describe);
    assert.ok(state !== null);
    await runner.run(agent, state);
    assert.match(told(), /approved with changes .* that the tool cannot take/);
    assert.deepEqual(paid, []);
    await client.requests.redeem(id);
  }
});

test("an unedited input that the tool no longer takes, or changes, is not called a change by the approver", async () => {
  for (const given of [
    { parameters: plain.extend({ amount: z.number().max(10) }) },
    { parameters: plain.extend({ memo: z.string().default("none") }) },
    { schema: plain.extend({ amount: z.number().transform((amount) => amount * 100) }) },
  ]) {
    const client = await served.client();
    const { id } = (await askFor(client, one)).request;
    await served.approve(id);
    const { agent, paid, told } = makeAgent([done], given);
    const state = await resume(client, agent, await client.requests.get(id), describe);
    assert.ok(state !== null);
    await runner.run(agent, state);
    assert.match(told(), /approved as it was .*, but its input is one that the tool cannot take/);
    assert.doesNotMatch(told(), /with changes|changed the input/);
    assert.deepEqual(paid, []);
    await client.requests.redeem(id);
  }
});

test("nobody is asked about an input that the tool or the Standard Schema refuses, or would change; the model is told why", async () => {
  const schema = z.object({ orderId: z.number(), amount: z.number().max(100) });
  const filling = plain.extend({ memo: z.string().default("none") });
  const doubling = plain.extend({ amount: z.number().transform((amount) => amount * 2) });
  for (const [input, given, expected] of [
    [{ ...one, amount: -1 }, {}, /cannot take: Too small/],
    [{ ...one, amount: 500 }, { schema }, /cannot take: amount: Too big/],
    [one, { parameters: filling }, /makes something else of it than the approver sees/],
    [one, { schema: doubling }, /makes something else of it than the approver sees/],
  ] as const) {
    const client = await served.client();
    const { agent, paid, told } = makeAgent([calls(input), done], given);
    const { state, finalOutput } = await runner.run(agent, "Refund it");
    assert.equal(finalOutput, "done");
    assert.match(told(), expected);
    assert.match(told(), /nobody is asked to approve it/);
    assert.equal(await ask(client, state, describe), null);
    assert.deepEqual([await all(client), paid], [[], []]);
  }
});

test("a rejection that is resumed again is told again, and runs nothing", async () => {
  const client = await served.client();
  const { id } = (await askFor(client, one)).request;
  await served.reject(id, "no");
  for (const _ of [1, 2]) {
    const { agent, paid, told } = makeAgent([done]);
    const state = await resume(client, agent, await client.requests.get(id), describe);
    assert.ok(state !== null);
    await runner.run(agent, state);
    assert.match(told(), /A person rejected/);
    assert.deepEqual(paid, []);
  }
});

test("a state that is run again after its tool ran does not run it again", async () => {
  const client = await served.client();
  const { id } = (await askFor(client, one)).request;
  await served.approve(id);
  const { agent, paid } = makeAgent([done, done]);
  const state = await resume(client, agent, await client.requests.get(id), describe);
  assert.ok(state !== null);
  const text = state.toString();
  await runner.run(agent, state);
  const again = await RunState.fromString(agent, text);
  await runner.run(agent, again);
  assert.deepEqual(paid, [one]);
});

test("a tool that is not wrapped is noticed before anybody is asked, and before its approval is redeemed", async () => {
  const client = await served.client();
  const { request } = await askFor(client, one);
  await served.approve(request.id);
  const parameters = z.object({ orderId: z.number(), amount: z.number() });
  const bare = tool({
    name: "refund",
    description: "Pays",
    parameters,
    needsApproval: true,
    execute: async () => "paid",
  });
  const model = new ScriptedModel([calls(one)]);
  const agent = new Agent({ name: "Refunds", model, tools: [bare] });
  const { state } = await runner.run(agent, "Refund it");
  await assert.rejects(ask(client, state, describe), /made with requireApproval/);
  const event = await client.requests.get(request.id);
  await assert.rejects(resume(client, agent, event, describe), /made with requireApproval/);
  assert.throws(() => requireApproval(bare as never), /the options of the tool/);
  await client.requests.redeem(request.id);
});
