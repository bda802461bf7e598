// `npm run faults:primaries`: the primary of a cluster dies under load, again and again. With `--switchover` it hands
// over to a standby by plan, and no call may fail.

import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Flaw } from "./evidence.ts";
import { judge } from "./judge.ts";
import { keep } from "./keep.ts";
import { countOf, failedCallsOf, percentile, recoveriesOf } from "./report.ts";
import { type Ended, runFaults } from "./run.ts";
import { Cluster, hasFakeTime, missingPrograms } from "./world/cluster.ts";
import { withWorld } from "./world/world.ts";

const shownFlaws = 20;
/** Of work between a cluster that is whole again and the next death. */
const betweenMs = 5_000;
/** A machine needs a while to come back. */
const deadMs = 3_000;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    "per-second": { type: "string", default: "6" },
    asynchronous: { type: "boolean", default: false },
    switchover: { type: "boolean", default: false },
    clocks: { type: "string", default: "" },
    keep: { type: "string" },
  },
});
const say = (line: string) => void process.stdout.write(`  ${line}\n`);
const missing = missingPrograms();
if (missing !== null) {
  process.stderr.write(
    `This needs Debian's patroni, etcd-server, haproxy and postgresql-15: ${missing}\n`,
  );
  process.exit(2);
}

const kills = Number(values.kills);
/** By how many seconds the clock of each PostgreSQL is ahead, such as 0,3600,-60. */
const clocksOff = values.clocks === "" ? [] : values.clocks.split(",").map(Number);
if (clocksOff.length > 0 && !hasFakeTime()) {
  process.stderr.write("This needs Debian's libfaketime.\n");
  process.exit(2);
}
const cluster = await Cluster.start(!values.asynchronous, clocksOff);
say(`three PostgreSQL, ${values.asynchronous ? "asynchronous" : "synchronous and strict"}`);
const startPostgres = () => cluster.use();
const change = values.switchover ? "handed over" : "killed";

async function dieAndComeBack(): Promise<string> {
  const name = cluster.killPrimary();
  await pause(deadMs);
  await cluster.untilPrimary();
  cluster.startDead();
  return name;
}

await withWorld({ seed: Number(values.seed), startPostgres }, async (world) => {
  const drive = async () => {
    const ended: Ended[] = [];
    for (let n = 1; n <= kills; n += 1) {
      await pause(betweenMs);
      const beganAt = Date.now();
      const target = values.switchover ? await cluster.switchOver() : await dieAndComeBack();
      await cluster.untilHealthy();
      ended.push({ name: change, target, beganAt, endedAt: Date.now() });
      say(`${n}: ${target} ${change}, whole again after ${Date.now() - beganAt} ms`);
    }
    return ended;
  };
  const perSecond = Number(values["per-second"]);
  const run = await runFaults(world, { drive, forMs: 0, agents: 12, perSecond, say });
  if (values.keep !== undefined) keep(values.keep, run.evidence);
  // PostgreSQL's clock is the service's: where it jumps, times are no longer what the machine's clock says.
  const all = judge(run);
  const isExcused = (flaw: Flaw) => clocksOff.length > 0 && flaw.isByClock === true;
  const flaws = all.filter((flaw) => !isExcused(flaw));
  for (const { promise, what } of flaws.slice(0, shownFlaws)) say(`FLAW  ${promise}: ${what}`);
  for (const [promise, some] of Map.groupBy(all.filter(isExcused), (each) => each.promise)) {
    say(`by another clock: ${promise}: ${some.length}`);
  }
  for (const [name, count] of Object.entries(countOf(run, world))) say(`${name}: ${count}`);
  const failed = failedCallsOf(run.evidence);
  say(`${failed.length} calls failed`);
  for (const { at, status, answer } of failed.slice(0, shownFlaws)) {
    say(`FAILED  ${new Date(at).toISOString()}: ${status} ${answer}`);
  }
  if (values.switchover && failed.length > 0) process.exitCode = 1;
  // From the death of the primary, not from the moment in which the cluster was whole again.
  const recoveries = recoveriesOf(
    run.evidence,
    run.faults.map(({ beganAt }) => beganAt + 1_000),
  );
  for (const [name, share] of [
    ["p50", 0.5],
    ["p99", 0.99],
    ["max", 1],
  ] as const) {
    say(
      `from the primary's end to the next acknowledged create, ${name}: ${percentile(recoveries, share)} ms`,
    );
  }
  say(flaws.length === 0 ? "the checker found nothing" : `the checker found ${flaws.length} flaws`);
  if (flaws.length > 0 && !values.asynchronous) process.exitCode = 1;
});
