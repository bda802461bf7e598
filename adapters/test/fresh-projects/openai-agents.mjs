// An agent on the OpenAI Agents SDK in a project of its own. Started again after a kill, it goes on from the request,
// which holds the run.

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { ask, requireApproval, resume } from "@countersign/openai-agents";
import { Countersign } from "@countersign/sdk";
import { Agent, Runner, Usage } from "@openai/agents-core";
import { z } from "zod";

const model = {
  getResponse: async ({ input }) => {
    const last = Array.isArray(input) ? input.at(-1) : undefined;
    const isTold = last?.type === "function_call_result";
    if (isTold) appendFileSync("told.jsonl", `${JSON.stringify(last.output)}\n`);
    const call = { name: "refund", arguments: '{"orderId":1042,"amount":49}', callId: "call_1" };
    const answer = { role: "assistant", content: [{ type: "output_text", text: "done" }] };
    const item = isTold ? { type: "message", ...answer } : { type: "function_call", ...call };
    return { usage: new Usage(), output: [{ ...item, status: "completed" }] };
  },
};

const refund = requireApproval({
  name: "refund",
  description: "Pays money back",
  parameters: z.object({ orderId: z.number(), amount: z.number() }),
  execute: async (input) => {
    appendFileSync("paid.jsonl", `${JSON.stringify(input)}\n`);
    return "paid";
  },
});
const agent = new Agent({ name: "Refunds", model, tools: [refund] });
const describe = (toolName, { orderId, amount }) => ({
  summary: `${toolName} order ${orderId} (${amount} EUR)`,
  notify: "ann@example.com",
});

const countersign = new Countersign();
const modelProvider = { getModel: () => model };
const runner = new Runner({ modelProvider, tracingDisabled: true });
const file = "request.txt";
if (!existsSync(file)) {
  const { state } = await runner.run(agent, "Order 1042 came back. Refund it.");
  const { id } = await ask(countersign, state, describe);
  writeFileSync(`${file}.part`, id);
  renameSync(`${file}.part`, file);
}
const request = await countersign.requests.waitForDecision(readFileSync(file, "utf8"));
const state = await resume(countersign, agent, request, describe);
await runner.run(agent, state);
