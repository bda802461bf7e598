import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  START,
  StateGraph,
} from "@langchain/langgraph";
import {
  type AgentMiddleware,
  AIMessage,
  createAgent,
  fakeModel,
  type HITLResponse,
  humanInTheLoopMiddleware,
  ToolMessage,
  tool,
} from "langchain";
import { z } from "zod";
import { AlreadyRedeemedError, type Countersign } from "../../sdk/src/index.ts";
import { serve } from "../../sdk/test/served.ts";
import { type Asking, ask, invoke, requireApproval, resume } from "../langchain/src/langchain.ts";
import { all, expire, notify, onlyPending, pending, withWebhooks } from "./reviewer.ts";

const served = await serve();
after(() => served.stop());

type Refund = { orderId: number; amount: number };
let threads = 0;

/** An agent whose model asks for the given refunds at once and then ends, with all that was paid. */
function makeAgent(
  client: Countersign,
  calls: Refund[],
  {
    checkpointer = new MemorySaver(),
    schema = z.object({ orderId: z.number(), amount: z.number() }) as z.ZodType<Refund>,
    schemas = {} as Record<string, z.ZodType>,
    pay = (_: Refund): string | Promise<string> => "paid",
    model = fakeModel()
      .respondWithTools(calls.map((args, index) => ({ name: "refund", args, id: `call_${index}` })))
      .respond(new AIMessage("done")),
  } = {},
) {
  const paid: Refund[] = [];
  const refund = tool(
    (input: Refund) => {
      paid.push(input);
      return pay(input);
    },
    { name: "refund", schema },
  );
  const middleware = [requireApproval(client, ["refund"], { schemas })];
  const agent = createAgent({ model, tools: [refund], middleware, checkpointer });
  const asking: Asking = {
    countersign: client,
    describe: ({ name, args }) => ({
      summary: `${name} order ${args.orderId} (${args.amount} EUR)`,
      notify,
    }),
  };
  threads += 1;
  const config = { configurable: { thread_id: `thread-${threads}` } };
  const input = { messages: [{ role: "user", content: "Refund it" }] };
  /** The last message to the model. */
  const told = () => JSON.stringify(model.calls.at(-1)?.messages.at(-1)?.content);
  /** All results of tools that the model hears, by the ids of its calls. */
  const results = () =>
    Object.fromEntries(
      (model.calls.at(-1)?.messages ?? [])
        .filter((message) => ToolMessage.isInstance(message))
        .map((message) => [message.tool_call_id, String(message.content)]),
    );
  /** Runs until people have decided about everything. */
  const run = () => invoke(agent, input, config, asking);
  /** Runs until the agent waits for people, and asks them. */
  const askOnly = async () => ask(await agent.invoke(input, config), config, asking);
  return { agent, asking, config, input, run, askOnly, paid, told, results, model, checkpointer };
}

const one: Refund = { orderId: 1042, amount: 49 };

test("approve: the tool runs once, after the approval, with the arguments that were asked about", async () => {
  const client = await served.client();
  const { run, paid, told } = makeAgent(client, [one]);
  const running = run();
  const { id, summary, payload } = await onlyPending(client);
  assert.equal(summary, "refund order 1042 (49 EUR)");
  assert.deepEqual(payload, one);
  assert.deepEqual(paid, []);
  await served.approve(id);
  assert.equal((await running).messages.at(-1)?.content, "done");
  assert.deepEqual(paid, [one]);
  assert.match(told(), /paid/);
});

test("edit: the tool runs with the arguments as the approver left them", async () => {
  const client = await served.client();
  const { run, paid } = makeAgent(client, [one]);
  const running = run();
  await served.approve((await onlyPending(client)).id, '{"orderId": 1042, "amount": 12.5}');
  await running;
  assert.deepEqual(paid, [{ orderId: 1042, amount: 12.5 }]);
});

test("the model is told what ran after an edit, and the approver's note, and nothing more otherwise", async () => {
  for (const [edit, note, expected] of [
    [
      '{"orderId": 1042, "amount": 12.5}',
      "Half of it",
      /changed the input.*12\.5.*Half of it.*paid/,
    ],
    [undefined, "Only this once", /approved this call as it was.*Only this once.*paid/],
    [undefined, undefined, /^"paid"$/],
  ] as const) {
    const client = await served.client();
    const { run, told } = makeAgent(client, [one]);
    const running = run();
    await served.approve((await onlyPending(client)).id, edit, note);
    await running;
    assert.match(told(), expected);
  }
});

