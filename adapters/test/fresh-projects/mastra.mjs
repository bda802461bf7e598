// An agent on Mastra in a project of its own. Its run is suspended while nobody has decided; started again after a kill,
// it goes on from the storage, which is in a file.

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { requireApproval, resume } from "@countersign/mastra";
import { Countersign } from "@countersign/sdk";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const call = { orderId: 1042, amount: 49 };
const model = {
  specificationVersion: "v2",
  provider: "scripted",
  modelId: "scripted",
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    const last = prompt.at(-1);
    const isTold = last.role === "tool";
    if (isTold) appendFileSync("told.jsonl", `${JSON.stringify(last.content)}\n`);
    return {
      content: isTold
        ? [{ type: "text", text: "done" }]
        : [
            {
              type: "tool-call",
              toolCallId: "call_1",
              toolName: "refund",
              input: JSON.stringify(call),
            },
          ],
      finishReason: isTold ? "stop" : "tool-calls",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      warnings: [],
    };
  },
};

const countersign = new Countersign();
const refund = createTool({
  id: "refund",
  description: "Pays money back",
  inputSchema: z.object({ orderId: z.number(), amount: z.number() }),
  execute: async (input) => {
    appendFileSync("paid.jsonl", `${JSON.stringify(input)}\n`);
    return "paid";
  },
});
const describe = ({ orderId, amount }) => ({
  summary: `Refund order ${orderId} (${amount} EUR)`,
  notify: "ann@example.com",
});
const refunds = new Agent({
  id: "refunds",
  name: "Refunds",
  instructions: "Refund what came back.",
  model,
  tools: { refund: requireApproval(countersign, refund, describe, { whilePending: "suspend" }) },
});
const storage = new InMemoryStore();
const mastra = new Mastra({ agents: { refunds }, storage, logger: false });
const agent = mastra.getAgent("refunds");

const file = "storage.bin";
const { workflows } = storage.stores.workflows.db;
if (existsSync(file)) {
  for (const [key, run] of deserialize(readFileSync(file))) workflows.set(key, run);
} else {
  await agent.generate("Order 1042 came back. Refund it.");
  writeFileSync(`${file}.part`, serialize([...workflows]));
  renameSync(`${file}.part`, file);
}
const [{ id }] = (await countersign.requests.listPage()).data;
await resume(agent, await countersign.requests.waitForDecision(id));
