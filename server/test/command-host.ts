// Runs commands of the program one after another in one process, as often as it is told to, which saves a start of Node
// for each. Each command has its own words, environment, standard output and exit code. Tests start processes for cases
// that only a process can show: an end by a signal, a pipe that is closed, a PostgreSQL that is left behind.

import type { Environment, Outcome } from "./test-program.ts";

type Job = { environment: Environment; words: string[] };

const program = new URL("../src/main.ts", import.meta.url);
let jobs = 0;

process.on("message", async (job: Job) => {
  const outcome = await runJob(job);
  process.send?.(outcome);
});

async function runJob({ environment, words }: Job): Promise<Outcome> {
  jobs += 1;
  const written = { stdout: "", stderr: "" };
  let exitCode: number | null = null;
  const own = { env: process.env, argv: process.argv, exit: process.exit };
  const listeners = process.listeners("uncaughtException");
  const outputListeners = process.stdout.listeners("error");
  const restore = [capture("stdout"), capture("stderr")];
  process.env = { ...environment };
  process.argv = [process.execPath, "countersign", ...words];
  // The first call would have ended the process.
  process.exit = ((code?: number) => {
    exitCode ??= code ?? 0;
  }) as typeof process.exit;
  try {
    // The program runs when it is loaded; under another address Node loads it again, and all below it only once.
    await import(`${program.href}?job=${jobs}`);
  } finally {
    for (const each of restore) each();
    Object.assign(process, own);
    for (const each of process.listeners("uncaughtException")) {
      if (!listeners.includes(each)) process.off("uncaughtException", each);
    }
    for (const each of process.stdout.listeners("error")) {
      if (!outputListeners.includes(each)) process.stdout.off("error", each as () => void);
    }
  }
  const code = exitCode ?? Number(process.exitCode ?? 0);
  process.exitCode = 0;
  return { code, ...written };

  function capture(name: "stdout" | "stderr"): () => void {
    const stream = process[name];
    const { write } = stream;
    stream.write = ((text: string | Uint8Array) => {
      written[name] += String(text);
      return true;
    }) as typeof stream.write;
    return () => {
      stream.write = write;
    };
  }
}