test("of many resumes at once each tool runs once, and no model hears anything else", async () => {
  const client = await served.client();
  const { agent, asking, askOnly, paid } = makeAgent(client, [one, { orderId: 7, amount: 5 }]);
  const requests = await askOnly();
  for (const { id } of requests) await served.approve(id);
  const last = await client.requests.get(requests[1]?.id ?? "");
  const ended = await Promise.all(
    Array.from({ length: 4 }, () => resume(agent, last, asking).catch((error) => error)),
  );
  assert.equal(paid.length, 2);
  const continued = ended.filter(
    (each) => each !== null && !(each instanceof AlreadyRedeemedError),
  );
  assert.ok(continued.length > 0);
  for (const { messages } of continued) {
    const heard = messages.filter((each: unknown) => ToolMessage.isInstance(each));
    assert.deepEqual(
      heard.map(({ content }: ToolMessage) => content),
      ["paid", "paid"],
    );
  }
});

test("a process that is killed between redeeming and running leaves nothing that runs twice", async () => {
  const client = await served.client();
  const { agent, asking, config, askOnly, paid, told } = makeAgent(client, [one]);
  const [request] = await askOnly();
  assert.ok(request !== undefined);
  await served.approve(request.id);
  await client.requests.redeem(request.id);
  const event = await client.requests.get(request.id);
  await assert.rejects(resume(agent, event, asking), AlreadyRedeemedError);
  await invoke(agent, null, config, asking);
  assert.match(told(), /handed out to run.*did not run it again/);
  assert.deepEqual(paid, []);
});

test("an edit that would be rounded, or that the Standard Schema refuses, does not run, and the model is told why", async () => {
  const schemas = { refund: z.object({ orderId: z.number(), amount: z.number().max(100) }) };
  for (const [edit, expected] of [
    ['{"orderId": 1042, "amount": 9007199254740993}', /9007199254740993/],
    ['{"orderId": 1042, "amount": 500}', /cannot take: amount: /],
  ] as const) {
    const client = await served.client();
    const given = edit.includes("9007") ? {} : { schemas };
    const { run, paid, told } = makeAgent(client, [one], given);
    const running = run();
    await served.approve((await onlyPending(client)).id, edit);
    await running;
    assert.match(told(), expected);
    assert.deepEqual(paid, []);
  }
});

test("reject: the model hears the reason; an expiry and a cancel are told apart from it", async () => {
  for (const [end, expected] of [
    ["reject", /A person rejected.*refunded in May/],
    ["expire", /Nobody decided.*not a rejection/],
    ["cancel", /was cancelled/],
  ] as const) {
    const client = await served.client();
    const { run, paid, told } = makeAgent(client, [one]);
    const running = run();
    const { id } = await onlyPending(client);
    if (end === "reject") await served.reject(id, "They were refunded in May");
    else if (end === "expire") await expire(served, client, id);
    else await client.requests.cancel(id);
    await running;
    assert.match(told(), expected);
    assert.deepEqual(paid, []);
  }
});

test("an edit that the tool cannot take, or would change, uses nothing up, and the model is told", async () => {
  const rounding = z.object({ orderId: z.number(), amount: z.number().transform(Math.round) });
  const filling = z.object({ orderId: z.number(), amount: z.number().default(1) });
  for (const [edit, schema, expected] of [
    ["[1042, 1]", undefined, /it is not an object/],
    ['{"orderId": 1042, "amount": "50"}', undefined, /cannot take: .*number/],
    ['{"orderId": 1042, "amount": 49, "isTest": true}', undefined, /makes something else of it/],
    ['{"orderId": 1042, "amount": 12.5}', rounding, /makes something else of it/],
    ['{"orderId": 1042}', filling, /makes something else of it/],
  ] as const) {
    const client = await served.client();
    const { run, paid, told } = makeAgent(
      client,
      [one],
      schema === undefined ? {} : { schema: schema as z.ZodType<Refund> },
    );
    const running = run();
    const { id } = await onlyPending(client);
    await served.approve(id, edit);
    await running;
    assert.match(told(), /approved with changes .* that the tool cannot take/);
    assert.match(told(), expected);
    assert.deepEqual(paid, []);
    // It can still be redeemed, by somebody who can carry it out.
    await client.requests.redeem(id);
  }
});

