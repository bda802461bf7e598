// Starts the process that asks. It can hang, crash or run out of memory: the hook still answers.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Job } from "./asking.ts";
import { isObject, type Verdict } from "./tool-call.ts";

export type Asking = {
  verdict: Promise<Verdict>;
  /** Nobody waits any more: the request is cancelled, by a process that may outlive this one for that. */
  giveUp(): void;
  kill(): void;
};

const megabytesMax = 256;

export function startAsking(job: Job): Asking {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = fileURLToPath(new URL(`./asking-program.${extension}`, import.meta.url));
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${megabytesMax}`, "--no-warnings", program],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  const verdict = new Promise<Verdict>((resolve, reject) => {
    let said = "";
    let complaint = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
    });
    child.stderr.on("data", (chunk) => {
      complaint = `${complaint}${chunk}`.slice(0, 2_000);
    });
    child.on("error", reject);
    // It may be gone before it has read.
    child.stdin.on("error", () => {});
    child.on("close", (code) => {
      const read = code === 0 ? readVerdict(said) : null;
      if (read !== null) resolve(read);
      else reject(new Error(complaint.trim() || `asking ended with ${code ?? "a signal"}`));
    });
    child.stdin.write(`${JSON.stringify(job)}\n`);
  });
  return {
    verdict,
    giveUp: () => void child.stdin.write("give up\n"),
    kill: () => void child.kill("SIGKILL"),
  };
}

function readVerdict(text: string): Verdict | null {
  try {
    const verdict: unknown = JSON.parse(text);
    if (!isObject(verdict)) return null;
    return ["allow", "deny", "defer"].includes(String(verdict.kind)) ? (verdict as Verdict) : null;
  } catch {
    return null;
  }
}
