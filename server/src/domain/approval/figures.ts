// The figures of a workspace: the outcomes of its approvals by day and by agent, and how long decisions took. Days are
// counted once and then added up, so times are kept as histograms: the percentiles of days cannot be added.

import { figureAgentsMax } from "../limits.ts";
import type { ApprovalStatus } from "./approval.ts";
import { addStages, noStageFigures, type StageFigures } from "./stage-figures.ts";
import { addTimes, noTimes, percentiles, type Times, toTimes } from "./times.ts";

const dayMs = 86_400_000;

/** The UTC day of a time, as 2026-03-31. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

export function startOfDay(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

export function endOfDay(day: string): Date {
  return new Date(startOfDay(day).getTime() + dayMs);
}

/** The last `count` UTC days, oldest first, that of `now` included. */
export function lastDays(now: Date, count: number): string[] {
  const last = startOfDay(dayOf(now)).getTime();
  return Array.from({ length: count }, (_, index) =>
    dayOf(new Date(last - (count - 1 - index) * dayMs)),
  );
}

/** Every day of the month before that of `now` and of this month up to `now`, oldest first. */
export function daysOfTwoMonths(now: Date): string[] {
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1);
  return lastDays(now, Math.floor((now.getTime() - first) / dayMs) + 1);
}

/** The outcomes of some approvals. `approved` includes `edited`. */
export type Tally = {
  pending: number;
  approved: number;
  edited: number;
  rejected: number;
  expired: number;
  cancelled: number;
  /** From question to decision by a person. */
  times: Times;
};

/** The agents are at most `figureAgentsMax`; the total counts all. An agent without a name is "". */
export type Figures = { total: Tally; agents: ReadonlyMap<string, Tally>; stages: StageFigures };

export const noTally: Tally = {
  pending: 0,
  approved: 0,
  edited: 0,
  rejected: 0,
  expired: 0,
  cancelled: 0,
  times: noTimes,
};

export const noFigures: Figures = { total: noTally, agents: new Map(), stages: noStageFigures };

/** Approvals that are alike, as the database counts them. */
export type AlikeApprovals = {
  /** Null for all agents that ask too seldom to be told apart. */
  agent: string | null;
  status: ApprovalStatus;
  isEdited: boolean;
  /** The bucket of the time to the decision; null when no person decided. */
  bucket: number | null;
  count: number;
};

export function countFigures(
  groups: readonly AlikeApprovals[],
  stages: StageFigures = noStageFigures,
): Figures {
  const byAgent = new Map<string, AlikeApprovals[]>();
  for (const group of groups) {
    if (group.agent === null) continue;
    const those = byAgent.get(group.agent);
    if (those === undefined) byAgent.set(group.agent, [group]);
    else those.push(group);
  }
  const agents = [...byAgent].map(([agent, those]) => [agent, tallyOf(those)] as const);
  return { total: tallyOf(groups), agents: new Map(agents), stages };
}

function tallyOf(groups: readonly AlikeApprovals[]): Tally {
  const sum = (status: ApprovalStatus, isMeant = (_: AlikeApprovals) => true) =>
    groups.reduce(
      (count, group) => count + (group.status === status && isMeant(group) ? group.count : 0),
      0,
    );
  return {
    pending: sum("PENDING"),
    approved: sum("APPROVED"),
    edited: sum("APPROVED", ({ isEdited }) => isEdited),
    rejected: sum("REJECTED"),
    expired: sum("EXPIRED"),
    cancelled: sum("CANCELLED"),
    times: toTimes(
      groups.flatMap(({ bucket, count }) => (bucket === null ? [] : [[bucket, count] as const])),
    ),
  };
}

/**
 * The sum of both. Beyond `figureAgentsMax`, the agents that ask least are no longer told apart, so that names which
 * are new each time cost no more than that many agents. They stay in the total.
 */
export function addFigures(left: Figures, right: Figures): Figures {
  const agents = new Map(left.agents);
  for (const [agent, tally] of right.agents) {
    agents.set(agent, addTallies(agents.get(agent) ?? noTally, tally));
  }
  return {
    total: addTallies(left.total, right.total),
    agents: mostAsking(agents),
    stages: addStages(left.stages, right.stages),
  };
}

function mostAsking(agents: ReadonlyMap<string, Tally>): ReadonlyMap<string, Tally> {
  if (agents.size <= figureAgentsMax) return agents;
  return new Map([...agents].sort(byAsked).slice(0, figureAgentsMax));
}

/** Most asked first; a tie goes by name, so that two looks show one order. */
function byAsked(left: readonly [string, Tally], right: readonly [string, Tally]): number {
  const difference = askedOf(right[1]) - askedOf(left[1]);
  return difference === 0 ? (left[0] < right[0] ? -1 : 1) : difference;
}

function addTallies(left: Tally, right: Tally): Tally {
  return { ...addCounts(left, right), times: addTimes(left.times, right.times) };
}

function addCounts(left: Tally, right: Tally): Omit<Tally, "times"> {
  return {
    pending: left.pending + right.pending,
    approved: left.approved + right.approved,
    edited: left.edited + right.edited,
    rejected: left.rejected + right.rejected,
    expired: left.expired + right.expired,
    cancelled: left.cancelled + right.cancelled,
  };
}

export function askedOf(tally: Tally): number {
  return tally.pending + tally.approved + tally.rejected + tally.expired + tally.cancelled;
}

/** Several tallies as one, as people are told it. The dashboard's contract holds it to its shape. */
export function sharesOf(tallies: readonly Tally[]) {
  const sum = tallies.reduce(
    (left, right) => ({ ...addCounts(left, right), times: noTimes }),
    noTally,
  );
  const all = tallies.map(({ times }) => times);
  const [medianMs = null, p90Ms = null] = percentiles(all, [0.5, 0.9]);
  const { times: _, ...counts } = sum;
  return { asked: askedOf(sum), ...counts, medianMs, p90Ms };
}

/** The agents that asked most over all the days, with their tally of each day. */
export function topAgents(
  days: readonly Figures[],
  count: number,
): { agent: string; tallies: Tally[] }[] {
  const byAgent = new Map<string, Tally[]>();
  for (const { agents } of days) {
    for (const [agent, tally] of agents) {
      const those = byAgent.get(agent);
      if (those === undefined) byAgent.set(agent, [tally]);
      else those.push(tally);
    }
  }
  return [...byAgent]
    .map(([agent, tallies]) => ({ agent, tallies, asked: sumAsked(tallies) }))
    .sort((left, right) => right.asked - left.asked || (left.agent < right.agent ? -1 : 1))
    .slice(0, count)
    .map(({ agent, tallies }) => ({ agent, tallies }));
}

function sumAsked(tallies: readonly Tally[]): number {
  return tallies.reduce((sum, tally) => sum + askedOf(tally), 0);
}

/** How far the approvals of a day have been counted: final ones cannot change, so they are counted once. */
export type CountedDay = {
  day: string;
  /** Every approval of the day with a smaller id is in the figures or among the open ones. */
  untilId: string;
  /** Approvals that were still pending then. */
  openIds: readonly string[];
  /** The figures of the final ones. */
  figures: Figures;
};
