// How much of this machine is free just now: every core does the same work at once, and the time that this takes tells.

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** The time that an idle core takes for the work below, on the machine that the tests' limits were written on. */
const quietCoreMs = 310;
const work = `
  const { parentPort } = require("node:worker_threads");
  parentPort.once("message", () => {
    let sum = 1;
    for (let round = 0; round < 200_000_000; round += 1) sum = (Math.imul(sum, 1_664_525) + 1_013_904_223) | 0;
    parentPort.postMessage(sum);
  });
  parentPort.postMessage("ready");
`;

/** In cores of that machine: 2 on two quiet cores, 1 under a quota of one, 0.7 beside two busy loops a core. */
export async function measureFreeCores(): Promise<number> {
  const cores = availableParallelism();
  const workers = Array.from({ length: cores }, () => new Worker(work, { eval: true }));
  const heard = () =>
    Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("message", resolve))));
  await heard();
  const started = performance.now();
  const done = heard();
  for (const worker of workers) worker.postMessage("begin");
  await done;
  const ms = performance.now() - started;
  await Promise.all(workers.map((worker) => worker.terminate()));
  return Math.min(cores, (cores * quietCoreMs) / ms);
}
