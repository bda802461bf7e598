// Draws opening parts in steps, so short that the page reacts to presses and scrolls in between.

import { flushSync } from "react-dom";

export type GrowthJob = {
  /** Draws a little more. */
  step: () => void;
  /** Keeps the drawn part and wants no more. */
  stop: () => void;
};

export type Growth = {
  /** Runs a job until it is removed. The newest runs first, so that rows appear in their order. */
  add: (job: GrowthJob) => () => void;
  /** Runs each of these once, in their order. */
  addAll: (steps: readonly (() => void)[]) => void;
  isGrowing: () => boolean;
  stop: () => void;
};

/** The browser has its own work after each step. */
const stepMs = 16;

/** `onStep` is called after each step, and when the last job is removed. */
export function startGrowth(onStep: () => void): Growth {
  const jobs: GrowthJob[] = [];
  let isWaiting = false;
  const run = () => {
    isWaiting = false;
    const until = performance.now() + stepMs;
    for (let job = jobs.at(-1); job !== undefined; job = jobs.at(-1)) {
      flushSync(job.step);
      if (performance.now() > until) break;
    }
    if (jobs.length > 0) goOn();
    onStep();
  };
  const goOn = () => {
    if (!isWaiting) setTimeout(run, 0);
    isWaiting = true;
  };
  const remove = (job: GrowthJob) => {
    const at = jobs.lastIndexOf(job);
    if (at >= 0) jobs.splice(at, 1);
  };
  return {
    add: (job) => {
      jobs.push(job);
      goOn();
      return () => {
        remove(job);
        if (jobs.length === 0) onStep();
      };
    },
    addAll: (steps) => {
      for (const step of steps.toReversed()) {
        const stop = () => remove(job);
        const job: GrowthJob = {
          step: () => {
            stop();
            step();
          },
          stop,
        };
        jobs.push(job);
      }
      goOn();
    },
    isGrowing: () => jobs.length > 0,
    stop: () => {
      for (const job of [...jobs]) job.stop();
    },
  };
}
