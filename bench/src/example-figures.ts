// Figures for the tests of what is made of them: a few lines of each kind, with targets met, missed and absent.

import type { Figure } from "./figure.ts";
import type { Results } from "./report.ts";

const figure: Figure = {
  work: "create",
  variant: "64 clients",
  unit: "per second",
  ours: [9_000, 8_000, 10_000],
  ceiling: { name: "pgbench", rounds: [10_000, 10_000, 10_000] },
  waited: { p50: 7.04, p99: 21.3 },
  target: { of: "ratio", atLeast: 0.8 },
};
const value: Figure = { ...figure, ceiling: null, waited: null, target: null };

export const metRatio = figure;
/** By so little that two digits would hide it. */
export const missedRatio: Figure = {
  ...figure,
  variant: "256 clients",
  ours: [7_990, 7_996, 8_400],
};
export const freeRatio: Figure = { ...figure, variant: "16 clients", target: null };
/** Far ahead of any scale. */
export const farRatio: Figure = {
  ...figure,
  work: "whole job",
  variant: "4 clients",
  ceiling: { name: "Peer & <sons>", rounds: [100, 100, 100] },
};
export const metValue: Figure = {
  ...value,
  work: "memory",
  variant: "idle",
  unit: "MB",
  ours: [96, 95, 97],
  target: { of: "value", atMost: 120 },
};
export const missedValue: Figure = {
  ...value,
  work: "expiry",
  variant: "100,000 due at once, while others create",
  ours: [4_000],
  target: { of: "value", atLeast: 5_000 },
};
export const freeValue: Figure = {
  ...value,
  work: "start",
  variant: "until it answers",
  unit: "s",
  ours: [1.25, 1.2, 1.3],
};

export const figures: Figure[] = [
  ...[metRatio, missedRatio, freeRatio, farRatio],
  ...[metValue, missedValue, freeValue],
];

export const results: Results = {
  at: "2026-01-02T03:04:05.678Z",
  commit: "0123abc",
  machine: "2 cores (Processor), 4 GiB, Node v24.0.0, PostgreSQL 18.0",
  options: "--quick",
  figures,
};