test("a tool that fails after it paid does not pay again, and the model hears that it may have", async () => {
  const client = await served.client();
  const pay = () => {
    throw new Error("no answer from the bank");
  };
  const { agent, asking, config, run, paid, told } = makeAgent(client, [one], { pay });
  const running = run();
  const { id } = await onlyPending(client);
  await served.approve(id);
  await assert.rejects(running, /no answer from the bank/);
  assert.equal(await resume(agent, await client.requests.get(id), asking), null);
  await invoke(agent, null, config, asking);
  assert.equal(paid.length, 1);
  assert.match(told(), /handed out to run.*did not run it again/);
});

test("a thread whose process was killed inside the tool goes on elsewhere without running it again", async () => {
  const client = await served.client();
  const { promise: isIn, resolve } = Promise.withResolvers<void>();
  const pay = () => {
    resolve();
    return new Promise<string>(() => {});
  };
  const killed = makeAgent(client, [one], { pay });
  void invoke(killed.agent, killed.input, killed.config, killed.asking);
  await served.approve((await onlyPending(client)).id, '{"orderId": 1042, "amount": 12.5}');
  await isIn;
  const { checkpointer, model } = killed;
  const next = makeAgent(client, [], { checkpointer, model });
  await next.agent.invoke(null as never, killed.config);
  assert.deepEqual(next.paid, []);
  assert.match(killed.told(), /handed out to run.*did not run it again/);
});

test("of two calls in one turn the approved one runs, and the model hears about each", async () => {
  const client = await served.client();
  const two = { orderId: 7, amount: 5 };
  const { run, paid, results } = makeAgent(client, [one, two]);
  const running = run();
  const [first, second] = await pending(client, 2);
  assert.ok(first !== undefined && second !== undefined);
  await served.reject(first.id, "Not this one");
  await served.approve(second.id);
  await running;
  assert.deepEqual(paid, [second.payload]);
  const [rejected, ran] =
    (first.payload as Refund).orderId === 7 ? ["call_1", "call_0"] : ["call_0", "call_1"];
  assert.match(results()[rejected] ?? "", /Not this one/);
  assert.equal(results()[ran], "paid");
});

test("an edit that makes two calls alike is told of the call that was edited", async () => {
  const client = await served.client();
  const calls = [one, { orderId: 1042, amount: 5 }];
  const { agent, asking, askOnly, results } = makeAgent(client, calls);
  const [first, second] = await askOnly();
  assert.ok(first !== undefined && second !== undefined);
  await served.approve(first.id);
  await served.approve(second.id, JSON.stringify(one), "The whole");
  await resume(agent, await client.requests.get(second.id), asking);
  assert.equal(results().call_0, "paid");
  assert.match(results().call_1 ?? "", /changed the input.*The whole/s);
});

test("a check that fails for one call leaves every approval of the turn to a later resume", async () => {
  const client = await served.client();
  const { agent, asking, askOnly, paid } = makeAgent(client, [one, { orderId: 7, amount: 5 }]);
  const requests = await askOnly();
  for (const { id } of requests) await served.approve(id);
  const last = await client.requests.get(requests[1]?.id ?? "");
  const broken = z.object({ orderId: z.number(), amount: z.number() }).refine(({ orderId }) => {
    if (orderId === 7) throw new Error("the database is away");
    return true;
  });
  await assert.rejects(resume(agent, last, { ...asking, schemas: { refund: broken } }), /away/);
  await resume(agent, last, asking);
  assert.equal(paid.length, 2);
});

test("nobody is asked about an input that the tool or the Standard Schema refuses, or would change; the model is told why", async () => {
  const plain = { orderId: z.number(), amount: z.number() };
  const schemas = { refund: z.object({ ...plain, amount: z.number().max(10) }) };
  const schema = z.object({ ...plain, amount: z.number().max(10) }) as z.ZodType<Refund>;
  const filling = z.object({ ...plain, memo: z.string().default("none") }) as z.ZodType<Refund>;
  for (const [given, expected] of [
    [{ schemas }, /cannot take: amount: Too big/],
    [{ schema }, /cannot take: Too big/],
    [{ schema: filling }, /makes something else of it than the approver sees/],
  ] as const) {
    const client = await served.client();
    const { run, paid, told } = makeAgent(client, [one], given);
    const result = await run();
    assert.equal(result.messages.at(-1)?.content, "done");
    assert.match(told(), expected);
    assert.match(told(), /nobody is asked to approve it/);
    assert.deepEqual([await all(client), paid], [[], []]);
  }
});

