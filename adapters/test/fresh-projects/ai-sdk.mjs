// An agent on the Vercel AI SDK in a project of its own. Started again after a kill, it goes on with the same run.

import { appendFileSync } from "node:fs";
import { requireApproval } from "@countersign/ai-sdk";
import { Countersign } from "@countersign/sdk";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const refund = tool({
  description: "Pays money back",
  inputSchema: z.object({ orderId: z.number(), amount: z.number() }),
  execute: async (input) => {
    appendFileSync("paid.jsonl", `${JSON.stringify(input)}\n`);
    return "paid";
  },
});

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

const describe = ({ orderId, amount }) => ({
  summary: `Refund order ${orderId} (${amount} EUR)`,
  notify: "ann@example.com",
});
const gated = requireApproval(new Countersign(), refund, describe, { runId: "ticket-17" });
await generateText({
  model,
  prompt: "Order 1042 came back. Refund it.",
  tools: { refund: gated },
  stopWhen: stepCountIs(3),
});
