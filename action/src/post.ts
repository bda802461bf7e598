// The post step, run by the runner when the job ends: a step that was killed leaves its question behind.

import { connect, withdraw } from "./asking.ts";
import { readService } from "./inputs.ts";
import { runProgram } from "./program.ts";
import { say } from "./runner.ts";

const { env } = process;
await runProgram(env, tidyUp, { level: "warning", code: 0 });

async function tidyUp(): Promise<0> {
  const id = env.STATE_pending ?? "";
  if (id === "") return 0;
  const isCancelled = await withdraw(connect(readService(env)), id);
  say(
    isCancelled
      ? `${id} is cancelled, because nobody waits for it any more`
      : `${id} was decided, and nobody waited for it any more`,
  );
  return 0;
}