test("of two calls in one turn a person is asked about the one that fits, and the model hears about each", async () => {
  const client = await served.client();
  const schemas = { refund: z.object({ orderId: z.number(), amount: z.number().max(10) }) };
  const two = { orderId: 7, amount: 5 };
  const agent = makeAgent(client, [one, two], { schemas });
  const running = invoke(agent.agent, agent.input, agent.config, agent.asking);
  const { id, payload } = await onlyPending(client);
  assert.deepEqual(payload, two);
  await served.approve(id);
  await running;
  assert.deepEqual(agent.paid, [two]);
  assert.match(agent.results().call_0 ?? "", /cannot take: amount/);
  assert.equal(agent.results().call_1, "paid");
});

test("nobody is asked about an action of a graph of your own that the Standard Schema refuses", async () => {
  const client = await served.client();
  const { agent, asking, config, input } = makeAgent(client, [one]);
  const schemas = { refund: z.object({ orderId: z.number(), amount: z.number().max(10) }) };
  await assert.rejects(invoke(agent, input, config, { ...asking, schemas }), /refund cannot take/);
  assert.deepEqual(await all(client), []);
});

test("an unedited input that the tool no longer takes, or changes, is not called a change by the approver", async () => {
  const plain = { orderId: z.number(), amount: z.number() };
  for (const schema of [
    z.object({ ...plain, amount: z.number().max(10) }),
    z.object({ ...plain, amount: z.number().transform((amount) => amount * 100) }),
    z.object({ ...plain, memo: z.string().default("none") }),
  ]) {
    const client = await served.client();
    const asker = makeAgent(client, [one]);
    const result = await asker.agent.invoke(asker.input, asker.config);
    const [request] = await ask(result, asker.config, asker.asking);
    await served.approve(request?.id ?? "");
    const { checkpointer, model } = asker;
    const given = { checkpointer, model, schema: schema as z.ZodType<Refund> };
    const { agent, asking, paid, told } = makeAgent(client, [], given);
    await resume(agent, await client.requests.get(request?.id ?? ""), asking);
    assert.match(told(), /approved as it was .*, but its input is one that the tool cannot take/);
    assert.deepEqual(paid, []);
    await client.requests.redeem(request?.id ?? "");
  }
});

test("a rejection that is resumed again is told once", async () => {
  const client = await served.client();
  const { agent, asking, askOnly, paid, told, model } = makeAgent(client, [one]);
  const [request] = await askOnly();
  await served.reject(request?.id ?? "", "no");
  const event = await client.requests.get(request?.id ?? "");
  assert.notEqual(await resume(agent, event, asking), null);
  assert.equal(await resume(agent, event, asking), null);
  assert.match(told(), /A person rejected/);
  assert.equal(model.calls.length, 2);
  assert.deepEqual(paid, []);
});

test("a call that was approved past Countersign does not run", async () => {
  const client = await served.client();
  const { agent, config, input, paid, told } = makeAgent(client, [one]);
  await agent.invoke(input, config);
  await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
  assert.match(told(), /holds no approval/);
  assert.deepEqual(paid, []);
});

test("an agent whose tools do not redeem is refused before anybody is asked", async () => {
  const client = await served.client();
  const { asking, config, input, model, checkpointer } = makeAgent(client, [one]);
  const refund = tool(() => "paid", { name: "refund", schema: z.object({}) });
  // LangChain's types of this do not hold under exactOptionalPropertyTypes.
  const humanInTheLoop = humanInTheLoopMiddleware as unknown as (
    options: object,
  ) => AgentMiddleware;
  const middleware = [humanInTheLoop({ interruptOn: { refund: true } })];
  const agent = createAgent({ model, tools: [refund], middleware, checkpointer });
  await assert.rejects(invoke(agent, input, config, asking), /use requireApproval/);
  assert.deepEqual(await all(client), []);
});

test("a thread that is run again while it waits does not ask twice", async () => {
  const client = await served.client();
  const { agent, asking, config, input, paid } = makeAgent(client, [one]);
  const abort = new AbortController();
  const first = invoke(agent, input, { ...config, signal: abort.signal }, asking);
  const { id } = await onlyPending(client);
  abort.abort();
  await assert.rejects(first);
  const second = invoke(agent, null, config, asking);
  await served.approve(id);
  await second;
  assert.deepEqual(paid, [one]);
  assert.equal((await all(client)).length, 1);
});

