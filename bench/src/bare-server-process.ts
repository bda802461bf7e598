// The benchmark's side of the bare server: what it is to answer, and where it is.

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Connection } from "./service.ts";
import type { Statement } from "./workloads.ts";

export type BareServerPlan = {
  connection: Connection;
  calls: { url: string; statement: Statement; answer: string }[];
};

export async function withBareServer<Result>(
  plan: BareServerPlan,
  work: (port: number) => Promise<Result>,
): Promise<Result> {
  const child = fork(fileURLToPath(new URL("bare-server.ts", import.meta.url)), {
    serialization: "advanced",
  });
  try {
    const listening = once(child, "message");
    child.send(plan);
    const [port] = await listening;
    return await work(port);
  } finally {
    child.kill();
  }
}
