// `npm run faults:restarts`: two API nodes behind a load balancer, and two workers, are restarted one after the other.
// No call may fail.

import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { judge } from "./judge.ts";
import { countOf, failedCallsOf } from "./report.ts";
import { type Ended, runFaults } from "./run.ts";
import { hasBalancer } from "./world/front.ts";
import { untilAllReady, withWorld } from "./world/world.ts";

const readyWithinMs = 120_000;
/** The load balancer needs two good answers before it believes. */
const betweenMs = 3_000;
const shownCalls = 20;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    "per-second": { type: "string", default: "20" },
  },
});
const say = (line: string) => void process.stdout.write(`  ${line}\n`);
if (!hasBalancer()) {
  process.stderr.write("This needs Debian's haproxy.\n");
  process.exit(2);
}

await withWorld({ seed: Number(values.seed), isBalanced: true }, async (world) => {
  const drive = async () => {
    const ended: Ended[] = [];
    await pause(betweenMs);
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      for (const node of world.nodes) {
        const beganAt = Date.now();
        await node.end("SIGTERM");
        await untilAllReady(world, readyWithinMs);
        await pause(betweenMs);
        ended.push({ name: "restart", target: node.name, beganAt, endedAt: Date.now() });
      }
      say(`round ${round} of ${values.rounds}`);
    }
    return ended;
  };
  const perSecond = Number(values["per-second"]);
  const run = await runFaults(world, { drive, forMs: 0, agents: 16, perSecond, say });
  const failed = failedCallsOf(run.evidence);
  for (const { at, status, answer } of failed.slice(0, shownCalls))
    say(`FAILED  ${at}: ${status} ${answer}`);
  const flaws = judge(run);
  for (const { promise, what } of flaws.slice(0, shownCalls)) say(`FLAW  ${promise}: ${what}`);
  for (const [name, count] of Object.entries(countOf(run, world))) say(`${name}: ${count}`);
  say(`${failed.length} calls failed`);
  if (failed.length + flaws.length > 0) process.exitCode = 1;
});
