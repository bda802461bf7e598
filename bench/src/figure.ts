// The result of a measurement: one line of the report, with the rounds behind it and its target.

export type Unit = "per second" | "ms" | "s" | "MB" | "queries per second";

/** All rounds of one piece of work. Where there is a ceiling, its rounds stand beside ours: A B A B. */
export type Figure = {
  /** Groups the lines of the report: "create", "read", "webhooks". */
  work: string;
  /** Tells this line from others of its group: "64 clients", "200 KB agentState, 16 clients". */
  variant: string;
  unit: Unit;
  ours: number[];
  ceiling: Ceiling | null;
  /** How long callers waited, in milliseconds, if calls were measured. Medians of the rounds. */
  waited: { p50: number; p99: number } | null;
  target: Target | null;
};

/** As many rounds as ours. */
export type Ceiling = { name: string; rounds: number[] };

/** A ratio is the median of each round's own ratio of ours to the ceiling. */
export type Target = { of: "ratio" | "value" } & ({ atLeast: number } | { atMost: number });

export type Spread = { median: number; min: number; max: number };

export function spreadOf(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  const median = (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

export function ratioOf({ ours, ceiling }: Figure): Spread | null {
  if (ceiling === null) return null;
  return spreadOf(ours.map((value, round) => value / (ceiling.rounds[round] ?? Number.NaN)));
}

export function isMet(figure: Figure): boolean | null {
  const { target } = figure;
  if (target === null) return null;
  const { median } = (target.of === "ratio" ? ratioOf(figure) : null) ?? spreadOf(figure.ours);
  return "atLeast" in target ? median >= target.atLeast : median <= target.atMost;
}

export function quantileOf(values: number[], quantile: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(quantile * sorted.length))] ?? Number.NaN;
}

/** How long callers waited in the middle one of the rounds. */
export function waitedOf(rounds: { p50Ms: number; p99Ms: number }[]): Figure["waited"] {
  return {
    p50: spreadOf(rounds.map(({ p50Ms }) => p50Ms)).median,
    p99: spreadOf(rounds.map(({ p99Ms }) => p99Ms)).median,
  };
}
