// LangGraph: a graph of one node that interrupts, its thread kept by the PostgreSQL checkpointer, resumed by a command.

import { randomUUID } from "node:crypto";
import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import pg from "pg";
import { versionOf } from "./installed-version.ts";
import { type LibraryPeer, serveLibrary } from "./library-peer.ts";
import { connectionsMax, type Setup } from "./peer-process.ts";

const State = Annotation.Root({ request: Annotation<unknown>, decision: Annotation<unknown> });

serveLibrary(openLangGraph);

async function openLangGraph({ connection }: Setup): Promise<LibraryPeer> {
  const pool = new pg.Pool({ ...connection, max: connectionsMax });
  const checkpointer = new PostgresSaver(pool);
  await checkpointer.setup();
  const graph = new StateGraph(State)
    .addNode("ask", ({ request }) => ({ decision: interrupt(request) }))
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile({ checkpointer });
  // "exit" writes least: nothing between the steps, and everything before a call returns at the interrupt or the end.
  const threadOf = (id: string) =>
    ({ configurable: { thread_id: id }, durability: "exit" }) as const;
  return {
    name: `LangGraph ${versionOf("@langchain/langgraph")}`,
    ask: async (request) => {
      const id = randomUUID();
      await graph.invoke({ request }, threadOf(id));
      return id;
    },
    read: async (id) => {
      const { tasks } = await graph.getState(threadOf(id));
      const pending = tasks[0]?.interrupts[0];
      if (pending === undefined) throw new Error("the thread is not interrupted");
      return pending.value;
    },
    resolve: async (id, decision) => {
      const ended = await graph.invoke(new Command({ resume: decision }), threadOf(id));
      return ended.decision;
    },
    close: () => pool.end(),
  };
}
