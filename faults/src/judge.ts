// The word on a run: what the checker finds in its evidence, and whether it was a run of faults at all.

import { check } from "./checker/check.ts";
import { byClock, type Flaw } from "./evidence.ts";
import type { Run } from "./run.ts";

export function judge({ evidence, faults, settledMs }: Run): Flaw[] {
  const flaws = check(evidence);
  if (faults.length === 0) flaws.push(empty("no fault took place"));
  for (const { failure } of faults) if (failure !== undefined) flaws.push(empty(failure));
  if (settledMs === null) {
    const promise = "nothing is stuck a minute after the faults";
    const what = "something was still to be done a minute after the last fault";
    flaws.push(byClock({ promise, what }));
  }
  return flaws;
}

const empty = (what: string): Flaw => ({ promise: "there is something to judge", what });
