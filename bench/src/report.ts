// What the rounds add up to: medians, spreads and ratios, as a table for people.

import { availableParallelism, cpus, totalmem } from "node:os";
import type { LoadResult } from "./load-process.ts";

/** All rounds of one workload with one number of clients. The ceiling is empty where it cannot go. */
export type Measurement = {
  workload: string;
  clients: number;
  service: LoadResult[];
  ceiling: number[];
};

export type Line = ReturnType<typeof summarise>[number];

/** The ratio is to the ceiling with as many clients; where that is not to be had, to its best. */
export function summarise(measurements: Measurement[]) {
  return measurements.map(({ workload, clients, service, ceiling }) => {
    const perSecond = spreadOf(service.map((round) => round.perSecond));
    const p50Ms = spreadOf(service.map((round) => round.p50Ms)).median;
    const p99Ms = spreadOf(service.map((round) => round.p99Ms)).median;
    const ceilings = measurements.filter(
      (other) => other.workload === workload && other.ceiling.length > 0,
    );
    const best = Math.max(...ceilings.map((other) => spreadOf(other.ceiling).median));
    const own = ceiling.length > 0 ? spreadOf(ceiling) : null;
    const ratio = perSecond.median / (own?.median ?? best);
    return { workload, clients, perSecond, p50Ms, p99Ms, ceiling: own, ratio };
  });
}

export function tableOf(lines: Line[], ceiling: string): string {
  const rows = lines.map((line) => [
    line.workload,
    String(line.clients),
    whole(line.perSecond.median),
    `${whole(line.perSecond.min)}–${whole(line.perSecond.max)}`,
    line.p50Ms.toFixed(1),
    line.p99Ms.toFixed(1),
    line.ceiling === null ? "(best)" : whole(line.ceiling.median),
    line.ceiling === null ? "" : `${whole(line.ceiling.min)}–${whole(line.ceiling.max)}`,
    line.ratio.toFixed(2),
  ]);
  const names = ["", "clients", "service/s", "spread", "p50 ms", "p99 ms"];
  const header = [...names, `${ceiling}/s`, "spread", "ratio"];
  const widths = header.map((_, at) =>
    Math.max(...[header, ...rows].map((row) => row[at]?.length ?? 0)),
  );
  return [header, ...rows]
    .map((row) => row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join("  "))
    .join("\n");
}

export function describeMachine(postgresVersion: string): string {
  const model = cpus()[0]?.model ?? process.arch;
  const memoryGib = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores (${model}), ${memoryGib} GiB, Node ${process.version}, PostgreSQL ${postgresVersion}`;
}

function spreadOf(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  const median = (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
