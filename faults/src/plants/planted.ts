// Plants each bug into a service of its own, and says whether the checker caught it.

import { setTimeout as pause } from "node:timers/promises";
import { leaseSeconds } from "../../../server/src/domain/limits.ts";
import { check } from "../checker/check.ts";
import { countUnfinished, gather } from "../gather.ts";
import { untilAllReady, type World, withWorld } from "../world/world.ts";
import type { Plant } from "./plants.ts";

const agentsCount = 4;
const perSecond = 8;
/** As many requests as show what a plant does to some of them. */
const decisionsMin = 12;
const plantedMin = 4;
const lookMs = 200;
/** Longer than any webhook may take. */
const othersDoneMs = 12_000;
const withinMs = 600_000;

export type Catch = { plant: string; isCaught: boolean; promises: string[]; example: string };

/** Without a plant the checker must have nothing to say. */
export function tryPlant(plant: Plant | null, seed: number): Promise<Catch> {
  const preload = plant?.preload ?? null;
  return withWorld({ seed, ...(preload === null ? {} : { preload }) }, async (world) => {
    await workUntilHappened(world, plant);
    await plant?.spoil?.(world);
    const flaws = check(await gather(world, Date.now()));
    const promises = [...new Set(flaws.map(({ promise }) => promise))];
    const fitting = flaws.find(({ promise }) => promise === plant?.promise);
    const isCaught = plant === null ? flaws.length === 0 : fitting !== undefined;
    const example = (fitting ?? flaws[0])?.what ?? "";
    return { plant: plant?.name ?? "none", isCaught, promises, example };
  });
}

async function workUntilHappened(world: World, plant: Plant | null): Promise<void> {
  const stopping = new AbortController();
  const end = Date.now() + withinMs;
  const working = world.agents.run({ agents: agentsCount, perSecond, signal: stopping.signal });
  let isHalted = plant?.halts !== true;
  const halting = isHalted ? null : haltWorker(world).finally(() => (isHalted = true));
  while (!(isHalted && hasHappened(world, plant))) {
    if (Date.now() > end) throw new Error(`too little happened with the plant: ${plant?.name}`);
    await pause(lookMs);
  }
  stopping.abort();
  await Promise.all([working, halting]);
  await world.people.untilDone();
  await untilAllReady(world, withinMs);
  // The checker says what is stuck.
  while ((await countUnfinished(world)) > 0 && Date.now() < end) await pause(lookMs);
}

/**
 * One stands still for longer than its lease, in a moment in which it has sent something and knows no answer yet, until
 * the other has delivered that: whatever it writes down then is wrong.
 */
async function haltWorker({ nodes, db }: World): Promise<void> {
  for (let redone = 0; redone === 0; ) {
    await pause(othersDoneMs / 10);
    const { rows } = await db.query<{ now: Date }>("select now() as now");
    nodes[2]?.signal("SIGSTOP");
    // What the other worker had then is done by now.
    await pause(othersDoneMs);
    const { rows: held } = await db.query<{ id: string }>(
      "select id from deliveries where endpoint_id is not null and leased_until < $1::timestamptz + $2 * interval '1 s'",
      [rows[0]?.now, leaseSeconds + 1],
    );
    if (held.length > 0) {
      await pause(1_000 * leaseSeconds);
      const delivered = await db.query(
        "select from deliveries where id = any($1) and state = 'delivered'",
        [held.map(({ id }) => id)],
      );
      redone = delivered.rowCount ?? 0;
    }
    nodes[2]?.signal("SIGCONT");
  }
}

function hasHappened({ people, nodes }: World, plant: Plant | null): boolean {
  const planted = nodes.flatMap(({ output }) => output.match(/^planted\b/gm) ?? []).length;
  const isPlanted = plant === null || plant.preload === null || planted >= plantedMin;
  const decided = people.decisions.filter(({ status }) => status === 200);
  const hasBoth = (["approve", "reject"] as const).every((verdict) =>
    decided.some((each) => each.verdict === verdict),
  );
  return isPlanted && decided.length >= decisionsMin && hasBoth;
}
