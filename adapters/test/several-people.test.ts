// Each adapter asks several people if its `describe` says so, and runs nothing before the last of them has approved. The
// service is the testing kit's, which is held to the real one elsewhere.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MemorySaver } from "@langchain/langgraph";
import { createTool } from "@mastra/core/tools";
import { Agent, Runner } from "@openai/agents-core";
import { functionCall, modelResponse, ScriptedModel } from "@openai/agents-core/testing";
import { tool as aiTool } from "ai";
import { AIMessage, createAgent, fakeModel, tool as langTool } from "langchain";
import { z } from "zod";
import { Countersign, type CreateRequest } from "../../sdk/src/index.ts";
import { FakeService } from "../../sdk/src/testing/fake-service.ts";
import { requireApproval as aiApproval } from "../ai-sdk/src/ai-sdk.ts";
import { invoke, requireApproval as langApproval } from "../langchain/src/langchain.ts";
import { requireApproval as mastraApproval } from "../mastra/src/mastra.ts";
import { ask, requireApproval, resume } from "../openai-agents/src/openai-agents.ts";

type Payment = { amount: number };
const one: Payment = { amount: 40_000 };
const inputSchema = z.object({ amount: z.number() });

const question: Omit<CreateRequest, "payload" | "agentState"> = {
  summary: "Pay 40000",
  notify: "group:finance",
  quorum: 2,
  then: [{ notify: "cfo@x.example" }],
  requestedBy: "eve@x.example",
  escalate: [{ afterMinutes: 60, notify: "group:directors" }],
};

function makeOffice() {
  const service = new FakeService({
    groups: [
      { key: "finance", name: "Finance", members: ["ann@x.example", "ben@x.example"] },
      { key: "directors", name: "Directors", members: ["dan@x.example"] },
    ],
  });
  const paid: Payment[] = [];
  const pay = async (input: Payment) => {
    paid.push(input);
    return { isPaid: true };
  };
  return { service, client: new Countersign(service.options), paid, pay };
}

type Office = ReturnType<typeof makeOffice>;

/** Everybody but the last one approves. */
async function approveMostly({ service, paid }: Office): Promise<string> {
  const { id, approvals, requestedBy } = await service.nextRequest();
  assert.equal(requestedBy, "eve@x.example");
  assert.deepEqual(
    approvals?.stages.map(({ notify, required }) => [notify, required]),
    [
      ["group:finance", 2],
      ["cfo@x.example", 1],
    ],
  );
  for (const by of ["ann@x.example", "ben@x.example"]) service.approve(id, { by });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(paid, []);
  return id;
}

const ways: Record<string, (office: Office) => Promise<unknown>> = {
  "the Vercel AI SDK": async ({ client, pay }) => {
    const gated = aiApproval(client, aiTool({ inputSchema, execute: pay }), () => question);
    return gated.execute?.(one, { toolCallId: "c", messages: [], context: {} } as never);
  },
  Mastra: async ({ client, pay }) => {
    const own = createTool({ id: "pay", description: "Pays", inputSchema, execute: pay });
    return mastraApproval(client, own, () => question).execute?.(one, {} as never);
  },
  LangChain: async ({ client, pay }) => {
    const own = langTool(async (input: Payment) => JSON.stringify(await pay(input)), {
      name: "pay",
      schema: inputSchema,
    });
    const model = fakeModel()
      .respondWithTools([{ name: "pay", args: one, id: "call_1" }])
      .respond(new AIMessage("done"));
    const middleware = [langApproval(client, ["pay"])];
    const agent = createAgent({ model, tools: [own], middleware, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "1" } };
    const input = { messages: [{ role: "user", content: "Pay" }] };
    return invoke(agent, input, config, { countersign: client, describe: () => question });
  },
};

for (const [name, run] of Object.entries(ways)) {
  test(`${name}: the tool runs once all stages are complete, and not before`, async () => {
    const office = makeOffice();
    const running = run(office);
    const id = await approveMostly(office);
    office.service.approve(id, { by: "cfo@x.example" });
    await running;
    assert.deepEqual(office.paid, [one]);
  });
}

test("the OpenAI Agents SDK: a run goes on with all people's approval, and never with that of fewer", async () => {
  const office = makeOffice();
  const { client, service, paid, pay } = office;
  const runner = new Runner({ tracingDisabled: true });
  const own = { name: "pay", description: "Pays", parameters: inputSchema, execute: pay };
  const makeAgent = () => {
    const model = new ScriptedModel([
      modelResponse([functionCall("pay", one, { callId: "call_1" })]),
    ]);
    return new Agent({ name: "Payer", model, tools: [requireApproval(own)] });
  };
  const { state } = await runner.run(makeAgent(), "Pay");
  const { quorum: _, then: __, ...fewer } = question;
  const forged = await ask(client, state, () => fewer);
  assert.ok(forged !== null);
  service.approve(forged.id, { by: "ann@x.example" });
  assert.equal(service.request((await service.nextRequest()).id).status, "APPROVED");
  const refused = resume(client, makeAgent(), service.request(forged.id), () => question);
  await assert.rejects(refused, /was not asked for this call/);
  // Another run: the same call of the same run is the same request.
  const other = await runner.run(makeAgent(), "Pay");
  const asked = await ask(client, other.state, () => question);
  assert.ok(asked !== null);
  await approveMostly(office);
  assert.equal(await resume(client, makeAgent(), service.request(asked.id), () => question), null);
  service.approve(asked.id);
  assert.ok(
    (await resume(client, makeAgent(), service.request(asked.id), () => question)) !== null,
  );
  assert.deepEqual(paid, []);
});
