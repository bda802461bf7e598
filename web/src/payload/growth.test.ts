import assert from "node:assert/strict";
import { test } from "node:test";
import { startGrowth } from "./growth.ts";

/** Resolves when all is done, however many steps that takes. */
function grown(start: (growth: ReturnType<typeof startGrowth>) => void): Promise<void> {
  return new Promise((resolve) => {
    const growth = startGrowth(() => {
      if (!growth.isGrowing()) resolve();
    });
    start(growth);
  });
}

test("the work that a step brings in is done before the work behind it", async () => {
  const order: string[] = [];
  await grown((growth) => {
    growth.addAll([
      () => {
        order.push("first");
        const done = growth.add({
          step: () => {
            order.push("inside the first");
            done();
          },
          stop: () => {},
        });
      },
      () => order.push("second"),
    ]);
  });
  assert.deepEqual(order, ["first", "inside the first", "second"]);
});

test("a job goes on until it is taken back, in several steps when it takes long", async () => {
  let times = 0;
  const steps: number[] = [];
  await new Promise<void>((resolve) => {
    const growth = startGrowth(() => {
      steps.push(times);
      if (!growth.isGrowing()) resolve();
    });
    const done = growth.add({
      step: () => {
        times += 1;
        const until = performance.now() + 10;
        while (performance.now() < until);
        if (times === 6) done();
      },
      stop: () => {},
    });
  });
  assert.equal(times, 6);
  assert.ok(steps.length >= 3, `there were breaks after ${steps}`);
});

test("stopped, every job is told, and what was to be done once is not done", async () => {
  const told: string[] = [];
  await grown((growth) => {
    growth.addAll([() => told.push("done")]);
    const done = growth.add({
      step: () => told.push("step"),
      stop: () => {
        told.push("stop");
        done();
      },
    });
    growth.stop();
    assert.equal(growth.isGrowing(), false);
  });
  assert.deepEqual(told, ["stop"]);
});
