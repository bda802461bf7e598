// How long the stages of requests took, by whom they ask, and how many requests escalated. Days are counted once and then
// added up, like the other figures.

import { figureApproversMax } from "../limits.ts";
import { addTimes, countTimes, percentiles, type Times, toTimes } from "./times.ts";

/** A group by the name that it had, or an address. */
export type StageApprover = { isGroup: boolean; name: string };

export type StageFigures = {
  escalated: number;
  /** From asking a stage's people to its last approval. At most `figureApproversMax`, by `keyOf`. */
  approvers: ReadonlyMap<string, StageApprover & { times: Times }>;
};

export const noStageFigures: StageFigures = { escalated: 0, approvers: new Map() };

/** Stages that are alike, as the database counts them. */
export type AlikeStages = StageApprover & { bucket: number; count: number };

export function countStages(stages: readonly AlikeStages[], escalated: number): StageFigures {
  const approvers = [...Map.groupBy(stages, keyOf)].flatMap(([key, alike]) => {
    const [first] = alike;
    if (first === undefined) return [];
    const times = toTimes(alike.map(({ bucket, count }) => [bucket, count] as const));
    return [[key, { isGroup: first.isGroup, name: first.name, times }] as const];
  });
  return { escalated, approvers: mostFrequent(new Map(approvers)) };
}

export function addStages(left: StageFigures, right: StageFigures): StageFigures {
  const approvers = new Map(left.approvers);
  for (const [key, its] of right.approvers) {
    const before = approvers.get(key);
    const times = before === undefined ? its.times : addTimes(before.times, its.times);
    approvers.set(key, { ...its, times });
  }
  return { escalated: left.escalated + right.escalated, approvers: mostFrequent(approvers) };
}

export function keyOf({ isGroup, name }: StageApprover): string {
  return `${isGroup ? "group" : "address"} ${name}`;
}

/** As people are told it, the most frequent first. Null when there is nothing to tell. */
export function stageShares(days: readonly StageFigures[], most: number) {
  const { escalated, approvers } = days.reduce(addStages, noStageFigures);
  if (escalated === 0 && approvers.size === 0) return null;
  const perApprover = [...approvers.values()]
    .map(({ isGroup, name, times }) => {
      const [medianMs = null, p90Ms = null] = percentiles([times], [0.5, 0.9]);
      return { name, isGroup, stages: countTimes(times), medianMs, p90Ms };
    })
    .sort((one, other) => other.stages - one.stages || (one.name < other.name ? -1 : 1))
    .slice(0, most);
  return { escalated, perApprover };
}

/** Names that are new each time must not make the kept figures large. */
function mostFrequent(approvers: StageFigures["approvers"]): StageFigures["approvers"] {
  if (approvers.size <= figureApproversMax) return approvers;
  const sorted = [...approvers]
    .map((entry) => ({ entry, count: countTimes(entry[1].times) }))
    .sort((one, other) => other.count - one.count || (one.entry[0] < other.entry[0] ? -1 : 1));
  return new Map(sorted.slice(0, figureApproversMax).map(({ entry }) => entry));
}
