// A run is clean only if its faults took place and all came to rest, whatever the evidence says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanRun } from "./checker/clean-run.ts";
import { judge } from "./judge.ts";
import { followPlan, type Run } from "./run.ts";
import type { Planned } from "./schedule.ts";
import type { World } from "./world/world.ts";

const world = {} as World;

async function runOf(plan: Planned[]): Promise<Run> {
  return {
    evidence: cleanRun(),
    faults: await followPlan(world, plan, () => {}),
    settledMs: 1,
  };
}

const fault = (begin: () => void, end?: () => void): Planned => ({
  atMs: 0,
  fault: {
    name: "kill -9",
    target: "api 1",
    seconds: 0,
    begin,
    ...(end === undefined ? {} : { end }),
  },
});
const fails = () => {
  throw new Error("no such process");
};

test("a run whose faults took place is clean", async () => {
  assert.deepEqual(judge(await runOf([fault(() => {})])), []);
});

test("a run without faults, and one with a fault that failed, is not clean", async () => {
  for (const [plan, what] of [
    [[], /no fault took place/],
    [[fault(fails)], /kill -9 couldn't begin: no such process/],
    [[fault(() => {}, fails)], /kill -9 couldn't end: no such process/],
  ] as const) {
    const [flaw, ...more] = judge(await runOf([...plan]));
    assert.equal(more.length, 0);
    assert.match(flaw?.what ?? "", what);
  }
});

test("a run that didn't come to rest is not clean", async () => {
  const [flaw] = judge({ ...(await runOf([fault(() => {})])), settledMs: null });
  assert.match(flaw?.promise ?? "", /nothing is stuck/);
});
