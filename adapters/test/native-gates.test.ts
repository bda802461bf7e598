// What each framework's own gate does, without Countersign: the table in docs/native-gates.md says it, and this shows it.
// A framework that does better from some version on makes a test here fail, and then the table has to change.
import assert from "node:assert/strict";
import { mock, type TestContext, test } from "node:test";
import { Command, MemorySaver } from "@langchain/langgraph";
import { Mastra } from "@mastra/core";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Agent, tool as openAiTool, Runner, RunState } from "@openai/agents-core";
import {
  assistantMessage,
  functionCall,
  modelResponse,
  ScriptedModel,
} from "@openai/agents-core/testing";
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import {
  type AgentMiddleware,
  AIMessage,
  tool as chainTool,
  createAgent,
  fakeModel,
  humanInTheLoopMiddleware,
} from "langchain";
import { z } from "zod";

// LangChain's types of this do not hold under exactOptionalPropertyTypes.
const humanInTheLoop = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware;

type Refund = { orderId: number; amount: number };
const one: Refund = { orderId: 1042, amount: 49 };
const inputSchema = z.object({ orderId: z.number(), amount: z.number() });
const yearMs = 365 * 24 * 60 * 60 * 1000;

/** Acts. In a process that is killed right after, it never returns. */
type Pay = (input: Refund) => Promise<string>;

/** A run that has stopped before its tool. Each `approve` is a process of its own that has what was kept, and no more. */
type Paused = { approve(pay: Pay, edit?: Refund): Promise<unknown> };

const gates: Record<string, () => Promise<Paused>> = {
  "Vercel AI SDK": async () => {
    const run = (messages: ModelMessage[], execute: Pay) =>
      generateText({
        model: languageModel(),
        tools: { refund: tool({ inputSchema, execute }) },
        toolApproval: { refund: "user-approval" },
        messages,
        stopWhen: isStepCount(3),
      });
    const prompt: ModelMessage[] = [{ role: "user", content: "Refund it" }];
    const { content, responseMessages } = await run(prompt, neverPays);
    const asked = content.find((part) => part.type === "tool-approval-request");
    assert.ok(asked !== undefined);
    const kept = JSON.stringify([...prompt, ...responseMessages]);
    return {
      approve: (pay, edit) =>
        run(
          [
            ...(JSON.parse(kept) as ModelMessage[]),
            {
              role: "tool",
              content: [
                {
                  type: "tool-approval-response",
                  approvalId: asked.approvalId,
                  approved: true,
                  ...(edit !== undefined && { input: edit, args: edit }),
                },
              ],
            },
          ],
          pay,
        ),
    };
  },

  "LangChain and LangGraph": async () => {
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "thread-1" } };
    const start = (pay: Pay, model: ReturnType<typeof fakeModel>) =>
      createAgent({
        model,
        tools: [chainTool(pay, { name: "refund", schema: inputSchema })],
        middleware: [humanInTheLoop({ interruptOn: { refund: true } })],
        checkpointer,
      });
    const asking = fakeModel().respondWithTools([{ name: "refund", args: one, id: "call_1" }]);
    await start(neverPays, asking).invoke(
      { messages: [{ role: "user", content: "Refund it" }] },
      config,
    );
    return {
      approve: (pay, edit) =>
        start(pay, fakeModel().respond(new AIMessage("done"))).invoke(
          new Command({
            resume: {
              decisions: [
                edit === undefined
                  ? { type: "approve" }
                  : { type: "edit", editedAction: { name: "refund", args: edit } },
              ],
            },
          }),
          config,
        ),
    };
  },

  "OpenAI Agents SDK": async () => {
    const runner = new Runner({ tracingDisabled: true });
    const start = (execute: Pay, script: ConstructorParameters<typeof ScriptedModel>[0]) =>
      new Agent({
        name: "Refunds",
        model: new ScriptedModel(script),
        tools: [
          openAiTool({
            name: "refund",
            description: "Pays money back",
            parameters: inputSchema,
            needsApproval: true,
            execute,
          }),
        ],
      });
    const calls = modelResponse([functionCall("refund", one, { callId: "call_1" })]);
    const kept = (await runner.run(start(neverPays, [calls]), "Refund it")).state.toString();
    return {
      approve: async (pay, edit) => {
        const agent = start(pay, [modelResponse([assistantMessage("done")])]);
        const state = await RunState.fromString(agent, kept);
        for (const item of state.getInterruptions()) {
          state.approve(item, { input: edit, arguments: edit } as never);
        }
        return runner.run(agent, state);
      },
    };
  },

  Mastra: async () => {
    const storage = new InMemoryStore();
    const start = (pay: Pay) => {
      const refund = createTool({
        id: "refund",
        description: "Pays money back",
        inputSchema,
        requireApproval: true,
        execute: pay,
      });
      const refunds = new MastraAgent({
        id: "refunds",
        name: "Refunds",
        instructions: "Refund what is asked for",
        model: languageModel() as never,
        tools: { refund },
      });
      return new Mastra({ agents: { refunds }, storage, logger: false }).getAgent("refunds");
    };
    const { runId = "" } = await start(neverPays).generate("Refund it");
    return {
      approve: (pay, edit) =>
        start(pay).approveToolCallGenerate({
          runId,
          toolCallId: "call_1",
          ...({ resumeData: { approved: true, ...edit }, input: edit, args: edit } as object),
        }),
    };
  },
};

async function neverPays(): Promise<string> {
  throw new Error("the tool ran before anybody approved");
}

/** Calls the tool, unless it was told a result. */
function languageModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const isAnswered = prompt.at(-1)?.role === "tool";
      const call = {
        type: "tool-call",
        toolCallId: "call_1",
        toolName: "refund",
        input: JSON.stringify(one),
      } as const;
      return {
        content: isAnswered ? [{ type: "text", text: "done" }] : [call],
        finishReason: { unified: isAnswered ? "stop" : "tool-calls", raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
}

for (const [name, pause] of Object.entries(gates)) {
  test(`${name}: an approval a year later still runs the tool`, async (t: TestContext) => {
    const paid: Refund[] = [];
    const { approve } = await pause();
    mock.timers.enable({ apis: ["Date"], now: Date.now() + yearMs });
    t.after(() => mock.timers.reset());
    await approve(async (input) => {
      paid.push(input);
      return "paid";
    });
    assert.deepEqual(paid, [one]);
  });

  test(`${name}: after a crash in the tool, the same approval runs it again`, async () => {
    const paid: Refund[] = [];
    const { approve } = await pause();
    await new Promise<void>((resolve) => {
      void approve((input) => {
        paid.push(input);
        resolve();
        return new Promise(() => {});
      });
    });
    await approve(async (input) => {
      paid.push(input);
      return "paid";
    });
    assert.deepEqual(paid, [one, one]);
  });
  const takesEdits = name === "LangChain and LangGraph";
  test(`${name}: ${takesEdits ? "runs with an edit" : "has no place for an edit, and runs the first input"}`, async () => {
    const paid: Refund[] = [];
    const edit = { orderId: 1042, amount: 12 };
    const { approve } = await pause();
    await approve(async (input) => {
      paid.push(input);
      return "paid";
    }, edit);
    assert.deepEqual(paid, [takesEdits ? edit : one]);
  });
}
