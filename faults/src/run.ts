// One run: everybody works, faults come and go by plan, then all comes to rest, and the evidence is read.

import { setTimeout as pause } from "node:timers/promises";
import type { Evidence } from "./evidence.ts";
import { countUnfinished, gather } from "./gather.ts";
import type { Planned } from "./schedule.ts";
import { untilAllReady, type World } from "./world/world.ts";

export type RunOptions = {
  /** Does what is to be done to the world, and answers what that was. */
  drive(world: World, say: RunOptions["say"]): Promise<Ended[]>;
  /** Everybody works for at least as long. */
  forMs: number;
  agents: number;
  perSecond: number;
  say: (line: string) => void;
};

export type Ended = {
  name: string;
  target: string;
  beganAt: number;
  endedAt: number;
  /** Why it didn't take place as planned. */
  failure?: string;
  /** It came and went, and met nothing. */
  isVain?: boolean;
};

export type Run = {
  evidence: Evidence;
  faults: Ended[];
  /** From the last fault's end until nothing was left to do; null if something was left after a minute. */
  settledMs: number | null;
};

const restMsMax = 60_000;
const readyWithinMs = 60_000;
const lookMs = 250;

export async function runFaults(world: World, options: RunOptions): Promise<Run> {
  const { drive, forMs, agents, perSecond, say } = options;
  const stopping = new AbortController();
  const startedAt = Date.now();
  const working = world.agents.run({ agents, perSecond, signal: stopping.signal });
  const faults = await drive(world, say);
  const faultsEndedAt = Date.now();
  await pause(Math.max(0, startedAt + forMs - Date.now()));
  stopping.abort();
  await untilAllReady(world, readyWithinMs);
  await working;
  await world.people.untilDone();
  const settledMs = await untilSettled(world, Math.max(faultsEndedAt, Date.now()));
  say(settledMs === null ? "not all came to rest" : `at rest after ${settledMs} ms`);
  return { evidence: await gather(world, faultsEndedAt), faults, settledMs };
}

/** Each fault at its time. */
export async function followPlan(
  world: World,
  plan: readonly Planned[],
  say: RunOptions["say"],
): Promise<Ended[]> {
  const startedAt = Date.now();
  return Promise.all(
    plan.map(async ({ atMs, fault }): Promise<Ended> => {
      await pause(Math.max(0, startedAt + atMs - Date.now()));
      const { name, target } = fault;
      say(`${Math.round(atMs / 1_000)} s: ${name}, ${target}`);
      const beganAt = Date.now();
      const begun = await attempt(() => fault.begin(world), `${name} couldn't begin`, say);
      // Some take a while to begin, such as filling a disk, and are to last for a while all the same.
      await pause(1_000 * fault.seconds);
      const over = await attempt(() => fault.end?.(world), `${name} couldn't end`, say);
      const failure = begun ?? over;
      const ended = { name, target, beganAt, endedAt: Date.now() };
      if (failure !== null) return { ...ended, failure };
      if (fault.hadEffect?.(world) !== false) return ended;
      say(`${name} met nothing`);
      return { ...ended, isVain: true };
    }),
  );
}

async function untilSettled(world: World, since: number): Promise<number | null> {
  while (Date.now() - since < restMsMax) {
    if ((await countUnfinished(world)) === 0) {
      await world.people.untilDone();
      if ((await countUnfinished(world)) === 0) return Date.now() - since;
    }
    await pause(lookMs);
  }
  return null;
}

/** Answers why it failed, or null. */
async function attempt(
  work: () => unknown,
  what: string,
  say: (line: string) => void,
): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const failure = `${what}: ${error instanceof Error ? error.message : error}`;
    say(failure);
    return failure;
  }
}
