// An agent on LangChain in a project of its own. Started again after a kill, it goes on with its thread, whose
// checkpoints are in a file.

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { invoke, requireApproval } from "@countersign/langchain";
import { Countersign } from "@countersign/sdk";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { z } from "zod";

class ScriptedModel extends BaseChatModel {
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    const last = messages.at(-1);
    const isTold = last.getType() === "tool";
    if (isTold) appendFileSync("told.jsonl", `${JSON.stringify(last.content)}\n`);
    const call = { name: "refund", args: { orderId: 1042, amount: 49 }, id: "call_1" };
    const message = isTold
      ? new AIMessage("done")
      : new AIMessage({ content: "", tool_calls: [{ ...call, type: "tool_call" }] });
    return { generations: [{ text: "", message }] };
  }
}

const file = "checkpoints.bin";
const isNew = !existsSync(file);

class FileSaver extends MemorySaver {
  constructor() {
    super();
    if (!isNew) Object.assign(this, deserialize(readFileSync(file)));
  }
  async put(...args) {
    const config = await super.put(...args);
    this.#save();
    return config;
  }
  async putWrites(...args) {
    await super.putWrites(...args);
    this.#save();
  }
  #save() {
    const part = `${file}.${process.pid}`;
    writeFileSync(part, serialize({ storage: this.storage, writes: this.writes }));
    renameSync(part, file);
  }
}

const countersign = new Countersign();
const refund = tool(
  (input) => {
    appendFileSync("paid.jsonl", `${JSON.stringify(input)}\n`);
    return "paid";
  },
  {
    name: "refund",
    description: "Pays money back",
    schema: z.object({ orderId: z.number(), amount: z.number() }),
  },
);
const agent = createAgent({
  model: new ScriptedModel({}),
  tools: [refund],
  middleware: [requireApproval(countersign, ["refund"])],
  checkpointer: new FileSaver(),
});

await invoke(
  agent,
  isNew ? { messages: [{ role: "user", content: "Order 1042 came back. Refund it." }] } : null,
  { configurable: { thread_id: "ticket-17" } },
  {
    countersign,
    describe: ({ name, args }) => ({
      summary: `${name} order ${args.orderId} (${args.amount} EUR)`,
      notify: "ann@example.com",
    }),
  },
);
