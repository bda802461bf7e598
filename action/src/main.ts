// The step itself. It exits with 0 in one case alone: a person approved, this run redeemed it, and the outputs are written.

import { ask, connect, type Outcome, withdraw } from "./asking.ts";
import { isPlain, readJob, readService } from "./inputs.ts";
import { runProgram } from "./program.ts";
import { appendFields, appendSummary, assertWritable, complain, say } from "./runner.ts";

const { env } = process;
await runProgram(env, run, { level: "error", code: 1 });

async function run(): Promise<0 | 1> {
  const state = assertWritable(env.GITHUB_STATE, "GITHUB_STATE");
  const outputs = assertWritable(env.GITHUB_OUTPUT, "GITHUB_OUTPUT");
  // Before anything can fail: the post step would believe a variable of this name that an earlier step has set.
  appendFields(state, { pending: "" });
  const { baseUrl } = readService(env);
  if (isPlain(baseUrl)) {
    complain(
      "warning",
      `Anybody on the way to ${baseUrl} can read the key, and approve. Use https.`,
    );
  }
  const job = readJob(env);
  const requests = connect(job.service);
  const cancelled = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => cancelled.abort(new Error("The job was cancelled.")));
  }
  let askedId: string | null = null;
  const onAsked = ({ id, status }: Outcome["request"]) => {
    askedId = id;
    appendFields(state, { pending: id });
    if (status === "PENDING") say(`waiting for a decision about ${id}`);
  };
  try {
    const outcome = await ask(requests, job, { signal: cancelled.signal, onAsked });
    cancelled.signal.throwIfAborted();
    appendFields(state, { pending: "" });
    return report(outcome, outputs);
  } catch (error) {
    if (askedId !== null) {
      appendFields(outputs, { "request-id": askedId });
      // Nobody comes back for this decision. The post step tries again if this fails.
      await withdraw(requests, askedId).catch(() => {});
    }
    throw error;
  }
}

function report({ request, payload, problem }: Outcome, outputs: string): 0 | 1 {
  const { id, status, summary, modifiedPayload, resolutionNote: note } = request;
  const edited = String(modifiedPayload !== null);
  const isApproved = payload !== null;
  appendSummary(
    env.GITHUB_STEP_SUMMARY,
    isApproved ? "Countersign: approved" : "Countersign: not approved",
    { Request: id, Status: status, Summary: summary, Edited: edited, Note: note ?? "" },
  );
  appendFields(outputs, { status, "request-id": id, edited });
  if (!isApproved) {
    complain("error", `Not approved (${id}). ${problem}`);
    return 1;
  }
  appendFields(outputs, { "effective-payload": payload });
  say(`${id} is approved${edited === "true" ? ", with changes" : ""}`);
  return 0;
}