test("from the webhook, another process goes on with the thread, once for all that was decided", async (t) => {
  const { client, decided, stop } = await withWebhooks(served);
  t.after(stop);
  const two = { orderId: 7, amount: 5 };
  const asker = makeAgent(client, [one, two]);
  const result = await asker.agent.invoke(asker.input, asker.config);
  const [first, second] = await ask(result, asker.config, asker.asking);
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(first.agentState, {
    adapter: "langgraph",
    threadId: asker.config.configurable.thread_id,
  });
  // Shares the checkpoints and the model's script, and nothing else.
  const { agent, asking, paid } = makeAgent(client, [], asker);
  await served.approve(first.id, '{"orderId": 1042, "amount": 12.5}');
  const firstEvent = await decided(first.id);
  assert.equal(await resume(agent, firstEvent, asking), null);
  assert.deepEqual(paid, []);
  await served.approve(second.id);
  const secondEvent = await decided(second.id);
  assert.equal(await resume(agent, firstEvent, asking), null);
  assert.equal((await resume(agent, secondEvent, asking))?.messages.at(-1)?.content, "done");
  assert.deepEqual(paid, [{ orderId: 1042, amount: 12.5 }, two]);
  for (const event of [firstEvent, secondEvent]) {
    assert.equal(await resume(agent, event, asking), null);
  }
  assert.equal(paid.length, 2);
  assert.deepEqual(asker.paid, []);
  assert.equal((await all(client)).length, 2);
});

test("an event about something else, or about a request that is pending, resumes nothing", async () => {
  const client = await served.client();
  const { agent, asking, askOnly, paid } = makeAgent(client, [one]);
  const [request] = await askOnly();
  assert.ok(request !== undefined);
  assert.equal(await resume(agent, request, asking), null);
  assert.equal(await resume(agent, { ...request, agentState: null }, asking), null);
  assert.equal((await pending(client)).length, 1);
  assert.deepEqual(paid, []);
});

test("a graph of your own that interrupts in two places at once hears each answer where it belongs", async () => {
  const client = await served.client();
  const Heard = Annotation.Root({
    heard: Annotation<string[]>({ reducer: (one, other) => [...one, ...other], default: () => [] }),
  });
  const askAbout = (orderId: number) => () => {
    const actionRequests = [{ name: "refund", args: { orderId, amount: 1 } }];
    const { decisions } = interrupt<unknown, HITLResponse>({ actionRequests });
    return { heard: [`${orderId} ${decisions[0]?.type}`] };
  };
  const graph = new StateGraph(Heard)
    .addNode("one", askAbout(1))
    .addNode("two", askAbout(2))
    .addEdge(START, "one")
    .addEdge(START, "two")
    .addEdge("one", END)
    .addEdge("two", END)
    .compile({ checkpointer: new MemorySaver() });
  const { asking, config } = makeAgent(client, []);
  const running = invoke(graph, {}, config, asking);
  for (const { id, summary } of await pending(client, 2)) {
    if (/order 1 /.test(summary)) await served.reject(id, "no");
    else await served.approve(id, '{"orderId": 2, "amount": 0.5}');
  }
  assert.deepEqual((await running).heard.sort(), ["1 reject", "2 edit"]);
});

test("an interrupt about something else than actions is refused before anybody is asked", async () => {
  const client = await served.client();
  const graph = new StateGraph(Annotation.Root({ name: Annotation<string> }))
    .addNode("one", () => ({ name: interrupt<string, string>("What is your name?") }))
    .addEdge(START, "one")
    .addEdge("one", END)
    .compile({ checkpointer: new MemorySaver() });
  const { asking, config } = makeAgent(client, []);
  await assert.rejects(invoke(graph, {}, config, asking), /holds no actionRequests/);
  assert.deepEqual(await all(client), []);
});

test("a thread that somebody named in the approval of something else does not go on", async () => {
  const client = await served.client();
  const { agent, asking, askOnly, paid } = makeAgent(client, [one]);
  await askOnly();
  const { id: asked, agentState } = await onlyPending(client);
  for (const change of [{ payload: one }, { payload: { newsletter: "May" } }]) {
    const forged = { summary: "Newsletter", notify: "mallory@example.com", agentState, ...change };
    const { id } = await client.requests.create<unknown>(forged);
    await served.approve(id);
    assert.equal(await resume(agent, await client.requests.get(id), asking), null);
  }
  assert.deepEqual(paid, []);
  assert.equal((await client.requests.get(asked)).status, "PENDING");
});
