// How the step and its post step start and end. Each is a file of its own, because a variable that said which of them
// runs could be set by an earlier step, and the post step succeeds without a question.

import { input } from "./inputs.ts";
import { complain, mask } from "./runner.ts";

/** `env` is the process's own. */
export async function runProgram(
  env: Record<string, string | undefined>,
  program: () => Promise<number>,
  thrown: { level: "error" | "warning"; code: 0 | 1 },
): Promise<void> {
  // Whatever ends this process early must not look like a success.
  process.exitCode = 1;
  // Set for another program's sake, it would let anybody on the way answer in the service's name.
  delete env.NODE_TLS_REJECT_UNAUTHORIZED;
  mask(input(env, "api-key"));
  const code = await program().catch((error: unknown) => {
    complain(thrown.level, error instanceof Error ? error.message : String(error));
    return thrown.code;
  });
  process.stdout.write("", () => process.exit(code));
}
