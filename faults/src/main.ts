// `npm run faults`: a run of all faults by a seed, the checker's word on it, and its report.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { judge } from "./judge.ts";
import { keep } from "./keep.ts";
import { countOf, reportOf } from "./report.ts";
import { followPlan, runFaults } from "./run.ts";
import { planOf } from "./schedule.ts";
import { withWorld } from "./world/world.ts";

const shownFlaws = 50;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    agents: { type: "string", default: "12" },
    "per-second": { type: "string", default: "8" },
    only: { type: "string", default: "" },
    keep: { type: "string" },
    report: { type: "string" },
  },
});
const minutes = positive("minutes", values.minutes);
const seed = positive("seed", values.seed);
const forMs = 60_000 * minutes;
if (planOf(seed, forMs, values.only).length === 0) {
  process.stderr.write(`no fault of this time has "${values.only}" in its name\n`);
  process.exit(2);
}
const say = (line: string) => void process.stdout.write(`  ${line}\n`);

say(`seed ${seed}: the same plan again with npm run faults -- --minutes ${minutes} --seed ${seed}`);
const agents = positive("agents", values.agents);
const perSecond = positive("per-second", values["per-second"]);
await withWorld({ seed }, async (world) => {
  const hasDisk = world.postgres.disk !== null;
  if (!hasDisk) say("no disk could be mounted: the disk is never full in this run");
  const drive = () => followPlan(world, planOf(seed, forMs, values.only), say);
  const run = await runFaults(world, { drive, forMs, agents, perSecond, say });
  if (values.keep !== undefined) keep(values.keep, run.evidence);
  const flaws = judge(run);
  for (const { promise, what } of flaws.slice(0, shownFlaws)) say(`FLAW  ${promise}: ${what}`);
  const counts = countOf(run, world);
  for (const [name, count] of Object.entries(counts)) say(`${name}: ${count}`);
  say(flaws.length === 0 ? "the checker found nothing" : `the checker found ${flaws.length} flaws`);
  if (values.report !== undefined) {
    const about = { minutes, seed, hasDisk };
    writeFileSync(values.report, reportOf(run, { counts, flaws, about }));
  }
  if (flaws.length > 0) process.exitCode = 1;
});

function positive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  process.stderr.write(`--${name} takes a number above 0, not ${text}\n`);
  process.exit(2);
}
