// The action, run by the runner as the step itself and, when the job ends, once more as its post step. The step exits with
// 0 in one case alone: a person approved, this run redeemed it, and the outputs are written.

import { ask, connect, type Outcome, withdraw } from "./asking.ts";
import { input, readJob, readService } from "./inputs.ts";
import { appendFields, appendSummary, assertWritable, complain, mask, say } from "./runner.ts";

const { env } = process;
// Whatever ends this process early must not look like a success.
process.exitCode = 1;
mask(input(env, "api-key"));
const isPost = env.STATE_stage === "post";
const code = await (isPost ? tidyUp() : run()).catch((error: unknown) => {
  complain(isPost ? "warning" : "error", error instanceof Error ? error.message : String(error));
  return isPost ? 0 : 1;
});
process.stdout.write("", () => process.exit(code));

async function run(): Promise<0 | 1> {
  const state = assertWritable(env.GITHUB_STATE, "GITHUB_STATE");
  const outputs = assertWritable(env.GITHUB_OUTPUT, "GITHUB_OUTPUT");
  appendFields(state, { stage: "post" });
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

/** A step that was killed leaves its question behind. */
async function tidyUp(): Promise<0> {
  const id = env.STATE_pending ?? "";
  if (id !== "") {
    await withdraw(connect(readService(env)), id);
    say(`${id} is cancelled, because nobody waits for it any more`);
  }
  return 0;
}
